/* The judging side of a cut: the successors B and D, the cut itself, and its result. */
#include "cut.h"
#include "shared.h"

#include <stdio.h>
#include <ts_clock.h>
#include <ts_observer.h>
#include <ts_process.h>

enum { READY_MS = 20000, GRANT_MS = 60000, WHOLE_MS = 60000, AFTER_MS = 500, STEP_US = 200 };

/* A client in the queue. */
struct successor {
    pdk_lock *lock;
    pdk_claim *claim;
    _Atomic(pdk_hold *) hold;
    _Atomic int64_t granted; /* when its callback ran */
    int64_t not_before;      /* the last instant at which it was certainly not granted */
    atomic_bool failed;
};

struct cut_trial {
    const struct cut_plan *plan;
    struct cut_result *result;
    struct cut_record *record;
    char directory[64];
    char *others; /* the two servers on the other side */
    int server;   /* the one that is cut off */
    pid_t holder;
    pdk_session *session;
    pdk_lock *first_lock; /* CUT_PAUSED: we have the lock until A sleeps */
    pdk_hold *first;
    struct successor b, d;
    int64_t cut_at;
};

static double ms_from(int64_t begin, int64_t end) { return (double)(end - begin) / 1e6; }

static bool fail(struct cut_trial *t, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool fail(struct cut_trial *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (t->result->failure[0] == '\0')
        g_vsnprintf(t->result->failure, sizeof t->result->failure, format, arguments);
    va_end(arguments);
    return false;
}

static bool with_bare(const struct cut_trial *t) { return t->result->kind != CUT_PAUSED; }

/* ---- the successors */

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct successor *s = user;
    atomic_store(&s->granted, ts_now_ns());
    s->failed = status != PDK_OK && status != PDK_CLOSED;
    atomic_store(&s->hold, hold);
}

static bool queue(struct cut_trial *t, struct successor *s, const char *name) {
    char path[128];
    g_snprintf(path, sizeof path, "%s/%s", t->directory, name);
    if (pdk_lock_new(t->session, path, NULL, &s->lock) != PDK_OK ||
        pdk_lock_acquire_async(s->lock, PDK_FOREVER, on_acquired, s, &s->claim) != PDK_OK)
        return fail(t, "%s: %s", name, pdk_last_error());
    return true;
}

static bool is_queued(void *user) {
    struct successor *s = user;
    int32_t ahead;
    return pdk_claim_position(s->claim, &ahead) == PDK_OK;
}

/* True when it has been granted. */
static bool look(struct successor *s) {
    int64_t now = ts_now_ns();
    int32_t ahead;
    if (atomic_load(&s->hold))
        return true;
    if (pdk_claim_position(s->claim, &ahead) != PDK_NOT_HELD)
        s->not_before = now;
    return false;
}

static void part(struct successor *s) {
    if (s->claim)
        pdk_claim_unref(s->claim);
    if (s->hold)
        pdk_hold_release(s->hold);
    if (s->lock)
        pdk_lock_unref(s->lock);
}

/* ---- before the cut */

static bool has_begun(void *user) {
    const struct cut_trial *t = user;
    bool a = t->result->kind == CUT_PAUSED ? t->record->queued : t->record->granted != 0;
    return (a && (t->record->bare_since != 0 || !with_bare(t))) || !ts_alive(t->holder);
}

static bool start_holder(struct cut_trial *t) {
    g_autofree char *program = shared_program();
    g_autofree char *session = g_strdup_printf("%d", t->plan->session_ms);
    const char *const arguments[] = {program,
                                     "--holder",
                                     ts_ensemble_host(t->plan->ensemble, t->server),
                                     "--record",
                                     t->plan->record,
                                     "--within",
                                     t->directory,
                                     "--session",
                                     session,
                                     with_bare(t) ? NULL : "--alone",
                                     NULL};
    t->holder = ts_spawn(arguments, NULL);
    if (!ts_wait_until(has_begun, t, READY_MS) || !ts_alive(t->holder))
        return fail(t, "the holder did not begin: %s", t->record->failure);
    return true;
}

static bool pick_sides(struct cut_trial *t) {
    ts_ensemble *e = t->plan->ensemble;
    int leader = ts_ensemble_wait_leader(e, -1, READY_MS);
    if (leader < 0)
        return fail(t, "no leader");
    t->server = leader;
    if (t->result->kind != CUT_LEADER)
        t->server = (leader + 1 + (g_rand_boolean(t->plan->chance) ? 1 : 0)) % 3;
    t->others =
        g_strdup_printf("%s,%s", ts_ensemble_host(e, (t->server + 1) % 3), ts_ensemble_host(e, (t->server + 2) % 3));
    return true;
}

static bool prepare(struct cut_trial *t) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = t->plan->session_ms;
    char path[128];
    g_snprintf(path, sizeof path, "%s/bare", t->directory);
    if (!pick_sides(t))
        return false;
    if (ts_create(ts_ensemble_hosts(t->plan->ensemble), path, "", TS_PERSISTENT, NULL) != 0)
        return fail(t, "%s cannot be created", path);
    if (pdk_session_open(t->others, &options, &t->session) != PDK_OK)
        return fail(t, "B: %s", pdk_last_error());
    if (t->result->kind == CUT_PAUSED) {
        g_snprintf(path, sizeof path, "%s/lock", t->directory);
        if (pdk_lock_new(t->session, path, NULL, &t->first_lock) != PDK_OK ||
            pdk_lock_acquire(t->first_lock, READY_MS, &t->first) != PDK_OK)
            return fail(t, "%s", pdk_last_error());
    }
    if (!start_holder(t) || !queue(t, &t->b, "lock") || !ts_wait_until(is_queued, &t->b, READY_MS))
        return fail(t, "B is not in line");
    if (with_bare(t) && (!queue(t, &t->d, "bare") || !ts_wait_until(is_queued, &t->d, READY_MS)))
        return fail(t, "D is not in line");
    return true;
}

/* ---- the cut */

static void cut(struct cut_trial *t) {
    int session_ms = t->plan->session_ms;
    ts_sleep_ms(g_rand_int_range(t->plan->chance, t->plan->tick_ms / 4, t->plan->tick_ms * 5 / 4));
    if (t->result->kind == CUT_PAUSED) {
        ts_pause(t->holder);
        ts_sleep_ms(g_rand_int_range(t->plan->chance, session_ms / 8, session_ms * 3 / 4));
        pdk_hold_release(t->first);
        t->first = NULL;
        ts_sleep_ms(50);
        ts_resume(t->holder);
        g_usleep((gulong)g_rand_int_range(t->plan->chance, 0, 60000));
    }
    t->cut_at = ts_now_ns();
    /* A deposed leader that does not know it exists only for a short time. In mere silence it gives up after syncLimit
     * ticks, no later than its followers do. So the followers are made to notice at once. */
    if (t->result->kind == CUT_LEADER)
        ts_ensemble_depose(t->plan->ensemble, t->server);
    else
        ts_ensemble_isolate(t->plan->ensemble, t->server);
}

static void await_successors(struct cut_trial *t) {
    int64_t end = ts_now_ms() + GRANT_MS;
    bool b = false, d = !with_bare(t);
    while (!(b && d) && ts_now_ms() < end) {
        b = b || look(&t->b);
        d = d || look(&t->d);
        g_usleep(STEP_US);
    }
    if (!b || !d || t->b.failed || t->d.failed)
        fail(t, "%s was not granted the lock", b && !t->b.failed ? "D" : "B");
    ts_sleep_ms(AFTER_MS); /* so that C goes on believing */
}

static bool has_heard(void *user) {
    const struct cut_trial *t = user;
    return t->record->expired > 0 || !ts_alive(t->holder);
}

static void heal(struct cut_trial *t) {
    int64_t begin = ts_now_ns();
    ts_ensemble_heal(t->plan->ensemble);
    if (!ts_wait_until(has_heard, t, WHOLE_MS))
        fail(t, "A never heard that its session is over");
    if (!ts_ensemble_wait_ready(t->plan->ensemble, WHOLE_MS))
        fail(t, "the ensemble did not become whole again");
    t->result->whole_ms = ms_from(begin, ts_now_ns());
}

/* ---- after it */

static void judge(struct cut_trial *t) {
    struct cut_result *r = t->result;
    const struct cut_record *a = t->record;
    int64_t valid = MAX(a->last_valid, a->promised);
    r->held = a->granted != 0;
    r->granted_ms = ms_from(t->cut_at, t->b.granted);
    if (with_bare(t))
        r->overlap_ms = MAX(ms_from(t->d.granted, a->bare_until), 0);
    if (!r->held && r->kind == CUT_PAUSED)
        return;
    r->lost_ms = ms_from(t->cut_at, a->lost_at);
    r->gap_ms = ms_from(valid, t->b.not_before);
    if (!r->held || (r->kind != CUT_PAUSED && a->last_valid < t->cut_at))
        fail(t, "A did not hold the lock when it was cut off");
    else if (r->gap_ms <= 0)
        fail(t, "OVERLAP: A was valid %.1f ms past the grant to B", -r->gap_ms);
    else if (a->revived != 0)
        fail(t, "A was valid again after it was not");
    else if (a->lost_calls != 1 || a->lost_events != 1)
        fail(t, "LOST came %d times by callback and %d times by descriptor", a->lost_calls, a->lost_events);
    else if (a->reason != PDK_REASON_LEASE)
        fail(t, "LOST for the reason %s, not LEASE", pdk_reason_name((pdk_reason)a->reason));
}

static void end(struct cut_trial *t) {
    t->record->finish = true;
    if (t->holder > 0 && ts_wait(t->holder, 10000) != 0) {
        fail(t, "the holder failed: %s", t->record->failure);
        if (ts_alive(t->holder))
            ts_kill(t->holder);
    }
    if (t->session)
        pdk_session_close(t->session, 2000);
    if (t->first)
        pdk_hold_release(t->first);
    if (t->first_lock)
        pdk_lock_unref(t->first_lock);
    part(&t->b);
    part(&t->d);
    pdk_session_unref(t->session);
    g_free(t->others);
    shared_close(t->record, sizeof *t->record);
    remove(t->plan->record);
}

void cut_run(const struct cut_plan *plan, enum cut_kind kind, int number, struct cut_result *result) {
    struct cut_trial t = {.plan = plan, .result = result};
    *result = (struct cut_result){.kind = kind};
    t.record = shared_create(plan->record, sizeof *t.record);
    g_snprintf(t.directory, sizeof t.directory, "/cut/%d", number);
    if (prepare(&t)) {
        cut(&t);
        await_successors(&t);
        heal(&t);
        judge(&t);
    }
    end(&t);
}
