/* Two processes that use every recipe at once, on the bench of platform_bench.h, where requests of the first go wrong: they are not
 * sent, or a server answers them with a code. */
#ifndef DRIVER_BENCH_H
#define DRIVER_BENCH_H

#include "platform_bench.h"

#include "session/platform.h"

/* Decides whether a request of the first process is sent. NULL: all are. */
extern bool (*driver_refuses)(const struct pdk__request *request);
/* The path that a request of the first process is about instead, so that its answer is another node's. NULL: its own. */
extern const char *(*driver_redirects)(const struct pdk__request *request);
/* What else goes wrong there: no name is found, for that reason; no handle is opened, with that status. */
extern const char *driver_unresolved;
extern pdk_status driver_opening;
/* The requests of the first process since the beginning, refused or not. */
extern uint32_t driver_requests;

/* What one process wants, and what it got. */
struct driver_user {
    struct rival *rival;
    pdk_lock *lock;
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    pdk_election *election;
    pdk_hold *holds[8];
    uint32_t holds_count;
    uint32_t wanted, answered; /* claims */
    uint32_t granted, failed;  /* of those that were answered */
    uint32_t elected, deposed, candidacy_failed, told;
    pdk_status status; /* of the newest claim that failed */
    char leader[64];   /* as the observer was told last; "": nobody */
};

extern struct driver_user driver_users[2];

/* How late an answer may be where all is well, from now on. 0: no session timeout is refused; so driver_begin leaves it. */
void driver_answers_within(int64_t late);
/* Anew: both have sessions, and nothing else. Every request of the first process passes driver_refuses. */
void driver_begin(void);
/* The end of a fixture that begins with platform_setup. */
void driver_teardown(void);

/* In their processes. Both claim the lock, two reads, a write and all permits, join the election and observe it. */
void driver_want_all(struct driver_user *u);
void driver_want_lock(struct driver_user *u);
/* Gives back the lock object: its claims are cancelled. */
void driver_drop_lock(struct driver_user *u);
void driver_want_permits(struct driver_user *u, int32_t count, int64_t timeout_ms);
void driver_join(struct driver_user *u);
void driver_leave(struct driver_user *u);
void driver_release_all(struct driver_user *u);
/* Everything, the session last. */
void driver_give_back(struct driver_user *u);
/* Time passes, and every 50 ms both give back what they hold. */
void driver_pass_and_release(int64_t ns);
/* How many nodes there are below all directories of the recipes, in truth. */
size_t driver_nodes(void);

#endif
