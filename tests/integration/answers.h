/* The calls that answer by a callback, all of them in one table, and what they ask about. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <glib.h>
#include <stdatomic.h>

#include "ts_bench.h"

enum { SESSION_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000, REQUEST_MS = 300, WANTED_MS = 700 };

/* What the calls are about. Everything but `own` is held by a client of its own, whose link nobody touches. */
extern struct answers_it {
    ts_client *client; /* asks */
    pdk_hold *own;     /* of the client that asks: for ensure */
    pdk_lock *lock;
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    pdk_election *election;
    char *path, *proof, *victim, *job;
    int64_t victim_token;
} asked;

struct answer {
    atomic_int count;
    pdk_status status;
    size_t listed; /* contenders, or runs */
    char *words;
    GThread *thread;
    int64_t at_ns;
    const struct question *next; /* asked in the callback */
    pdk_status inside;           /* of a call that blocks there */
    struct answer *following;
};

struct question {
    const char *name;
    pdk_status (*start)(int64_t timeout_ms, struct answer *answer);
    size_t listed;   /* where all is well */
    pdk_status late; /* where no server answers */
    bool own_time;   /* timeout_ms does not count */
};

/* The last breaks a hold, which is there once; the last but one ensures. */
enum { QUESTIONS = 11 };
extern const struct question questions[QUESTIONS];

void answers_begin(pdk_dispatch dispatch);
void answers_end(void);
/* Fails the test when the call is refused. */
void answers_ask(const struct question *q, int64_t timeout_ms, struct answer *answer);
/* For ts_wait_until. */
bool answers_is_there(void *answer);
/* Waits for it, and looks at status, words and what is listed. */
void answers_expect(const struct question *q, struct answer *answer, pdk_status status);
/* It came once. */
void answers_done(struct answer *answer);
/* The callbacks. */
void answers_status(pdk_status status, void *answer);
void answers_list(pdk_status status, pdk_contenders *list, void *answer);
void answers_runs(pdk_status status, pdk_job_runs *runs, void *answer);

#endif
