/*
 * However a claim ends, it leaves nothing. In each state of a claim the connection fails, and the claim ends in each
 * way it can. Within 2 s after the link works again no node of ours remains, and the path can be used.
 *
 *     state ──► link fails ──► exit ──► link heals ──► nothing left ──► acquired again
 *
 * This is the common part of such tests, for any recipe. The cases run side by side, each with a session and a path of
 * its own.
 */
#ifndef EXITS_H
#define EXITS_H

#include "ts_bench.h"

enum { EXITS_SESSION_MS = 3000, EXITS_CLAIM_MS = 500, EXITS_CLEAN_MS = 2000 };

enum exit_way { EXIT_BY_TIMEOUT, EXIT_BY_CANCEL, EXIT_BY_UNREF, EXIT_BY_TRY, EXIT_WAYS };

/* LATE: data under way is delivered after the exit. LOST: it is never delivered. LONG: the session has ended by
 * then. */
enum exit_failure {
    EXIT_RESET,
    EXIT_SILENT_LATE,
    EXIT_SILENT_LOST,
    EXIT_FAILURES,
    EXIT_SILENT_LONG = EXIT_FAILURES,
};

typedef struct {
    const char *name;
    int opcode; /* whose request or reply is lost; 0: the link fails when the claim is there */
    ts_proxy_loss loss;
    int second;      /* during the recovery, the reply to this one is lost as well; 0: none */
    bool after_poke; /* the request comes after the claim is in the queue and `poke` was called */
    bool behind;     /* it waits for another client: a try does not get there */
    bool in_queue;   /* a server has confirmed its position by then; `behind` implies it */
    bool granted;
    int setting; /* what the recipe sets up for it: a number of the recipe's test */
} exit_state;

typedef struct {
    const exit_state *at;
    enum exit_way way;
    enum exit_failure failure;
    const char *path;
    ts_client *client;
    void *object; /* the recipe object, ours to unref */
    pdk_hold *ahead[2];
    ts_answer *answer;
    int64_t asked; /* ms: the claim's time ran from then at the latest */
} exit_case;

/* What the test of a recipe provides. */
typedef struct {
    void (*set_up)(exit_case *c, ts_client *holder); /* makes directories, `object`, and the holds `ahead` */
    ts_answer *(*claim)(exit_case *c, int64_t timeout_ms);
    void (*poke)(exit_case *c); /* may be NULL, where no state needs it */
    void (*unref)(void *object);
    void (*check_clean)(exit_case *c, int64_t until_ms); /* nothing is left by then, and the path can be used */
} exit_recipe;

#define assert_exit(c, truth)                                                                                          \
    ck_assert_msg(truth, "%s / %s / %s: %s", (c)->at->name, exit_failure_names[(c)->failure],                          \
                  exit_way_names[(c)->way], #truth)

extern const char *const exit_way_names[], *const exit_failure_names[];

/* Adds a case for each way out of that state. */
void exits_add(const exit_state *at, enum exit_failure failure);
/* Runs the cases that were added. */
void exits_run(const exit_recipe *recipe);
/* For teardown. */
void exits_clear(void);

#endif
