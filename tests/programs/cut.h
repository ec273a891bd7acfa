/*
 * One cut: a holder (A) and a hand-written client (C) on one server, their successors (B, D) on the two others, and the
 * links between the two sides silenced while every client still reaches its server.
 *
 *      process of the holder                 this process
 *        A  Paddock ──┐                   ┌── Paddock  B   in line behind A
 *        C  bare    ──┴─ server ═╪═ servers ─┴── Paddock  D   in line behind C
 */
#ifndef CUT_H
#define CUT_H

#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <ts_ensemble.h>

enum cut_kind {
    CUT_FOLLOWER = 'F', /* A's follower is cut from its peers */
    CUT_LEADER = 'L',   /* A's leader is; only its followers notice, and elect another */
    CUT_PAUSED = 'P',   /* A is paused while the lock comes free; its follower is cut as it wakes and takes the lock */
};

enum { CUT_TEXT = 240 };

/* What the holder's process tells, in memory shared with the one that judges. Times are ts_now_ns's. */
struct cut_record {
    atomic_bool finish;         /* the judge: that is all */
    atomic_bool queued;         /* A has a place in line */
    _Atomic int64_t granted;    /* when A's callback ran */
    _Atomic int64_t last_valid; /* the last instant just before pdk_hold_valid answered true */
    _Atomic int64_t promised;   /* the latest until which pdk_hold_remaining_ms said it would */
    _Atomic int64_t lost_at;    /* LOST, by the callback */
    atomic_int lost_calls;      /* of the callback */
    atomic_int lost_events;     /* edges on the descriptor */
    atomic_int revived;         /* valid again after an answer of no */
    atomic_int reason;
    atomic_int expired;         /* times A's session was expired by the servers */
    _Atomic int64_t bare_since; /* C has its lock */
    _Atomic int64_t bare_until; /* the last answer of C's server that C has it still */
    char failure[CUT_TEXT];     /* why there is nothing to tell; written before the process ends */
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
    double overlap_ms;      /* from D's grant to C's last belief */
    double whole_ms;        /* from healing to a whole ensemble */
    char failure[CUT_TEXT]; /* "" when all is as promised */
};

/* The holder's process; returns its exit status. */
int cut_hold(const char *record, const char *address, const char *directory, int session_ms, bool bare);
/* Does one cut, heals it and waits for the ensemble to be whole again. */
void cut_run(const struct cut_plan *plan, enum cut_kind kind, int number, struct cut_result *result);

#endif
