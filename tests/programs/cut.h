/*
 * One cut. A holder (A) and a hand-written client (C) are on one server, and their successors (B, D) on the two others.
 * The links between the two sides are silenced, while every client still reaches its server.
 *
 *      process of the holder                 this process
 *        A  Paddock ──┐                   ┌── Paddock  B   in the queue behind A
 *        C  bare    ──┴─ server ═╪═ servers ─┴── Paddock  D   in the queue behind C
 */
#ifndef CUT_H
#define CUT_H

#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <ts_ensemble.h>

enum cut_kind {
    CUT_FOLLOWER = 'F', /* A's follower is cut from its peers */
    CUT_LEADER = 'L',   /* A's leader is cut; only its followers notice, and elect another */
    CUT_PAUSED = 'P', /* A is paused when the lock becomes free; its follower is cut when A wakes and takes the lock */
};

enum { CUT_TEXT = 240 };

/* What the holder's process reports, in memory that it shares with the judging process. Times are ts_now_ns's. */
struct cut_record {
    atomic_bool finish;         /* the judging process: stop */
    atomic_bool queued;         /* A has a position in the queue */
    _Atomic int64_t granted;    /* when A's callback ran */
    _Atomic int64_t last_valid; /* the last instant just before pdk_hold_is_valid answered true */
    _Atomic int64_t promised;   /* the latest time until which pdk_hold_remaining_ms promised it */
    _Atomic int64_t lost_at;    /* when the LOST callback ran */
    atomic_int lost_calls;      /* how often it ran */
    atomic_int lost_events;     /* edges on the descriptor */
    atomic_int revived;         /* valid again after an answer of no */
    atomic_int reason;
    atomic_int expired;         /* how often the servers expired A's session */
    _Atomic int64_t bare_since; /* C has its lock */
    _Atomic int64_t bare_until; /* the last answer of C's server that C still has it */
    char failure[CUT_TEXT];     /* why there is no result; written before the process ends */
};

struct cut_plan {
    ts_ensemble *ensemble;
    const char *record; /* path */
    int session_ms, tick_ms;
    GRand *chance;
};

struct cut_result {
    enum cut_kind kind;
    bool held;              /* A had the lock at the cut */
    double lost_ms;         /* from the cut to LOST */
    double granted_ms;      /* from the cut to B's grant */
    double gap_ms;          /* from A's last valid instant to B's grant */
    double overlap_ms;      /* from D's grant until C last believed to hold */
    double whole_ms;        /* from healing to a complete ensemble */
    char failure[CUT_TEXT]; /* "" when all is as promised */
};

/* The holder's process; returns its exit status. */
int cut_hold(const char *record, const char *address, const char *directory, int session_ms, bool bare);
/* Does one cut, heals it and waits until the ensemble is complete again. */
void cut_run(const struct cut_plan *plan, enum cut_kind kind, int number, struct cut_result *result);

#endif
