/* The calls about rights that answer by a callback: guarded znodes, jobs and lease locks. Each of them answers once, as the form that
 * blocks, whatever happens to its link, its session and its objects. */
#include "answers_rights.h"
#include "grant/hold.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

#include <string.h>
#include <sys/wait.h>

#define OTHER_SECRET "the secret of another"

static struct told told[CALLS];

static void ask_all(int64_t timeout_ms) {
    memset(told, 0, sizeof told);
    for (int i = 0; i < CALLS; i++)
        rights_ask(i, timeout_ms, &told[i]);
}

static void payload_is(pdk_guarded *g, const char *text) {
    char buffer[64] = "";
    size_t size = 0;
    ck_assert_int_eq(pdk_guarded_read(g, buffer, sizeof buffer, &size, PATIENCE_MS), PDK_OK);
    ck_assert_str_eq(buffer, text);
}

/* What each of them has done, seen by those that block. */
static void all_is_done(void) {
    size_t size = 0;
    pdk_job_runs *runs = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_guarded_create(told[OPEN].guarded, "in the opened", 13, PATIENCE_MS), PDK_OK);
    payload_is(told[OPEN].guarded, "in the opened");
    ck_assert_str_eq(told[READ].data, "payload");
    payload_is(rights.write, "written");
    payload_is(rights.create, "created");
    refused(pdk_guarded_read(rights.remove, NULL, 0, &size, PATIENCE_MS), PDK_ABSENT, "nothing");
    ck_assert(pdk_hold_is_valid(told[ASK].hold));
    ck_assert_int_eq(pdk_job_finish(rights.asks, g_steal_pointer(&told[ASK].hold), 0, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(pdk_job_history(rights.client->session, rights_path("ends"), PATIENCE_MS, &runs), PDK_OK);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->state, PDK_JOB_FINISHED);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->outcome, 7);
    pdk_job_runs_free(runs);
    ck_assert(pdk_hold_is_valid(told[TAKE].hold));
    ck_assert_int_eq(pdk_lease_lock_release(rights.takes, g_steal_pointer(&told[TAKE].hold), PATIENCE_MS), PDK_OK);
    /* It is nobody's: another secret takes it. */
    pdk_lease_lock *other = rights_lease(rights.client, "gives", OTHER_SECRET);
    ck_assert_int_eq(pdk_lease_lock_acquire(other, PATIENCE_MS, &hold), PDK_OK);
    ck_assert_int_eq(pdk_lease_lock_release(other, hold, PATIENCE_MS), PDK_OK);
}

START_TEST(each_is_answered_as_the_call_that_blocks) {
    rights_begin(PDK_DISPATCH_THREAD);
    ask_all(PATIENCE_MS);
    for (int i = 0; i < CALLS; i++)
        rights_expect(&told[i], PDK_OK);
    all_is_done();
    for (int i = 0; i < CALLS; i++)
        ck_assert_ptr_eq(told[i].thread, told[0].thread);
    for (int i = 0; i < CALLS; i++)
        rights_done(&told[i]);
    rights_end();
}
END_TEST

/* By manual dispatch, each in the callback of the one before. */
START_TEST(each_may_be_made_in_a_callback) {
    rights_begin(PDK_DISPATCH_MANUAL);
    memset(told, 0, sizeof told);
    for (int i = 0; i < CALLS; i++) {
        told[i].call = &calls[i];
        told[i].chain = i + 1 < CALLS ? &told[i + 1] : NULL;
    }
    rights_ask(0, PATIENCE_MS, &told[0]);
    for (int64_t until = ts_now_ms() + ts_patience(PATIENCE_MS);
         !rights_is_told(&told[CALLS - 1]) && ts_now_ms() < until; ts_sleep_ms(5))
        ck_assert_int_eq(pdk_session_dispatch(rights.client->session, NULL), PDK_OK);
    for (int i = 0; i < CALLS; i++) {
        rights_expect(&told[i], PDK_OK);
        ck_assert_ptr_eq(told[i].thread, g_thread_self());
    }
    all_is_done();
    for (int i = 0; i < CALLS; i++)
        rights_done(&told[i]);
    rights_end();
}
END_TEST

/* ---- what is refused */

START_TEST(bad_input_is_refused_and_never_answered) {
    struct told t = {0};
    pdk_hold *hold;
    rights_begin(PDK_DISPATCH_THREAD);
    hold = rights.guards;
    for (int i = 0; i < CALLS; i++) {
        refused(calls[i].start(0, NULL), PDK_INVALID, "fn");
        refused(calls[i].start(-2, &t), PDK_INVALID, "timeout_ms");
    }
    g_autofree char *large = g_malloc0(1000001);
    refused(pdk_guarded_open_async(NULL, "/a", 0, rights_opened, &t), PDK_INVALID, "hold");
    refused(pdk_guarded_open_async(hold, NULL, 0, rights_opened, &t), PDK_INVALID, "path");
    refused(pdk_guarded_open_async(hold, "a", 0, rights_opened, &t), PDK_INVALID, "path");
    refused(pdk_guarded_open_async(hold, rights_path("guards"), 0, rights_opened, &t), PDK_INVALID, "path");
    refused(pdk_guarded_read_async(NULL, 0, rights_read, &t), PDK_INVALID, "guarded");
    refused(pdk_guarded_write_async(NULL, "a", 1, 0, rights_status, &t), PDK_INVALID, "guarded");
    refused(pdk_guarded_write_async(rights.write, NULL, 1, 0, rights_status, &t), PDK_INVALID, "data");
    refused(pdk_guarded_write_async(rights.write, large, 1000001, 0, rights_status, &t), PDK_LIMIT, "size");
    refused(pdk_guarded_create_async(NULL, "a", 1, 0, rights_status, &t), PDK_INVALID, "guarded");
    refused(pdk_guarded_create_async(rights.create, NULL, 1, 0, rights_status, &t), PDK_INVALID, "data");
    refused(pdk_guarded_delete_async(NULL, 0, rights_status, &t), PDK_INVALID, "guarded");
    refused(pdk_job_acquire_async(NULL, 0, rights_begun, &t), PDK_INVALID, "job");
    refused(pdk_job_finish_async(NULL, hold, 0, 0, rights_status, &t), PDK_INVALID, "job");
    refused(pdk_job_finish_async(rights.ends, NULL, 0, 0, rights_status, &t), PDK_INVALID, "hold");
    refused(pdk_job_finish_async(rights.ends, hold, 0, 0, rights_status, &t), PDK_INVALID, "hold");
    refused(pdk_job_finish_async(rights.ends, rights.run, -1, 0, rights_status, &t), PDK_INVALID, "outcome");
    refused(pdk_lease_lock_acquire_async(NULL, 0, rights_acquired, &t), PDK_INVALID, "lock");
    refused(pdk_lease_lock_release_async(NULL, hold, 0, rights_status, &t), PDK_INVALID, "lock");
    refused(pdk_lease_lock_release_async(rights.gives, NULL, 0, rights_status, &t), PDK_INVALID, "hold");
    refused(pdk_lease_lock_release_async(rights.gives, hold, 0, rights_status, &t), PDK_INVALID, "hold");
    ck_assert_int_eq(pdk_session_close(rights.client->session, PATIENCE_MS), PDK_OK);
    for (int i = 0; i < CALLS; i++)
        refused(calls[i].start(0, &t), PDK_CLOSED, "closed");
    ck_assert_int_eq(atomic_load(&t.count), 0);
    rights_end();
}
END_TEST

START_TEST(a_child_of_a_fork_is_refused) {
    static struct told t;
    int status = 1;
    rights_begin(PDK_DISPATCH_THREAD);
    const char *path = rights_path("opened"); /* made before the fork */
    ck_assert_ptr_nonnull(path);
    pid_t child = ts_fork();
    if (child == 0) {
        bool fine = true;
        for (int i = 0; i < CALLS; i++)
            fine = calls[i].start(PDK_FOREVER, &t) == PDK_FORKED && fine;
        ts_end_child(!fine);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ask_all(PATIENCE_MS);
    for (int i = 0; i < CALLS; i++) {
        rights_expect(&told[i], PDK_OK);
        rights_done(&told[i]);
    }
    rights_end();
}
END_TEST

/* ---- a link that is silent, or lost */

START_TEST(each_answers_by_its_deadline) {
    rights_begin_with(PDK_DISPATCH_THREAD, SLOW_MS, SHORT_MS); /* an ask has time for a request at least */
    ts_proxy_set_mode(rights.client->proxy, TS_BLACKHOLE);
    int64_t began = ts_now_ms();
    ask_all(100);
    for (int i = 0; i < CALLS; i++)
        rights_expect(&told[i], PDK_UNAVAILABLE);
    ck_assert_int_lt(ts_now_ms() - began, ts_patience(3000));
    ts_proxy_heal(rights.client->proxy);
    for (int i = 0; i < CALLS; i++)
        rights_done(&told[i]);
    /* Nothing of it is in the way of the next ones: what was written is settled, and the holds are still ours. */
    for (int i = 0; i < CALLS; i++) {
        if (i == CREATE || i == REMOVE || i == ASK)
            continue; /* they may have been executed */
        rights_ask(i, PATIENCE_MS, &told[i]);
        rights_expect(&told[i], PDK_OK);
        rights_done(&told[i]);
    }
    rights_end();
}
END_TEST

/* Whichever request's answer is lost, with the connection. */
START_TEST(each_goes_on_through_a_lost_connection) {
    static const int ops[] = {TS_OP_CREATE2, TS_OP_GET_DATA, TS_OP_SET_DATA, TS_OP_MULTI};
    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++) {
        rights_begin(PDK_DISPATCH_THREAD);
        ts_proxy_arm(rights.client->proxy, ops[i], TS_LOSE_REPLY, TS_CUT);
        ask_all(PDK_FOREVER);
        ck_assert_msg(ts_proxy_wait_fired(rights.client->proxy, PATIENCE_MS), "request %zu", i);
        ts_sleep_ms(100);
        ts_proxy_set_mode(rights.client->proxy, TS_PASS);
        for (int k = 0; k < CALLS; k++)
            rights_expect(&told[k], PDK_OK);
        all_is_done();
        for (int k = 0; k < CALLS; k++)
            rights_done(&told[k]);
        ck_assert_int_eq(pdk_session_close(rights.client->session, PATIENCE_MS), PDK_OK);
        rights_end();
    }
}
END_TEST

/* ---- the session ends */

static void close_while_they_wait(pdk_dispatch dispatch) {
    enum { MORE = 40 }; /* they wait for their turn; a close does not take them all at once */
    static struct told more[MORE];
    memset(more, 0, sizeof more);
    rights_begin_with(dispatch, SESSION_MS, PATIENCE_MS); /* for so long a close waits for a server */
    ts_proxy_set_mode(rights.client->proxy, TS_BLACKHOLE);
    ask_all(PDK_FOREVER);
    for (int i = 0; i < MORE; i++)
        rights_ask(i % 2 ? READ : TAKE, PDK_FOREVER, &more[i]);
    pdk_session_close(rights.client->session, dispatch == PDK_DISPATCH_THREAD ? 1000 : 3000);
    for (int i = 0; i < CALLS; i++)
        rights_expect(&told[i], PDK_CLOSED);
    for (int i = 0; i < MORE; i++) {
        rights_expect(&more[i], PDK_CLOSED);
        rights_done(&more[i]);
    }
    for (int i = 0; i < CALLS; i++)
        rights_done(&told[i]);
    ck_assert_ptr_nonnull(rights.run); /* still the caller's */
    ck_assert_ptr_nonnull(rights.leased);
    ts_proxy_heal(rights.client->proxy);
    rights_end();
}

START_TEST(a_close_answers_all_of_them) { close_while_they_wait(PDK_DISPATCH_THREAD); }
END_TEST
START_TEST(a_close_answers_all_of_them_by_manual_dispatch) { close_while_they_wait(PDK_DISPATCH_MANUAL); }
END_TEST

static void close_it(pdk_status status, void *user) {
    (void)status;
    (void)user;
    ck_assert_int_eq(pdk_session_close(rights.client->session, 0), PDK_OK);
}

/* It drops what is due. Nothing leaks of what nobody is given: ASan looks. What was given back is the caller's then. */
START_TEST(a_close_from_a_callback_drops_the_answers) {
    rights_begin(PDK_DISPATCH_MANUAL);
    ck_assert_int_eq(pdk_session_flush_async(rights.client->session, PATIENCE_MS, close_it, NULL), PDK_OK);
    ts_sleep_ms(100);
    ask_all(PATIENCE_MS);
    ts_sleep_ms(1000);
    while (pdk_session_dispatch(rights.client->session, NULL) == PDK_OK)
        ts_sleep_ms(10);
    pdk_session_close(rights.client->session, PATIENCE_MS);
    for (int i = 0; i < CALLS; i++)
        ck_assert_int_eq(atomic_load(&told[i].count), 0);
    pdk_hold_release(g_steal_pointer(&rights.run));
    pdk_hold_release(g_steal_pointer(&rights.leased));
    rights_end();
}
END_TEST

/* ---- holds and objects that go meanwhile */

/* A hold that was lost before the loop came round is not handed over. */
START_TEST(a_callback_that_comes_too_late_gets_no_hold) {
    rights_begin(PDK_DISPATCH_MANUAL);
    memset(told, 0, sizeof told);
    rights_ask(ASK, PATIENCE_MS, &told[ASK]);
    rights_ask(TAKE, PATIENCE_MS, &told[TAKE]);
    ts_sleep_ms(1000); /* they are granted */
    ck_assert_int_eq(pdk_session_close(rights.client->session, PATIENCE_MS), PDK_OK);
    rights_expect(&told[ASK], PDK_LOST);
    rights_expect(&told[TAKE], PDK_LOST);
    rights_done(&told[ASK]);
    rights_done(&told[TAKE]);
    rights_end();
}
END_TEST

/* Whoever releases the hold meanwhile, as on a loss, has released it: it is not given back a second time. */
START_TEST(a_hold_may_be_released_meanwhile) {
    rights_begin(PDK_DISPATCH_MANUAL);
    memset(told, 0, sizeof told);
    rights_ask(END, PATIENCE_MS, &told[END]);
    rights_ask(GIVE, PATIENCE_MS, &told[GIVE]);
    ts_sleep_ms(1000); /* both are written */
    pdk_hold *holds[] = {rights.run, rights.leased};
    for (int i = 0; i < 2; i++) {
        pdk_hold_ref(pdk_hold_ref(holds[i]));
        ck_assert_int_eq(pdk_hold_release(holds[i]), PDK_OK);
    }
    while (!rights_is_told(&told[END]) || !rights_is_told(&told[GIVE])) {
        ck_assert_int_eq(pdk_session_dispatch(rights.client->session, NULL), PDK_OK);
        ts_sleep_ms(10);
    }
    rights_expect(&told[END], PDK_OK);
    rights_expect(&told[GIVE], PDK_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(atomic_load(&holds[i]->refs), 2); /* ours */
        pdk_hold_unref(holds[i]);
        pdk_hold_unref(holds[i]);
    }
    rights_done(&told[END]);
    rights_done(&told[GIVE]);
    rights_end();
}
END_TEST

START_TEST(a_hold_that_was_released_is_none) {
    rights_begin(PDK_DISPATCH_THREAD);
    memset(told, 0, sizeof told);
    pdk_hold_ref(rights.run);
    pdk_hold_ref(rights.leased);
    pdk_hold_release(rights.run);
    pdk_hold_release(rights.leased);
    pdk_hold_ref(rights.guards);
    pdk_hold_release(rights.guards);
    for (int i = 0; i < CALLS; i++)
        if (i != ASK && i != TAKE) {
            rights_ask(i, PATIENCE_MS, &told[i]);
            rights_expect(&told[i], PDK_NOT_HELD);
            rights_done(&told[i]);
        }
    rights_end();
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
    rights_begin(PDK_DISPATCH_THREAD);
    memset(told, 0, sizeof told);
    ck_assert_int_eq(pdk_hold_on_lost(rights.run, never_lost, &freed, count_up), PDK_OK);
    rights_ask(END, PATIENCE_MS, &told[END]);
    rights_expect(&told[END], PDK_OK);
    ck_assert_int_eq(atomic_load(&freed), 1);
    rights_done(&told[END]);
    rights_end();
}
END_TEST

START_TEST(objects_may_go_meanwhile) {
    struct told read = {0}, begun = {0};
    rights_begin(PDK_DISPATCH_THREAD);
    pdk_job *job = NULL;
    ck_assert_int_eq(pdk_job_new(rights.client->session, rights_path("asks"), NULL, &job), PDK_OK);
    ts_proxy_set_mode(rights.client->proxy, TS_BLACKHOLE);
    rights_ask(READ, PDK_FOREVER, &read);
    begun.call = &calls[ASK];
    ck_assert_int_eq(pdk_job_acquire_async(job, PDK_FOREVER, rights_begun, &begun), PDK_OK);
    pdk_job_unref(job);
    pdk_guarded *closed = g_steal_pointer(&rights.read);
    rights.read = rights.write; /* for the call that blocks */
    pdk_guarded_close(closed);
    ts_proxy_heal(rights.client->proxy);
    rights_expect(&read, PDK_OK);
    ck_assert_str_eq(read.data, "payload");
    rights_expect(&begun, PDK_OK);
    rights_done(&read);
    rights_done(&begun);
    rights.read = NULL;
    rights_end();
}
END_TEST

/* One at a time is under way for a znode; the others wait for their turn. */
START_TEST(calls_of_one_znode_take_turns) {
    enum { WRITES = 20 };
    static struct told writes[WRITES];
    memset(writes, 0, sizeof writes);
    rights_begin(PDK_DISPATCH_THREAD);
    for (int i = 0; i < WRITES; i++) {
        char text[] = {(char)('a' + i), '\0'};
        writes[i].call = &calls[WRITE];
        ck_assert_int_eq(pdk_guarded_write_async(rights.write, text, 1, PATIENCE_MS, rights_status, &writes[i]),
                         PDK_OK);
    }
    for (int i = 0; i < WRITES; i++) {
        rights_expect(&writes[i], PDK_OK);
        rights_done(&writes[i]);
    }
    char buffer[2] = "";
    size_t size = 0;
    ck_assert_int_eq(pdk_guarded_read(rights.write, buffer, 1, &size, PATIENCE_MS), PDK_OK);
    ck_assert(buffer[0] >= 'a' && buffer[0] < 'a' + WRITES);
    struct told one = {0}, other = {0};
    ts_proxy_set_mode(rights.client->proxy, TS_BLACKHOLE);
    rights_ask(WRITE, 2000, &one);
    rights_ask(WRITE, 100, &other);
    rights_expect(&other, PDK_UNAVAILABLE);
    ck_assert(strstr(other.words, "another call"));
    ts_proxy_heal(rights.client->proxy);
    rights_expect(&one, PDK_OK);
    rights_done(&one);
    rights_done(&other);
    rights_end();
}
END_TEST

/* ---- rights that others have */

START_TEST(a_job_that_runs_is_skipped) {
    struct told t = {.call = &calls[ASK]}, others = {.call = &calls[ASK]};
    rights_begin(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_job_acquire_async(rights.ends, PATIENCE_MS, rights_begun, &t), PDK_OK);
    rights_expect(&t, PDK_SKIPPED);
    ck_assert_int_eq(pdk_job_runs_run(t.runs, 0)->state, PDK_JOB_RUNNING);
    rights_done(&t);
    /* Somebody only asks. */
    g_autofree char *dir = g_strconcat(rights_path("asks"), "/lock", NULL);
    pdk_hold *hold = ts_bench_acquire(ts_lock(rights.client, dir), PATIENCE_MS);
    t.call = &calls[ASK];
    rights_ask(ASK, 120, &t);
    rights_expect(&t, PDK_BUSY);
    rights_ask(ASK, PATIENCE_MS, &others);
    ts_sleep_ms(100);
    pdk_hold_release(hold);
    rights_expect(&others, PDK_OK);
    rights_done(&t);
    rights_done(&others);
    rights_end();
}
END_TEST

/* It stands for a holder, and for one that is gone. */
START_TEST(a_lease_lock_is_waited_for) {
    struct told busy = {0}, late = {0}, dropped = {.call = &calls[TAKE]}, got = {0};
    rights_begin(PDK_DISPATCH_THREAD);
    pdk_lease_lock *theirs = rights_lease(rights.client, "takes", OTHER_SECRET), *again = NULL;
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_hold *hold = NULL;
    for (int gone = 0; gone < 2; gone++) {
        ck_assert_int_eq(pdk_lease_lock_acquire(theirs, PATIENCE_MS, &hold), PDK_OK);
        if (gone)
            pdk_hold_release(hold);
        rights_ask(TAKE, 0, &busy);
        rights_expect(&busy, PDK_BUSY);
        rights_ask(TAKE, 1500, &late);
        options.secret = "the secret of a test";
        ck_assert_int_eq(pdk_lease_lock_new(rights.client->session, rights_path("takes"), &options, &again), PDK_OK);
        dropped.call = &calls[TAKE];
        ck_assert_int_eq(pdk_lease_lock_acquire_async(again, PDK_FOREVER, rights_acquired, &dropped), PDK_OK);
        ts_sleep_ms(300);
        pdk_lease_lock_unref(again);
        rights_expect(&dropped, PDK_CANCELED);
        rights_expect(&late, PDK_TIMEOUT);
        if (gone)
            ck_assert_int_eq(pdk_lease_lock_acquire(theirs, PATIENCE_MS, &hold), PDK_OK);
        rights_ask(TAKE, PATIENCE_MS, &got);
        ts_sleep_ms(100);
        ck_assert_int_eq(pdk_lease_lock_release(theirs, hold, PATIENCE_MS), PDK_OK);
        rights_expect(&got, PDK_OK);
        ck_assert_int_eq(pdk_lease_lock_release(rights.takes, g_steal_pointer(&got.hold), PATIENCE_MS), PDK_OK);
        rights_done(&busy);
        rights_done(&late);
        rights_done(&dropped);
        rights_done(&got);
    }
    rights_end();
}
END_TEST

/* A thread that asks has no hold of what it gets, and its interrupt is none of the call's. */
START_TEST(the_thread_that_asks_does_not_matter) {
    struct told t = {0}, begun = {0};
    pdk_interrupt *interrupt = NULL;
    pdk_hold *hold = NULL;
    rights_begin(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_interrupt_new(&interrupt), PDK_OK);
    ck_assert_int_eq(pdk_interrupt_attach(interrupt), PDK_OK);
    pdk_interrupt_raise(interrupt);
    rights_ask(TAKE, PATIENCE_MS, &t);
    rights_ask(ASK, PATIENCE_MS, &begun);
    rights_expect(&t, PDK_OK);
    rights_expect(&begun, PDK_OK);
    refused(pdk_job_acquire(rights.asks, 0, &hold, NULL), PDK_CANCELED, "interrupt");
    pdk_interrupt_clear(interrupt);
    refused(pdk_lease_lock_acquire(rights.takes, 0, &hold), PDK_BUSY, "");
    pdk_interrupt_detach();
    pdk_interrupt_unref(interrupt);
    rights_done(&t);
    rights_done(&begun);
    /* The other way round: this thread has it, and would wait for itself. */
    rights_ask(TAKE, PATIENCE_MS, &t);
    rights_expect(&t, PDK_OK);
    rights_done(&t);
    ck_assert_int_eq(pdk_lease_lock_acquire(rights.takes, PATIENCE_MS, &hold), PDK_OK);
    refused(pdk_lease_lock_acquire(rights.takes, 0, &hold), PDK_DEADLOCK, "this thread holds it");
    rights_ask(TAKE, 0, &t);
    rights_expect(&t, PDK_BUSY);
    rights_done(&t);
    pdk_hold_release(hold);
    rights_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("answers_rights");
    TCase *tcase = ts_bench_case(suite, "answers_rights");
    tcase_add_test(tcase, each_is_answered_as_the_call_that_blocks);
    tcase_add_test(tcase, each_may_be_made_in_a_callback);
    tcase_add_test(tcase, bad_input_is_refused_and_never_answered);
    tcase_add_test(tcase, a_child_of_a_fork_is_refused);
    tcase_add_test(tcase, each_answers_by_its_deadline);
    tcase_add_test(tcase, each_goes_on_through_a_lost_connection);
    tcase_add_test(tcase, a_close_answers_all_of_them);
    tcase_add_test(tcase, a_close_answers_all_of_them_by_manual_dispatch);
    tcase_add_test(tcase, a_close_from_a_callback_drops_the_answers);
    tcase_add_test(tcase, a_callback_that_comes_too_late_gets_no_hold);
    tcase_add_test(tcase, a_hold_may_be_released_meanwhile);
    tcase_add_test(tcase, a_hold_that_was_released_is_none);
    tcase_add_test(tcase, the_callback_of_a_hold_ends_with_it);
    tcase_add_test(tcase, objects_may_go_meanwhile);
    tcase_add_test(tcase, calls_of_one_znode_take_turns);
    tcase_add_test(tcase, a_job_that_runs_is_skipped);
    tcase_add_test(tcase, a_lease_lock_is_waited_for);
    tcase_add_test(tcase, the_thread_that_asks_does_not_matter);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
