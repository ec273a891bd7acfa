/* A simulated process: a clock of its own, threads that may be late, and pauses during which nothing of it runs.
 *
 *     sim_run_in(p, at, fn, subject, what)    fn runs in p then, or as soon as p runs again; its clock is pdk__platform's `now`
 */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include "sim_ensemble.h"

struct sim_waiting;

struct sim_process {
    struct sim_agenda *agenda;
    struct sim_ensemble *ensemble;
    struct sim_ensemble *const *more; /* independent ones; NULL: none */
    int32_t number, host;
    double rate;                   /* of its clock, against true time */
    int64_t offset;                /* its clock when the run began */
    int64_t slow_least, slow_most; /* how late a thread of it runs, each time */
    bool paused, dead;
    struct sim_waiting *waiting, *waiting_last; /* events that came due during a pause, in order */
    int32_t unsent, unsent_kind; /* so many requests more cannot be sent; of that kind alone, unless it is -1 */
    void *client;                /* sim_client.c's */
    void *session;               /* sim_platform.c's */
    void *user;                  /* the workload's */
};

/* The process whose code runs at this moment. Between events: the one that was entered, or NULL. */
struct sim_process *sim_process_current(void);
/* What the workload does between events it does in p, from now on. */
void sim_process_enter(struct sim_process *p);
/* Its clock now, in ns: never 0, never going back. */
int64_t sim_process_clock(const struct sim_process *p);
/* The true time at which its clock shows `clock`. */
int64_t sim_process_when(const struct sim_process *p, int64_t clock);
/* Run fn in p at a true time; late by the process's slowness when `thread` is true. After a kill it never runs. */
void sim_run_in(struct sim_process *p, int64_t at, bool thread, sim_event_fn fn, void *subject, void *what);
/* Run it at once, from the outside: by the workload. Not while it is paused or dead. */
void sim_call_in(struct sim_process *p, sim_event_fn fn, void *subject, void *what);
/* Run it in a process that is dead, to free what it left in memory. */
void sim_call_dead(struct sim_process *p, sim_event_fn fn, void *subject, void *what);
void sim_process_pause(struct sim_process *p, bool paused);
/* SIGKILL: nothing of it runs any more, its connections are hung up by the kernel. */
void sim_process_kill(struct sim_process *p);

#endif
