/*
 * Paddock under test: sessions behind a proxy of their own, and witnesses of what they report. All that these functions
 * return belongs to the support and lives until ts_paddock_clear, so that a late callback always finds its witness, and a
 * test that fails in the middle leaves nothing behind.
 */
#ifndef TS_PADDOCK_H
#define TS_PADDOCK_H

#include <paddock/paddock.h>

#include "ts_answer.h"
#include "ts_proxy.h"

/* Closes every session, joins every thread and frees every witness there is. For teardown; not from a callback. */
void ts_paddock_clear(void);
/* Have it free this as well, once the sessions are closed and the threads joined. */
void ts_paddock_keep(void *what, void (*free_fn)(void *what));

/* `ms`, or as much more as CK_TIMEOUT_MULTIPLIER says: for how long to wait at the most. */
int64_t ts_patience(int64_t ms);

/* A name that no other call returns: "/t/<n>"; the parent exists or not. */
const char *ts_fresh_path(void);

/* ---- a session ---- */

typedef struct {
    ts_proxy *proxy;
    pdk_session *session;
} ts_client;

/* A session to `server` ("ip:port") through a new proxy. `options` may be NULL; its on_event is ours. `chroot` ("/a/b") may
 * be NULL. NULL when it cannot be opened, with the reason on standard error. */
ts_client *ts_client_open(const char *server, int session_timeout_ms);
ts_client *ts_client_open_with(const char *server, const char *chroot, const pdk_session_options *options);

/* How often it has reported this; what it said was left of the lease the last time. */
int ts_events(const ts_client *client, pdk_session_event event);
int64_t ts_event_left_ms(const ts_client *client, pdk_session_event event);
/* When that was (ts_now_ns). */
int64_t ts_event_at_ns(const ts_client *client, pdk_session_event event);
/* Until it has been reported so often; false after `timeout_ms`. */
bool ts_wait_event(const ts_client *client, pdk_session_event event, int count, int64_t timeout_ms);

/* A lock on it. Aborts when that fails: a test about failures calls pdk_lock_new itself. */
pdk_lock *ts_lock(const ts_client *client, const char *path);
pdk_lock *ts_lock_with(const ts_client *client, const char *path, const pdk_lock_options *options);
/* Its threads hand it over for a minute in a row: no matter how busy the machine is, it is the next one's. */
pdk_lock *ts_lock_of_long_turns(const ts_client *client, const char *path);

/* The witness of one acquisition of it. */
ts_answer *ts_acquire_async(pdk_lock *lock, int64_t timeout_ms);
ts_answer *ts_acquire_thread(pdk_lock *lock, int64_t timeout_ms);

/* ---- the witness of a loss ---- */

typedef struct ts_lost ts_lost;

/* Sets the hold's callback. NULL when that is refused. */
ts_lost *ts_lost_watch(pdk_hold *hold);
/* The same; `act(hold, user)` runs in the callback, after it has been counted. */
ts_lost *ts_lost_watch_with(pdk_hold *hold, void (*act)(pdk_hold *hold, void *user), void *user);

bool ts_lost_wait(ts_lost *lost, int64_t timeout_ms);
bool ts_lost_wait_freed(ts_lost *lost, int64_t timeout_ms);
int ts_lost_count(ts_lost *lost);
/* How often user_free ran; whether it ever did while the callback ran, or before it began. */
int ts_lost_freed(ts_lost *lost);
bool ts_lost_freed_early(ts_lost *lost);
pdk_reason ts_lost_reason(ts_lost *lost);
int64_t ts_lost_at_ns(ts_lost *lost);

#endif
