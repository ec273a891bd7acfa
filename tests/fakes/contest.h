/* Workers of three processes that ask for holds, cancel, and give back, at random: the play of every recipe that grants.
 *
 *     idle ──ask──► asking ──granted──► holds ──lost, told once──► gives back, after a while
 *       ▲              │ refused, cancelled  └── gives back ─────────┐
 *       └──────────────┴─────────────────────────────────────────────┘
 *
 * A judge of the test looks after each step. After the faults whoever waits for ever is served. */
#ifndef CONTEST_H
#define CONTEST_H

#include "trouble.h"

enum { CONTEST_WORKERS = 4 }; /* of each process, at most */

struct worker {
    int process, number;
    pdk_hold *hold;
    pdk_claim *claim;
    pdk_set *set; /* in the place of hold and claim, where it asks for one */
    pdk_set_claim *set_claim;
    bool asking, cancelled, is_try;
    int64_t asked_at, limit; /* ns; limit 0: it waits for ever */
    int64_t invalid_since;   /* 0: what it holds was valid when it was last looked at */
    unsigned losses;
};

extern struct worker workers[RIVALS][CONTEST_WORKERS];

struct contest {
    int workers;    /* of each process */
    int gives_back; /* a worker with a valid hold does so in one of so many steps */
    struct trouble trouble;
    sim_event_fn open, close; /* in a process; its number, as a pointer to int, is the subject */
    sim_event_fn ask;         /* in a process; the worker is the subject. It calls contest_ask */
    /* In the process. NULL: nobody wants to know. */
    void (*answered)(struct worker *w, pdk_status status);
    void (*judge)(void);
};

/* Anew, from a seed: the processes have opened, and a second has passed. */
void contest_begin(const struct contest *contest, guint seed);
void contest_end(void);
/* Everybody plays for so long. */
void contest_play(int ms, bool faults);
/* All is well: nobody asks any more, those that wait are served, and all give back. */
void contest_rest(void);

/* The worker asks now, with this timeout; its answer comes to contest_answer, whose user it is. */
void contest_ask(struct worker *w, int64_t timeout_ms);
void contest_answer(pdk_status status, pdk_hold *hold, void *user);
void contest_set_answer(pdk_status status, pdk_set *set, void *user);
bool contest_holds(const struct worker *w);

#endif
