#include "answers.h"

#include <string.h>

#include "ts_check.h"
#include "ts_support.h"

struct answers_it it;

static void take(pdk_status status, size_t listed, struct answer *a) {
    a->status = status;
    a->listed = listed;
    a->words = status == PDK_OK ? NULL : g_strdup(pdk_error_text());
    a->thread = g_thread_self();
    if (a->next) {
        a->inside = pdk_session_flush(it.client->session, 0);
        ask(a->next, PATIENCE_MS, a->following);
    }
    atomic_fetch_add(&a->count, 1);
}

void answered(pdk_status status, void *user) { take(status, 0, user); }

void listed(pdk_status status, pdk_contenders *list, void *user) {
    ck_assert(!list == (status != PDK_OK));
    take(status, pdk_contenders_count(list), user);
    pdk_contenders_free(list);
}

void ran(pdk_status status, pdk_job_runs *runs, void *user) {
    ck_assert(!runs == (status != PDK_OK));
    take(status, pdk_job_runs_count(runs), user);
    pdk_job_runs_free(runs);
}

static pdk_status holder(int64_t ms, struct answer *a) { return pdk_lock_holder_async(it.lock, ms, listed, a); }
static pdk_status contenders(int64_t ms, struct answer *a) { return pdk_lock_contenders_async(it.lock, ms, listed, a); }
static pdk_status readers(int64_t ms, struct answer *a) {
    return pdk_rwlock_contenders_async(it.rwlock, ms, listed, a);
}
static pdk_status permits(int64_t ms, struct answer *a) {
    return pdk_semaphore_holders_async(it.semaphore, ms, listed, a);
}
static pdk_status leader(int64_t ms, struct answer *a) { return pdk_election_leader_async(it.election, ms, listed, a); }
static pdk_status candidates(int64_t ms, struct answer *a) {
    return pdk_election_candidates_async(it.election, ms, listed, a);
}
static pdk_status sequencer(int64_t ms, struct answer *a) {
    return pdk_sequencer_check_async(it.client->session, it.proof, ms, answered, a);
}
static pdk_status wish(int64_t ms, struct answer *a) {
    return pdk_lock_ask_async(it.client->session, it.path, NULL, "a test", 0, ms, answered, a);
}
static pdk_status breaks(int64_t ms, struct answer *a) {
    return pdk_break_async(it.client->session, it.victim, it.victim_token, ms, listed, a);
}
static pdk_status record(int64_t ms, struct answer *a) {
    return pdk_job_record_async(it.client->session, it.job, ms, ran, a);
}
static pdk_status ensures(int64_t ms, struct answer *a) {
    (void)ms;
    return pdk_hold_ensure_async(it.own, 1, answered, a);
}

const struct question questions[QUESTIONS] = {
    {"pdk_lock_holder", holder, 1, PDK_UNAVAILABLE, false},
    {"pdk_lock_contenders", contenders, 2, PDK_UNAVAILABLE, false},
    {"pdk_rwlock_contenders", readers, 1, PDK_UNAVAILABLE, false},
    {"pdk_semaphore_holders", permits, 1, PDK_UNAVAILABLE, false},
    {"pdk_election_leader", leader, 1, PDK_UNAVAILABLE, false},
    {"pdk_election_candidates", candidates, 1, PDK_UNAVAILABLE, false},
    {"pdk_sequencer_check", sequencer, 0, PDK_UNAVAILABLE, false},
    {"pdk_lock_ask", wish, 0, PDK_UNAVAILABLE, false},
    {"pdk_job_record", record, 1, PDK_UNAVAILABLE, false},
    {"pdk_hold_ensure", ensures, 0, PDK_OK, true},
    {"pdk_break", breaks, 1, PDK_UNAVAILABLE, false},
};

void ask(const struct question *q, int64_t timeout_ms, struct answer *answer) {
    pdk_status status = q->start(timeout_ms, answer);
    if (status != PDK_OK)
        ck_abort_msg("%s_async: %s: %s", q->name, pdk_status_name(status), pdk_error_text());
}

bool is_answered(void *user) { return atomic_load(&((struct answer *)user)->count) > 0; }

void expect(const struct question *q, struct answer *a, pdk_status status) {
    ck_assert_msg(ts_wait_until(is_answered, a, ts_patience(PATIENCE_MS)), "%s: no answer", q->name);
    ck_assert_msg(a->status == status, "%s: %s (%s)", q->name, pdk_status_name(a->status), a->words);
    ck_assert_msg(status == PDK_OK || strlen(a->words) > 0, "%s: no words", q->name);
    ck_assert_msg(status != PDK_OK || a->listed == q->listed, "%s: %zu are listed", q->name, a->listed);
}

void done(struct answer *a) {
    ck_assert_int_eq(atomic_load(&a->count), 1);
    g_clear_pointer(&a->words, g_free);
}

static void run_a_job(ts_client *client) {
    pdk_job *job = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_job_new(client->session, it.job, NULL, &job), PDK_OK);
    ck_assert_int_eq(pdk_job_begin(job, PATIENCE_MS, &hold, NULL), PDK_OK);
    ck_assert_int_eq(pdk_job_finish(job, hold, 0, PATIENCE_MS), PDK_OK);
    pdk_job_unref(job);
}

static void fill(ts_client *client) {
    pdk_rwlock *rwlock = NULL;
    pdk_semaphore *semaphore = NULL;
    pdk_election *election = NULL;
    pdk_hold *hold = NULL, *victim = ts_bench_acquire(ts_lock(client, "/t/victim"), PATIENCE_MS);
    hold = ts_bench_acquire(ts_lock(client, it.path), PATIENCE_MS);
    it.proof = g_strdup(pdk_hold_sequencer(hold));
    it.victim = g_strdup(pdk_hold_node(victim));
    it.victim_token = pdk_hold_token(victim);
    ts_acquire_async(ts_lock(client, it.path), PDK_FOREVER);
    ck_assert_int_eq(pdk_rwlock_new(client->session, "/t/rw", NULL, &rwlock), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_read(rwlock, PATIENCE_MS, &hold), PDK_OK);
    ts_paddock_keep(hold, (void (*)(void *))pdk_hold_unref);
    ck_assert_int_eq(pdk_semaphore_new(client->session, "/t/s", 2, NULL, &semaphore), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 1, PATIENCE_MS, &hold), PDK_OK);
    ts_paddock_keep(hold, (void (*)(void *))pdk_hold_unref);
    ck_assert_int_eq(pdk_election_new(client->session, "/t/e", NULL, &election), PDK_OK);
    ck_assert_int_eq(pdk_election_join(election, NULL), PDK_OK);
    ck_assert_int_eq(pdk_election_await(election, PATIENCE_MS, &hold), PDK_OK);
    pdk_hold_unref(hold);
    ts_paddock_keep(rwlock, (void (*)(void *))pdk_rwlock_unref);
    ts_paddock_keep(semaphore, (void (*)(void *))pdk_semaphore_unref);
    ts_paddock_keep(election, (void (*)(void *))pdk_election_unref);
    run_a_job(client);
}

void begin(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = REQUEST_MS;
    options.dispatch = (int32_t)dispatch;
    options.server_tick_ms = 200; /* with T/2 a renewal gives less */
    it.path = g_strdup(ts_fresh_path());
    it.job = g_strdup_printf("%s-job", it.path);
    fill(ts_bench_client(SLOW_MS));
    it.client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(it.client);
    it.lock = ts_lock(it.client, it.path);
    ck_assert_int_eq(pdk_rwlock_new(it.client->session, "/t/rw", NULL, &it.rwlock), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_new(it.client->session, "/t/s", 2, NULL, &it.semaphore), PDK_OK);
    ck_assert_int_eq(pdk_election_new(it.client->session, "/t/e", NULL, &it.election), PDK_OK);
    it.own = ts_bench_acquire(ts_lock(it.client, "/t/own"), PATIENCE_MS);
}

void end(void) {
    pdk_rwlock_unref(it.rwlock);
    pdk_semaphore_unref(it.semaphore);
    pdk_election_unref(it.election);
    g_free(it.path);
    g_free(it.proof);
    g_free(it.victim);
    g_free(it.job);
    memset(&it, 0, sizeof it);
}
