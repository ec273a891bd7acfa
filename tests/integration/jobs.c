#include "jobs.h"

#include <glib.h>

#include "ts_check.h"
#include "ts_observer.h"

static void unref_job(void *job) { pdk_job_unref(job); }
static void free_runs(void *runs) { pdk_job_runs_free(runs); }

pdk_job *job_of(const ts_client *client, const char *path, const pdk_job_options *options) {
    pdk_job *job = NULL;
    pdk_status status = pdk_job_new(client->session, path, options, &job);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ts_paddock_keep(job, unref_job);
    return job;
}

pdk_hold *job_begun(pdk_job *job) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_job_acquire(job, ts_patience(PATIENCE_MS), &hold, NULL);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert(pdk_hold_is_valid(hold));
    return hold;
}

pdk_job_runs *job_skipped(pdk_job *job) {
    pdk_hold *hold = NULL;
    pdk_job_runs *runs = NULL;
    pdk_status status = pdk_job_acquire(job, ts_patience(PATIENCE_MS), &hold, &runs);
    ck_assert_msg(status == PDK_SKIPPED, "%s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert_ptr_null(hold);
    ck_assert_uint_gt(pdk_job_runs_count(runs), 0);
    ts_paddock_keep(runs, free_runs);
    return runs;
}

void job_finished(pdk_job *job, pdk_hold *hold, int outcome) {
    pdk_status status = pdk_job_finish(job, hold, outcome, ts_patience(PATIENCE_MS));
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
}

pdk_job_runs *job_runs(const ts_client *client, const char *path) {
    pdk_job_runs *runs = NULL;
    pdk_status status = pdk_job_history(client->session, path, ts_patience(PATIENCE_MS), &runs);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ts_paddock_keep(runs, free_runs);
    return runs;
}

char *job_text(const char *path) {
    g_autofree char *record = g_strconcat(path, "/record", NULL);
    char *data = NULL;
    ck_assert_int_eq(ts_get(ts_bench_server(), record, &data, NULL, NULL), 0);
    return data;
}

void job_write(const char *path, const char *text) {
    g_autofree char *record = g_strconcat(path, "/record", NULL);
    if (ts_exists(ts_bench_server(), record, NULL) == 0)
        ck_assert_int_eq(ts_set(ts_bench_server(), record, text), 0);
    else
        ck_assert_int_eq(ts_create(ts_bench_server(), record, text, TS_PERSISTENT, NULL), 0);
}
