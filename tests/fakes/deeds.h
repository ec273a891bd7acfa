/* What the first process of group_bench.h does in threads of its own, in calls that block. */
#ifndef DEEDS_H
#define DEEDS_H

#include "group_bench.h"

#include <paddock/job.h>
#include <paddock/lease_lock.h>

enum { DEED_LEASE_MS = 1000, DEED_AT_MOST_MS = 600 };

/* The objects, and the newest call. */
extern struct deeds {
    pdk_lease_lock *lease; /* "/leased", for DEED_LEASE_MS */
    pdk_job *job;          /* "/job", at most for DEED_AT_MOST_MS */
    pdk_lock *lock;        /* "/one" */
    pdk_hold *hold;
    pdk_status status;
    char why[256]; /* of a failure */
    bool over;
} deeds;

/* Anew, with its objects. */
void deeds_begin(void);
void deeds_end(void);
/* Begins fn in a thread, which leaves its status. */
void deed_start(pdk_status (*fn)(void));
void deed_await(void);
/* Both. */
pdk_status deed(pdk_status (*fn)(void));
/* The lease lock, or a run of the job: waited for until it is there. */
pdk_status deed_lease(void);
pdk_status deed_job(void);
/* Is the hold valid now? */
bool deed_is_valid(void);
pdk_reason deed_reason(void);
/* Its answers do not come, or do. */
void deed_hold_answers_back(void);
void deed_let_answers_come(void);
/* The first process is held up for so long. */
void deed_hold_up(int64_t ns);

#endif
