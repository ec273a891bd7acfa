/* Parts of the bench that count, or that measure the library against itself: and their table of targets. The rows beside
 * other clients are played by `bench`. */
#ifndef PARTS_H
#define PARTS_H

#include <glib.h>
#include <paddock/paddock.h>
#include <stdbool.h>
#include <ts_ensemble.h>

struct bench {
    ts_ensemble *ensemble; /* one server */
    const char *folder;    /* for files of the run */
    bool quick;
    int missed; /* targets that were missed */
    GString *table;
};

/* A row of the table: `value` must be at most (at least, exactly) `target`, both in `unit`. */
void bench_at_most(struct bench *bench, const char *what, double value, double target, const char *unit);
void bench_at_least(struct bench *bench, const char *what, double value, double target, const char *unit);
void bench_exactly(struct bench *bench, const char *what, double value, double target, const char *unit);

/* A session on `address`, the lock at `path` in it. Aborts when that fails. */
pdk_session *bench_open(const char *address, int session_ms);
pdk_lock *bench_lock(pdk_session *session, const char *path);
/* Aborts with an error text, unless status is PDK_OK. */
void bench_check(pdk_status status);

/* The parts. */
void bench_queue(struct bench *bench);    /* processes in the queue: requests counted */
void bench_awaiting(struct bench *bench); /* threads on one lock, beside threads that await an election */
void bench_crowd(struct bench *bench);    /* thousands of claims in one session: the longest wait of a call */
void bench_valid(struct bench *bench);    /* asking whether a hold is valid */
void bench_costs(struct bench *bench);    /* what each recipe costs in round trips, as its page says */
void bench_guarded(struct bench *bench);  /* a set of a guarded znode, compared with a bare one */
void bench_burst(struct bench *bench);    /* a hold beside thousands of claims of its session */

/* A process of queue.c; returns its exit status. */
int bench_client_run(const char *control, const char *address, int index);

#endif
