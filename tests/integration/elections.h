/* Elections under test: a record keeps what one candidate, observer or service was told, in order. Like all that the support
 * makes, elections and records live until ts_paddock_clear. Every function may be called from any thread. */
#ifndef ELECTIONS_H
#define ELECTIONS_H

#include <check.h>
#include <glib.h>

#include "ts_paddock.h"

/* The election at `path`; `identity` may be NULL. Aborts when it is refused. */
pdk_election *election_on(const ts_client *client, const char *path, const char *identity);
pdk_election *election_with(const ts_client *client, const char *path, const pdk_election_options *options);

enum told { ELECTED, DEPOSED, FAILED, LEADER, STARTED, STOPPED, FREED, TOLD };

typedef struct record record;

record *record_new(void);
/* What to do in the callback, once it has been recorded. */
void record_act(record *r, enum told what, void (*act)(record *r, void *user), void *user);

/* The callbacks that fill it, for a candidate; their user is the record. */
void record_callbacks(record *r, pdk_election_callbacks *out);
/* The single ones, for observers and services. */
void record_leader(const char *identity, int64_t token, void *record);
void record_freed(void *record);
void record_started(record *r, int64_t token);
void record_stopped(record *r, int64_t token, pdk_reason reason);
void record_failed(pdk_status status, void *record);

int record_count(record *r, enum told what);
bool record_wait(record *r, enum told what, int count, int64_t timeout_ms);
/* All but the leaders: "elected deposed:NONE failed:CLOSED"; the leaders: "anna - bruno", "-" for nobody, "''" for an empty
 * identity. g_free. */
char *record_story(record *r);
char *record_leaders(record *r);
/* Until the leader told last is this one, "-" for nobody; its token. */
bool record_wait_leader(record *r, const char *identity, int64_t timeout_ms);
int64_t record_leader_token(record *r);
/* The hold of the newest `elected`; the record's reference. Was it valid when it was brought? Its token, also of `started`. */
pdk_hold *record_hold(record *r);
bool record_hold_was_valid(record *r);
int64_t record_token(record *r);
/* A callback runs now; two ever ran at once; so many began since record_silence was called,
 * user_free aside. */
bool record_running(record *r);
bool record_overlapped(record *r);
void record_silence(record *r);
int record_late(record *r);

/* What was told so far, leaders aside, and never two callbacks at once. */
#define assert_story(r, wanted)                                                                                        \
    do {                                                                                                               \
        g_autofree char *story_ = record_story(r);                                                                     \
        ck_assert_str_eq(story_, wanted);                                                                              \
        ck_assert(!record_overlapped(r));                                                                              \
    } while (0)

/* It is told so often before long. */
#define assert_told(r, what, count)                                                                                    \
    do {                                                                                                               \
        const bool told_ = record_wait(r, what, count, ts_patience(5000));                                             \
        g_autofree char *story_ = record_story(r);                                                                     \
        ck_assert_msg(told_, "%s was not told %d times: %s", #what, count, story_);                                    \
    } while (0)

/* A new candidate, with a record; one whose leaders are recorded as well. Fail the test when it is refused. */
record *candidate_join(pdk_election *election);
record *candidate_join_with_leaders(pdk_election *election);
/* A candidate that leads by now. */
record *candidate_elected(pdk_election *election);

/* A new observer, with a record that has its end, too; stopped by observer_stop, or at the end. */
record *observer_begin(pdk_election *election);
void observer_stop(record *r);

/* A session with manual dispatch; and its callbacks, run until so many have been told. */
ts_client *manual_client(int session_timeout_ms);
bool manual_wait(const ts_client *client, record *r, enum told what, int count, int64_t timeout_ms);

/* A door that a callback waits at until the test opens it. */
typedef struct door door;
door *door_new(void);
void door_wait(door *d);
void door_open(door *d);
/* As `act`. */
void at_door(record *r, void *door);

/* Deletes the znode of a hold, as an admin might. */
void delete_node_of(const pdk_hold *hold);

#endif
