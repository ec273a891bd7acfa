/* Paddock under test: sessions behind a proxy of their own, and records of all that they report. The support owns
 * everything that these functions return, until ts_paddock_clear. So a late callback always finds its record, and a
 * test that fails in the middle leaves nothing behind. */
#ifndef TS_PADDOCK_H
#define TS_PADDOCK_H

#include <paddock/paddock.h>

#include "ts_answer.h"
#include "ts_proxy.h"

/* Closes every session, joins every thread and frees every record there is. For teardown; not from a callback. */
void ts_paddock_clear(void);
/* It frees this as well, once the sessions are closed and the threads joined. */
void ts_paddock_keep(void *what, void (*free_fn)(void *what));

/* `ms`, or as much more as CK_TIMEOUT_MULTIPLIER says: a limit for waiting. */
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

/* The number of reports of this event; and the time left of the lease in the last one. */
int ts_events(const ts_client *client, pdk_session_event event);
int64_t ts_event_left_ms(const ts_client *client, pdk_session_event event);
/* The time of the last one (ts_now_ns). */
int64_t ts_event_at_ns(const ts_client *client, pdk_session_event event);
/* Until it has been reported so often; false after `timeout_ms`. */
bool ts_wait_event(const ts_client *client, pdk_session_event event, int count, int64_t timeout_ms);

/* A lock on it. Aborts when that fails: a test about failures calls pdk_lock_new itself. */
pdk_lock *ts_lock(const ts_client *client, const char *path);
pdk_lock *ts_lock_with(const ts_client *client, const char *path, const pdk_lock_options *options);
/* Its threads hand it over for a minute in a row: so the next thread gets it, however busy the machine is. */
pdk_lock *ts_lock_of_long_handovers(const ts_client *client, const char *path);

/* Records one acquisition of it. */
ts_answer *ts_acquire_async(pdk_lock *lock, int64_t timeout_ms);
ts_answer *ts_acquire_thread(pdk_lock *lock, int64_t timeout_ms);

/* ---- the record of a loss ---- */

typedef struct ts_lost ts_lost;

/* Sets the hold's callback. NULL when that is refused. */
ts_lost *ts_lost_watch(pdk_hold *hold);
/* The same; `act(hold, user)` runs in the callback, after it has been counted. */
ts_lost *ts_lost_watch_with(pdk_hold *hold, void (*act)(pdk_hold *hold, void *user), void *user);
/* Of the hold or the set of an answer. */
ts_lost *ts_lost_watch_answer(ts_answer *answer);
/* Of a set; act may be NULL. */
ts_lost *ts_lost_watch_set(pdk_set *set, void (*act)(pdk_set *set, void *user), void *user);

bool ts_lost_wait(ts_lost *lost, int64_t timeout_ms);
bool ts_lost_wait_freed(ts_lost *lost, int64_t timeout_ms);
int ts_lost_count(ts_lost *lost);
/* The number of calls of user_free; and whether it ever ran during the callback, or before it began. */
int ts_lost_freed(ts_lost *lost);
bool ts_lost_freed_early(ts_lost *lost);
pdk_reason ts_lost_reason(ts_lost *lost);
int64_t ts_lost_at_ns(ts_lost *lost);

#endif
