/*
 * The Paddock player of the chaos: threads that claim a right, use what it protects, and give it back or keep it. The log:
 *
 *     opened                                                   a server was there
 *     claim n=K kind=KIND [count=C] timeout=MS                 KIND: lock, leader, read, write or permit; MS: 0 a try, -1
 *                                                              as long as it takes
 *     granted|valid … n=K kind=KIND [count=C]                  the watchman's; after a downgrade both again, of kind=read
 *     used n=K naive=V fence=ok count=C                        V: the number that was found, and one more written; the
 *     used n=K naive=V fence=refused                           fenced write was the C-th accepted, or refused
 *     lost n=K token=T handover=H reason=R                     the LOST callback runs
 *     ended n=K how=released|lost [told=0]                     once for each grant; told=0: lost between the last look and
 *                                                              the release, after which nobody is told
 *     failed n=K status=S                                      ended without a grant; so does the player, unless S is
 *                                                              as it asked for
 */
#ifndef CONTENDER_H
#define CONTENDER_H

#include "crew.h"
#include "resource.h"

#include <pthread.h>

enum { PERMITS = 3, USE_EVERY_MS = 100 };

typedef struct contender_options {
    char *recipe, *role, *folder;
    int threads, hold_us, think_us;
} contender_options;

typedef struct contender {
    player player;
    contender_options options;
    bool keeps; /* the role: until the right is lost, or the order to yield */
    resource *resource;
    pdk_lock *lock; /* one of these, or the candidates */
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    struct candidate *candidates; /* one for each thread */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* what is below, or what a bid or a recipe says is under the mutex */
    bool resting;
    unsigned yields; /* orders so far */
    GPtrArray *bids; /* all of them: one whose callback comes too late, against the promise, is there to note it */
} contender;

/* Waits for changed, at most so long; PDK_FOREVER. Under the mutex. */
void contender_wait(contender *c, int64_t ms);
/* Ends the process, at once and loudly, with holds and claims in whatever state they are. */
_Noreturn void contender_fail(contender *c, const char *what, const char *why);
/* The same when the call has answered neither PDK_OK nor this. */
void contender_expect(contender *c, const char *what, pdk_status status, pdk_status also);

/* Claims that wait in line until they are withdrawn: lock, rwlock, semaphore. */
void claims_open(contender *c);
bool claims_turn(player *p, int thread, void *user);
void claims_close(contender *c);

/* Candidates who are told: a thread is a candidate, and its turn lasts until the rest. */
void election_open(contender *c);
bool election_turn(player *p, int thread, void *user);
/* After the session: until then callbacks may run. */
void election_close(contender *c);

/* One claim, from its wish to its end, and what is noted of it. */
typedef struct bid bid;

/* Under the mutex. Bids live as long as the contender. */
bid *bid_new(contender *c, const char *kind, int count, int64_t timeout_ms);
void bid_failed(bid *b, pdk_status status);
void bid_granted(bid *b, pdk_hold *hold);
/* It goes on as a reader's. Call it before it does. */
void bid_weakens(bid *b, pdk_hold *hold);
/* Waits until the owner was told of the loss, which there has been. */
void bid_await_told(bid *b);
/* The right has ended. */
void bid_over(bid *b, bool lost);
int bid_number(const bid *b);

/* What is protected is used once, by who believes in the right and does not ask again after the wait. */
void contender_use(contender *c, int number, const pdk_hold *hold);
/* Uses it again and again: until the hold is invalid, or the order to yield or to rest comes. */
void contender_keep(contender *c, int number, const pdk_hold *hold, bool uses);

#endif
