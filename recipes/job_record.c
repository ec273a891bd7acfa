/* The record of a job, as others read it: GET the record; while a run stands in it, STAT that run's lock node.
 *
 *     GET ──it has ended──► done            the node is gone ──► GET again: the same version: it died; else again
 *      └──it has not──► STAT its lock node ──┴─ it stands ──► done
 *
 * A runner tells its outcome before its lock node goes. So a reader that sees the node gone sees the outcome in the
 * next GET.
 */
#include "base/text.h"
#include "grant/recipe.h"
#include "job.h"
#include "session/tokens.h"
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
        return pdk__fail(PDK_UNSUPPORTED, "%s: %s: the record is of a later version of Paddock; use that one here, too",
                         name, path);
    if (kind == PDK__RECORD_FOREIGN)
        return pdk__fail(
            PDK_DAMAGED,
            "%s: %s: this is no record of a job, or was damaged: look at its data. Deleting it forgets all runs: "
            "the job is due at once; do it while no run stands",
            name, path);
    return PDK_OK;
}

/* ---- looking */

static struct pdk__job_look *look_of(struct pdk__query_loop *loop) { return (struct pdk__job_look *)loop; }

static struct pdk__query *get(const struct pdk__job_look *look, const char *path) {
    return pdk__node_ask(look->loop.call->s, (struct pdk__request){.kind = PDK__OP_GET, .path = path},
                         PDK__BEHIND_NOTHING);
}

static struct pdk__query *job_look_begin(struct pdk__query_loop *loop) {
    struct pdk__job_look *look = look_of(loop);
    look->at = PDK__JOB_LOOK_RECORD;
    look->stands = false;
    return get(look, look->record);
}

/* Take the reading of the record; its version, or -1. */
static pdk_status read_record(struct pdk__job_look *look, const struct pdk__node_query *q, int32_t *version) {
    look->found->count = 0;
    *version = -1;
    if (q->result != PDK__OK)
        return PDK_OK;
    size_t size = 0;
    const char *data = g_bytes_get_data(q->data, &size);
    *version = q->stat.version;
    return pdk__job_read(look->loop.call->name, look->record, data, size, q->stat.mtime_ms, look->found);
}

static bool is_open(const struct pdk__job_look *look) {
    return look->found->count > 0 && look->found->runs[0].state == 'R';
}

static struct pdk__query *get_runner(const struct pdk__job_look *look) {
    char *path = g_strconcat(look->lock, "/", look->found->runs[0].node, NULL);
    struct pdk__query *q = get(look, path);
    g_free(path);
    return q;
}

static pdk_status judge_record(struct pdk__query_loop *loop, const struct pdk__node_query *q) {
    struct pdk__job_look *look = look_of(loop);
    pdk_status status = read_record(look, q, &look->version);
    if (status != PDK_OK || !is_open(look))
        return status;
    look->at = PDK__JOB_LOOK_RUNNER;
    return pdk__query_loop_next(loop, get_runner(look));
}

static pdk_status judge_runner(struct pdk__query_loop *loop, const struct pdk__node_query *q) {
    struct pdk__job_look *look = look_of(loop);
    int64_t token = pdk__token_of(loop->call->s, q->stat.token);
    look->stands = q->result == PDK__OK && token == look->found->runs[0].token;
    if (look->stands)
        return PDK_OK;
    look->at = PDK__JOB_LOOK_AGAIN;
    return pdk__query_loop_next(loop, get(look, look->record));
}

static pdk_status judge_again(struct pdk__query_loop *loop, const struct pdk__node_query *q) {
    struct pdk__job_look *look = look_of(loop);
    int32_t version;
    pdk_status status = read_record(look, q, &version);
    return status == PDK_OK && version != look->version ? PDK_UNAVAILABLE : status; /* another one runs: look again */
}

static pdk_status judge(struct pdk__query_loop *loop) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)loop->query;
    const struct pdk__job_look *look = look_of(loop);
    if (q->base.status == PDK_NO_PERMISSION)
        return pdk__fail(PDK_NO_PERMISSION, "%s: %s: %s", loop->call->name,
                         look->at == PDK__JOB_LOOK_RUNNER ? look->lock : look->record, pdk__zk_code_name(q->code));
    if (q->base.status != PDK_OK)
        return q->base.status;
    if (q->result != PDK__OK && q->result != PDK__NO_NODE)
        return PDK_UNAVAILABLE; /* it does not say what stands there: look again */
    switch (look->at) {
    case PDK__JOB_LOOK_RECORD:
        return judge_record(loop, q);
    case PDK__JOB_LOOK_RUNNER:
        return judge_runner(loop, q);
    case PDK__JOB_LOOK_AGAIN:
        break;
    }
    return judge_again(loop, q);
}

void pdk__job_look_init(struct pdk__job_look *look, struct pdk__call *call, const char *path) {
    static const struct pdk__query_loop_kind asks = {job_look_begin, judge};
    *look = (struct pdk__job_look){.record = g_strconcat(path, "/record", NULL),
                                   .lock = g_strconcat(path, "/lock", NULL),
                                   .found = g_new0(struct pdk__job_record, 1)};
    look->loop = (struct pdk__query_loop){.kind = &asks, .call = call, .path = look->record};
}

void pdk__job_look_clear(struct pdk__job_look *look) {
    g_free(look->record);
    g_free(look->lock);
    g_free(look->found);
}

/* ---- a call that looks */

struct reading {
    struct pdk__call call;
    struct pdk__job_look look;
    pdk_job_runs *runs;
    pdk_job_runs_fn fn;
};

static pdk_status step(struct pdk__call *c) {
    struct reading *r = (struct reading *)c;
    pdk_status status = pdk__query_loop_step(&r->look.loop);
    if (status == PDK_OK)
        r->runs = pdk__job_runs_new(r->look.found, r->look.stands);
    return status;
}

static void job_look_leave(struct pdk__call *c) { pdk__query_loop_leave(&((struct reading *)c)->look.loop); }

static void job_look_tell(struct pdk__call *c, pdk_status status) {
    struct reading *r = (struct reading *)c;
    r->fn(status, g_steal_pointer(&r->runs), c->user);
}

static void reading_free(struct pdk__call *c) {
    struct reading *r = (struct reading *)c;
    pdk__job_look_clear(&r->look);
    pdk_job_runs_free(r->runs);
    g_free(r);
}

static struct pdk__call *reading_new(pdk_session *s, const char *name, const char *path, int64_t timeout_ms,
                                     pdk_job_runs_fn fn, void *user) {
    static const struct pdk__call_kind kind = {NULL, step, job_look_leave, job_look_tell, reading_free};
    struct reading *r = g_new0(struct reading, 1);
    r->call = pdk__call_make(&kind, s, name, timeout_ms);
    r->call.user = user;
    char *full = g_strconcat(s->hosts->chroot, path, NULL);
    pdk__job_look_init(&r->look, &r->call, full);
    g_free(full);
    r->fn = fn;
    return &r->call;
}

static void job_look_keep(pdk_status status, pdk_job_runs *runs, void *out) {
    if (status == PDK_OK)
        *(pdk_job_runs **)out = runs;
}

pdk_status pdk_job_history(pdk_session *session, const char *path, int64_t timeout_ms, pdk_job_runs **runs) {
    static const char name[] = "pdk_job_history";
    if (!runs)
        return pdk__fail(PDK_INVALID, "%s: runs: NULL", name);
    pdk_status status = pdk__recipe_check(session, path, runs, name);
    if (status != PDK_OK)
        return status;
    return pdk__call_wait(reading_new(session, name, path, timeout_ms, job_look_keep, runs));
}

pdk_status pdk_job_history_async(pdk_session *session, const char *path, int64_t timeout_ms, pdk_job_runs_fn fn,
                                 void *user) {
    static const char name[] = "pdk_job_history_async";
    pdk_status status = pdk__call_check_fn(name, fn);
    if (status == PDK_OK)
        status = pdk__recipe_check(session, path, path, name);
    if (status != PDK_OK)
        return status;
    return pdk__call_start(reading_new(session, name, path, timeout_ms, fn, user));
}
