/* The job. core/job.h has the record and the rule, record.h the order of the requests.
 *
 *     /jobs/backup
 *        ├─ lock                                    a lock: of the runner, or of askers
 *        │    └─ _c_…-lock-0000000007
 *        └─ record                                  "paddock-job 1\nR 4294967301 …\nF 4294967188 …\n"
 *
 * Rule: the holder of the lock looks at the record. It may start a run if the newest run allows one at the moment at
 * which its own lock node was made, by the servers' clock. It writes the start first, and runs if the hold is still
 * valid when the write is confirmed. Nobody else can have the lock then, so no two run at a time; and each start names
 * the version of the record that allowed it, so no two starts come of one record. An ask never waits for a run: it
 * tries, and looks who is there.
 */
#include "job.h"

#include "base/fork.h"
#include "base/text.h"
#include "core/paths.h"
#include "grant/claim.h"
#include "grant/recipe.h"
#include "session/blocking.h"
#include "session/dispatch.h"
#include "session/options.h"

#include <string.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_job_options, identity) + sizeof(const char *))
/* The pause before the next try, while others ask. */
#define AGAIN_NS (50 * PDK__MS)

enum { ROOM = PDK__PATH_MAX - 12 };

struct pdk_job {
    atomic_uint refs;
    struct pdk__queue *queue; /* of the lock */
    char *path, *record;      /* chroot included */
    pdk_job_options options;  /* all but the identity, the zone and the schedule */
    GTimeZone *zone;          /* NULL: UTC, and no schedule */
    bool scheduled;           /* the periods are those of `cron` */
    struct pdk__job_cron cron;
    char who[PDK__JOB_WHO];
};

/* ---- the object */

pdk_status pdk_job_options_init(pdk_job_options *options, size_t size) {
    static const pdk_job_options defaults = PDK_JOB_OPTIONS_INIT;
    return pdk__options_init("pdk_job_options_init", options, size, &defaults, sizeof defaults, OPTIONS_FIRST_SIZE);
}

static pdk_status check_duration(const char *name, int64_t ms) {
    if (ms >= 0 && ms <= PDK__JOB_LONGEST)
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "options: %s is %lld; from 0 to %lld", name, (long long)ms,
                     (long long)PDK__JOB_LONGEST);
}

static pdk_status read_options(const pdk_job_options *given, pdk_job_options *o) {
    pdk_status status = pdk__options_read("options", given, o, sizeof *o, OPTIONS_FIRST_SIZE);
    if (status == PDK_OK)
        status = check_duration("every_ms", o->every_ms);
    if (status == PDK_OK)
        status = check_duration("at_least_ms", o->at_least_ms);
    if (status == PDK_OK)
        status = check_duration("at_most_ms", o->at_most_ms);
    if (status == PDK_OK && o->retry != PDK_JOB_RETRY_NEXT_PERIOD && o->retry != PDK_JOB_RETRY_AT_ONCE)
        status = pdk__fail(PDK_INVALID, "options: retry is %d; PDK_JOB_RETRY_NEXT_PERIOD or PDK_JOB_RETRY_AT_ONCE",
                           o->retry);
    if (status == PDK_OK && (o->history < 1 || o->history > PDK__JOB_RUNS))
        status = pdk__fail(PDK_INVALID, "options: history is %d; from 1 to %d", o->history, PDK__JOB_RUNS);
    if (status == PDK_OK && o->schedule && (o->every_ms || o->at_ms))
        status = pdk__fail(PDK_INVALID, "options: every_ms and at_ms have to be 0 beside a schedule");
    if (status == PDK_OK && (o->at_ms < 0 || o->at_ms >= MAX(o->every_ms, 1)))
        status = pdk__fail(PDK_INVALID, "options: at_ms is %lld; from 0, and less than every_ms", (long long)o->at_ms);
    if (status == PDK_OK && o->zone && !o->schedule && (o->every_ms == 0 || o->every_ms % PDK__JOB_DAY != 0))
        status = pdk__fail(PDK_INVALID, "options: every_ms is %lld; in a zone it is a number of days, of %lld ms",
                           (long long)o->every_ms, (long long)PDK__JOB_DAY);
    return status == PDK_OK ? pdk__recipe_check_identity(o->identity) : status;
}

/* *zone stays NULL without a name. */
static pdk_status read_zone(const char *name, GTimeZone **zone) {
    if (!name)
        return PDK_OK;
    *zone = pdk__job_zone(name);
    if (*zone)
        return PDK_OK;
    return pdk__fail(
        PDK_INVALID,
        "options: zone is \"%s\", which the time zone database does not have; write one as Europe/Berlin, or "
        "install tzdata",
        name);
}

/* *cron stays without a schedule. */
static pdk_status read_schedule(const char *text, struct pdk__job_cron *cron) {
    if (!text || pdk__job_cron_parse(text, cron))
        return PDK_OK;
    return pdk__fail(PDK_INVALID,
                     "options: schedule is \"%s\", and names no time; write five fields, minute, hour, day of the "
                     "month, month, day of the week, as \"30 2 * * *\"",
                     text);
}

static pdk_job *job_new(pdk_session *session, const char *path, const pdk_job_options *o) {
    static const struct pdk__queue_kind kind = {
        .entry = {PDK__CURATOR, PDK__LABEL_LOCK, {pdk__blocks_always, 0}, false},
        .recipe = "job",
        .mode = "exclusive",
        .reacquire = PDK__REACQUIRE_QUEUES,
    };
    struct pdk__handovers none; /* each ask makes a lock node of its own, whose moment is the moment of the ask */
    pdk__handovers_init(&none, 0, 0);
    pdk_job *job = g_new0(pdk_job, 1);
    char *lock = g_strconcat(path, "/lock", NULL);
    atomic_init(&job->refs, 1);
    job->queue = pdk__queue_new(session, lock, &kind, none);
    job->queue->data = g_strdup(o->identity);
    job->path = g_strconcat(session->hosts->chroot, path, NULL);
    job->record = g_strconcat(job->path, "/record", NULL);
    job->options = *o;
    job->options.identity = NULL;
    job->options.zone = NULL;
    job->options.schedule = NULL;
    pdk__job_name(o->identity ? o->identity : session->identity, job->who);
    g_free(lock);
    return job;
}

pdk_status pdk_job_new(pdk_session *session, const char *path, const pdk_job_options *options, pdk_job **out) {
    pdk_job_options o = PDK_JOB_OPTIONS_INIT;
    GTimeZone *zone = NULL;
    struct pdk__job_cron cron = {0};
    pdk_status status = pdk__recipe_check(session, path, out, "pdk_job_new");
    if (status == PDK_OK && strlen(session->hosts->chroot) + strlen(path) > ROOM)
        status =
            pdk__fail(PDK_INVALID, "path: is longer than %d bytes, chroot included: the record stands below it", ROOM);
    if (status == PDK_OK)
        status = read_options(options, &o);
    if (status == PDK_OK)
        status = read_schedule(o.schedule, &cron);
    if (status == PDK_OK)
        status = read_zone(o.zone, &zone);
    if (status != PDK_OK)
        return status;
    pdk_job *job = job_new(session, path, &o);
    job->zone = o.schedule && !zone ? g_time_zone_new_utc() : zone;
    job->scheduled = o.schedule != NULL;
    job->cron = cron;
    *out = job;
    return PDK_OK;
}

pdk_job *pdk_job_ref(pdk_job *job) {
    if (job)
        atomic_fetch_add(&job->refs, 1);
    return job;
}

void pdk_job_unref(pdk_job *job) {
    if (!job || job->queue->s->forks != pdk__forks() || atomic_fetch_sub(&job->refs, 1) != 1)
        return;
    pdk__queue_close(job->queue, "the job was dropped");
    g_free(job->path);
    g_free(job->record);
    g_clear_pointer(&job->zone, g_time_zone_unref);
    g_free(job);
}

/* ---- begin */

/* An ask: a claim that never waits in line, then a look at the contender ahead, or a change of the record.
 *
 *     CLAIMS ──has the lock──► RECORDS ──► BEGUN, or over
 *       ▲  └──somebody is ahead──► LOOKS ──a run stands──► over: skipped
 *       │                            └──others only ask──► PAUSES, while there is time
 *       └──────────────────────────────────────────────────┘
 */
struct asking {
    struct pdk__call call;
    pdk_job *job; /* a reference */
    enum { CLAIMS, RECORDS, LOOKS, PAUSES, BEGUN } at;
    int64_t until; /* while others ask, it asks again until then; the call has time for one request at least */
    bool last;     /* the pause lasts until then, and ends it */
    struct pdk__claiming claiming;
    struct pdk__job_look look;
    struct pdk__record_change change;
    struct pdk__job_record *found;
    pdk_hold *hold;     /* a reference */
    pdk_job_runs *runs; /* the runs that were found, for SKIPPED */
    pdk_job_acquired_fn fn;
};

static GBytes *text_of(const struct pdk__job_record *record) {
    char *text = g_malloc(PDK__JOB_SIZE);
    size_t length = pdk__job_write(record, text);
    return g_bytes_new_take(text, length);
}

static pdk_status skipped(struct asking *b, const struct pdk__job_record *record, bool stands) {
    const struct pdk__job_run *newest = &record->runs[0];
    const char *path = b->job->path;
    int64_t next = pdk__job_next(newest, b->job->options.retry == PDK_JOB_RETRY_AT_ONCE);
    b->runs = pdk__job_runs_new(record, stands);
    if (stands)
        return pdk__fail(PDK_SKIPPED, "%s: %s: %s runs it since %lld", b->call.name, path, newest->who,
                         (long long)newest->start);
    return pdk__fail(PDK_SKIPPED, "%s: %s: %s %s at %lld; the next run may start at %lld", b->call.name, path,
                     newest->who, newest->state == 'F' ? "ran it" : "died in a run of it", (long long)newest->start,
                     (long long)next);
}

/* Set the periods as this process has them, from that moment on. */
static void set_periods(const pdk_job *job, struct pdk__job_run *run, int64_t from) {
    run->every = job->options.every_ms;
    run->edge = job->options.at_ms;
    if (!job->zone)
        return;
    struct pdk__job_period period = job->scheduled ? pdk__job_cron_period(job->zone, &job->cron, from)
                                                   : pdk__job_period_at(job->zone, run->edge, run->every, from);
    run->every = period.next;
    run->edge = MIN(period.end, PDK__JOB_LATEST);
}

/* Warn that another process has other periods. Each run decides about the next one, so the two would take turns with
 * their periods. */
static void tell_other_periods(const struct asking *b, const struct pdk__job_run *newest) {
    struct pdk__job_run theirs = *newest, ours = *newest;
    set_periods(b->job, &ours, ours.start);
    theirs.least = ours.least = 0;
    int64_t end = pdk__job_next(&theirs, false), mine = pdk__job_next(&ours, false);
    if (end != mine)
        pdk__log(b->job->queue->s, PDK_LOG_WARN,
                 "%s: %s has other periods: that of its run at %lld ends at %lld, and by our options at %lld; give all "
                 "the same every_ms, at_ms, zone and schedule",
                 b->job->path, newest->who, (long long)newest->start, (long long)end, (long long)mine);
}

/* A moment by the servers' clock that is not later than the start, and not much earlier. The record may be written minutes
 * after the ask, and tells of one period behind its edge alone. */
static int64_t earliest_start(const struct asking *b, int64_t asked) {
    pdk_session *s = b->call.s;
    return asked + (pdk__now(s) - b->hold->since) / PDK__MS;
}

static struct pdk__job_run run_of(const struct asking *b, int64_t now) {
    const pdk_job_options *o = &b->job->options;
    struct pdk__job_run made = {.token = b->hold->token,
                                .start = CLAMP(now, 1, PDK__JOB_LATEST),
                                .least = o->at_least_ms,
                                .most = o->at_most_ms,
                                .state = 'R'};
    set_periods(b->job, &made, earliest_start(b, made.start));
    g_strlcpy(made.node, strrchr(b->hold->node, '/') + 1, sizeof made.node);
    memcpy(made.who, b->job->who, sizeof made.who);
    return made;
}

static pdk_status start(void *user, const struct pdk__record_seen *seen, GBytes **next) {
    struct asking *b = user;
    const pdk_job_options *o = &b->job->options;
    const char *name = b->call.name;
    pdk_status status = pdk__job_read(name, b->job->record, seen->data, seen->size, seen->mtime_ms, b->found);
    if (status != PDK_OK)
        return status;
    struct pdk__job_run begun = run_of(b, seen->now_ms);
    if (b->found->count > 0 && b->found->runs[0].token != begun.token)
        tell_other_periods(b, &b->found->runs[0]);
    switch (pdk__job_judge(b->found, begun.token, begun.start, o->retry == PDK_JOB_RETRY_AT_ONCE)) {
    case PDK__JOB_START:
        pdk__job_start(b->found, &begun, o->history);
        *next = text_of(b->found);
        return PDK_OK;
    case PDK__JOB_SKIP:
        return skipped(b, b->found, false);
    case PDK__JOB_OVERTAKEN:
        return pdk__fail(PDK_LOST, "%s: %s: another one came after this hold", name, b->job->path);
    case PDK__JOB_OURS:
        break;
    }
    return PDK_OK; /* the answer was lost */
}

static pdk_status lost(const struct asking *b) {
    return pdk__fail(PDK_LOST, "%s: %s: the hold is lost", b->call.name, b->job->path);
}

/* Limit the hold: the limit counts from a moment that is not later than the start. */
static pdk_status limit(const struct asking *b) {
    const pdk_job_options *o = &b->job->options;
    if (o->at_most_ms > 0)
        pdk__hold_limit(b->hold, b->change.handed + o->at_most_ms * PDK__MS, 0);
    return pdk_hold_is_valid(b->hold) ? PDK_OK : lost(b);
}

/* Each of these answers OK to go on with the next one. */

/* It has the lock: look at the record. */
static pdk_status ask_record(struct asking *b) {
    pdk_status status = pdk__record_step(&b->change);
    if (status == PDK__WAITS)
        return status;
    if (status == PDK_OK)
        status = limit(b);
    b->at = BEGUN;
    if (status != PDK_OK)
        pdk__hold_drop(g_steal_pointer(&b->hold));
    return status;
}

/* The lock was granted, but its time was over when this thread ran. */
static pdk_status job_too_late(const struct asking *b) {
    return pdk__fail(PDK_UNAVAILABLE, "%s: %s: this thread ran too late to take the lock", b->call.name, b->job->path);
}

static pdk_status others_ask(const struct asking *b) {
    return pdk__fail(PDK_BUSY, "%s: %s: others ask at the same time", b->call.name, b->job->path);
}

/* The claim failed for that reason. BUSY and TIMEOUT are worth another try, unless too little time is left to hear what
 * becomes of it: an ask that was BUSY until then says so, and not that no server answers. */
static pdk_status try_again(struct asking *b, pdk_status status) {
    pdk_session *s = b->call.s;
    int64_t now = pdk__now(s);
    if ((status != PDK_BUSY && status != PDK_TIMEOUT) || now >= b->until)
        return status == PDK_TIMEOUT ? job_too_late(b) : status;
    b->at = PAUSES;
    b->last = status == PDK_BUSY && now >= b->until - 2 * AGAIN_NS;
    return pdk__call_waits(&b->call, &s->on_link, b->last ? b->until : MIN(b->until, now + AGAIN_NS));
}

/* Another process has the lock, or only asks, or has just ended: look which. */
static pdk_status ask_look(struct asking *b) {
    pdk_status status = pdk__query_loop_step(&b->look.loop);
    if (status == PDK__WAITS)
        return status;
    pdk__query_loop_leave(&b->look.loop);
    if (status == PDK_OK && b->look.stands)
        return skipped(b, b->look.found, true);
    return try_again(b, status == PDK_OK ? others_ask(b) : status);
}

static pdk_status ask_claim(struct asking *b) {
    pdk_status status = pdk__claiming_step(&b->claiming, 0, &b->hold);
    if (status == PDK__WAITS)
        return status;
    if (status != PDK_OK && status != PDK_BUSY)
        return try_again(b, status);
    b->at = status == PDK_OK ? RECORDS : LOOKS;
    b->change.hold = b->hold;
    return PDK_OK;
}

static pdk_status ask_paused(struct asking *b) {
    if (b->last)
        return others_ask(b);
    b->at = CLAIMS; /* also after a new connection */
    return pdk__session_usable(b->call.s, b->call.name);
}

static pdk_status ask_step(struct pdk__call *call) {
    static pdk_status (*const steps[])(struct asking *b) = {
        [CLAIMS] = ask_claim, [RECORDS] = ask_record, [LOOKS] = ask_look, [PAUSES] = ask_paused};
    struct asking *b = (struct asking *)call;
    pdk_status status = PDK_OK;
    while (status == PDK_OK && b->at != BEGUN)
        status = steps[b->at](b);
    return status;
}

static void ask_leave(struct pdk__call *call) {
    struct asking *b = (struct asking *)call;
    pdk__claiming_leave(&b->claiming);
    pdk__query_loop_leave(&b->look.loop);
    pdk__record_leave(&b->change);
}

/* A hold may be lost before its callback runs. Then the answer is LOST. */
static void ask_tell(struct pdk__call *call, pdk_status status) {
    struct asking *b = (struct asking *)call;
    if (status == PDK_OK && !pdk__call_has_thread(call) && !pdk_hold_is_valid(b->hold))
        status = lost(b);
    pdk_hold *hold = status == PDK_OK ? g_steal_pointer(&b->hold) : NULL;
    b->fn(status, hold, g_steal_pointer(&b->runs), call->user);
}

/* Release a hold that nobody was given. */
static void ask_free(struct pdk__call *call) {
    struct asking *b = (struct asking *)call;
    pdk_hold_unref(b->hold);
    pdk_job_runs_free(b->runs);
    pdk__job_look_clear(&b->look);
    g_free(b->found);
    pdk_job_unref(b->job);
    g_free(b);
}

/* The time of an ask: however short, it leaves a request time to be answered. */
static int64_t ask_ms(const pdk_session *s, int64_t timeout_ms) {
    return timeout_ms == PDK_FOREVER ? PDK_FOREVER : MAX(timeout_ms, s->request_timeout_ms);
}

static struct pdk__call *asking_new(pdk_job *job, const char *name, int64_t timeout_ms, pdk_job_acquired_fn fn,
                                    void *user) {
    static const struct pdk__call_kind kind = {NULL, ask_step, ask_leave, ask_tell, ask_free};
    pdk_session *s = job->queue->s;
    struct asking *b = g_new0(struct asking, 1);
    b->call = pdk__call_make(&kind, s, name, ask_ms(s, timeout_ms));
    b->call.user = user;
    b->job = pdk_job_ref(job);
    b->until = pdk__deadline(s, timeout_ms);
    b->claiming = (struct pdk__claiming){.call = &b->call, .queue = job->queue};
    b->change = (struct pdk__record_change){.call = &b->call, .path = job->record, .edit = start, .user = b};
    b->found = g_new0(struct pdk__job_record, 1);
    pdk__job_look_init(&b->look, &b->call, job->path);
    b->fn = fn;
    return &b->call;
}

struct acquired {
    pdk_hold **hold;
    pdk_job_runs **runs; /* or NULL */
};

static void job_keep(pdk_status status, pdk_hold *hold, pdk_job_runs *runs, void *user) {
    const struct acquired *out = user;
    if (status == PDK_OK)
        *out->hold = hold;
    if (status == PDK_SKIPPED && out->runs)
        *out->runs = runs;
    else
        pdk_job_runs_free(runs);
}

pdk_status pdk_job_acquire(pdk_job *job, int64_t timeout_ms, pdk_hold **hold, pdk_job_runs **runs) {
    static const char name[] = "pdk_job_acquire";
    if (!job || !hold)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", name, job ? "hold" : "job");
    pdk_status status = pdk__may_block(job->queue->s, name, timeout_ms);
    if (status != PDK_OK)
        return status;
    struct acquired out = {hold, runs};
    return pdk__call_wait(asking_new(job, name, timeout_ms, job_keep, &out));
}

pdk_status pdk_job_acquire_async(pdk_job *job, int64_t timeout_ms, pdk_job_acquired_fn fn, void *user) {
    static const char name[] = "pdk_job_acquire_async";
    if (!job)
        return pdk__fail(PDK_INVALID, "%s: job: NULL", name);
    pdk_status status = pdk__call_check_fn(name, fn);
    if (status == PDK_OK)
        status = pdk__check_call(job->queue->s, name, timeout_ms);
    return status == PDK_OK ? pdk__call_start(asking_new(job, name, timeout_ms, fn, user)) : status;
}

/* ---- finish */

struct finishing {
    struct pdk__call call;
    pdk_job *job;   /* a reference */
    pdk_hold *hold; /* a reference */
    struct pdk__record_change change;
    struct pdk__job_record *found;
    int32_t outcome;
};

static pdk_status job_finish(void *user, const struct pdk__record_seen *seen, GBytes **next) {
    struct finishing *f = user;
    const char *name = f->call.name, *record = f->job->record;
    pdk_status status = pdk__job_read(name, record, seen->data, seen->size, seen->mtime_ms, f->found);
    if (status != PDK_OK)
        return status;
    enum pdk__job_verdict verdict = pdk__job_finish(f->found, f->hold->token, f->outcome);
    if (verdict == PDK__JOB_OVERTAKEN)
        return pdk__fail(PDK_REPLACED, "%s: %s: this run is not in it any more", name, record);
    if (verdict == PDK__JOB_START)
        *next = text_of(f->found);
    return PDK_OK;
}

static pdk_status finish_step(struct pdk__call *call) { return pdk__record_step(&((struct finishing *)call)->change); }

static void finish_leave(struct pdk__call *call) { pdk__record_leave(&((struct finishing *)call)->change); }

static void finish_tell(struct pdk__call *call, pdk_status status) {
    if (status == PDK_OK)
        pdk__hold_give_back(((struct finishing *)call)->hold);
    if (call->answered)
        call->answered(status, call->user);
}

static void finish_free(struct pdk__call *call) {
    struct finishing *f = (struct finishing *)call;
    g_free(f->found);
    pdk_hold_unref(f->hold);
    pdk_job_unref(f->job);
    g_free(f);
}

static pdk_status check_finish(const pdk_job *job, const pdk_hold *hold, int32_t outcome, int64_t timeout_ms,
                               const char *name) {
    if (!job || !hold)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", name, job ? "hold" : "job");
    pdk_status status = pdk__check_call(job->queue->s, name, timeout_ms);
    if (status == PDK_OK && hold->queue != job->queue)
        status = pdk__fail(PDK_INVALID, "%s: hold: it is not of a run of this job", name);
    if (status == PDK_OK && outcome < 0)
        status = pdk__fail(PDK_INVALID, "%s: outcome is %d; 0 or more", name, outcome);
    return status;
}

static struct finishing *finishing_new(pdk_job *job, pdk_hold *hold, int32_t outcome, const char *name,
                                       int64_t timeout_ms) {
    static const struct pdk__call_kind kind = {NULL, finish_step, finish_leave, finish_tell, finish_free};
    struct finishing *f = g_new0(struct finishing, 1);
    f->call = pdk__call_make(&kind, job->queue->s, name, timeout_ms);
    f->job = pdk_job_ref(job);
    f->hold = pdk_hold_ref(hold);
    f->change = (struct pdk__record_change){
        .call = &f->call, .path = job->record, .hold = hold, .edit = job_finish, .user = f, .ends = true};
    f->found = g_new0(struct pdk__job_record, 1);
    f->outcome = outcome;
    return f;
}

pdk_status pdk_job_finish(pdk_job *job, pdk_hold *hold, int32_t outcome, int64_t timeout_ms) {
    static const char name[] = "pdk_job_finish";
    pdk_status status = check_finish(job, hold, outcome, timeout_ms, name);
    return status == PDK_OK ? pdk__call_wait(&finishing_new(job, hold, outcome, name, timeout_ms)->call) : status;
}

pdk_status pdk_job_finish_async(pdk_job *job, pdk_hold *hold, int32_t outcome, int64_t timeout_ms, pdk_answered_fn fn,
                                void *user) {
    static const char name[] = "pdk_job_finish_async";
    pdk_status status = check_finish(job, hold, outcome, timeout_ms, name);
    if (status == PDK_OK)
        status = pdk__call_check_fn(name, fn);
    if (status != PDK_OK)
        return status;
    struct finishing *f = finishing_new(job, hold, outcome, name, timeout_ms);
    f->call.answered = fn;
    f->call.user = user;
    return pdk__call_start(&f->call);
}
