/* What happened in one run, as data, in the order of true time; and the promises, checked over it.
 *
 *     observe.c ──► struct history ──► checker_look, event by event ──► the promise that is broken, or none
 *                        │
 *                        └── test_history.c changes it, and the checker must notice
 *
 * Nothing in here knows the driver: the checker sees events, never pointers. `until` is the hold's atomic word, turned from its
 * process's clock into true time, which no process can see.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define HISTORY_EVENTS 16384
#define HISTORY_HOLDS 2048
#define HISTORY_CLAIMS 1024
#define HISTORY_NODES 2048
#define HISTORY_SESSIONS 256

/* X(CONSTANT, "name", "a", "b"): the kind, and what its two numbers mean. */
#define HISTORY_KINDS(X)                                                                                               \
    X(PROCESS, "process", "late", "")        /* id: process; begins; late: its threads may be so late, ns */           \
    X(PAUSED, "paused", "", "")              /* id: process */                                                         \
    X(RESUMED, "resumed", "", "")            /* id: process */                                                         \
    X(KILLED, "killed", "", "")              /* id: process */                                                         \
    X(OPEN, "open", "", "")                  /* id: session object, of process */                                      \
    X(TAINTED, "tainted", "status", "")      /* id: session object: that answer is allowed from here on */             \
    X(SESSION, "session", "event", "")       /* id: session object: its event */                                       \
    X(RETIRED, "retired", "", "")            /* id: session object: it has given up its ZooKeeper session */           \
    X(CLOSED, "closed", "", "")              /* id: session object: no callback from here on */                        \
    X(CLOSING, "closing", "", "")            /* id: session object: in the background */                               \
    X(ALIVE, "alive", "connected", "")       /* id: session object, at the end */                                      \
    X(CLAIM, "claim", "due", "try")          /* id: claim, of session number, on path; extra: due by its clock */      \
    X(CANCEL, "cancel", "must", "")          /* id: claim: CANCELED must follow, or may */                             \
    X(ANSWER, "answer", "status", "hold")    /* id: claim; extra: its owner wants to hear of a loss */                 \
    X(GRANT, "grant", "token", "until")      /* id: hold, of session number, on path; handover in extra */             \
    X(EXTEND, "extend", "until", "")         /* id: hold; or shorten */                                                \
    X(ENDED, "ended", "", "")                /* id: hold: its word says lapsed or released */                          \
    X(LEASED, "leased", "until", "promised") /* id: session object: its lease; what the leader's clock has for it */   \
    X(LOST, "lost", "reason", "valid")       /* id: hold: its callback */                                              \
    X(RELEASED, "released", "status", "dropped") /* id: hold: by its owner; dropped: unref alone */                    \
    X(WRITE, "write", "token", "accepted")       /* id: hold; handover in extra: arrives at the path's resource */     \
    X(CREATED, "created", "czxid", "place")      /* id: sequence, by session number; extra: ZooKeeper session */       \
    X(DELETED, "deleted", "czxid", "by") /* id: sequence; by: ZooKeeper session, 0: an admin; extra: owner expired */  \
    X(RMDIR, "rmdir", "by", "")          /* the path's directory */                                                    \
    X(MEDDLED, "meddled", "by", "")      /* a client's session changed what is not its own */                          \
    X(WOKEN, "woken", "czxid", "place")  /* by the deletion of that node */                                            \
    X(LIED, "lied", "session", "")       /* a server is made to say what is not so */                                  \
    X(STEPS, "steps", "most", "steps")   /* how much goes on while nothing is to be done */                            \
    X(HEALED, "healed", "", "")                                                                                        \
    X(END, "end", "in_time", "") /* in_time: it converged */

enum history_kind {
#define HISTORY_KIND_CONSTANT(constant, name, a, b) HISTORY_##constant,
    HISTORY_KINDS(HISTORY_KIND_CONSTANT)
#undef HISTORY_KIND_CONSTANT
        HISTORY_KIND_COUNT
};

struct history_event {
    int64_t at;    /* true time, ns */
    int64_t clock; /* of the process; 0: none's */
    int64_t a, b;
    int64_t extra;
    int32_t id;
    int16_t kind; /* a history_kind */
    int8_t process, path;
    int32_t number; /* of the session object */
    int32_t passed; /* GRANT: how many waited for longer in the same line of the process */
};

struct history {
    int32_t count;
    bool full;
    struct history_event events[HISTORY_EVENTS];
};

/* A copy of the event, or NULL where there is no room; the rest of it is zero. */
struct history_event *history_add(struct history *h, int64_t at, enum history_kind kind, int32_t id);
uint64_t history_hash(const struct history *h);
void history_print(const struct history_event *event, FILE *out);

/* ---- the promises. X(CONSTANT, "what is broken") */
#define CHECKS(X)                                                                                                      \
    X(EXCLUSION, "two holds of a path are valid at the same moment")                                                   \
    X(LEASE, "the node of a valid hold is gone")                                                                       \
    X(PROMISED, "a lease outlives what the leader's clock has for its session")                                        \
    X(GONE, "a hold does not end though its node is gone")                                                             \
    X(OUTLIVED, "a hold is valid after its client has given up the session")                                           \
    X(REVIVED, "a hold that was invalid is valid again")                                                               \
    X(NODE, "a grant without a node")                                                                                  \
    X(ORDER, "a grant while a smaller number is in line")                                                              \
    X(TOKENS, "tokens do not increase in the order of grants")                                                         \
    X(LOCAL_ORDER, "threads of a process are not served in their order")                                               \
    X(DELIVERY, "a grant is delivered that is not valid, or too late")                                                 \
    X(TURNS, "more hand-overs in a row than allowed, or for longer")                                                   \
    X(STALE, "a stale write is accepted, or a fresh one refused")                                                      \
    X(HOLDERS_WRITE, "a write of the valid holder is refused")                                                         \
    X(LOST_TWICE, "a second LOST for one hold")                                                                        \
    X(LOST_VALID, "LOST for a hold that is valid, or without a reason")                                                \
    X(LOST_RELEASED, "LOST after the release")                                                                         \
    X(LOST_LATE, "LOST is late")                                                                                       \
    X(RELEASE, "a release answers what is not so")                                                                     \
    X(OWN_NODES, "a client deletes or changes what is not its own")                                                    \
    X(ONE_NODE, "a place has two nodes")                                                                               \
    X(ONE_WAKE_UP, "one deletion wakes two places")                                                                    \
    X(ANSWER_ONCE, "a claim is answered twice, or by nobody's call")                                                   \
    X(DEADLINE, "a claim is answered late")                                                                            \
    X(STATUS, "a claim is answered with the wrong status")                                                             \
    X(SILENCE, "a callback after the close")                                                                           \
    X(SESSION_ORDER, "session events in an order that makes no sense")                                                 \
    X(WAITER_STUCK, "a claim is never answered")                                                                       \
    X(ORPHAN, "a node is left behind")                                                                                 \
    X(SESSION_DEAD, "a session does not come back after the faults")                                                   \
    X(AT_REST, "it does not come to rest")                                                                             \
    X(ENDLESS, "the run does not end")

enum check {
#define CHECK_CONSTANT(constant, words) CHECK_##constant,
    CHECKS(CHECK_CONSTANT)
#undef CHECK_CONSTANT
        CHECK_COUNT
};

const char *check_name(enum check check);
const char *check_words(enum check check);

#define CHECKER_STATUSES 19

struct checker_hold {
    int64_t token, granted_at, until, ended_at;
    uint32_t handover;
    int32_t session;
    int8_t process, path;
    bool known, ended, received, wants_lost, released, dropped, lost, robbed;
};

struct checker_claim {
    int64_t deadline, due; /* by the process's clock; in true time */
    int32_t session;
    int8_t process, path;
    bool known, is_try, cancel_may, cancel_must, answered;
};

struct checker_node {
    int64_t czxid, session, place, woken, gone_at;
    int32_t sequence;
    int8_t path;
    bool gone, robbed, behind; /* behind: somebody was in line when it came */
};

struct checker_session {
    int8_t process;
    bool known, closed, closing, ended, ever, connected, restored;
    bool tainted[CHECKER_STATUSES];
};

struct checker_process {
    int64_t late, resumed_at;
};

struct checker_path {
    int64_t token, largest_token, granted_token, granted_clock;
    uint32_t handover, largest_handover;
};

struct checker {
    int32_t max_handovers, max_handover_ms; /* of the plan */
    int64_t timeout;
    bool broken;
    enum check check;
    char detail[200];
    int64_t at; /* when */
    uint64_t evaluated[CHECK_COUNT];
    /* what is known */
    int64_t healed_at;
    int32_t holds_count, claims_count, nodes_count, live_count, valid_count, lies_count;
    struct checker_process processes[PLAN_PROCESSES];
    struct checker_path paths[PLAN_PATHS];
    struct checker_session sessions[HISTORY_SESSIONS];
    struct checker_hold holds[HISTORY_HOLDS];
    struct checker_claim claims[HISTORY_CLAIMS];
    struct checker_node nodes[HISTORY_NODES];
    int32_t live[HISTORY_NODES];  /* indices of nodes that exist */
    int32_t valid[HISTORY_HOLDS]; /* indices of holds whose word is not over */
    int64_t lies[64];             /* ZooKeeper sessions that were lied to */
};

void checker_begin(struct checker *c, const struct plan *plan);
/* One event more; false when a promise is broken, and nothing more is looked at. */
bool checker_look(struct checker *c, const struct history_event *event);
/* The whole of it. */
bool checker_look_all(struct checker *c, const struct plan *plan, const struct history *h);

/* inside: checks_holds.c, checks_nodes.c, checks_claims.c */
void checker_break(struct checker *c, enum check check, const struct history_event *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void checker_hold_event(struct checker *c, const struct history_event *e);
void checker_holds_end(struct checker *c, const struct history_event *e);
void checker_node_event(struct checker *c, const struct history_event *e);
void checker_nodes_end(struct checker *c, const struct history_event *e);
void checker_claim_event(struct checker *c, const struct history_event *e);
void checker_claims_end(struct checker *c, const struct history_event *e);
/* How late something of the process that was due at `due` may be now. */
int64_t checker_latest(const struct checker *c, int8_t process, int64_t due);
struct checker_node *checker_node_of(struct checker *c, int64_t czxid);
bool checker_is_valid(const struct checker_hold *hold, int64_t at);

#endif
