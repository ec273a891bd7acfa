/* The promises about records: those of jobs and of lease locks.
 *
 *     RECORD, by the order of the transactions:   R 7 ── F 7 ── R 9 ── R 12 ── F 12 …      a job's; 9 has died
 *                                                 H 7 ── H 7 ── N 7 ── H 9 ── H 12 …       a lease lock's; 9 is gone
 *     a claim that is answered:                   OK: the newest is its own; SKIPPED: with the RUNS that are told
 *     a hold's end:                               ENDING ──► F, or N ──► ENDING_ANSWERED
 *
 * The holds are those of a lock, and are judged as such. */
#include "checker.h"

#include <paddock/hold.h>
#include <paddock/job.h>

#define MS INT64_C(1000000)
/* Too short for another ask, and ended by anything that wakes it. */
#define LAST_PAUSE (100 * MS)

bool checker_records(const struct checker *c, int8_t path) {
    return c->paths[path].recipe == PLAN_RECIPE_JOB || c->paths[path].recipe == PLAN_RECIPE_LEASE_LOCK;
}

static bool is_job(const struct checker *c, int8_t path) { return c->paths[path].recipe == PLAN_RECIPE_JOB; }

static struct checker_hold *hold_of(struct checker *c, int8_t path, int64_t token) {
    for (int32_t i = c->holds_count - 1; i >= 0; i--)
        if (c->holds[i].known && c->holds[i].path == path && c->holds[i].token == token)
            return &c->holds[i];
    return NULL;
}

/* The newest content of that token, in that state; or NULL. */
static const struct checker_content *content_of(const struct checker *c, int8_t path, int64_t token, int32_t state) {
    for (int32_t i = c->paths[path].contents_count - 1; i >= 0; i--) {
        const struct checker_content *content = &c->contents[path][i];
        if (content->token == token && content->state == state)
            return content;
    }
    return NULL;
}

/* ---- what is written */

/* A hold lasts at most so long after what was written, by a clock that is slow. */
static int64_t latest_until(const struct checker *c, const struct checker_content *content, int8_t path) {
    if (!is_job(c, path))
        return content->written * MS + c->duration * MS;
    return (content->written + 1) * MS + c->most * MS * 1000000 / (1000000 - c->rates);
}

static int64_t period_of(const struct checker *c, int64_t ms) {
    int64_t since = ms - c->edge;
    return since >= 0 ? since / c->every : -1;
}

/* NULL: a run may start at that moment. */
static const char *too_soon(const struct checker *c, const struct checker_content *newest, int64_t ms) {
    if (ms < newest->started + c->least)
        return "too soon after the start";
    if (c->every > 0 && period_of(c, ms) == period_of(c, newest->started) && !(c->retry && newest->state != 'F'))
        return "in the period";
    return NULL;
}

static void check_start(struct checker *c, const struct checker_content *before, const struct history_event *e) {
    const char *wrong = before ? too_soon(c, before, e->clock / MS) : NULL;
    c->evaluated[CHECK_RUN_SOON]++;
    c->met[MET_RUNS]++;
    c->met[MET_RUNS_DIED] += before && before->state != 'F';
    c->met[MET_RUNS_RETRIED] +=
        before && before->state != 'F' && c->every > 0 && period_of(c, e->clock / MS) == period_of(c, before->started);
    if (wrong)
        checker_break(c, CHECK_RUN_SOON, e, "%llx starts %s of %llx", (unsigned long long)e->a, wrong,
                      (unsigned long long)before->token);
}

static void check_take(struct checker *c, const struct checker_content *before, const struct history_event *e) {
    bool stood = before && before->state == 'H', own = stood && before->number == e->b;
    int64_t passed = before ? e->clock / MS - before->written : 0;
    c->evaluated[CHECK_STANDS]++;
    c->met[MET_TAKEN]++;
    c->met[MET_TAKEN_BACK] += own;
    c->met[MET_TAKEN_ENDED] += stood && !own;
    if (stood && !own && passed < c->duration)
        checker_break(c, CHECK_STANDS, e, "by secret %lld, %lld ms after that of secret %lld was renewed",
                      (long long)e->b, (long long)passed, (long long)before->number);
}

/* Somebody who has, or had, the lock, and was not overtaken. */
static void check_writer(struct checker *c, const struct checker_content *before, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, e->a);
    const char *wrong = !node || node->path != e->path || !hold_of(c, e->path, e->a) ? "has no lock"
                        : node->session != e->extra                                  ? "is of another session"
                        : before && before->token > e->a                             ? "was overtaken"
                                                                                     : NULL;
    c->evaluated[CHECK_RECORD_FOREIGN]++;
    if (wrong)
        checker_break(c, CHECK_RECORD_FOREIGN, e, "%llx writes to path %d, and %s", (unsigned long long)e->a, e->path,
                      wrong);
}

/* The runs before the newest. */
static bool keeps_runs(const struct checker *c, const struct checker_content *before, const struct history_event *e) {
    bool starts = !before || before->token != e->a;
    int32_t lines = !before ? 1 : starts ? before->lines + 1 : before->lines;
    if (e->count != (lines < c->keep ? lines : c->keep))
        return false;
    return !before || !starts || e->count == 1 ||
           (e->number == (before->state == 'F' ? 'F' : 'D') && (uint32_t)e->sequence == (uint32_t)before->token);
}

static const char *changed(struct checker *c, const struct checker_content *before, const struct history_event *e) {
    const struct checker_hold *hold = hold_of(c, e->path, e->a);
    bool ends = e->id == 'F' || e->id == 'N', same = before && before->token == e->a;
    if (is_job(c, e->path) && !keeps_runs(c, before, e))
        return "other runs stand there";
    if (ends && (!same || !hold || !hold->ends || (e->id == 'F' && e->b != hold->outcome)))
        return "nobody has told that end";
    return same && (before->state == 'F' || before->state == 'N') ? "it had ended" : NULL;
}

static void written(struct checker *c, const struct history_event *e) {
    struct checker_path *path = &c->paths[e->path];
    struct checker_content *contents = c->contents[e->path];
    const struct checker_content *before = path->contents_count > 0 ? &contents[path->contents_count - 1] : NULL;
    bool starts = !before || before->token != e->a;
    check_writer(c, before, e);
    c->evaluated[CHECK_RECORD_CHANGED]++;
    const char *wrong = changed(c, before, e);
    if (wrong)
        checker_break(c, CHECK_RECORD_CHANGED, e, "%c of %llx on path %d: %s", e->id, (unsigned long long)e->a, e->path,
                      wrong);
    if (starts && is_job(c, e->path))
        check_start(c, before, e);
    else if (starts)
        check_take(c, before, e);
    c->met[MET_RENEWED] += !starts && e->id == 'H';
    if (path->contents_count < HISTORY_CONTENTS)
        contents[path->contents_count++] = (struct checker_content){
            .token = e->a,
            .number = e->b,
            .at = e->at,
            .state = e->id,
            .lines = e->count,
            .written = e->clock / MS,
            .started = starts ? e->clock / MS : before->started,
        };
}

/* ---- a claim is answered */

void checker_record_delivered(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    if (!checker_records(c, hold->path))
        return;
    c->evaluated[CHECK_RECORD_LOST]++;
    if (!content_of(c, hold->path, hold->token, is_job(c, hold->path) ? 'R' : 'H'))
        checker_break(c, CHECK_RECORD_LOST, e, "p%d's %llx is granted", hold->process, (unsigned long long)hold->token);
}

/* It ended before the answer to its own write came. */
static bool is_overdue(const struct checker *c, const struct checker_hold *hold) {
    bool job = is_job(c, hold->path);
    return hold->ended && (!job || c->most > 0) && content_of(c, hold->path, hold->token, job ? 'R' : 'H');
}

/* One that it was granted since it asked is over, and not because somebody let it go. */
static bool has_lost(struct checker *c, const struct checker_claim *claim, const struct history_event *e) {
    for (int32_t i = c->holds_count - 1; i >= 0; i--) {
        struct checker_hold *hold = &c->holds[i];
        if (!hold->known || hold->received || hold->path != claim->path || hold->process != claim->process ||
            hold->granted_at < claim->asked_at)
            continue;
        const struct checker_node *node = checker_node_of(c, hold->token);
        if (hold->until <= e->at || is_overdue(c, hold) || checker_has_removed_node(c, hold) ||
            (node && checker_was_misled(c, node->session)) || c->sessions[hold->session].retired_at >= hold->granted_at)
            return true;
    }
    return false;
}

bool checker_record_judges(struct checker *c, const struct checker_claim *claim, const struct history_event *e,
                           const char **wrong) {
    bool job = is_job(c, claim->path);
    int64_t request = claim->since + c->request * MS;
    *wrong = NULL;
    if (claim->mode == MODE_SET || !checker_records(c, claim->path))
        return false;
    if (claim->skipped && e->a != PDK_SKIPPED)
        *wrong = "it was skipped";
    else if (e->a == PDK_SKIPPED)
        *wrong = claim->skipped ? NULL : "nothing says by which run";
    else if (e->a == PDK_LOST)
        *wrong = has_lost(c, claim, e) ? NULL : "no hold of it was lost";
    else if (e->a == PDK_BUSY && job)
        *wrong = e->clock >= claim->patient - LAST_PAUSE ? NULL : "there is time left";
    else if (e->a == PDK_TIMEOUT && job)
        *wrong = "an ask does not wait";
    else if (e->a == PDK_TIMEOUT && claim->is_try) /* it was granted, and ran too late to take it */
        *wrong = e->clock >= request && checker_was_granted(c, claim, e->id) ? NULL : "a try does not wait";
    else if (e->a == PDK_UNAVAILABLE) /* a request has a limit of its own */
        *wrong = e->clock >= request || e->clock >= claim->deadline ? NULL : "there is time left";
    else
        return false;
    return true;
}

/* ---- runs are told */

/* The content that it tells of; NULL: there is none. */
static const struct checker_content *told_content(struct checker *c, const struct history_event *e) {
    const struct checker_content *content = content_of(c, e->path, e->b, e->mode == PDK_JOB_FINISHED ? 'F' : 'R');
    return content && content->lines == e->count && (content->state == 'R' || content->number == e->sequence) ? content
                                                                                                              : NULL;
}

/* One that has died tells no outcome after that. */
static const char *wrong_runs(struct checker *c, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, e->b);
    const struct checker_content *end = content_of(c, e->path, e->b, 'F');
    if (!told_content(c, e))
        return "it never stood there";
    if (e->mode == PDK_JOB_DIED && node && !node->gone)
        return "its node stands";
    return e->mode == PDK_JOB_DIED && end && node && end->at < node->gone_at ? "it has told its outcome" : NULL;
}

/* By the newest run that is told. */
static void check_skipped(struct checker *c, const struct history_event *e) {
    struct checker_content newest = {.state = e->mode == PDK_JOB_FINISHED ? 'F' : 'R'};
    const struct checker_content *start = content_of(c, e->path, e->b, 'R');
    newest.started = start ? start->started : 0;
    c->evaluated[CHECK_RUN_SKIPPED]++;
    c->met[MET_RUNS_SKIPPED]++;
    if (e->id < c->claims_count)
        c->claims[e->id].skipped = true;
    if (e->mode != PDK_JOB_RUNNING && !too_soon(c, &newest, e->extra / MS))
        checker_break(c, CHECK_RUN_SKIPPED, e, "claim %d of p%d, by run %llx", e->id, e->process,
                      (unsigned long long)e->b);
}

static void check_read(struct checker *c, const struct history_event *e) {
    const struct checker_session *session = &c->sessions[e->number];
    bool tainted = e->a > 0 && e->a < CHECKER_STATUSES && session->tainted[e->a];
    /* clocks run at most twice as fast as the time */
    bool good = e->a == PDK_OK || tainted || (e->a == PDK_CLOSED && session->closing) ||
                (e->a == PDK_UNAVAILABLE && e->at - e->extra >= e->passed * MS / 2);
    c->evaluated[CHECK_RECORD_STATUS]++;
    c->met[MET_RUNS_READ] += e->b != 0;
    if (!good)
        checker_break(c, CHECK_RECORD_STATUS, e, "p%d reads the runs of path %d: %s", e->process, e->path,
                      pdk_status_name((pdk_status)e->a));
}

static void told(struct checker *c, const struct history_event *e) {
    bool misled = c->misled_count > 0;
    const char *wrong = e->b == 0 || misled ? NULL : wrong_runs(c, e);
    c->evaluated[CHECK_RUN_TOLD]++;
    if (wrong)
        checker_break(c, CHECK_RUN_TOLD, e, "p%d is told of run %llx, %d of %d: %s", e->process,
                      (unsigned long long)e->b, e->mode, e->count, wrong);
    if (e->id < 0)
        check_read(c, e);
    else if (!misled)
        check_skipped(c, e);
    else if (e->id < c->claims_count)
        c->claims[e->id].skipped = true;
}

/* ---- the end of a hold */

void checker_record_extended(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    bool job = is_job(c, hold->path);
    if (!checker_records(c, hold->path) || !hold->received || (job && c->most == 0))
        return;
    const struct checker_content *content = content_of(c, hold->path, hold->token, job ? 'R' : 'H');
    c->evaluated[CHECK_OVERDUE]++;
    if (content && e->a > latest_until(c, content, hold->path))
        checker_break(c, CHECK_OVERDUE, e, "p%d's %llx, by %.3f ms", hold->process, (unsigned long long)hold->token,
                      (double)(e->a - latest_until(c, content, hold->path)) / 1e6);
}

static const char *wrong_end(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    const struct checker_session *session = &c->sessions[hold->session];
    const struct checker_node *node = checker_node_of(c, hold->token);
    bool over = !checker_is_valid(hold, e->at) || session->closing;
    switch (e->a) {
    case PDK_OK:
        return NULL;
    case PDK_LOST:
        return over || !node || node->gone ? NULL : "and the hold stands";
    case PDK_NOT_HELD:
        return hold->released ? NULL : "and it was not released";
    case PDK_REPLACED:
        return "and nobody else writes there";
    case PDK_UNAVAILABLE: /* as above */
        return e->at - hold->ends_at >= hold->ends_ms * MS / 2 ? NULL : "before its timeout";
    default:
        return (e->a > 0 && e->a < CHECKER_STATUSES && session->tainted[e->a]) || session->ended ? NULL : "for nothing";
    }
}

static void ended(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, hold->token);
    bool job = is_job(c, hold->path);
    const char *wrong = node && checker_was_misled(c, node->session) ? NULL : wrong_end(c, hold, e);
    c->evaluated[CHECK_RECORD_STATUS]++;
    if (wrong)
        checker_break(c, CHECK_RECORD_STATUS, e, "the end of p%d's %llx: %s, %s", hold->process,
                      (unsigned long long)hold->token, pdk_status_name((pdk_status)e->a), wrong);
    c->evaluated[CHECK_RECORD_LOST]++;
    c->met[job ? MET_RUNS_FINISHED : MET_GIVEN_UP] += e->a == PDK_OK;
    if (e->a == PDK_OK && !content_of(c, hold->path, hold->token, job ? 'F' : 'N'))
        checker_break(c, CHECK_RECORD_LOST, e, "the end of p%d's %llx", hold->process, (unsigned long long)hold->token);
}

void checker_record_event(struct checker *c, const struct history_event *e) {
    struct checker_hold *hold = e->id >= 0 && e->id < c->holds_count && c->holds[e->id].known ? &c->holds[e->id] : NULL;
    if (e->kind == HISTORY_RECORD) {
        written(c, e);
    } else if (e->kind == HISTORY_RUNS) {
        told(c, e);
    } else if (hold && e->kind == HISTORY_ENDING) {
        hold->ends = true;
        hold->outcome = (int32_t)e->a;
        hold->ends_ms = e->passed;
        hold->ends_at = e->at;
    } else if (hold) {
        ended(c, hold, e);
    }
}
