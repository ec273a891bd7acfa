/* Exploring: schedule after schedule, one process for each core, until a promise is broken or the time is over. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "deployment.h"

struct exploration {
    uint64_t first;     /* seed */
    uint64_t schedules; /* how many; 0: until the time is over */
    double seconds;     /* 0: no matter how long */
    int32_t jobs;
    double report_every; /* s; 0: never */
};

/* The fault of a run: the check, or how the process died. */
struct finding {
    bool broken, fatal; /* fatal: the process died, or hung */
    uint64_t seed;
    char what[160], detail[200];
    double at;
    int32_t healed_ms; /* when the faults ended */
};

struct exploration_result {
    struct tally tally;
    struct finding finding;
    double seconds;
};

/* Run one plan in a process of its own, which may die of it. tally may be NULL. */
struct finding explore_one(const struct plan *plan, struct tally *tally);
struct exploration_result explore(const struct exploration *exploration, FILE *out);
/* Figures, in a few lines. */
void explore_print(const struct tally *tally, double seconds, int32_t jobs, FILE *out);
/* An event that must have happened for the run to prove anything and did not. NULL: nothing is missing. */
const char *explore_vacuous(const struct tally *tally);

/* shrink.c: the smallest plan found, in so many runs, that ends in the same finding. Says on out how it goes. */
void plan_shrink(struct plan *plan, struct finding *finding, int32_t runs_most, FILE *out);

#endif
