/* A schedule of the simulation, as data: a deployment, and actions in it with their times. A failing seed shrinks to such a
 * text, and tests/sim/regressions keeps some:
 *
 *     set seed 4711
 *     set processes 3
 *     at 120 acquire process=0 lock=0 timeout=-1 hold=400 writes=2 late=30 lost=1 end=0
 *     at 200 isolate server=of-p0 for=2500
 *
 * Times are milliseconds of true time. A setting that is missing has its default. The seed gives latencies, lateness, clocks and UUIDs.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PLAN_PROCESSES 8
#define PLAN_PATHS 3
#define PLAN_LOCKS (2 * PLAN_PATHS) /* two recipe objects of each path in each process: lock / 2 is the path */
#define PLAN_ACTIONS 512
#define PLAN_VALUES 11
#define PLAN_COUNT_MOST 4 /* permits asked for at once */
#define PLAN_STRIPES 6
#define PLAN_QUEUES (PLAN_PATHS * (1 + PLAN_STRIPES)) /* of the paths, and behind them of the stripes of each path */

/* X(name, default, least, most) */
#define PLAN_SETTINGS(X)                                                                                               \
    X(processes, 3, 1, PLAN_PROCESSES)                                                                                 \
    X(servers, 3, 1, 5)                                                                                                \
    X(tick, 200, 20, 10000)         /* of the servers, ms */                                                           \
    X(sync_limit, 5, 2, 100)        /* ticks until a follower gives its leader up */                                   \
    X(session, 1500, 400, 60000)    /* the timeout asked for, ms */                                                    \
    X(session_least, 0, 0, 60000)   /* servers clamp it to that; 0: two ticks */                                       \
    X(request, 800, 1, 60000)       /* request_timeout_ms: bounds a try */                                             \
    X(tell_tick, 1, 0, 1)           /* pass server_tick_ms to the sessions */                                          \
    X(election_least, 20, 1, 60000) /* ms */                                                                           \
    X(election_most, 200, 1, 60000)                                                                                    \
    X(latency_least, 100, 1, 1000000) /* of each packet, us */                                                         \
    X(latency_most, 500, 1, 1000000)                                                                                   \
    X(far_to, 0, 0, 60000)                /* more of it to processes with an even number, ms */                        \
    X(far_from, 0, 0, 60000)              /* and from them */                                                          \
    X(slow, 200, 0, 1000000)              /* how late threads of processes run at most, us */                          \
    X(rates, 0, 0, 500000)                /* how far rates of clocks are off at most, millionths */                    \
    X(containers, 1, 0, 1)                /* the servers know containers */                                            \
    X(reap, 0, 0, 600000)                 /* how often empty containers are removed, ms; 0: never */                   \
    X(handovers, 256, 0, 1000000)         /* max_handovers */                                                          \
    X(handover_ms, 100, 0, 1000000)       /* max_handover_ms */                                                        \
    X(linger, 0, 0, 60000)                /* linger_ms of locks without a lock-delay */                                \
    X(first, 0, INT32_MIN, INT32_MAX)     /* each directory's counter at the beginning; 0: no directory yet */         \
    X(kazoo, 0, 0, (1 << PLAN_PATHS) - 1) /* a bit for each path with kazoo's names */                                 \
    X(recipe0, 0, 0, PLAN_RECIPES - 1)    /* of each path: a plan_recipe */                                            \
    X(recipe1, 0, 0, PLAN_RECIPES - 1)                                                                                 \
    X(recipe2, 0, 0, PLAN_RECIPES - 1)                                                                                 \
    X(permits0, 2, 1, 100) /* of each path, where it is a semaphore; of a striped lock: its stripes */                 \
    X(permits1, 2, 1, 100)                                                                                             \
    X(permits2, 2, 1, 100)                                                                                             \
    X(every, 0, 0, 600000)         /* of jobs, ms: their period; 0: none */                                            \
    X(least, 0, 0, 600000)         /* and their limits: no sooner after a start than that, */                          \
    X(most, 0, 0, 600000)          /* and so long at most; 0: no limit */                                              \
    X(retry, 0, 0, 1)              /* a run that died may be retried at once */                                        \
    X(keep, 4, 1, 100)             /* how many runs a record keeps */                                                  \
    X(duration, 1500, 1000, 60000) /* of lease locks: how long they stand after a renewal, ms */                       \
    X(delay0, 0, 0, 60000)         /* of each path, where it is a lock or an election: the lock-delay, ms; 0: none */  \
    X(delay1, 0, 0, 60000)                                                                                             \
    X(delay2, 0, 0, 60000)                                                                                             \
    X(sides, 0, 0, 1) /* each session has another one beside it, which has the objects of the second path */           \
    X(ensembles, 1, 1, PLAN_PATHS) /* of several, each path has one, and each process a session to each */             \
    X(listens, 0, 0, 1)            /* holders want to hear that they are asked to let go */                            \
    X(disagree, 0, 0, 1)           /* processes with an odd number think that there is one permit, or one ms, more */  \
    X(guarded, 0, 0, 20)           /* how often a holder reads or writes the guarded znode of its path */              \
    X(guarded_ms, 500, 0, 60000)   /* the timeout of each such call */                                                 \
    X(logs, 0, 0, 1)               /* the sessions log */                                                              \
    X(horizon, 5000, 0, 1000000)   /* when all is healed, ms */                                                        \
    X(enough, 0, 0, 1000000)       /* or as soon as that many events have happened; 0: not before */                   \
    X(rest, 0, 0, 1)               /* look whether it comes to rest afterwards */

/* X(CONSTANT, "name", values…): a value ends in '@' when it is a host: s0, p3, leader, follower, other, of-p3; in '?' when it
 * is left out where it is 0. */
#define PLAN_KINDS(X)                                                                                                  \
    X(ACQUIRE, "acquire", "process lock timeout hold writes late lost end shared? downgrade? count?")                  \
    X(TAKE, "take", "process first timeout hold looks second? lost end third? need?")                                  \
    X(READ, "read", "process path timeout")                                                                            \
    X(ASK, "ask", "process path within timeout")                                                                       \
    X(BREAK, "break", "process path position wrong timeout")                                                           \
    X(CANCEL, "cancel", "process")                                                                                     \
    X(DROP, "drop", "process lock")                                                                                    \
    X(JOIN, "join", "process lock watches hold writes late lost end pause")                                            \
    X(LEAVE, "leave", "process lock")                                                                                  \
    X(RESIGN, "resign", "process lock")                                                                                \
    X(OBSERVE, "observe", "process lock for")                                                                          \
    X(AMEND, "amend", "process lock timeout")                                                                          \
    X(CLOSE, "close", "process how pause")                                                                             \
    X(KILL, "kill", "process pause")                                                                                   \
    X(PAUSE, "pause", "process for")                                                                                   \
    X(UNSENT, "unsent", "process kind times")                                                                          \
    X(CUT, "cut", "process")                                                                                           \
    X(BLOCK, "block", "from@ to@ for in?")                                                                             \
    X(LOSE, "lose", "process for in?")                                                                                 \
    X(ISOLATE, "isolate", "server@ for in?")                                                                           \
    X(RESET, "reset", "from@ to@ in?")                                                                                 \
    X(STOP_SERVER, "stop_server", "server@ for in?")                                                                   \
    X(KILL_SERVER, "kill_server", "server@ for in?")                                                                   \
    X(LAG, "lag", "server@ by for in?")                                                                                \
    X(SLOW, "slow", "from@ to@ by for in?")                                                                            \
    X(ANSWER, "answer", "process code executed")                                                                       \
    X(ADMIN_DELETE, "admin_delete", "path position")                                                                   \
    X(ADMIN_WRITE, "admin_write", "path position")                                                                     \
    X(ADMIN_RMDIR, "admin_rmdir", "path")                                                                              \
    X(ADMIN_EXPIRE, "admin_expire", "process")                                                                         \
    X(FOREIGN, "foreign", "path name")                                                                                 \
    X(ACL, "acl", "path position bits for")

enum plan_kind {
#define PLAN_KIND_CONSTANT(constant, name, values) PLAN_##constant,
    PLAN_KINDS(PLAN_KIND_CONSTANT)
#undef PLAN_KIND_CONSTANT
        PLAN_KIND_COUNT
};

/* Hosts: a number of the network's, or a role at the moment. */
enum { PLAN_HOST_LEADER = 100, PLAN_HOST_FOLLOWER, PLAN_HOST_OTHER, PLAN_HOST_OF = 200 };

/* The recipes from JOB on keep a record beside a lock. */
enum plan_recipe {
    PLAN_RECIPE_LOCK,
    PLAN_RECIPE_RWLOCK,
    PLAN_RECIPE_SEMAPHORE,
    PLAN_RECIPE_ELECTION,
    PLAN_RECIPE_STRIPED,
    PLAN_RECIPE_JOB,
    PLAN_RECIPE_LEASE_LOCK,
    PLAN_RECIPE_GROUP,
    PLAN_RECIPES
};

/* Indices of values, of ACQUIRE and, but for the timeout, of JOIN. */
enum { PLAN_PROCESS, PLAN_LOCK, PLAN_TIMEOUT, PLAN_HOLD, PLAN_WRITES, PLAN_LATE, PLAN_LOST, PLAN_END };
/* Of ACQUIRE: of a read/write lock, that it reads; when a writer becomes a reader, ms, 0: never; of a semaphore, how many permits,
 * 0: one; of a striped lock, 1 + the key, 0: any stripe. */
enum { PLAN_SHARED = PLAN_END + 1, PLAN_DOWNGRADE, PLAN_COUNT };
/* Of JOIN: it hears of every leader, too; after how long it joins again when it has left, ms, 0: never. */
enum { PLAN_WATCHES = PLAN_TIMEOUT, PLAN_AGAIN = PLAN_END + 1 };
/* Of TAKE, which claims a set of rights: the second and the third; the first is at PLAN_LOCK. Each is 1 + 2 * path, plus 1 if it reads, or takes
 * two permits or stripes; 0: there is none. PLAN_NEED of them suffice; 0: all are needed. */
enum {
    PLAN_SECOND = PLAN_LATE,
    PLAN_THIRD = PLAN_END + 1,
    PLAN_NEED,
    PLAN_RIGHTS = 3,
    PLAN_RIGHT_CODES = 2 * PLAN_PATHS
};
/* PLAN_LOST: bits. */
enum { PLAN_LOST_TOLD = 1, PLAN_LOST_FD = 2 };
/* PLAN_END: how a hold is given back. Of a job and a lease lock the first and the third tell the outcome, or give the lock up, ahead of
 * that; the fourth is a release alone: a run that died, a lock that stands. */
enum { PLAN_END_RELEASE, PLAN_END_UNREF, PLAN_END_AT_ONCE, PLAN_END_ALONE };
/* And a term of office: never by itself; it resigns, or leaves, after PLAN_HOLD, where that is 0 inside the callback; it leaves
 * when it is told that the term is over. */
enum { PLAN_TERM_STAY, PLAN_TERM_RESIGN, PLAN_TERM_LEAVE, PLAN_TERM_LEAVE_AFTER };
/* ACL's position, where it is not a node but a directory. */
enum { PLAN_POSITION_QUEUE = -1, PLAN_POSITION_LEASES = -2 };
/* UNSENT's kind: a pdk__op_kind; or any request. */
enum { PLAN_UNSENT_ANY = -1 };
/* PLAN_CLOSE's how. */
enum { PLAN_CLOSE_CALL, PLAN_CLOSE_UNREF, PLAN_CLOSE_CALLBACK };

struct plan_action {
    int32_t at; /* ms */
    enum plan_kind kind;
    int32_t value[PLAN_VALUES];
};

struct plan {
    uint64_t seed;
#define PLAN_SETTING_FIELD(name, standard, least, most) int32_t name;
    PLAN_SETTINGS(PLAN_SETTING_FIELD)
#undef PLAN_SETTING_FIELD
    int32_t count;
    struct plan_action actions[PLAN_ACTIONS];
};

/* All defaults, no actions. */
void plan_begin(struct plan *plan, uint64_t seed);
/* NULL where there is no room. */
struct plan_action *plan_add(struct plan *plan, int32_t at, enum plan_kind kind);
/* Nothing goes wrong: each action is one of the workload, and no session ends. */
bool plan_is_calm(const struct plan *plan);
/* In the order of time; of the same moment in the order they were added. */
void plan_sort(struct plan *plan);
void plan_print(const struct plan *plan, FILE *out);
/* One action as a line, without its end. */
void plan_print_action(const struct plan_action *action, FILE *out);
/* false, and why on stderr. */
bool plan_read(struct plan *plan, FILE *in, const char *name);

const char *plan_kind_name(enum plan_kind kind);
/* Events name a queue: the path's, or a stripe's, which is a lock. */
int32_t plan_stripe(int32_t path, int32_t stripe);
int32_t plan_path_of(int32_t queue);
/* Of a queue, both. */
const char *plan_path(int32_t queue);
enum plan_recipe plan_recipe(const struct plan *plan, int32_t queue);
/* Does any path have that recipe? */
bool plan_has(const struct plan *plan, enum plan_recipe recipe);
/* Processes join there, and claim nothing. */
bool plan_is_joined(const struct plan *plan, int32_t path);
/* The node that holders write to, where the plan has them do so. */
const char *plan_guarded(int32_t path);
/* It has a record; and the node of that: NULL elsewhere. */
bool plan_records(const struct plan *plan, int32_t path);
const char *plan_record(const struct plan *plan, int32_t path);
/* The moment in each period at which it ends, ms. */
int32_t plan_edge(const struct plan *plan);
/* The ensemble of a path, or a queue; the sessions that a process has beside its first. */
int32_t plan_ensemble(const struct plan *plan, int32_t queue);
int32_t plan_sides(const struct plan *plan);
/* The ensemble in which a fault happens: the value is left out where it is the first. */
int32_t plan_fault_in(const struct plan *plan, const struct plan_action *action);
/* The directory of its contenders, and that of a semaphore's leases, or of the first stripe: NULL elsewhere. */
const char *plan_queue(const struct plan *plan, int32_t path);
const char *plan_leases(const struct plan *plan, int32_t path);
/* How many permits the path has according to a process; and the most according to any. */
int32_t plan_permits(const struct plan *plan, int32_t path, int32_t process);
int32_t plan_permits_most(const struct plan *plan, int32_t path);
/* How many stripes, likewise; 0: it is no striped lock. */
int32_t plan_stripes(const struct plan *plan, int32_t path, int32_t process);
/* The lock-delay of the path according to a process, ms; 0: it has none. */
int32_t plan_delay(const struct plan *plan, int32_t path, int32_t process);
/* The timeout that the servers will negotiate, ms. */
int64_t plan_timeout(const struct plan *plan);

/* swarm.c: draw a schedule: first its kind and how wild it is, then its actions. */
void plan_draw(struct plan *plan, uint64_t seed);

/* shrink.c works on these: one setting brought nearer to its default, or nothing left to bring nearer. */
size_t plan_settings_count(void);
int32_t *plan_setting(struct plan *plan, size_t index, int32_t *standard);

#endif
