/* For threads that are cancelled in a call: two sessions, of which the others' has what ours waits for. */
#ifndef CANCEL_BENCH_H
#define CANCEL_BENCH_H

#include <paddock/paddock.h>
#include <pthread.h>

#include "ts_support.h"

enum { PERMITS = 2 };

/* What one session has. */
struct cancel_user {
    pdk_session *s;
    pdk_lock *lock, *busy;
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    pdk_election *election;
    pdk_hold *hold, *writer, *permits; /* the others', so ours waits; NULL: the test has released it */
};
extern struct cancel_user cancel_ours, cancel_others;
extern ts_ensemble *cancel_server;
extern ts_proxy *cancel_proxy; /* in front of ours */

void cancel_begin(void);
void cancel_end(void);
void cancel_set_up(void);
void cancel_tear_down(void);

void cancel_use(struct cancel_user *user, const char *hosts, pdk_dispatch dispatch);
void cancel_drop(struct cancel_user *user);

void cancel_pause(long ms);
/* Joins the thread. false: it has not ended within ten seconds. */
bool cancel_join(pthread_t thread, void **result);
/* Our session works, and no node of ours is left. */
void cancel_check(const char *name);
/* A callback of a session that takes 1.5 s. user: an atomic_bool, which becomes true. */
void cancel_be_slow(pdk_session_event event, int64_t time_left_ms, void *user);

#endif
