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

#include "recipes.h"

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
    bool in_front;   /* a claim of the holder's stands in front of it, until it is poked */
    bool look_again; /* poked by what a stranger does, and not by the holder */
    bool alone;      /* it waits for what was prepared, and for no holder */
    int foreign;     /* nodes that were prepared, until `end` */
    int setting;     /* what is prepared for it: a number of the recipe */
} exit_state;

typedef struct {
    const exit_state *at;
    enum exit_way way;
    enum exit_failure failure;
    struct pair p;    /* the first client is the holder ahead; the second one's object is ours to unref */
    ts_answer *ahead; /* NULL: nobody */
    ts_answer *front; /* a claim of the holder's that stands in front; NULL: none */
    ts_answer *answer;
    bool late;     /* on a slow machine its time was over before it was where the case wants it */
    int64_t asked; /* ms: the claim's time ran from then at the latest */
} exit_case;

/* The exits of a recipe: its states, and what they need. */
typedef struct {
    const recipe *r;
    const exit_state *states;
    int count;
    void (*prepare)(exit_case *c); /* makes directories, as `setting` says */
    void (*poke)(exit_case *c);    /* what a stranger does: NULL, where no state needs it */
    void (*end)(exit_case *c);     /* takes away what is `foreign`; NULL: nothing */
} exit_row;

#define assert_exit(c, truth)                                                                                          \
    ck_assert_msg(truth, "%s / %s / %s / %s: %s", (c)->p.r->name, (c)->at->name, exit_failure_names[(c)->failure],     \
                  exit_way_names[(c)->way], #truth)

extern const char *const exit_way_names[], *const exit_failure_names[];

/* Adds a case for each way out of that state. */
void exits_add(const exit_state *at, enum exit_failure failure);
/* Runs the cases that were added, of that recipe. */
void exits_run(const exit_row *row);
/* For teardown. */
void exits_clear(void);

#endif
