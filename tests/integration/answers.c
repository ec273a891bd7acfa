#include "answers.h"

#include <string.h>

#include "ts_check.h"
#include "ts_support.h"

struct answers_it asked;

static void take(pdk_status status, size_t listed, struct answer *a) {
    a->status = status;
    a->listed = listed;
    a->words = status == PDK_OK ? NULL : g_strdup(pdk_last_error());
    a->thread = g_thread_self();
    a->at_ns = ts_now_ns();
    if (a->next) {
        a->inside = pdk_session_flush(asked.client->session, 0);
        answers_ask(a->next, PATIENCE_MS, a->following);
    }
    atomic_fetch_add(&a->count, 1);
}

void answers_status(pdk_status status, void *user) { take(status, 0, user); }

void answers_list(pdk_status status, pdk_contenders *list, void *user) {
    ck_assert(!list == (status != PDK_OK));
    take(status, pdk_contenders_count(list), user);
    pdk_contenders_free(list);
}

void answers_runs(pdk_status status, pdk_job_runs *runs, void *user) {
    ck_assert(!runs == (status != PDK_OK));
    take(status, pdk_job_runs_count(runs), user);
    pdk_job_runs_free(runs);
}

static pdk_status holder(int64_t ms, struct answer *a) {
    return pdk_lock_holder_async(asked.lock, ms, answers_list, a);
}
static pdk_status contenders(int64_t ms, struct answer *a) {
    return pdk_lock_list_async(asked.lock, ms, answers_list, a);
}
static pdk_status readers(int64_t ms, struct answer *a) {
    return pdk_rwlock_list_async(asked.rwlock, ms, answers_list, a);
}
static pdk_status permits(int64_t ms, struct answer *a) {
    return pdk_semaphore_holders_async(asked.semaphore, ms, answers_list, a);
}
static pdk_status leader(int64_t ms, struct answer *a) {
    return pdk_election_leader_async(asked.election, ms, answers_list, a);
}
static pdk_status candidates(int64_t ms, struct answer *a) {
    return pdk_election_list_async(asked.election, ms, answers_list, a);
}
static pdk_status sequencer(int64_t ms, struct answer *a) {
    return pdk_session_check_sequencer_async(asked.client->session, asked.proof, ms, answers_status, a);
}
static pdk_status wish(int64_t ms, struct answer *a) {
    return pdk_session_request_release_async(asked.client->session, asked.path, NULL, "a test", 0, ms, answers_status,
                                             a);
}
static pdk_status breaks(int64_t ms, struct answer *a) {
    return pdk_session_break_async(asked.client->session, asked.victim, asked.victim_token, ms, answers_list, a);
}
static pdk_status record(int64_t ms, struct answer *a) {
    return pdk_job_history_async(asked.client->session, asked.job, ms, answers_runs, a);
}
static pdk_status ensures(int64_t ms, struct answer *a) {
    (void)ms;
    return pdk_hold_ensure_async(asked.own, 1, answers_status, a);
}

const struct question questions[QUESTIONS] = {
    {"pdk_lock_holder", holder, 1, PDK_UNAVAILABLE, false},
    {"pdk_lock_list", contenders, 2, PDK_UNAVAILABLE, false},
    {"pdk_rwlock_list", readers, 1, PDK_UNAVAILABLE, false},
    {"pdk_semaphore_holders", permits, 1, PDK_UNAVAILABLE, false},
    {"pdk_election_leader", leader, 1, PDK_UNAVAILABLE, false},
    {"pdk_election_list", candidates, 1, PDK_UNAVAILABLE, false},
    {"pdk_session_check_sequencer", sequencer, 0, PDK_UNAVAILABLE, false},
    {"pdk_session_request_release", wish, 0, PDK_UNAVAILABLE, false},
    {"pdk_job_history", record, 1, PDK_UNAVAILABLE, false},
    {"pdk_hold_ensure", ensures, 0, PDK_OK, true},
    {"pdk_session_break", breaks, 1, PDK_UNAVAILABLE, false},
};

void answers_ask(const struct question *q, int64_t timeout_ms, struct answer *answer) {
    pdk_status status = q->start(timeout_ms, answer);
    if (status != PDK_OK)
        ck_abort_msg("%s_async: %s: %s", q->name, pdk_status_name(status), pdk_last_error());
}

bool answers_is_there(void *user) { return atomic_load(&((struct answer *)user)->count) > 0; }

void answers_expect(const struct question *q, struct answer *a, pdk_status status) {
    ck_assert_msg(ts_wait_until(answers_is_there, a, ts_patience(PATIENCE_MS)), "%s: no answer", q->name);
    ck_assert_msg(a->status == status, "%s: %s (%s)", q->name, pdk_status_name(a->status), a->words);
    ck_assert_msg(status == PDK_OK || strlen(a->words) > 0, "%s: no words", q->name);
    ck_assert_msg(status != PDK_OK || a->listed == q->listed, "%s: %zu are listed", q->name, a->listed);
}

void answers_done(struct answer *a) {
    ck_assert_int_eq(atomic_load(&a->count), 1);
    g_clear_pointer(&a->words, g_free);
}

static void run_a_job(ts_client *client) {
    pdk_job *job = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_job_new(client->session, asked.job, NULL, &job), PDK_OK);
    ck_assert_int_eq(pdk_job_acquire(job, PATIENCE_MS, &hold, NULL), PDK_OK);
    ck_assert_int_eq(pdk_job_finish(job, hold, 0, PATIENCE_MS), PDK_OK);
    pdk_job_unref(job);
}

static void fill(ts_client *client) {
    pdk_rwlock *rwlock = NULL;
    pdk_semaphore *semaphore = NULL;
    pdk_election *election = NULL;
    pdk_hold *hold = NULL, *victim = ts_bench_acquire(ts_lock(client, "/t/victim"), PATIENCE_MS);
    hold = ts_bench_acquire(ts_lock(client, asked.path), PATIENCE_MS);
    ts_paddock_keep(victim, (void (*)(void *))pdk_hold_unref);
    ts_paddock_keep(hold, (void (*)(void *))pdk_hold_unref);
    asked.proof = g_strdup(pdk_hold_sequencer(hold));
    asked.victim = g_strdup(pdk_hold_node(victim));
    asked.victim_token = pdk_hold_token(victim);
    ts_acquire_async(ts_lock(client, asked.path), PDK_FOREVER);
    ck_assert_int_eq(pdk_rwlock_new(client->session, "/t/rw", NULL, &rwlock), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_read(rwlock, PATIENCE_MS, &hold), PDK_OK);
    ts_paddock_keep(hold, (void (*)(void *))pdk_hold_unref);
    ck_assert_int_eq(pdk_semaphore_new(client->session, "/t/s", 2, NULL, &semaphore), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 1, PATIENCE_MS, &hold), PDK_OK);
    ts_paddock_keep(hold, (void (*)(void *))pdk_hold_unref);
    ck_assert_int_eq(pdk_election_new(client->session, "/t/e", NULL, &election), PDK_OK);
    ck_assert_int_eq(pdk_election_join(election, NULL), PDK_OK);
    ck_assert_int_eq(pdk_election_wait(election, PATIENCE_MS, &hold), PDK_OK);
    pdk_hold_unref(hold);
    ts_paddock_keep(rwlock, (void (*)(void *))pdk_rwlock_unref);
    ts_paddock_keep(semaphore, (void (*)(void *))pdk_semaphore_unref);
    ts_paddock_keep(election, (void (*)(void *))pdk_election_unref);
    run_a_job(client);
}

void answers_begin(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = REQUEST_MS;
    options.dispatch = (int32_t)dispatch;
    options.server_tick_ms = 200; /* with T/2 a renewal gives less */
    asked.path = g_strdup(ts_fresh_path());
    asked.job = g_strdup_printf("%s-job", asked.path);
    fill(ts_bench_client(SLOW_MS));
    asked.client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(asked.client);
    asked.lock = ts_lock(asked.client, asked.path);
    ck_assert_int_eq(pdk_rwlock_new(asked.client->session, "/t/rw", NULL, &asked.rwlock), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_new(asked.client->session, "/t/s", 2, NULL, &asked.semaphore), PDK_OK);
    ck_assert_int_eq(pdk_election_new(asked.client->session, "/t/e", NULL, &asked.election), PDK_OK);
    asked.own = ts_bench_acquire(ts_lock(asked.client, "/t/own"), PATIENCE_MS);
    ts_paddock_keep(asked.own, (void (*)(void *))pdk_hold_unref);
}

void answers_end(void) {
    pdk_rwlock_unref(asked.rwlock);
    pdk_semaphore_unref(asked.semaphore);
    pdk_election_unref(asked.election);
    g_free(asked.path);
    g_free(asked.proof);
    g_free(asked.victim);
    g_free(asked.job);
    memset(&asked, 0, sizeof asked);
}
