/* A job, from inside: its periods in a time zone, and its record as it was read. */
#ifndef PDK_JOB_INSIDE_H
#define PDK_JOB_INSIDE_H

#include "core/job.h"
#include "record.h"
#include "session/node_query.h"

#include <paddock/job.h>

#define PDK__JOB_DAY INT64_C(86400000)

/* A zone by its name. NULL: nobody knows it. */
GTimeZone *pdk__job_zone(const char *name);

/* The period of a moment: its end, and the length of the next one. */
struct pdk__job_period {
    int64_t end, next;
};
/* The period of whole days in a zone. A period has `every` ms, which are whole days since 1970. `at`, from 0 to
 * `every`, is its end, counted from midnight of its first day there. */
struct pdk__job_period pdk__job_period_at(GTimeZone *zone, int64_t at, int64_t every, int64_t now);

/* A cron expression: the numbers that its fields name, as bits. */
struct pdk__job_cron {
    uint64_t minutes, hours, days, months, weekdays;
    bool either; /* a day is named by its number, or by its day of the week */
};
/* false: the text is none, or names no time at all. */
bool pdk__job_cron_parse(const char *text, struct pdk__job_cron *cron);
/* The first time from this one on that it names. Times are readings of clocks, in ms as if they showed UTC. */
int64_t pdk__job_cron_next(const struct pdk__job_cron *cron, int64_t from);
/* The period of a moment, if periods end at the times that the expression names, by clocks there. */
struct pdk__job_period pdk__job_cron_period(GTimeZone *zone, const struct pdk__job_cron *cron, int64_t now);

/* The runs of a record. The newest one that has not ended died, unless it stands. */
pdk_job_runs *pdk__job_runs_new(const struct pdk__job_record *record, bool stands);

/* A look at a job's path: a part of a call. */
struct pdk__job_look {
    struct pdk__query_loop loop;
    char *record, *lock;
    struct pdk__job_record *found;
    bool stands; /* the newest run's lock node */
    int32_t version;
    enum { PDK__JOB_LOOK_RECORD, PDK__JOB_LOOK_RUNNER, PDK__JOB_LOOK_AGAIN } at; /* the query under way */
};
void pdk__job_look_init(struct pdk__job_look *look, struct pdk__call *call, const char *path);
void pdk__job_look_clear(struct pdk__job_look *look);

/* A parsed record, or DAMAGED, UNSUPPORTED with words. */
pdk_status pdk__job_read(const char *name, const char *path, const char *data, size_t size, int64_t mtime_ms,
                         struct pdk__job_record *record);

#endif
