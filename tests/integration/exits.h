/*
 * Every path out leaves nothing: in each state of a claim the connection fails, the claim ends in each way it can, and
 * within 2 s after the link is good again no node of ours remains, and the path is of use.
 *
 *     state ──► link fails ──► exit ──► link heals ──► nothing left ──► acquired again
 *
 * The frame of such tests, for any recipe. The cases added are run side by side, each with a session and a path of its own.
 */
#ifndef EXITS_H
#define EXITS_H

#include "ts_stage.h"

enum { EXITS_SESSION_MS = 3000, EXITS_CLAIM_MS = 500, EXITS_CLEAN_MS = 2000 };

enum exit_way { EXIT_BY_TIMEOUT, EXIT_BY_CANCEL, EXIT_BY_UNREF, EXIT_BY_TRY, EXIT_WAYS };

/* LATE: what was under way is delivered after the exit. LOST: it never is. LONG: the session is over by then. */
enum exit_failure {
    EXIT_RESET,
    EXIT_SILENT_LATE,
    EXIT_SILENT_LOST,
    EXIT_FAILURES,
    EXIT_SILENT_LONG = EXIT_FAILURES,
};

typedef struct {
    const char *name;
    int opcode; /* whose request or reply is lost; 0: the link fails once the claim is there */
    ts_proxy_loss loss;
    int second;   /* on the way of recovery, the reply to this one is lost as well; 0: none */
    bool poked;   /* the request comes once the claim has its place, and the recipe's poke */
    bool behind;  /* it waits for somebody: a try does not get there */
    bool in_line; /* a server has confirmed its place by then; `behind` is that too */
    bool granted;
    int scene; /* what the recipe sets up for it, in its own words */
} exit_state;

typedef struct {
    const exit_state *at;
    enum exit_way way;
    enum exit_failure failure;
    const char *path;
    ts_client *client;
    void *object; /* the recipe's, ours to unref */
    pdk_hold *ahead[2];
    ts_answer *answer;
    int64_t asked; /* ms: a claim's time ran from then at the latest */
} exit_case;

/* What the test of a recipe does for it. */
typedef struct {
    void (*set_up)(exit_case *c, ts_client *keeper); /* directories, `object`, and who is `ahead` */
    ts_answer *(*claim)(exit_case *c, int64_t timeout_ms);
    void (*poke)(exit_case *c); /* or NULL, where no state needs it */
    void (*unref)(void *object);
    void (*check_clean)(exit_case *c, int64_t until_ms); /* nothing left by then, and of use */
} exit_recipe;

#define assert_exit(c, truth)                                                                                          \
    ck_assert_msg(truth, "%s / %s / %s: %s", (c)->at->name, exit_failure_names[(c)->failure],                          \
                  exit_way_names[(c)->way], #truth)

extern const char *const exit_way_names[], *const exit_failure_names[];

/* Adds a case for each way out of that state. */
void exits_add(const exit_state *at, enum exit_failure failure);
/* Plays those added. */
void exits_run(const exit_recipe *recipe);
/* For teardown. */
void exits_clear(void);

#endif
