/* The calls that answer by a callback: each of them answers once, as its form that blocks, whatever happens to its link, its session
 * and its objects. */
#include "answers.h"
#include "grant/hold.h"
#include "refused.h"
#include "session/session.h"
#include "ts_check.h"
#include "ts_support.h"

#include <string.h>

#define OTHER_SECRET "the secret of another"

enum { REQUEST_MS = 300, WANTED_MS = 700 };

static struct told told[CALLS];

static void ask_all(int64_t timeout_ms) {
    memset(told, 0, sizeof told);
    for (int i = 0; i < CALLS; i++)
        answers_ask(i, timeout_ms, &told[i]);
}

static void expect_all(pdk_status status) {
    for (int i = 0; i < CALLS; i++)
        answers_expect(&told[i], i == ENSURE && status == PDK_UNAVAILABLE ? PDK_OK : status);
}

static void done_all(void) {
    for (int i = 0; i < CALLS; i++)
        answers_done(&told[i]);
}

/* Asks, waits for the answer, and gives it back. */
static void answered(int call, int64_t timeout_ms, pdk_status status) {
    static struct told t; /* a call that is not answered in time is answered when the support closes the session */
    memset(&t, 0, sizeof t);
    answers_ask(call, timeout_ms, &t);
    answers_expect(&t, status);
    answers_done(&t);
}

/* Its answer comes where callbacks are dispatched by hand. */
static void dispatch_until(struct told *t) {
    for (int64_t until = ts_now_ms() + ts_patience(PATIENCE_MS); !answers_is_told(t) && ts_now_ms() < until;
         ts_sleep_ms(5))
        ck_assert_int_eq(pdk_session_dispatch(it.client->session, NULL), PDK_OK);
}

static void payload_is(pdk_guarded *g, const char *text) {
    char buffer[64] = "";
    size_t size = 0;
    ck_assert_int_eq(pdk_guarded_read(g, buffer, sizeof buffer, &size, PATIENCE_MS), PDK_OK);
    ck_assert_str_eq(buffer, text);
}

static void set_is(const char *text) {
    g_autofree char *data = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_member_wait(it.member, PATIENCE_MS, &hold), PDK_OK);
    ck_assert_int_eq(ts_get(ts_bench_server(), pdk_hold_node(hold), &data, NULL, NULL), 0);
    ck_assert_str_eq(data, text);
    pdk_hold_unref(hold);
}

static void publishes(const char *text) {
    pdk_contenders *list = NULL;
    size_t size = 0;
    ck_assert_int_eq(pdk_election_leader(it.office, PATIENCE_MS, &list), PDK_OK);
    const char *data = pdk_contenders_data(list, 0, &size);
    ck_assert_uint_eq(size, strlen(text));
    ck_assert_mem_eq(data, text, size);
    pdk_contenders_free(list);
}

/* What each of them has done, seen by those that block. */
static void all_is_done(void) {
    size_t size = 0;
    pdk_job_runs *runs = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_guarded_create(told[OPEN].guarded, "in the opened", 13, PATIENCE_MS), PDK_OK);
    payload_is(told[OPEN].guarded, "in the opened");
    ck_assert_str_eq(told[READ].data, "payload");
    payload_is(it.write, "written");
    payload_is(it.create, "created");
    refused(pdk_guarded_read(it.remove, NULL, 0, &size, PATIENCE_MS), PDK_ABSENT, "nothing");
    ck_assert(pdk_hold_is_valid(told[ASK].hold));
    ck_assert_int_eq(pdk_job_finish(it.asks, g_steal_pointer(&told[ASK].hold), 0, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(pdk_job_history(it.client->session, answers_path("ends"), PATIENCE_MS, &runs), PDK_OK);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->state, PDK_JOB_FINISHED);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->outcome, 7);
    pdk_job_runs_free(runs);
    ck_assert(pdk_hold_is_valid(told[TAKE].hold));
    ck_assert_int_eq(pdk_lease_lock_release(it.takes, g_steal_pointer(&told[TAKE].hold), PATIENCE_MS), PDK_OK);
    /* It is nobody's: another secret takes it. */
    pdk_lease_lock *other = answers_lease("gives", OTHER_SECRET);
    ck_assert_int_eq(pdk_lease_lock_acquire(other, PATIENCE_MS, &hold), PDK_OK);
    ck_assert_int_eq(pdk_lease_lock_release(other, hold, PATIENCE_MS), PDK_OK);
    publishes("published");
    set_is("set");
}

/* ---- where all is well */

START_TEST(each_is_answered_as_the_call_that_blocks) {
    answers_begin(PDK_DISPATCH_THREAD);
    ask_all(PATIENCE_MS);
    expect_all(PDK_OK);
    all_is_done();
    ck_assert_int_eq(pdk_session_close(it.client->session, PATIENCE_MS), PDK_OK);
    for (int i = 0; i < CALLS; i++)
        ck_assert_ptr_eq(told[i].thread, told[0].thread);
    done_all();
    answers_end();
}
END_TEST

/* Each in the callback of the one before, by both kinds of dispatch. */
START_TEST(each_may_be_made_in_a_callback) {
    answers_begin((pdk_dispatch)_i);
    memset(told, 0, sizeof told);
    for (int i = 0; i < CALLS; i++) {
        told[i].call = &calls[i];
        told[i].chain = i + 1 < CALLS ? &told[i + 1] : NULL;
    }
    answers_ask(0, PATIENCE_MS, &told[0]);
    if (_i == PDK_DISPATCH_MANUAL)
        dispatch_until(&told[CALLS - 1]);
    expect_all(PDK_OK);
    for (int i = 0; i < CALLS; i++)
        ck_assert_int_eq(told[i].thread == g_thread_self(), _i == PDK_DISPATCH_MANUAL);
    all_is_done();
    ck_assert_int_eq(pdk_session_close(it.client->session, PATIENCE_MS), PDK_OK);
    done_all();
    answers_end();
}
END_TEST

/* ---- what is refused: tests/input has NULL, times, paths, closed sessions and children */

START_TEST(bad_input_is_refused_and_never_answered) {
    static struct told t = {0};
    answers_begin(PDK_DISPATCH_THREAD);
    pdk_session *s = it.client->session;
    g_autofree char *large = g_malloc0(1000001);
    refused(pdk_session_check_sequencer_async(s, "no sequencer", 0, answers_status, &t), PDK_INVALID, "text");
    refused(pdk_session_request_release_async(s, it.base, "/", NULL, 0, 0, answers_status, &t), PDK_INVALID, "node");
    refused(pdk_session_break_async(s, it.victim, 0, 0, answers_list, &t), PDK_INVALID, "token");
    refused(pdk_hold_ensure_async(it.own, 10 * SLOW_MS, answers_status, &t), PDK_INVALID, "ms");
    refused(pdk_guarded_open_async(it.guards, answers_path("guards"), 0, answers_opened, &t), PDK_INVALID, "path");
    refused(pdk_guarded_write_async(it.write, large, 1000001, 0, answers_status, &t), PDK_LIMIT, "size");
    refused(pdk_job_finish_async(it.ends, it.guards, 0, 0, answers_status, &t), PDK_INVALID, "hold");
    refused(pdk_job_finish_async(it.ends, it.run, -1, 0, answers_status, &t), PDK_INVALID, "outcome");
    refused(pdk_lease_lock_release_async(it.gives, it.guards, 0, answers_status, &t), PDK_INVALID, "hold");
    ck_assert_int_eq(atomic_load(&t.count), 0);
    answers_end();
}
END_TEST

/* ---- a link that is silent, or lost */

START_TEST(each_answers_by_its_deadline) {
    answers_begin_with(PDK_DISPATCH_THREAD, SLOW_MS, REQUEST_MS); /* an ask has time for a request at least */
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    int64_t began = ts_now_ms();
    ask_all(100);
    expect_all(PDK_UNAVAILABLE);
    ck_assert_int_lt(ts_now_ms() - began, ts_patience(SESSION_MS));
    ts_proxy_heal(it.client->proxy);
    done_all();
    /* Nothing of it is in the way of the next ones: what was written is settled, and the holds are still ours. */
    for (int i = 0; i < CALLS; i++)
        if (i != BREAK && i != CREATE && i != REMOVE && i != ASK) /* they may have been executed */
            answered(i, PATIENCE_MS, PDK_OK);
    answers_end();
}
END_TEST

/* Whichever request's answer is lost, with the connection. */
START_TEST(each_goes_on_through_a_lost_connection) {
    static const int ops[] = {TS_OP_CREATE2, TS_OP_GET_DATA,     TS_OP_SET_DATA,
                              TS_OP_MULTI,   TS_OP_GET_CHILDREN, TS_OP_DELETE};
    answers_begin(PDK_DISPATCH_THREAD);
    ts_proxy_arm(it.client->proxy, ops[_i], TS_LOSE_REPLY, TS_CUT);
    ask_all(PDK_FOREVER);
    ck_assert(ts_proxy_wait_fired(it.client->proxy, ts_patience(PATIENCE_MS)));
    ts_sleep_ms(100);
    ts_proxy_set_mode(it.client->proxy, TS_PASS);
    expect_all(PDK_OK);
    all_is_done();
    done_all();
    ck_assert_int_eq(pdk_session_close(it.client->session, PATIENCE_MS), PDK_OK);
    answers_end();
}
END_TEST

START_TEST(a_query_goes_on_through_a_lost_session) {
    answers_begin_with(PDK_DISPATCH_THREAD, SESSION_MS, REQUEST_MS);
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    memset(told, 0, sizeof told);
    for (int i = 0; i <= HISTORY; i++)
        answers_ask(i, PDK_FOREVER, &told[i]);
    ts_sleep_ms(2 * SESSION_MS);
    ts_proxy_heal_discard(it.client->proxy);
    for (int i = 0; i <= HISTORY; i++) {
        answers_expect(&told[i], PDK_OK);
        answers_done(&told[i]);
    }
    answers_end();
}
END_TEST

/* A renewal cannot come. The wait for it is bounded by the session's option, and a hold that is lost gets none. */
START_TEST(a_renewal_that_does_not_come) {
    static struct told t = {0}, flushed = {0};
    answers_begin_with(PDK_DISPATCH_THREAD, SESSION_MS, REQUEST_MS);
    pdk_hold *other = ts_bench_acquire(ts_lock(it.client, "/t/other"), PATIENCE_MS);
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(other), PDK_OK);
    ck_assert_int_eq(pdk_session_flush_async(it.client->session, 50, answers_status, &flushed), PDK_OK);
    while (pdk_hold_remaining_ms(it.own) >= WANTED_MS)
        ts_sleep_ms(10);
    ck_assert_int_eq(pdk_hold_ensure_async(it.own, WANTED_MS, answers_status, &t), PDK_OK);
    ck_assert(ts_wait_until(answers_is_told, &t, ts_patience(PATIENCE_MS)));
    ck_assert(t.status == PDK_UNAVAILABLE || t.status == PDK_LOST);
    while (pdk_hold_is_valid(it.own))
        ts_sleep_ms(10);
    answered(ENSURE, 0, PDK_LOST);
    pdk_hold_release(pdk_hold_ref(it.own));
    answered(ENSURE, 0, PDK_NOT_HELD);
    ck_assert(ts_wait_until(answers_is_told, &flushed, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(flushed.status, PDK_TIMEOUT);
    ck_assert_uint_eq(it.client->session->urgent, 0);
    ts_proxy_heal(it.client->proxy);
    answers_done(&flushed);
    ck_assert_int_eq(pdk_session_flush_async(it.client->session, PATIENCE_MS, answers_status, &flushed), PDK_OK);
    ck_assert(ts_wait_until(answers_is_told, &flushed, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(flushed.status, PDK_OK);
    answers_done(&t);
    answers_done(&flushed);
    answers_end();
}
END_TEST

/* ---- the session ends */

START_TEST(a_close_answers_all_of_them) {
    enum { MORE = 60 }; /* some wait for their turn; a close does not take them all at once */
    static const int which[] = {HOLDER, READ, TAKE};
    static struct told more[MORE];
    const pdk_dispatch dispatch = (pdk_dispatch)_i;
    memset(more, 0, sizeof more);
    answers_begin_with(dispatch, SESSION_MS, PATIENCE_MS); /* for so long a close waits for a server */
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    ask_all(PDK_FOREVER);
    for (int i = 0; i < MORE; i++)
        answers_ask(which[i % 3], PDK_FOREVER, &more[i]);
    pdk_session_close(it.client->session, dispatch == PDK_DISPATCH_THREAD ? 1000 : 3000);
    for (int i = 0; i < CALLS; i++) {
        if (i != ENSURE) /* it may have been faster */
            answers_expect(&told[i], PDK_CLOSED);
        ck_assert_int_le(told[i].at_ns, ts_event_at_ns(it.client, PDK_SESSION_CLOSED)); /* the last event */
    }
    for (int i = 0; i < MORE; i++) {
        answers_expect(&more[i], PDK_CLOSED);
        answers_done(&more[i]);
    }
    done_all();
    ck_assert_ptr_nonnull(it.run); /* still the caller's */
    ck_assert_ptr_nonnull(it.leased);
    ts_proxy_heal(it.client->proxy);
    answers_end();
}
END_TEST

static void close_it(pdk_status status, void *user) {
    (void)status;
    (void)user;
    ck_assert_int_eq(pdk_session_close(it.client->session, 0), PDK_OK);
}

/* It drops what is due. Nothing leaks of what nobody is given: ASan looks. What was given back is the caller's then. */
START_TEST(a_close_from_a_callback_drops_the_answers) {
    answers_begin(PDK_DISPATCH_MANUAL);
    ck_assert_int_eq(pdk_session_flush_async(it.client->session, PATIENCE_MS, close_it, NULL), PDK_OK);
    ts_sleep_ms(100);
    ask_all(PATIENCE_MS);
    ts_sleep_ms(1000);
    while (pdk_session_dispatch(it.client->session, NULL) == PDK_OK)
        ts_sleep_ms(10);
    pdk_session_close(it.client->session, PATIENCE_MS);
    for (int i = 0; i < CALLS; i++)
        ck_assert_int_eq(atomic_load(&told[i].count), 0);
    pdk_hold_release(g_steal_pointer(&it.run));
    pdk_hold_release(g_steal_pointer(&it.leased));
    answers_end();
}
END_TEST

/* A call that is under way has a reference to its session. */
START_TEST(an_answer_comes_after_the_last_reference_was_given_back) {
    static struct told t = {.call = &calls[LIST]};
    pdk_session *session = NULL;
    pdk_lock *lock = NULL;
    answers_begin(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), NULL, &session), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(session, answers_path("held"), NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_list_async(lock, PATIENCE_MS, answers_list, &t), PDK_OK);
    pdk_lock_unref(lock);
    pdk_session_unref(session);
    answers_expect(&t, PDK_OK);
    ts_sleep_ms(100);
    answers_done(&t);
    answers_end();
}
END_TEST

/* ---- holds and objects that go meanwhile */

/* What is written is answered soon. */
static bool has_begun(void *unused) {
    g_autofree char *job = g_strconcat(answers_path("asks"), "/record", NULL), *data = NULL;
    g_autofree char *lease = g_strconcat(answers_path("takes"), "/record", NULL);
    (void)unused;
    return ts_exists(ts_bench_server(), job, NULL) == 0 && ts_get(ts_bench_server(), lease, &data, NULL, NULL) == 0 &&
           g_str_has_prefix(data, "paddock-lease 1\nH");
}

static bool has_ended(void *unused) {
    g_autofree char *job = g_strconcat(answers_path("ends"), "/record", NULL), *data = NULL;
    g_autofree char *lease = g_strconcat(answers_path("gives"), "/record", NULL);
    ts_stat stat;
    (void)unused;
    return ts_exists(ts_bench_server(), job, &stat) == 0 && stat.version > 0 &&
           ts_get(ts_bench_server(), lease, &data, NULL, NULL) == 0 && g_str_has_prefix(data, "paddock-lease 1\nN");
}

static void ask_both(int one, int other) {
    memset(told, 0, sizeof told);
    answers_ask(one, PATIENCE_MS, &told[one]);
    answers_ask(other, PATIENCE_MS, &told[other]);
    ck_assert(ts_wait_until(one == END ? has_ended : has_begun, NULL, ts_patience(PATIENCE_MS)));
    ts_sleep_ms(200);
}

/* A hold that was lost before the loop came round is not handed over. */
START_TEST(a_callback_that_comes_too_late_gets_no_hold) {
    answers_begin(PDK_DISPATCH_MANUAL);
    ask_both(ASK, TAKE);
    ck_assert_int_eq(pdk_session_close(it.client->session, PATIENCE_MS), PDK_OK);
    answers_expect(&told[ASK], PDK_LOST);
    answers_expect(&told[TAKE], PDK_LOST);
    answers_done(&told[ASK]);
    answers_done(&told[TAKE]);
    answers_end();
}
END_TEST

/* Whoever releases the hold meanwhile, as on a loss, has released it: it is not given back a second time. */
START_TEST(a_hold_may_be_released_meanwhile) {
    answers_begin(PDK_DISPATCH_MANUAL);
    ask_both(END, GIVE);
    pdk_hold *holds[] = {it.run, it.leased};
    for (int i = 0; i < 2; i++) {
        pdk_hold_ref(pdk_hold_ref(holds[i]));
        ck_assert_int_eq(pdk_hold_release(holds[i]), PDK_OK);
    }
    dispatch_until(&told[END]);
    dispatch_until(&told[GIVE]);
    answers_expect(&told[END], PDK_OK);
    answers_expect(&told[GIVE], PDK_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(atomic_load(&holds[i]->refs), 2); /* ours */
        pdk_hold_unref(holds[i]);
        pdk_hold_unref(holds[i]);
    }
    answers_done(&told[END]);
    answers_done(&told[GIVE]);
    answers_end();
}
END_TEST

START_TEST(a_hold_that_was_released_is_none) {
    answers_begin(PDK_DISPATCH_THREAD);
    pdk_hold_release(pdk_hold_ref(it.run));
    pdk_hold_release(pdk_hold_ref(it.leased));
    pdk_hold_release(pdk_hold_ref(it.guards));
    pdk_hold_release(pdk_hold_ref(it.led));
    ck_assert_int_eq(pdk_member_leave(it.member), PDK_OK);
    for (int i = OPEN; i < CALLS; i++)
        if (i != ASK && i != TAKE)
            answered(i, PATIENCE_MS, PDK_NOT_HELD);
    answers_end();
}
END_TEST

/* The calls have what they need. */
static void never_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    g_error("a hold that was given back is lost");
}

static void count_up(void *count) { atomic_fetch_add((atomic_int *)count, 1); }

/* The user of its callback is freed when the call gives it back. */
START_TEST(the_callback_of_a_hold_ends_with_it) {
    atomic_int freed = 0;
    answers_begin(PDK_DISPATCH_THREAD);
    memset(told, 0, sizeof told);
    ck_assert_int_eq(pdk_hold_on_lost(it.run, never_lost, &freed, count_up), PDK_OK);
    answers_ask(END, PATIENCE_MS, &told[END]);
    answers_expect(&told[END], PDK_OK);
    ck_assert_int_eq(atomic_load(&freed), 1);
    answers_done(&told[END]);
    answers_end();
}
END_TEST

START_TEST(objects_may_go_meanwhile) {
    static struct told read = {0}, begun = {0};
    answers_begin(PDK_DISPATCH_THREAD);
    pdk_job *job = NULL;
    ck_assert_int_eq(pdk_job_new(it.client->session, answers_path("asks"), NULL, &job), PDK_OK);
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    answers_ask(READ, PDK_FOREVER, &read);
    begun.call = &calls[ASK];
    ck_assert_int_eq(pdk_job_acquire_async(job, PDK_FOREVER, answers_begun, &begun), PDK_OK);
    pdk_job_unref(job);
    pdk_guarded *closed = g_steal_pointer(&it.read);
    it.read = it.write; /* for the call that blocks */
    pdk_guarded_close(closed);
    ts_proxy_heal(it.client->proxy);
    answers_expect(&read, PDK_OK);
    ck_assert_str_eq(read.data, "payload");
    answers_expect(&begun, PDK_OK);
    answers_done(&read);
    answers_done(&begun);
    it.read = NULL;
    answers_end();
}
END_TEST

static pdk_status write_text(const char *text, int64_t ms, struct told *t) {
    return pdk_guarded_write_async(it.write, text, 1, ms, answers_status, t);
}
static pdk_status publish_text(const char *text, int64_t ms, struct told *t) {
    return pdk_election_publish_async(it.office, it.led, text, 1, ms, answers_status, t);
}
static pdk_status set_text(const char *text, int64_t ms, struct told *t) {
    return pdk_member_set_data_async(it.member, text, 1, ms, answers_status, t);
}

/* A guarded znode promises no order. */
static const struct {
    int call;
    pdk_status (*start)(const char *text, int64_t ms, struct told *t);
} writers[] = {{WRITE, write_text}, {PUBLISH, publish_text}, {SET, set_text}};

/* One at a time is under way for a znode; the others wait for their turn, as long as they have time. */
START_TEST(calls_of_one_znode_take_turns) {
    enum { WRITES = 20 };
    static struct told writes[WRITES];
    const int call = writers[_i].call;
    memset(writes, 0, sizeof writes);
    answers_begin(PDK_DISPATCH_THREAD);
    for (int i = 0; i < WRITES; i++) {
        const char text[] = {(char)('a' + i), '\0'};
        writes[i].call = &calls[call];
        ck_assert_int_eq(writers[_i].start(text, PATIENCE_MS, &writes[i]), PDK_OK);
    }
    for (int i = 0; i < WRITES; i++) {
        answers_expect(&writes[i], PDK_OK);
        answers_done(&writes[i]);
    }
    char letter[2] = "";
    size_t size = 0;
    ck_assert_int_eq(pdk_guarded_read(it.write, letter, 1, &size, PATIENCE_MS), call == WRITE ? PDK_OK : PDK_LIMIT);
    ck_assert(call != WRITE || (letter[0] >= 'a' && letter[0] < 'a' + WRITES));
    if (call == PUBLISH)
        publishes("t"); /* the last one */
    if (call == SET)
        set_is("t");
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    answers_ask(call, 2000, &writes[0]);
    answers_ask(call, 100, &writes[1]);
    answers_expect(&writes[1], PDK_UNAVAILABLE);
    ck_assert(strstr(writes[1].words, "another call"));
    ts_proxy_heal(it.client->proxy);
    answers_expect(&writes[0], PDK_OK);
    answers_done(&writes[0]);
    answers_done(&writes[1]);
    answers_end();
}
END_TEST

/* ---- threads, and rights that others have */

/* A thread that asks has no hold of what it gets, and its interrupt is none of the call's. */
START_TEST(the_thread_that_asks_does_not_matter) {
    static struct told t = {0}, begun = {0}, skipped = {0};
    pdk_interrupt *interrupt = NULL;
    pdk_hold *hold = NULL;
    answers_begin(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_interrupt_new(&interrupt), PDK_OK);
    ck_assert_int_eq(pdk_interrupt_attach(interrupt), PDK_OK);
    pdk_interrupt_raise(interrupt);
    answers_ask(TAKE, PATIENCE_MS, &t);
    answers_ask(ASK, PATIENCE_MS, &begun);
    answers_expect(&t, PDK_OK);
    answers_expect(&begun, PDK_OK);
    refused(pdk_job_acquire(it.asks, 0, &hold, NULL), PDK_CANCELED, "interrupt");
    pdk_interrupt_clear(interrupt);
    refused(pdk_lease_lock_acquire(it.takes, 0, &hold), PDK_BUSY, "");
    pdk_interrupt_detach();
    pdk_interrupt_unref(interrupt);
    answers_ask(ASK, PATIENCE_MS, &skipped); /* the job runs */
    answers_expect(&skipped, PDK_SKIPPED);
    ck_assert_int_eq(pdk_job_runs_run(skipped.runs, 0)->state, PDK_JOB_RUNNING);
    answers_done(&skipped);
    answers_done(&t);
    answers_done(&begun);
    /* The other way round: this thread has it, and would wait for itself. */
    answers_ask(TAKE, PATIENCE_MS, &t);
    answers_expect(&t, PDK_OK);
    answers_done(&t);
    ck_assert_int_eq(pdk_lease_lock_acquire(it.takes, PATIENCE_MS, &hold), PDK_OK);
    refused(pdk_lease_lock_acquire(it.takes, 0, &hold), PDK_DEADLOCK, "this thread holds it");
    answers_ask(TAKE, 0, &t);
    answers_expect(&t, PDK_BUSY);
    answers_done(&t);
    pdk_hold_release(hold);
    answers_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("answers");
    TCase *tcase = ts_bench_case(suite, "answers");
    const int first = PDK_DISPATCH_THREAD, end = PDK_DISPATCH_MANUAL + 1;
    tcase_add_test(tcase, each_is_answered_as_the_call_that_blocks);
    tcase_add_loop_test(tcase, each_may_be_made_in_a_callback, first, end);
    tcase_add_test(tcase, bad_input_is_refused_and_never_answered);
    tcase_add_test(tcase, each_answers_by_its_deadline);
    tcase_add_loop_test(tcase, each_goes_on_through_a_lost_connection, 0, 6);
    tcase_add_test(tcase, a_query_goes_on_through_a_lost_session);
    tcase_add_test(tcase, a_renewal_that_does_not_come);
    tcase_add_loop_test(tcase, a_close_answers_all_of_them, first, end);
    tcase_add_test(tcase, a_close_from_a_callback_drops_the_answers);
    tcase_add_test(tcase, an_answer_comes_after_the_last_reference_was_given_back);
    tcase_add_test(tcase, a_callback_that_comes_too_late_gets_no_hold);
    tcase_add_test(tcase, a_hold_may_be_released_meanwhile);
    tcase_add_test(tcase, a_hold_that_was_released_is_none);
    tcase_add_test(tcase, the_callback_of_a_hold_ends_with_it);
    tcase_add_test(tcase, objects_may_go_meanwhile);
    tcase_add_loop_test(tcase, calls_of_one_znode_take_turns, 0, (int)G_N_ELEMENTS(writers));
    tcase_add_test(tcase, the_thread_that_asks_does_not_matter);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
