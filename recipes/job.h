/* A job, from inside: what was read of its record. */
#ifndef PDK_JOB_INSIDE_H
#define PDK_JOB_INSIDE_H

#include "core/job.h"
#include "grant/node_query.h"
#include "record.h"

#include <paddock/job.h>

/* The runs of a record. The newest one that has not ended died, unless it stands. */
pdk_job_runs *pdk__job_runs_new(const struct pdk__job_record *record, bool stands);

/* What stands at a job's path: a part of a call. */
struct pdk__job_look {
    struct pdk__inquiry inquiry;
    char *record, *lock;
    struct pdk__job_record *found;
    bool stands; /* the newest run's lock node */
    int32_t version;
    enum { PDK__JOB_LOOK_RECORD, PDK__JOB_LOOK_RUNNER, PDK__JOB_LOOK_AGAIN } at; /* the query under way */
};
void pdk__job_look_init(struct pdk__job_look *look, struct pdk__call *call, const char *path);
void pdk__job_look_clear(struct pdk__job_look *look);
/* The whole call, for a path with the chroot. Blocks. Not under the monitor. */
pdk_status pdk__job_look(pdk_session *s, const char *name, const char *path, int64_t timeout_ms, pdk_job_runs **runs);
const struct pdk__job_record *pdk__job_runs_record(const pdk_job_runs *runs);

/* A parsed record, or DAMAGED, UNSUPPORTED with words. */
pdk_status pdk__job_read(const char *name, const char *path, const char *data, size_t size, int64_t mtime_ms,
                         struct pdk__job_record *record);

#endif
