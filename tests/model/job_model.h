/* The model of a job's record: every order of events, for two or three asks that are granted the lock one after the other.
 *
 *     job_world.c       the record, the lock nodes, the servers' clock, requests on their way, and what must hold
 *
 * It is harsher than ZooKeeper and the driver. An ask that has lost its lock goes on without noticing, until it would run. A write
 * that lost its answer may be executed at any later time. A look may show any older state that its session has not passed yet.
 */
#ifndef JOB_MODEL_H
#define JOB_MODEL_H

#include "core/job.h"
#include "search.h"

enum { JOB_ASKS = 3, JOB_LATE = 2, JOB_STATES = 8 };

/* What asks came to, in the order of the counts. */
enum { JOB_RAN, JOB_FINISHED, JOB_SKIPPED, JOB_OVERTAKEN, JOB_LOST, JOB_DIED, JOB_COUNTS };

struct job_config {
    int8_t asks;
    int8_t every, least;
    int8_t zoned;                /* the periods are those of next_edge, and not all as long as `every` */
    int8_t at_once;              /* a run that died may be retried */
    int8_t ticks;                /* of the servers' clock */
    int8_t backs;                /* new leaders whose clock is behind by 2 */
    int8_t losses;               /* answers, or whole writes */
    int8_t stales;               /* looks that show an older state */
    uint64_t counts[JOB_COUNTS]; /* filled by the search */
};

enum job_phase { JOB_OUT, JOB_ASKED, JOB_STARTING, JOB_RUNS, JOB_ENDING, JOB_FINISHING, JOB_OVER };

struct job_line {
    int8_t token, start, end, state, edge, every;
};

/* A record, as one version of the znode has it. */
struct job_content {
    int8_t mtime, count;
    struct job_line lines[JOB_ASKS];
};

struct job_write {
    int8_t pending; /* it is on its way */
    int8_t executed, landed;
    int8_t version;
    struct job_content next;
};

struct job_ask {
    int8_t phase; /* enum job_phase */
    int8_t asked; /* when its lock node was made */
    int8_t stands;
    int8_t passed; /* the newest state that its session saw */
    int8_t ran;
    struct job_write now, late[JOB_LATE];
};

struct job_world {
    struct job_ask asks[JOB_ASKS];
    struct job_content states[JOB_STATES]; /* the version is the index */
    int8_t now, clock;
    int8_t ticks, backs, losses, stales; /* left */
};

struct search_model job_model(struct job_config *config);

#endif
