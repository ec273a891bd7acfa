/* Jobs under test. What these functions return is the support's, until ts_paddock_clear. */
#ifndef JOBS_H
#define JOBS_H

#include "ts_bench.h"

enum { SESSION_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000 };

pdk_job *job_of(const ts_client *client, const char *path, const pdk_job_options *options);
/* A run that was begun: its hold is the caller's. Fails the test when it was not. */
pdk_hold *job_begun(pdk_job *job);
/* Fails the test unless it is skipped. What the record says, freed by the support. */
pdk_job_runs *job_skipped(pdk_job *job);
void job_finished(pdk_job *job, pdk_hold *hold, int outcome);
/* The record, freed by the support. */
pdk_job_runs *job_runs(const ts_client *client, const char *path);
/* The text of the record's znode: g_free. */
char *job_text(const char *path);
void job_write(const char *path, const char *text);

#endif
