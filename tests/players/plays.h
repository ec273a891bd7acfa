/*
 * The Paddock player. Its threads claim a grant, use the resource that it protects, and give it back or
 * keep it. The event log:
 *
 *     opened                                    a server answered
 *     claim n=K kind=KIND [count=C] timeout=MS  KIND: lock, leader, read, write or permit; MS: 0 is a try, -1 waits as
 *                                               long as it takes
 *     granted|valid … n=K kind=KIND [count=C]   the sampler's; after a downgrade both again, of kind=read
 *     queued n=K session=S                      a server has confirmed that it stands in the queue, of that session
 *     used n=K naive=V fence=ok count=C         it read the number V and wrote V + 1; the fenced write was the C-th
 *     used n=K naive=V fence=refused            that was accepted, or it was refused
 *     looked n=K naive=V then=W torn=T          a reader's: the number at two looks, with the grant valid after both; 1: torn
 *     peeked torn=T                             a look without any grant
 *     guarded n=K do=open|read|write since=NS status=S [id=W]
 *                                               of a lock's holder: a call about the guarded znode, begun at NS; W: what
 *                                               stands there, or - for nothing
 *     guarding n=K id=W after=W                 it is about to write W, where it found the other
 *     remaining n=K least=MS                    a keeper's: the least that remained of its lease since the line before
 *     lost n=K token=T handover=H reason=R      the LOST callback runs
 *     releasing n=K                             it is about to release
 *     ended n=K how=released|lost [told=0]      once for each grant; told=0: it was lost after the last look and before
 *                                               the release, so no callback tells of it
 *     failed n=K status=S                       ended without a grant; the player fails too, unless the claim asked for
 *                                               such an end
 *
 * A grant may be of a place below the path, at=PLACE. A grant of several (kind=all) has a part at each place, n=K.I, with lines
 * granted, valid and used of its own. The files play_job.c, play_lease.c and play_group.c say what their players add.
 */
#ifndef PLAYS_H
#define PLAYS_H

#include "player_threads.h"
#include "resource.h"

#include <pthread.h>

/* Recipes. The driver's files have the same numbers. */
enum {
    PERMITS = 3,
    DELAY_MS = 1500,
    JOB_EVERY_MS = 4000,
    JOB_AT_LEAST_MS = 1000,
    JOB_AT_MOST_MS = 1500,
    JOB_HISTORY = 50
};
enum { LEASE_MS = 9000, SECRETS = 2 };

enum { USE_EVERY_MS = 100, REMAINING_EVERY = 4 /* uses */ };

typedef struct actor_options {
    char *recipe, *role, *folder, *naming;
    int threads, hold_us, think_us;
    int permits, most;    /* of the semaphore; at most so many at once */
    int write, downgrade; /* percent of the turns that write; of these that read on */
    int linger_ms;        /* of a lock */
    int handovers;        /* from thread to thread in a row; -1: what the library has */
    gboolean listen, peek;
    int keep_ms; /* a keeper gives back after a time up to this; 0: it keeps */
} actor_options;

typedef struct actor {
    player player;
    pdk_naming naming;
    const struct actor_play *play;
    actor_options options;
    bool keeps; /* the role: it holds until the grant is lost, or until the order to yield */
    bool observes,
        misasks; /* the roles: it hears of leaders alone; it asks for another number of permits than there are */
    resource *resource;
    pdk_lock *lock; /* one of these, or the candidates */
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    struct candidate *candidates; /* one for each thread */
    pdk_election *observed;
    pdk_observer *observer;
    struct places *places;
    pdk_job *job;
    pdk_lease_lock *leases[SECRETS];
    struct group *group;
    GPtrArray *interrupts; /* to be raised at the order to rest */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* the fields below, or those of a record or recipe that are under the mutex */
    bool resting;
    unsigned yields;    /* orders to yield so far */
    GPtrArray *records; /* of all claims, to the end: a callback that comes too late still notes it */
} actor;

/* Waits for changed, at most ms or PDK_FOREVER. Under the mutex. */
void actor_wait(actor *c, int64_t ms);
/* Says why and ends the process at once. Holds and claims stay as they are. */
_Noreturn void actor_fail(actor *c, const char *what, const char *why);
/* The same when the status is neither PDK_OK nor `also`. */
void actor_expect(actor *c, const char *what, pdk_status status, pdk_status also);

/* What a recipe does. open and close have a session; free runs after the session has closed: until then callbacks may run. */
typedef struct actor_play {
    const char *recipe;
    void (*open)(actor *c);
    player_turn_fn turn;
    void (*close)(actor *c), (*free)(actor *c); /* or NULL */
} actor_play;

/* Claims that wait in a queue until they are withdrawn: lock, delay, rwlock, semaphore. */
void claims_open(actor *c);
bool claims_turn(player *p, int thread, void *user);
void claims_close(actor *c);

/* Each thread is a candidate; callbacks tell it of its terms. Its turn lasts until the order to rest. */
void election_open(actor *c);
bool election_turn(player *p, int thread, void *user);
void election_close(actor *c);
void election_free(actor *c);

/* Several rights at once, and stripes: all, striped. */
void sets_open(actor *c);
bool sets_turn(player *p, int thread, void *user);
void sets_close(actor *c);

void job_open(actor *c);
bool job_turn(player *p, int thread, void *user);
void job_close(actor *c);

void lease_open(actor *c);
bool lease_turn(player *p, int thread, void *user);
void lease_close(actor *c);

/* Each thread is a member; the player is also a watcher. */
void group_open(actor *c);
bool group_turn(player *p, int thread, void *user);
void group_close(actor *c);
void group_free(actor *c);

/* One claim, from its beginning to its end, and the lines about it in the log. */
typedef struct claim_record claim_record;

/* An acquisition, and its answer. */
typedef struct pending {
    actor *c;
    claim_record *record;
    int64_t timeout_ms;
    bool withdrawn;
    bool answered; /* with those below */
    pdk_status status;
    pdk_hold *hold; /* or */
    pdk_set *set;
} pending;

/* A pdk_acquired_fn: user is the pending. */
void pending_answer(pdk_status status, pdk_hold *hold, void *user);
void pending_set_answer(pdk_status status, pdk_set *set, void *user);
/* Waits for the answer, and withdraws the claim at the order to rest. Gives the reference to the claim back. */
void pending_await(pending *p, pdk_claim *claim);
void pending_set_await(pending *p, pdk_set_claim *claim);
/* Whether it may have ended like this, without a grant. */
bool pending_may_fail(const pending *p);

/* Under the mutex. Records live as long as the player. */
claim_record *record_new(actor *c, const char *kind, int count, int64_t timeout_ms);
/* more: "key=value …" of the line, or "". */
claim_record *record_new_with(actor *c, const char *kind, int count, int64_t timeout_ms, const char *more);
/* Under the mutex. That claim, which is granted. It may have been withdrawn at that moment: then it is lost at once. */
claim_record *record_answered(actor *c, claim_record **asking, const char *kind);
void record_failed(claim_record *record, pdk_status status);
/* The claim stands in the queue. */
void record_queued(const claim_record *record);
/* "key=value", for the lines of the grant. Call it before record_granted. */
void record_add(claim_record *record, const char *more);
void record_granted(claim_record *record, pdk_hold *hold);
void record_set_granted(claim_record *record, pdk_set *set);
/* One part of a set. what: "kind=KIND at=PLACE …". */
void record_part(claim_record *record, pdk_set *set, int part, const char *what);
/* The grant goes on as a reader's. Call it before the downgrade. */
void record_weakens(claim_record *record, pdk_hold *hold);
/* Its player is about to give it back. */
void record_releasing(claim_record *record);
/* The grant is lost: waits until the LOST callback has run. */
void record_await_told(claim_record *record);
/* The grant has ended. */
void record_over(claim_record *record, bool lost);
/* The same, where only the LOST callback tells whether it was lost. */
void record_over_hushed(claim_record *record);
/* Releases the hold: record_await_told, if it is lost, and record_over. */
void record_give_back(claim_record *record, pdk_hold *hold);
void record_give_set_back(claim_record *record, pdk_set *set);
int record_number(const claim_record *record);

/* The guarded znode that this grant guards. NULL, which all take, where the recipe is not the lock. */
typedef struct guard guard;
guard *guard_new(actor *c, int number, pdk_hold *hold);
/* Opens it the first time, and reads what stands there. */
void guard_read(guard *g);
/* Writes there, if that is known. Does not ask whether the hold is valid. */
void guard_write(guard *g);
void guard_free(guard *g);

/* A grant, or a part of one, and what it protects. The last two are actor_use_parts's own. */
typedef struct actor_part {
    char n[24];
    const pdk_hold *hold;
    resource *resource;
    bool used;
    int64_t found;
} actor_part;

/* Uses the resources of all of them that are valid, together. Does not ask again after the wait within the use. */
void actor_use_parts(actor *c, actor_part *parts, int count);

/* Uses the resource and the guarded znode once, if the hold is valid. Does not ask again after the wait within the use. */
void actor_use(actor *c, int number, pdk_hold *hold);
/* A reader looks at the resource twice. */
void actor_look(actor *c, int number, const pdk_hold *hold);
/* A look without a grant. */
void actor_peek(actor *c);
/* Uses both again and again, until the hold is invalid, the time to keep is over, or the order to yield or to rest comes. */
void actor_keep(actor *c, int number, pdk_hold *hold, bool uses);

#endif
