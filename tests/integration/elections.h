/* Elections under test. A record keeps the callbacks of one candidate, observer or service, in order. Elections and
 * records live until ts_paddock_clear, as all that the test support makes. Every function may be called from any
 * thread. */
#ifndef ELECTIONS_H
#define ELECTIONS_H

#include <check.h>
#include <glib.h>

#include "ts_paddock.h"

/* The election at `path`. `identity` may be NULL. Aborts when the call is refused. */
pdk_election *election_on(const ts_client *client, const char *path, const char *identity);
pdk_election *election_with(const ts_client *client, const char *path, const pdk_election_options *options);

enum told { ELECTED, DEPOSED, FAILED, LEADER, STARTED, STOPPED, FREED, TOLD };

typedef struct record record;

record *record_new(void);
/* What to do in the callback, after it was recorded. */
void record_act(record *r, enum told what, void (*act)(record *r, void *user), void *user);

/* The callbacks of a candidate. They fill the record, which is their user. */
void record_callbacks(record *r, pdk_election_callbacks *out);
/* The single callbacks, for observers and services. */
void record_leader(const char *identity, int64_t token, void *record);
void record_freed(void *record);
void record_started(record *r, int64_t token);
void record_stopped(record *r, int64_t token, pdk_reason reason);
void record_failed(pdk_status status, void *record);

int record_count(record *r, enum told what);
bool record_wait(record *r, enum told what, int count, int64_t timeout_ms);
/* record_history: all callbacks but those about leaders, as "elected deposed:NONE failed:CLOSED". record_leaders: the
 * leaders, as "anna - bruno", with "-" for nobody and "''" for an empty identity. g_free. */
char *record_history(record *r);
char *record_leaders(record *r);
/* Waits until the leader told last is this one, "-" for nobody. record_leader_token: its token. */
bool record_wait_leader(record *r, const char *identity, int64_t timeout_ms);
int64_t record_leader_token(record *r);
/* record_hold: the hold of the newest `elected`; the reference is the record's. record_token: its token, or the one that `started` told. */
pdk_hold *record_hold(record *r);
int64_t record_token(record *r);
/* record_running: a callback runs now. record_overlapped: two callbacks ran at the same time. record_late: the number
 * of callbacks that began after record_silence, without user_free. */
bool record_running(record *r);
bool record_overlapped(record *r);
void record_silence(record *r);
int record_late(record *r);

/* Checks the callbacks so far, without those about leaders, and that no two ran at the same time. */
#define assert_history(r, wanted)                                                                                      \
    do {                                                                                                               \
        g_autofree char *history_ = record_history(r);                                                                 \
        ck_assert_str_eq(history_, wanted);                                                                            \
        ck_assert(!record_overlapped(r));                                                                              \
    } while (0)

/* Checks that this callback soon has run so many times. */
#define assert_told(r, what, count)                                                                                    \
    do {                                                                                                               \
        const bool told_ = record_wait(r, what, count, ts_patience(5000));                                             \
        g_autofree char *history_ = record_history(r);                                                                 \
        ck_assert_msg(told_, "%s was not told %d times: %s", #what, count, history_);                                  \
    } while (0)

/* A new candidate with a record. The second function records the leaders as well. Both fail the test when the call is
 * refused. */
record *candidate_join(pdk_election *election);
record *candidate_join_with_leaders(pdk_election *election);
/* A candidate that has been elected. */
record *candidate_elected(pdk_election *election);

/* A new observer, with a record that also notes its end. observer_stop stops it, or the end of the test. */
record *observer_begin(pdk_election *election);
void observer_stop(record *r);

/* manual_client: a session with manual dispatch. manual_wait: runs its callbacks until so many of this kind have
 * run. */
ts_client *manual_client(int session_timeout_ms);
bool manual_wait(const ts_client *client, record *r, enum told what, int count, int64_t timeout_ms);

/* A callback waits at a door until the test opens it. */
typedef struct door door;
door *door_new(void);
void door_open(door *d);
/* For record_act. */
void at_door(record *r, void *door);

/* Deletes the znode of a hold, as an administrator might. */
void delete_node_of(const pdk_hold *hold);

#endif
