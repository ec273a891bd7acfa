/* A job, from inside: what was read of its record. */
#ifndef PDK_JOB_INSIDE_H
#define PDK_JOB_INSIDE_H

#include "core/job.h"
#include "record.h"

#include <paddock/job.h>

/* The runs of a record. The newest one that has not ended died, unless it stands. */
pdk_job_runs *pdk__job_runs_new(const struct pdk__job_record *record, bool stands);

/* What stands at a job's path. Blocks. Not under the monitor. */
struct pdk__job_look {
    const char *name; /* of the public call */
    char *record, *lock;
    struct pdk__job_record *found;
    bool stands; /* the newest run's lock node */
};
void pdk__job_look_init(struct pdk__job_look *look, const char *name, const char *path);
void pdk__job_look_clear(struct pdk__job_look *look);
pdk_status pdk__job_look(struct pdk__job_look *look, pdk_session *s, int64_t timeout_ms);

/* A parsed record, or DAMAGED, UNSUPPORTED with words. */
pdk_status pdk__job_read(const char *name, const char *path, const char *data, size_t size, int64_t mtime_ms,
                         struct pdk__job_record *record);

#endif
