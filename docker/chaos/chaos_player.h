/*
 * The Paddock player of the chaos. Its threads claim a grant, use the resource that it protects, and give it back or
 * keep it. The event log:
 *
 *     opened                                    a server answered
 *     claim n=K kind=KIND [count=C] timeout=MS  KIND: lock, leader, read, write or permit; MS: 0 is a try, -1 waits as
 *                                               long as it takes
 *     granted|valid … n=K kind=KIND [count=C]   the sampler's; after a downgrade both again, of kind=read
 *     used n=K naive=V fence=ok count=C         it read the number V and wrote V + 1; the fenced write was the C-th
 *     used n=K naive=V fence=refused            that was accepted, or it was refused
 *     guarded n=K do=open|read|write since=NS status=S [id=W]
 *                                               of a lock's holder: a call about the guarded znode, begun at NS; W: what
 *                                               stands there, or - for nothing
 *     guarding n=K id=W after=W                 it is about to write W, where it found the other
 *     remaining n=K least=MS                    a keeper's: the least that remained of its lease since the line before
 *     lost n=K token=T handover=H reason=R      the LOST callback runs
 *     ended n=K how=released|lost [told=0]      once for each grant; told=0: it was lost after the last look and before
 *                                               the release, so no callback tells of it
 *     failed n=K status=S                       ended without a grant; the player fails too, unless the claim asked for
 *                                               such an end
 */
#ifndef CHAOS_PLAYER_H
#define CHAOS_PLAYER_H

#include "player_threads.h"
#include "resource.h"

#include <pthread.h>

enum { PERMITS = 3, USE_EVERY_MS = 100, REMAINING_EVERY = 4 /* uses */ };

typedef struct chaos_options {
    char *recipe, *role, *folder;
    int threads, hold_us, think_us;
} chaos_options;

typedef struct chaos_player {
    player player;
    chaos_options options;
    bool keeps; /* the role: it holds until the grant is lost, or until the order to yield */
    resource *resource;
    pdk_lock *lock; /* one of these, or the candidates */
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    struct candidate *candidates; /* one for each thread */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* the fields below, or those of a record or recipe that are under the mutex */
    bool resting;
    unsigned yields;    /* orders to yield so far */
    GPtrArray *records; /* of all claims, to the end: a callback that comes too late still notes it */
} chaos_player;

/* Waits for changed, at most ms or PDK_FOREVER. Under the mutex. */
void chaos_wait(chaos_player *c, int64_t ms);
/* Says why and ends the process at once. Holds and claims stay as they are. */
_Noreturn void chaos_fail(chaos_player *c, const char *what, const char *why);
/* The same when the status is neither PDK_OK nor `also`. */
void chaos_expect(chaos_player *c, const char *what, pdk_status status, pdk_status also);

/* Claims that wait in a queue until they are withdrawn: lock, rwlock, semaphore. */
void claims_open(chaos_player *c);
bool claims_turn(player *p, int thread, void *user);
void claims_close(chaos_player *c);

/* Each thread is a candidate; callbacks tell it of its terms. Its turn lasts until the order to rest. */
void election_open(chaos_player *c);
bool election_turn(player *p, int thread, void *user);
/* After the session has closed: until then callbacks may run. */
void election_close(chaos_player *c);

/* One claim, from its beginning to its end, and the lines about it in the log. */
typedef struct claim_record claim_record;

/* Under the mutex. Records live as long as the player. */
claim_record *record_new(chaos_player *c, const char *kind, int count, int64_t timeout_ms);
void record_failed(claim_record *record, pdk_status status);
void record_granted(claim_record *record, pdk_hold *hold);
/* The grant goes on as a reader's. Call it before the downgrade. */
void record_weakens(claim_record *record, pdk_hold *hold);
/* The grant is lost: waits until the LOST callback has run. */
void record_await_told(claim_record *record);
/* The grant has ended. */
void record_over(claim_record *record, bool lost);
int record_number(const claim_record *record);

/* The guarded znode that this grant guards. NULL, which all take, where the recipe is not the lock. */
typedef struct guard guard;
guard *guard_new(chaos_player *c, int number, pdk_hold *hold);
/* Opens it the first time, and reads what stands there. */
void guard_read(guard *g);
/* Writes there, if that is known. Does not ask whether the hold is valid. */
void guard_write(guard *g);
void guard_free(guard *g);

/* Uses the resource and the guarded znode once, if the hold is valid. Does not ask again after the wait within the use. */
void chaos_use(chaos_player *c, int number, pdk_hold *hold);
/* Uses both again and again, until the hold is invalid, or the order to yield or to rest comes. */
void chaos_keep(chaos_player *c, int number, pdk_hold *hold, bool uses);

#endif
