/* Simulated time: the events to come, in one heap, and the memory and the random numbers of one run.
 *
 *     sim_at(agenda, at, fn, subject, what)        note it
 *     while (sim_step(agenda, until)) …            the earliest happens, and time moves to it
 *
 * Everything a run needs comes from here: equal seeds give equal runs. Events of the same moment happen in
 * the order they were noted. Memory is given back all at once, by the next sim_agenda_begin. For one thread.
 */
#ifndef SIM_AGENDA_H
#define SIM_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MS INT64_C(1000000)

typedef void (*sim_event_fn)(void *subject, void *what);

/* xoshiro256**. Separate streams do not disturb each other: a run stays the same when one of them is used more or
 * less. */
struct sim_random {
    uint64_t state[4];
};
void sim_random_begin(struct sim_random *r, uint64_t seed);
uint64_t sim_random_next(struct sim_random *r);
/* From least to most, both included. */
int64_t sim_random_between(struct sim_random *r, int64_t least, int64_t most);
/* True once in `once` times; never for 0. */
bool sim_random_one_in(struct sim_random *r, uint32_t once);

struct sim_entry {
    int64_t at;
    uint64_t order;
    sim_event_fn fn;
    void *subject, *what;
};

struct sim_block;

struct sim_agenda {
    int64_t now;         /* ns since the run began: true time, which no process of a run can see */
    uint64_t steps;      /* events that happened */
    uint64_t idle_steps; /* events that only kept time: see sim_idle */
    struct sim_random chance;
    /* inside */
    uint64_t order;
    struct sim_entry *heap;
    size_t count, room;
    struct sim_block *blocks;
};

void sim_agenda_init(struct sim_agenda *a);
void sim_agenda_free(struct sim_agenda *a);
/* Forget everything and begin anew at time 0. */
void sim_agenda_begin(struct sim_agenda *a, uint64_t seed);

void sim_at(struct sim_agenda *a, int64_t at, sim_event_fn fn, void *subject, void *what);
/* The earliest event at or before `until` happens. false: there is none, and the time is `until` now. */
bool sim_step(struct sim_agenda *a, int64_t until);
/* Called by an event that turned out to be a heart-beat, or a moment at which nothing was due. It does not count as an
 * event of the schedule. */
void sim_idle(struct sim_agenda *a);

/* Zeroed memory until the next sim_agenda_begin. */
void *sim_alloc(struct sim_agenda *a, size_t size);
char *sim_text(struct sim_agenda *a, const char *text);

#endif
