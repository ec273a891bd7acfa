/* One run of a schedule: a whole deployment in simulated time, with the production driver and recipes in its processes.
 *
 *     plan ──► deployment.c  begins all, lets the time pass, heals, waits until nothing is left, buries
 *                 ├─ faults.c      what is done to servers, links and nodes
 *                 ├─ lives.c       what becomes of processes and their sessions
 *                 ├─ workload.c    what they do: claims, holds, writes
 *                 ├─ resource.c    what the holds protect: a fenced resource, and a naive one
 *                 ├─ observe.c ──► history.h: what happened, and the promises
 *                 └─ story.c       the same in words, where somebody reads
 */
#ifndef DEPLOYMENT_H
#define DEPLOYMENT_H

#include "history.h"
#include "plan.h"
#include "sim_client.h"
#include "sim_ensemble.h"
#include "sim_net.h"
#include "sim_process.h"

#include <paddock/lock.h>

/* What a run has seen; a sum over runs has the same form. All uint64_t: see tally_add. */
struct tally {
    uint64_t schedules, counted, excused, events, steps, sim_ms;
    uint64_t claims, grants, contended, handovers, lost, stale_refused, stale_harmful, writes, extends, wake_ups;
    uint64_t answers[CHECKER_STATUSES];
    uint64_t reasons[5];
    uint64_t session_events[7];
    uint64_t faults[PLAN_KIND_COUNT];
    uint64_t checks[CHECK_COUNT];
};
void tally_add(struct tally *sum, const struct tally *one);

/* A hold in the hands of the workload. */
struct holding {
    struct holding *next; /* of the life */
    struct life *life;
    pdk_hold *hold; /* NULL once given back */
    int32_t id, path, writes, late, fd;
    int64_t token;
    uint32_t handover;
    int32_t hold_ms, end;
    bool wants_lost;
};

struct claiming {
    struct claiming *next; /* of the life, the newest first */
    struct life *life;
    const struct plan_action *action;
    pdk_claim *claim;
    int32_t id, lock;
    bool answered, closes; /* closes the session in its callback */
};

/* One session object in one process, from its opening to its end. */
struct life {
    struct life *older; /* of the same player */
    struct player *player;
    struct sim_process *process;
    pdk_session *s;      /* NULL once its last reference is given back */
    int32_t number;      /* of the session object */
    uint64_t generation; /* of its handles, as last seen */
    int64_t leased;      /* the end of its lease, as last seen */
    bool reopens;        /* closed: another one follows */
    bool closed;         /* nothing may be called any more but what gives back */
    pdk_lock *locks[PLAN_LOCKS];
    struct claiming *claims;
    struct holding *holdings;
    int32_t unanswered;
};

/* A process of the plan, through all its restarts. */
struct player {
    struct deployment *d;
    int32_t number;
    struct sim_process *process; /* the newest */
    struct life *life;           /* the newest; NULL before the first */
    double rate;
    int64_t offset, slow;
    bool lied_to, restarts; /* restarts: killed, and to be started again */
};

/* A hold that some driver believes in, delivered or not. */
struct believed {
    const pdk_hold *hold;
    int64_t token, until; /* until: the word itself */
    int32_t id, sequence;
    struct life *life;
    uint32_t handover;
    bool seen, ended;
};

/* A time in which a server, or a link between two, does not go on as it should. */
struct stall {
    int64_t from, to;
};

struct resource {
    int64_t token;
    uint32_t handover;
};

struct story;

#define DEPLOYMENT_BELIEVED 256

struct deployment {
    struct sim_agenda agenda; /* kept from run to run */
    struct sim_net net;
    struct sim_ensemble *ensemble;
    const struct plan *plan;
    struct story *story; /* NULL: nobody reads */
    struct player players[PLAN_PROCESSES];
    int32_t lives_count, claims_count, holds_count, unanswered, holding;
    bool healed, refused;     /* refused: an access list forbade something, once */
    int64_t started, horizon; /* the plan's time 0, and its end */
    struct believed believed[DEPLOYMENT_BELIEVED];
    int32_t believed_count;
    struct resource resources[PLAN_PATHS], naive[PLAN_PATHS];
    int64_t expired[64]; /* sessions that an admin ended */
    int32_t expired_count;
    struct stall stalls[64];
    int32_t stalls_count;
    int32_t looked; /* history events the checker has seen */
    struct tally tally;
    struct history history;
    struct checker checker;
};

/* What came of a run. */
struct verdict {
    bool broken, counted;
    bool excused; /* it would be broken, but two stalls came together */
    enum check check;
    char detail[200];
    double at; /* s */
    uint64_t hash;
};

/* One at a time: the driver has globals. */
struct deployment *deployment_new(void);
void deployment_free(struct deployment *d);
/* out: the story is told there, or NULL. */
struct verdict deployment_run(struct deployment *d, const struct plan *plan, FILE *out);

/* --- deployment.c, for the others */
/* The process's clock and this moment are put into the event. */
struct history_event *note(struct deployment *d, enum history_kind kind, int32_t id, const struct life *life);
void player_start(struct player *player);
/* Give back all that the workload has of a dead process's lives. */
void player_bury(struct player *player);

/* --- lives.c */
bool lives_do(struct deployment *d, const struct plan_action *action);
/* When healed: all run, in time; processes that were lied to begin anew. */
void lives_heal(struct deployment *d);
void life_open(struct player *player);
/* From here on a claim of the session may be answered so. */
void taint(struct deployment *d, const struct life *life, pdk_status status);
/* As the action says. */
void life_close(struct life *life, const struct plan_action *action);
/* Give back the session alone; and all: holds, claims, locks and the session. */
void life_leave(struct life *life);
void life_give_back(struct life *life);

/* --- workload.c, all in the process */
void workload_claim(struct life *life, const struct plan_action *action, int32_t lock, int32_t timeout, bool closes);
/* Holds, claims and locks. */
void workload_give_back(struct life *life);
/* Of a player, what an action says. */
void workload_acquire(void *player, void *action);
void workload_cancel(void *player, void *action);
void workload_drop(void *player, void *action);

/* --- faults.c */
bool faults_do(struct deployment *d, const struct plan_action *action);
void faults_heal(struct deployment *d);

/* --- resource.c */
void resource_write(struct holding *holding, int64_t delay);

/* --- observe.c */
void observe_begin(struct deployment *d);
/* After every event of the agenda. false: a promise is broken. */
bool observe(struct deployment *d);
void observe_killed(struct deployment *d, const struct player *player);
/* The id under which a hold is known. */
int32_t observe_hold(struct deployment *d, struct life *life, const pdk_hold *hold);
/* The name of the node in line at that place, oldest first, or NULL. */
const char *observe_contender(const struct deployment *d, int32_t path, int32_t place);

/* --- story.c */
struct story *story_new(struct deployment *d, FILE *out);
void story_free(struct story *story);
void story_tell(struct deployment *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void story_action(struct deployment *d, const struct plan_action *action, bool done);
void story_txn(struct deployment *d, const struct sim_txn *txn);
void story_fired(struct deployment *d, int64_t session, const char *path, bool deleted);
/* After every event: what servers and processes believe now, where it has changed. */
void story_look(struct deployment *d);
struct pdk__world;
const struct pdk__world *story_world(struct deployment *d);

#endif
