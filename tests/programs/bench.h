/* What the lock costs, next to what ZooKeeper itself costs: the parts of the benchmark, and its table of targets. */
#ifndef BENCH_H
#define BENCH_H

#include <glib.h>
#include <paddock/paddock.h>
#include <stdbool.h>
#include <ts_ensemble.h>

struct bench {
    ts_ensemble *ensemble; /* one server */
    const char *folder;    /* for files of the run */
    bool quick;
    int missed; /* targets */
    GString *table;
};

/* A line of the table: `value` must be at most (or at least) `target`, both in `unit`. */
void bench_at_most(struct bench *bench, const char *what, double value, double target, const char *unit);
void bench_at_least(struct bench *bench, const char *what, double value, double target, const char *unit);

/* A session on `address`, the lock at `path` in it. Aborts when that fails. */
pdk_session *bench_open(const char *address, int session_ms);
pdk_lock *bench_lock(pdk_session *session, const char *path);
/* Aborts, saying why, unless status is PDK_OK. */
void bench_check(pdk_status status);

/* The parts. */
void bench_cycles(struct bench *bench);   /* acquire + release against the same by hand */
void bench_far(struct bench *bench);      /* the same behind a link with 10 ms round trip */
void bench_queue(struct bench *bench);    /* processes in line: requests counted */
void bench_threads(struct bench *bench);  /* threads on one lock */
void bench_awaiting(struct bench *bench); /* and beside threads that await an election */
void bench_valid(struct bench *bench);    /* asking a hold */

/* A process of bench_queue; returns its exit status. */
int bench_play(const char *board, const char *address, int seat);

#endif
