/* The record of a job, as others read it: GET the record; while a run stands in it, STAT that run's lock node.
 *
 *     GET ──it has ended──► done            the node is gone ──► GET again: the same version? It died. Another one? Begin anew
 *      └──it has not──► STAT its lock node ──┴─ it stands ──► done
 *
 * A runner tells its outcome before its lock node goes. So whoever sees that the node is gone sees the outcome in the next GET.
 */
#include "base/text.h"
#include "grant/recipe.h"
#include "job.h"
#include "session/query.h"
#include "zk/errors.h"

#include <string.h>

struct pdk_job_runs {
    struct pdk__job_record record;
    pdk_job_run shown[];
};

static pdk_job_run show(const struct pdk__job_run *run, bool stands) {
    pdk_job_run shown = {.token = run->token,
                         .start_ms = run->start,
                         .end_ms = run->end,
                         .next_ms = pdk__job_next(run, false),
                         .until_ms = run->most > 0 ? run->start + run->most : 0,
                         .who = run->who,
                         .outcome = run->outcome};
    if (run->state == 'F')
        shown.state = PDK_JOB_FINISHED;
    else
        shown.state = stands ? PDK_JOB_RUNNING : PDK_JOB_DIED;
    return shown;
}

pdk_job_runs *pdk__job_runs_new(const struct pdk__job_record *record, bool stands) {
    size_t count = (size_t)record->count;
    pdk_job_runs *runs = g_malloc0(sizeof *runs + count * sizeof runs->shown[0]);
    runs->record = *record;
    for (size_t i = 0; i < count; i++)
        runs->shown[i] = show(&runs->record.runs[i], stands && i == 0);
    return runs;
}

size_t pdk_job_runs_count(const pdk_job_runs *runs) { return runs ? (size_t)runs->record.count : 0; }

const pdk_job_run *pdk_job_runs_run(const pdk_job_runs *runs, size_t index) {
    return index < pdk_job_runs_count(runs) ? &runs->shown[index] : NULL;
}

void pdk_job_runs_free(pdk_job_runs *runs) { g_free(runs); }

pdk_status pdk__job_read(const char *name, const char *path, const char *data, size_t size, int64_t mtime_ms,
                         struct pdk__job_record *record) {
    enum pdk__record_kind kind = pdk__job_parse(data, size, mtime_ms, record);
    if (kind == PDK__RECORD_NEWER)
        return pdk__fail(PDK_UNSUPPORTED, "%s: %s: the record is of a later version of Paddock", name, path);
    if (kind == PDK__RECORD_FOREIGN)
        return pdk__fail(PDK_DAMAGED,
                         "%s: %s: this is no record of a job; look at it, and delete it while no run stands", name,
                         path);
    return PDK_OK;
}

/* ---- looking */

void pdk__job_look_init(struct pdk__job_look *look, const char *name, const char *path) {
    *look = (struct pdk__job_look){.name = name,
                                   .record = g_strconcat(path, "/record", NULL),
                                   .lock = g_strconcat(path, "/lock", NULL),
                                   .found = g_new0(struct pdk__job_record, 1)};
}

void pdk__job_look_clear(struct pdk__job_look *look) {
    g_free(look->record);
    g_free(look->lock);
    g_free(look->found);
}

static pdk_status get(const struct pdk__job_look *look, pdk_session *s, const char *path, int64_t deadline,
                      struct pdk__record_node *node) {
    pdk_status status = pdk__record_get(s, path, deadline, node);
    if (status == PDK_NO_PERMISSION)
        pdk__fail(status, "%s: %s: %s", look->name, path, pdk__zk_code_name(node->code));
    return status;
}

/* Reads the record; *version is that of what was read, or -1. */
static pdk_status get_record(struct pdk__job_look *look, pdk_session *s, int64_t deadline, int32_t *version) {
    struct pdk__record_node node = {0};
    pdk_status status = get(look, s, look->record, deadline, &node);
    look->found->count = 0;
    *version = -1;
    if (status == PDK_OK && node.exists) {
        size_t size = 0;
        const char *data = g_bytes_get_data(node.data, &size);
        *version = node.version;
        status = pdk__job_read(look->name, look->record, data, size, node.mtime_ms, look->found);
    }
    g_bytes_unref(node.data);
    return status;
}

static pdk_status stat_runner(struct pdk__job_look *look, pdk_session *s, int64_t deadline) {
    const struct pdk__job_run *newest = &look->found->runs[0];
    char *path = g_strconcat(look->lock, "/", newest->node, NULL);
    struct pdk__record_node node = {0};
    pdk_status status = get(look, s, path, deadline, &node);
    look->stands = status == PDK_OK && node.exists && node.token == newest->token;
    g_bytes_unref(node.data);
    g_free(path);
    return status;
}

static bool is_open(const struct pdk__job_look *look) {
    return look->found->count > 0 && look->found->runs[0].state == 'R';
}

static pdk_status ask(pdk_session *s, int64_t deadline, void *user) {
    struct pdk__job_look *look = user;
    int32_t version, again;
    look->stands = false;
    pdk_status status = get_record(look, s, deadline, &version);
    if (status != PDK_OK || !is_open(look))
        return status;
    status = stat_runner(look, s, deadline);
    if (status != PDK_OK || look->stands)
        return status;
    status = get_record(look, s, deadline, &again);
    return status == PDK_OK && again != version ? PDK_UNAVAILABLE : status; /* another one runs: look anew */
}

static void clear(void *look) { pdk__job_look_clear(look); }

pdk_status pdk__job_look(struct pdk__job_look *look, pdk_session *s, int64_t timeout_ms) {
    struct pdk__leave leave = {.after = clear, .user = look};
    pdk__leave_push(&leave);
    pdk_status status = pdk__query_run(s, look->name, look->record, timeout_ms, ask, look);
    pdk__leave_pop();
    return status;
}

pdk_status pdk_job_record(pdk_session *session, const char *path, int64_t timeout_ms, pdk_job_runs **runs) {
    static const char name[] = "pdk_job_record";
    pdk_status status = pdk__recipe_check(session, path, runs, name);
    if (status != PDK_OK)
        return status;
    struct pdk__job_look look;
    char *full = g_strconcat(session->hosts->chroot, path, NULL);
    pdk__job_look_init(&look, name, full);
    g_free(full);
    status = pdk__job_look(&look, session, timeout_ms);
    if (status == PDK_OK)
        *runs = pdk__job_runs_new(look.found, look.stands);
    pdk__job_look_clear(&look);
    return status;
}
