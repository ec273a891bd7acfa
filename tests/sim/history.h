/* The events of one run, as data, in the order of true time.
 *
 *     observe.c ──► struct history ──► checker.h, event by event ──► the promise that is broken, or none
 *                        │
 *                        └── tests/checker changes it, and the checker must notice
 *
 * `until` is the hold's atomic word, turned from its process's clock into true time, which no process can see.
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
#define HISTORY_CANDIDACIES 512
#define HISTORY_OBSERVERS 1024
#define HISTORY_CONTENTS 2048
#define HISTORY_ASKINGS 512
#define HISTORY_DATA 2048
#define HISTORY_REPORTS 8192

/* X(CONSTANT, "name", "a", "b"): the kind, and what its two numbers mean. */
#define HISTORY_KINDS(X)                                                                                               \
    X(PROCESS, "process", "late", "")   /* id: process; begins; late: its threads may be so late, ns */                \
    X(PAUSED, "paused", "", "")         /* id: process */                                                              \
    X(RESUMED, "resumed", "", "")       /* id: process */                                                              \
    X(KILLED, "killed", "", "")         /* id: process */                                                              \
    X(OPEN, "open", "", "")             /* id: session object, of process */                                           \
    X(TAINTED, "tainted", "status", "") /* id: session object: that answer is allowed from here on */                  \
    X(SESSION, "session", "event", "")  /* id: session object: its event */                                            \
    X(RETIRED, "retired", "", "")       /* id: session object: its ZooKeeper session is given up */                    \
    X(CLOSED, "closed", "", "")         /* id: session object: no callback from here on */                             \
    X(CLOSING, "closing", "", "")       /* id: session object: in the background */                                    \
    X(ALIVE, "alive", "connected", "")  /* id: session object, at the end */                                           \
    /* of a set: sequence: so many parts suffice, 0: all */                                                            \
    X(CLAIM, "claim", "due", "try") /* id: claim, of session number, on path; mode, count; extra: due by its clock; */ \
                                    /* passed: of a job, for so long others may be in its way, ms */                   \
    X(RIGHT, "right", "place", "")  /* id: claim of a set: it is also about path; mode, count */                       \
    X(PART, "part", "hold", "place")      /* id: claim of a set that is about to be answered */                        \
    X(LOOKED, "looked", "valid", "parts") /* id: claim: its set says that it is valid, and so many parts of it are */  \
    X(SET_LOST, "set_lost", "reason", "valid")           /* id: claim: the callback of its set */                      \
    X(SET_RELEASED, "set_released", "status", "dropped") /* id: claim: its set, by its owner; dropped: as above */     \
    X(CANCEL, "cancel", "must", "")                      /* id: claim: CANCELED must follow, or may */                 \
    X(ANSWER, "answer", "status", "hold")                /* id: claim; extra: its owner wants to hear of a loss */     \
    X(GRANT, "grant", "token",                                                                                         \
      "until") /* id: hold, of session number, on path; mode, count, sequence; extra: hand-over */                     \
    X(STANDS, "stands", "czxid", "") /* id: hold: on that node, too; of a read/write lock from now on instead */       \
    X(DOWNGRADED, "downgraded", "status", "") /* id: hold: its owner asked for it */                                   \
    X(EXTEND, "extend", "until", "")          /* id: hold; or shorten */                                               \
    X(ENDED, "ended", "", "")                 /* id: hold: its word says lapsed or released */                         \
    X(LEASED, "leased", "until", "promised")  /* id: session object: its lease; what the leader's clock has for it */  \
    X(LOST, "lost", "reason", "valid")        /* id: hold: its callback */                                             \
    X(RELEASED, "released", "status", "dropped") /* id: hold: by its owner; dropped: unref alone */                    \
    X(WRITE, "write", "token",                                                                                         \
      "accepted") /* id: hold; extra: hand-over: arrives at the path's resource; SHARED: it reads */                   \
    X(GUARDED, "guarded", "status",                                                                                    \
      "payload") /* id: hold, on path; count: a history_call; extra: when it began; passed: its timeout, ms */         \
    X(CONTENT, "content", "token",                                                                                     \
      "write") /* id: payload, of the path's guarded node; sequence: hand-over; extra: ZooKeeper session; mode: */     \
               /* SHARED for a tombstone */                                                                            \
    X(RECORD, "record", "token",                                                                                       \
      "number") /* id: what stands in its first line: R, F, H or N; number: the outcome, or whose secret, of the */    \
                /* path's record; extra: ZooKeeper session; count: lines; number: of the second line what stands */    \
                /* there, sequence: the lower half of its token; clock: the servers' moment */                         \
    X(ENDING, "ending", "outcome",                                                                                     \
      "") /* id: hold: its owner tells an outcome, or gives the lock up; passed: the timeout, ms */                    \
    X(ENDING_ANSWERED, "ending_answered", "status", "") /* id: hold */                                                 \
    X(RUNS, "runs", "status", "token")     /* id: claim that is skipped, -1: a read; of the newest run that is */      \
                                           /* told, b 0: none, sequence: outcome, mode: pdk_job_state; count: how */   \
                                           /* many; extra: when it began, passed: the timeout, ms */                   \
    X(JOINED, "joined", "identity", "")    /* id: candidacy, of session number, on path */                             \
    X(ELECTED, "elected", "token", "hold") /* id: candidacy; extra: as ANSWER's */                                     \
    X(DEPOSED, "deposed", "reason", "")    /* id: candidacy */                                                         \
    X(RESIGNED, "resigned", "status", "")  /* id: candidacy */                                                         \
    X(LEFT, "left", "", "")                /* id: candidacy */                                                         \
    X(FAILED, "failed", "status", "")      /* id: candidacy */                                                         \
    X(OBSERVES, "observes", "frees", "")   /* id: observer, of session number, on path; frees: there is a user_free */ \
    X(LEADER, "leader", "token", "identity") /* id: observer */                                                        \
    X(STOPPED, "stopped", "", "")            /* id: observer */                                                        \
    X(FREED, "freed", "", "")                /* id: observer: its user_free */                                         \
    X(CREATED, "created", "czxid",                                                                                     \
      "mark")                            /* id: sequence; extra: ZooKeeper session; number: a candidate's identity; */ \
                                         /* clock: what its identity looks like; of a member: its data */              \
    X(DELETED, "deleted", "czxid", "by") /* id: sequence; by: ZooKeeper session, 0: an admin; extra: owner expired; */ \
                                         /* clock: of a member's, the zxid */                                          \
    X(ASKS, "asks", "token",                                                                                           \
      "due") /* id: ask, of session number, on path; token: of the node to break, 0: to let go; */                     \
             /* extra: due by its clock; passed: another token */                                                      \
    X(WISH, "wish", "czxid",                                                                                           \
      "identity")              /* id: ask: it stands in that node; count: an admin has written there before */         \
    X(TOLD, "told", "ask", "") /* id: hold: its callback */                                                            \
    X(ASK_ANSWERED, "ask_answered", "status", "") /* id: ask */                                                        \
    X(RMDIR, "rmdir", "by", "")                   /* the path's directory */                                           \
    X(PLEDGED, "pledged", "czxid", "by")          /* id: sequence of the node with that czxid: its pledge is made, */  \
    X(UNPLEDGED, "unpledged", "czxid", "by")      /* and deleted */                                                    \
    X(RECORDED, "recorded", "number", "by")       /* on which all who use the path agree, by a session */              \
    X(CHANGED_FOREIGN, "changed_foreign", "by", "") /* a session changed a node that is not its own */                 \
    X(WOKEN, "woken", "czxid", "mark")              /* by the deletion of that node */                                 \
    X(MISLED, "misled", "session", "")              /* a server gives it a false answer */                             \
    X(STEPS, "steps", "most", "steps")              /* how much goes on at rest */                                     \
    X(HEALED, "healed", "", "")                                                                                        \
    X(SETTLED, "settled", "in_time", "")    /* everybody was served, but for candidates; now they leave */             \
    X(END, "end", "in_time", "")            /* in_time: it converged */                                                \
    X(ADMITTED, "admitted", "sequence", "") /* id: hold of any stripe: of the node with which it stood on the path */  \
    X(CHANGED, "changed", "czxid",                                                                                     \
      "data")                          /* id: sequence of a member's node; extra: zxid; clock: ZooKeeper session */    \
    X(AMENDS, "amends", "data", "due") /* id: candidacy of a member; extra: due by its clock */                        \
    X(AMENDED, "amended", "data", "status")        /* id: candidacy of a member */                                     \
    X(PARTED, "parted", "", "")                    /* id: candidacy of a member: its user_free */                      \
    X(DIFFERENCE, "difference", "before", "after") /* id: observer: so a node has changed; extra: its token, */        \
                                                   /* -1: of two nodes; or UNREADABLE */                               \
    X(MEMBER, "member", "token", "changed") /* id: observer; extra: data; clock: ZooKeeper session; sequence; */       \
                                            /* mode: status */                                                         \
    X(VIEW, "view", "number", "exact")      /* id: observer: it is told of those, in one; count: how many; */          \
                                            /* extra: differences */

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
    int32_t number;   /* of the session object */
    int32_t passed;   /* GRANT: how many waited for longer in the same queue of the process */
    int32_t sequence; /* GRANT: of the node in the queue, also of a semaphore */
    int16_t count;    /* CLAIM, GRANT: permits */
    int8_t mode;      /* a history_mode: of a claim, a hold, a node, a write, or a woken entry */
};

/* A node, and the grant that stands on it, keeps out: everybody; writers; or all that find no room beside it. */
enum history_mode { MODE_EXCLUSIVE, MODE_SHARED, MODE_PERMIT, MODE_SET /* a claim: several at once */ };

/* The calls about a guarded node. */
enum history_call { CALL_OPEN, CALL_GET, CALL_SET, CALL_CREATE, CALL_DELETE };

/* The leader that observers name: nobody, or not one of ours; a text that an admin wrote; a candidate whose node may
 * not be read. */
enum { IDENTITY_FOREIGN = -1, IDENTITY_BY_HAND = -2, IDENTITY_UNREADABLE = -3 };
/* Of a DIFFERENCE: the member may not be read. */
enum { UNREADABLE = -2 };

struct history {
    int32_t count;
    bool full;
    struct history_event events[HISTORY_EVENTS];
};

/* A copy of the event, or NULL where there is no room; the rest of it is zero. */
struct history_event *history_add(struct history *h, int64_t at, enum history_kind kind, int32_t id);
uint64_t history_hash(const struct history *h);
void history_print(const struct history_event *event, FILE *out);

#endif
