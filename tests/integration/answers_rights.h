/* The calls about rights that answer by a callback - guarded znodes, jobs, lease locks - in one table, and what they are about. */
#ifndef ANSWERS_RIGHTS_H
#define ANSWERS_RIGHTS_H

#include <glib.h>
#include <stdatomic.h>

#include "ts_bench.h"

enum { SESSION_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000, SHORT_MS = 400 };

/* One client's, each call about objects of its own. The support closes what is left. */
extern struct rights {
    ts_client *client;
    char *base; /* the paths stand below it */
    pdk_hold *guards;
    pdk_guarded *read, *write, *create, *remove;
    pdk_job *asks, *ends;
    pdk_lease_lock *takes, *gives;
    pdk_hold *run, *leased; /* until their call has answered OK */
} rights;

struct told {
    const struct call *call;
    atomic_int count;
    pdk_status status;
    char *words;
    GThread *thread;
    pdk_status inside;  /* of the form that blocks, in the callback */
    struct told *chain; /* its call is made in the callback */
    /* What it got. rights_done gives it back. */
    char *data;
    pdk_hold *hold;
    pdk_guarded *guarded;
    pdk_job_runs *runs;
};

struct call {
    const char *name;
    pdk_status (*start)(int64_t timeout_ms, struct told *told); /* NULL: without a callback */
    pdk_status (*block)(void);
};

enum { OPEN, READ, WRITE, CREATE, REMOVE, ASK, END, TAKE, GIVE, CALLS };
extern const struct call calls[CALLS];

/* The paths below the base: "guarded", "opened", "asks", "ends", "takes", "gives". The support frees it. */
const char *rights_path(const char *name);
void rights_begin(pdk_dispatch dispatch);
void rights_begin_with(pdk_dispatch dispatch, int session_ms, int request_ms);
void rights_end(void);
pdk_job *rights_job(const ts_client *client, const char *name);
pdk_lease_lock *rights_lease(const ts_client *client, const char *name, const char *secret);
/* Fails the test when it is refused. */
void rights_ask(int call, int64_t timeout_ms, struct told *told);
/* For ts_wait_until. */
bool rights_is_told(void *told);
/* Waits for it. */
void rights_expect(struct told *told, pdk_status status);
/* It came once. Gives back what it got. */
void rights_done(struct told *told);
/* The callbacks. */
void rights_status(pdk_status status, void *told);
void rights_opened(pdk_status status, pdk_guarded *guarded, void *told);
void rights_read(pdk_status status, const void *data, size_t size, void *told);
void rights_acquired(pdk_status status, pdk_hold *hold, void *told);
void rights_begun(pdk_status status, pdk_hold *hold, pdk_job_runs *runs, void *told);

#endif
