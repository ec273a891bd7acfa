/* The calls that answer by a callback, all of them in one table, and what they are about. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <glib.h>
#include <stdatomic.h>

#include "ts_bench.h"

enum { SESSION_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000 };

/* One client asks. What the queries are about is held by another one, whose link nobody touches. Each other call has objects of its own,
 * which are the asking client's. The support closes what is left. */
extern struct answered {
    ts_client *client;
    char *base; /* the paths stand below it */
    pdk_lock *lock;
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    pdk_election *election, *office;
    char *proof, *victim;
    int64_t victim_token;
    pdk_hold *own, *guards, *led;
    pdk_guarded *read, *write, *create, *remove;
    pdk_job *asks, *ends;
    pdk_lease_lock *takes, *gives;
    pdk_member *member;
    pdk_hold *run, *leased; /* until their call has answered OK */
} it;

struct told {
    const struct call *call;
    atomic_int count;
    pdk_status status;
    char *words;
    GThread *thread;
    int64_t at_ns;
    pdk_status inside;  /* of the form that blocks, in the callback */
    struct told *chain; /* its call is made in the callback */
    /* What it got. answers_done gives it back. */
    size_t listed; /* contenders, or runs */
    char *data;
    pdk_hold *hold;
    pdk_guarded *guarded;
    pdk_job_runs *runs;
};

struct call {
    const char *name;
    pdk_status (*start)(int64_t timeout_ms, struct told *told);
    pdk_status (*block)(void);
    size_t listed; /* where all is well */
};

/* ENSURE has no timeout, and its hold has enough of its lease: it is OK without a server. The last of the queries is HISTORY. */
enum {
    HOLDER,
    LIST,
    READERS,
    PERMITS,
    LEADER,
    CANDIDATES,
    PROOF,
    WISH,
    HISTORY,
    ENSURE,
    BREAK,
    OPEN,
    READ,
    WRITE,
    CREATE,
    REMOVE,
    ASK,
    END,
    TAKE,
    GIVE,
    PUBLISH,
    SET,
    CALLS
};
extern const struct call calls[CALLS];

/* The paths below the base: "held", "victim", "guards", "opened", "asks", "ends", "takes", "gives". The support frees it. */
const char *answers_path(const char *name);
void answers_begin(pdk_dispatch dispatch);
void answers_begin_with(pdk_dispatch dispatch, int session_ms, int request_ms);
void answers_end(void);
pdk_lease_lock *answers_lease(const char *name, const char *secret);
/* Fails the test when it is refused. */
void answers_ask(int call, int64_t timeout_ms, struct told *told);
/* For ts_wait_until. */
bool answers_is_told(void *told);
/* Waits for it, and looks at the words, what is listed, and that the form that blocks was refused in the callback. */
void answers_expect(struct told *told, pdk_status status);
/* It came once. Gives back what it got. */
void answers_done(struct told *told);
/* The callbacks. */
void answers_status(pdk_status status, void *told);
void answers_list(pdk_status status, pdk_contenders *list, void *told);
void answers_runs(pdk_status status, pdk_job_runs *runs, void *told);
void answers_begun(pdk_status status, pdk_hold *hold, pdk_job_runs *runs, void *told);
void answers_acquired(pdk_status status, pdk_hold *hold, void *told);
void answers_opened(pdk_status status, pdk_guarded *guarded, void *told);
void answers_read(pdk_status status, const void *data, size_t size, void *told);

#endif
