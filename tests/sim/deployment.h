/* One run of a schedule: a whole deployment in simulated time, with the production driver and recipes in its processes.
 *
 *     plan ──► deployment.c  begins all, lets the time pass, heals, checks, disposes of it
 *                 ├─ converge.c    after the healing: waits until nothing is left to be done
 *                 ├─ faults.c      faults of servers, links and nodes
 *                 ├─ processes.c   processes and their sessions: they begin, pause and end
 *                 ├─ workload.c    the workload of a process: claims,
 *                 │    ├─ holdings.c    holds, writes, downgrades,
 *                 │    ├─ sets.c        sets of rights,
 *                 │    ├─ asks.c        asks to let go, breaks,
 *                 │    ├─ guarding.c    guarded znodes, in threads of their own,
 *                 │    ├─ records.c     jobs and lease locks,
 *                 │    ├─ candidates.c  candidacies, terms of office, observers,
 *                 │    └─ members.c     members of groups, their data, watchers
 *                 ├─ resource.c    the resources that holds protect: a fenced one, and a naive one
 *                 ├─ observe*.c ─► history.h, checker.h: what happened, and the promises
 *                 └─ transcript.c  the same in words, when somebody reads it
 */
#ifndef DEPLOYMENT_H
#define DEPLOYMENT_H

#include "checker.h"
#include "plan.h"
#include "sim_client.h"
#include "sim_ensemble.h"
#include "sim_net.h"
#include "sim_process.h"

#include <paddock/election.h>
#include <paddock/group.h>
#include <paddock/guarded.h>
#include <paddock/job.h>
#include <paddock/lease_lock.h>
#include <paddock/lock.h>
#include <paddock/rwlock.h>
#include <paddock/semaphore.h>
#include <paddock/set.h>
#include <paddock/striped.h>

/* The counts of a run; a sum over runs has the same form. All uint64_t: see tally_add. */
struct tally {
    uint64_t schedules, counted, excused, events, steps, sim_ms;
    uint64_t claims, grants, contended, handovers, lost, stale_refused, stale_harmful, writes, extends, wake_ups, reads;
    uint64_t enqueued, shown; /* how often a mirror stood for a list: behind a create; that was due */
    uint64_t answers[CHECKER_STATUSES];
    uint64_t reasons[6];
    uint64_t session_events[7];
    uint64_t faults[PLAN_KIND_COUNT];
    uint64_t checks[CHECK_COUNT];
    uint64_t met[MET_COUNT];
    uint64_t recipes[PLAN_RECIPES]; /* schedules that have one */
};
void tally_add(struct tally *sum, const struct tally *one);

/* A hold that the workload has. */
struct holding {
    struct holding *next; /* of the client */
    struct client *client;
    struct candidate *candidate; /* the candidate of its term; NULL: claimed */
    pdk_hold *hold;              /* NULL once given back */
    const int32_t *value;        /* of the action */
    int32_t id, lock, path, fd;  /* path: the queue of its node */
    uint32_t made;               /* the number of its object, of all that there were */
    int64_t token;
    uint32_t handover;
    int32_t end;
    bool shared;   /* it reads */
    bool released; /* of a term: it resigned, or left */
    bool ends;     /* of a job or a lease lock: its end was told */
};

struct claiming {
    struct claiming *next; /* of the client, the newest first */
    struct client *client;
    const struct plan_action *action;
    pdk_claim *claim;
    pdk_set_claim *set_claim;   /* in its place */
    pdk_set *set;               /* what that got; NULL: nothing yet, or it is given back */
    int32_t parts[PLAN_RIGHTS]; /* the holds that it was seen to have */
    int32_t id, lock;
    int64_t begun;         /* of a record, */
    uint32_t made;         /* with the object of that number */
    bool answered, closes; /* closes the session in its callback */
};

/* From join to leave; of an office, or as a member of a group, which has a term for each registration. */
struct candidate {
    struct client *client;
    const struct plan_action *action;
    struct holding *term;       /* elected, and not deposed since */
    struct observing *watching; /* or NULL */
    int32_t id, lock;
    int32_t writes; /* of a member, of its data */
    bool left, amends;
};

struct observing {
    struct observing *next; /* of the client */
    struct client *client;
    pdk_observer *observer;     /* NULL: a candidate's, or stopped */
    pdk_group_watcher *watcher; /* in its place */
    int32_t id;
};

/* A recipe object. The path says which recipe. */
union object {
    pdk_lock *lock;
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    pdk_election *election;
    pdk_striped *striped;
    pdk_job *job;
    pdk_lease_lock *lease_lock;
    pdk_member *member; /* of a group: made by joining */
    void *any;          /* NULL: there is none */
};

/* How many sessions a process has at most, side by side. */
#define DEPLOYMENT_CLIENTS PLAN_PATHS

/* One session object in one process, from its opening to its end. */
struct client {
    struct client *older; /* of the same player */
    struct client *side;  /* the session beside it, which begins and ends with it, and has nothing but that; or NULL */
    struct sim_ensemble *ensemble;
    struct player *player;
    struct sim_process *process;
    pdk_session *s;      /* NULL once its last reference is given back */
    int32_t number;      /* of the session object */
    uint64_t generation; /* of its handles, as last seen */
    int64_t leased;      /* the end of its lease, as last seen */
    bool reopens;        /* closed: another client follows */
    bool closed;         /* only calls that give something back are allowed */
    union object objects[PLAN_LOCKS];
    uint32_t made[PLAN_LOCKS]; /* how many there were */
    struct candidate *candidates[PLAN_LOCKS];
    struct claiming *claims;
    struct holding *holdings;
    struct observing *observers;
    int32_t unanswered, asking;
};

/* A process of the plan, through all its restarts. */
struct player {
    struct deployment *d;
    int32_t number;
    struct sim_process *process; /* the newest */
    struct client *client;       /* the newest; NULL before the first */
    double rate;
    int64_t offset, slow;
    bool misled, restarts; /* restarts: killed, and to be started again */
};

/* A hold that some driver counts as valid, delivered or not. */
struct believed {
    const pdk_hold *hold;
    int64_t token, until; /* until: the word itself */
    int64_t node;         /* czxid of the one it stands on; of several, the first */
    int32_t id;
    struct client *client;
    uint32_t handover;
    bool seen, ended;
};

/* A time in which a server, or a link between two, does not work as it should. */
struct stall {
    int64_t from, to;
    int32_t in;
};

/* The node that is admitted in the queue of a semaphore, or was last. */
struct observed_admission {
    const struct pdk__queue *queue;
    int32_t sequence;
};

struct resource {
    int64_t token;
    uint32_t handover;
};

struct transcript;
struct pdk__queue;

#define DEPLOYMENT_BELIEVED 256
/* How late a thread is at most, not counting the slowness of its process. */
#define DEPLOYMENT_LATE_LEAST (60 * SIM_MS)

struct deployment {
    struct sim_agenda agenda; /* kept from run to run */
    struct sim_net nets[PLAN_PATHS];
    struct sim_ensemble *ensembles[PLAN_PATHS]; /* of each path; the plan may have one alone */
    const struct plan *plan;
    struct transcript *transcript; /* NULL: nobody reads */
    struct player players[PLAN_PROCESSES];
    int32_t clients_count, claims_count, holds_count, candidates_count, observers_count;
    int32_t unanswered, holding, offices; /* how many of each there are now */
    int32_t asking, asks_count;           /* asks without an answer; and all */
    int32_t guarding, payloads;           /* threads that have a guarded znode open now; payloads so far */
    bool healed, refused;                 /* refused: an access list forbade something, once */
    int64_t started, horizon;             /* the plan's time 0, and its end */
    struct believed believed[DEPLOYMENT_BELIEVED];
    int32_t believed_count;
    struct observed_admission admissions[64];
    int32_t admissions_count;
    struct resource resources[PLAN_QUEUES], naive[PLAN_QUEUES];
    int64_t expired[64]; /* sessions that an admin ended */
    int32_t expired_count;
    struct stall stalls[64];
    int32_t stalls_count;
    int32_t looked; /* history events the checker has seen */
    struct tally tally;
    struct history history;
    struct checker checker;
};

/* The result of a run. */
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
/* out: the transcript is written there, or NULL. */
struct verdict deployment_run(struct deployment *d, const struct plan *plan, FILE *out);

/* --- deployment.c, for the others */
/* The process's clock and this moment are put into the event. */
struct history_event *note(struct deployment *d, enum history_kind kind, int32_t id, const struct client *client);
/* That of the path, or the queue. */
struct sim_ensemble *deployment_ensemble(const struct deployment *d, int32_t queue);
void player_start(struct player *player);
/* Give back all that the workload has of a dead process's clients. */
void player_dispose(struct player *player);

/* --- processes.c */
bool processes_do(struct deployment *d, const struct plan_action *action);
/* When healed: all processes run, in time. A process whose session got false answers is restarted. */
void processes_heal(struct deployment *d);
void client_open(struct player *player);
/* The one whose session has the object: the client, or its side. */
struct client *client_of(struct client *client, int32_t lock);
/* Of so many, DEPLOYMENT_CLIENTS for each process: the client and its sides. NULL: there is none now. */
struct client *deployment_client(const struct deployment *d, int32_t number);
/* From here on a claim of the session may have that answer. */
void taint(struct deployment *d, const struct client *client, pdk_status status);
/* As the action says. */
void client_close(struct client *client, const struct plan_action *action);
/* Give back the session alone; and all: holds, claims, objects and the session. */
void client_leave(struct client *client);
void client_give_back(struct client *client);

/* --- workload.c, all in the process */
void workload_claim(struct client *client, const struct plan_action *action, int32_t lock, int32_t timeout,
                    bool closes);
/* The path's object; false: it cannot be had. */
bool workload_object(struct client *client, int32_t lock);
/* Holds, claims and objects. */
void workload_give_back(struct client *client);
/* A claim is answered: ahead of all else that its callback does, and after it. */
void workload_answered(struct claiming *claim, pdk_status status, int64_t hold);
void workload_after_answer(struct claiming *claim);
void workload_on_acquired(pdk_status status, pdk_hold *hold, void *claim);
/* A claim of the action; asked: its queue, mode and count. NULL: there is no room. */
struct claiming *workload_begin_claim(struct client *client, const struct plan_action *action, int32_t lock,
                                      int32_t timeout, const struct history_event *asked);
/* The workload of an action, for a player. */
void workload_acquire(void *player, void *action);
void workload_cancel(void *player, void *action);
void workload_drop(void *player, void *action);

/* --- holdings.c, all in the process */
struct holding *holding_begin(struct client *client, pdk_hold *hold, const struct plan_action *action, int32_t lock,
                              struct candidate *candidate);
/* The workload knows it now, as an answer or a term. It wants to hear of its loss, and writes. */
void holding_use(struct holding *h);
/* Keep it for the time that the action names. */
void holding_keep(struct holding *h);
void holding_give_back(struct holding *h);
/* A term is over: drop the reference alone. */
void holding_unref(struct holding *h);
void holding_note_released(struct holding *h, pdk_status status, bool dropped);

/* --- sets.c, all in the process */
void sets_take(void *player, void *action);
void sets_give_back(struct claiming *claim);

/* --- asks.c, all in the process */
void asks_ask(void *player, void *action);
void asks_break(void *player, void *action);

/* --- guarding.c, in the process */
/* A thread opens the guarded znode of the path with this hold, and reads and writes it, while the hold is used and after that. */
void guarding_begin(struct holding *h);

/* --- records.c, all in the process */
pdk_status records_make(struct client *client, int32_t lock);
void records_unref(const struct client *client, int32_t lock, union object object);
pdk_status records_claim(struct claiming *claim, int32_t timeout);
/* Tell the outcome of a run, or give a lease lock up. false: there is nothing to tell; else the answer gives the hold back. */
bool records_end(struct holding *h);
void records_read(void *player, void *action);

/* --- candidates.c, all in the process */
void candidates_join(void *player, void *action);
void candidates_leave(void *player, void *action);
void candidates_resign(void *player, void *action);
void candidates_observe(void *player, void *action);
/* All leave. */
void candidates_leave_all(void *player, void *nothing);
/* The identity in its nodes. One object has one candidate. */
int32_t candidate_identity(const struct client *client, int32_t lock);
/* The time of its term is over. */
void candidate_term_over(struct candidate *candidate);
/* The object is about to be dropped. */
void candidate_drop(struct client *client, int32_t lock);
void candidates_stop_observers(struct client *client);

/* --- members.c, all in the process */
/* With the callbacks of a candidate. */
pdk_status members_join(struct candidate *member, const pdk_election_callbacks *calls);
void members_leave(struct candidate *member);
void members_amend(void *player, void *action);
/* Each of them once more. */
void members_amend_all(void *player, void *nothing);
pdk_status members_watch(struct observing *o, int32_t lock, void (*freed)(void *user));

/* --- converge.c */
/* false: a promise is broken, or it went on for too long. */
bool run_until_healed(struct deployment *d, uint64_t first);
void converge(struct deployment *d);
bool run_goes_on(const struct deployment *d);
/* All events but those that only keep time. */
uint64_t run_events(const struct deployment *d);

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
int32_t observe_hold(struct deployment *d, struct client *client, const pdk_hold *hold);
/* The number in a candidate's identity, or one of the other IDENTITY_ values. */
int32_t observe_identity(const char *text);
/* A member's data: its number, and that of the write, in one; or an IDENTITY_ value. */
int64_t observe_data(const char *text);
/* The name of the node at that position in the queue, oldest first, or NULL. */
const char *observe_contender(const struct deployment *d, int32_t path, int32_t position);

/* --- transcript.c */
struct transcript *transcript_new(struct deployment *d, FILE *out);
void transcript_free(struct transcript *transcript);
void transcript_tell(struct deployment *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void transcript_action(struct deployment *d, const struct plan_action *action, bool done);
void transcript_txn(struct deployment *d, const struct sim_txn *txn);
void transcript_fired(struct deployment *d, int64_t session, const char *path, enum sim_event event);
/* After every event: the state of servers and processes, where it has changed. */
void transcript_look(struct deployment *d);
struct pdk__platform;
const struct pdk__platform *transcript_platform(struct deployment *d);

#endif
