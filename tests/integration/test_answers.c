/* The calls that answer by a callback: each of them answers once, whatever happens to its link and its session. */
#include <glib.h>
#include <string.h>

#include "answers.h"
#include "session/session.h"
#include "ts_check.h"
#include "ts_support.h"

START_TEST(each_is_answered_as_the_call_that_blocks) {
    static struct answer answers[QUESTIONS];
    memset(answers, 0, sizeof answers);
    answers_begin(PDK_DISPATCH_THREAD);
    for (int i = 0; i < QUESTIONS; i++)
        answers_ask(&questions[i], PATIENCE_MS, &answers[i]);
    for (int i = 0; i < QUESTIONS; i++)
        answers_expect(&questions[i], &answers[i], PDK_OK);
    ck_assert_int_eq(pdk_session_close(asked.client->session, PATIENCE_MS), PDK_OK);
    for (int i = 0; i < QUESTIONS; i++) {
        ck_assert_ptr_eq(answers[i].thread, answers[0].thread);
        answers_done(&answers[i]);
    }
    answers_end();
}
END_TEST

START_TEST(what_is_not_there_has_an_answer) {
    struct answer a[4] = {0};
    answers_begin(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_lock_holder_async(ts_lock(asked.client, "/t/nobody"), PATIENCE_MS, answers_list, &a[0]),
                     PDK_OK);
    ck_assert_int_eq(pdk_session_request_release_async(asked.client->session, "/t/nobody", NULL, NULL, 0, PATIENCE_MS,
                                                       answers_status, &a[1]),
                     PDK_OK);
    ck_assert_int_eq(pdk_session_break_async(asked.client->session, asked.victim, asked.victim_token - 1, PATIENCE_MS,
                                             answers_list, &a[2]),
                     PDK_OK);
    ck_assert_int_eq(pdk_job_history_async(asked.client->session, "/t/nobody", PATIENCE_MS, answers_runs, &a[3]),
                     PDK_OK);
    const pdk_status wanted[] = {PDK_OK, PDK_GONE, PDK_GONE, PDK_OK};
    for (int i = 0; i < 4; i++) {
        ck_assert(ts_wait_until(answers_is_there, &a[i], ts_patience(PATIENCE_MS)));
        ck_assert_int_eq(a[i].status, wanted[i]);
        ck_assert_uint_eq(a[i].listed, 0);
        answers_done(&a[i]);
    }
    answers_end();
}
END_TEST

START_TEST(a_hold_that_is_lost_cannot_be_ensured) {
    struct answer a = {0}, b = {0};
    answers_begin(PDK_DISPATCH_THREAD);
    ts_proxy_set_mode(asked.client->proxy, TS_BLACKHOLE);
    while (pdk_hold_is_valid(asked.own))
        ts_sleep_ms(10);
    ck_assert_int_eq(pdk_hold_ensure_async(asked.own, 1, answers_status, &a), PDK_OK);
    ck_assert(ts_wait_until(answers_is_there, &a, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(a.status, PDK_LOST);
    pdk_hold_ref(asked.own);
    pdk_hold_release(asked.own);
    ck_assert_int_eq(pdk_hold_ensure_async(asked.own, 1, answers_status, &b), PDK_OK);
    ck_assert(ts_wait_until(answers_is_there, &b, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(b.status, PDK_NOT_HELD);
    answers_done(&a);
    answers_done(&b);
    answers_end();
}
END_TEST

/* ---- a link that is silent */

START_TEST(each_answers_by_its_deadline) {
    static struct answer answers[QUESTIONS];
    memset(answers, 0, sizeof answers);
    answers_begin(PDK_DISPATCH_THREAD);
    ts_proxy_set_mode(asked.client->proxy, TS_BLACKHOLE);
    int64_t began = ts_now_ms();
    for (int i = 0; i < QUESTIONS; i++)
        answers_ask(&questions[i], i % 2 ? 0 : 100, &answers[i]);
    for (int i = 0; i < QUESTIONS; i++)
        answers_expect(&questions[i], &answers[i], questions[i].late);
    ck_assert_int_lt(ts_now_ms() - began, ts_patience(SESSION_MS));
    ts_proxy_heal(asked.client->proxy);
    ck_assert_int_eq(pdk_session_close(asked.client->session, PATIENCE_MS), PDK_OK);
    for (int i = 0; i < QUESTIONS; i++)
        answers_done(&answers[i]);
    answers_end();
}
END_TEST

/* A renewal cannot come. The wait for it is bounded by the session's option. */
START_TEST(a_renewal_that_does_not_come) {
    struct answer a = {0}, flushed = {0};
    answers_begin(PDK_DISPATCH_THREAD);
    pdk_hold *other = ts_bench_acquire(ts_lock(asked.client, "/t/other"), PATIENCE_MS);
    ts_proxy_set_mode(asked.client->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(other), PDK_OK);
    ck_assert_int_eq(pdk_session_flush_async(asked.client->session, 50, answers_status, &flushed), PDK_OK);
    while (pdk_hold_remaining_ms(asked.own) >= WANTED_MS)
        ts_sleep_ms(10);
    ck_assert_int_eq(pdk_hold_ensure_async(asked.own, WANTED_MS, answers_status, &a), PDK_OK);
    ck_assert(ts_wait_until(answers_is_there, &a, ts_patience(PATIENCE_MS)));
    ck_assert(a.status == PDK_UNAVAILABLE || a.status == PDK_LOST);
    ck_assert(ts_wait_until(answers_is_there, &flushed, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(flushed.status, PDK_TIMEOUT);
    ck_assert_uint_eq(asked.client->session->urgent, 0);
    ts_proxy_heal(asked.client->proxy);
    answers_done(&flushed);
    memset(&flushed, 0, sizeof flushed);
    ck_assert_int_eq(pdk_session_flush_async(asked.client->session, PATIENCE_MS, answers_status, &flushed), PDK_OK);
    ck_assert(ts_wait_until(answers_is_there, &flushed, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(flushed.status, PDK_OK);
    answers_done(&a);
    answers_done(&flushed);
    answers_end();
}
END_TEST

/* An answer that was lost, or a session, is no answer: it asks again. */
START_TEST(each_goes_on_through_a_lost_connection_and_a_lost_session) {
    static struct answer answers[2 * QUESTIONS];
    memset(answers, 0, sizeof answers);
    answers_begin(PDK_DISPATCH_THREAD);
    ts_proxy_set_mode(asked.client->proxy, TS_BLACKHOLE);
    for (int i = 0; i < QUESTIONS - 2; i++)
        answers_ask(&questions[i], PDK_FOREVER, &answers[i]);
    ts_proxy_set_mode(asked.client->proxy, TS_CUT);
    ts_proxy_set_mode(asked.client->proxy, TS_PASS);
    for (int i = 0; i < QUESTIONS - 2; i++)
        answers_expect(&questions[i], &answers[i], PDK_OK);
    ts_proxy_set_mode(asked.client->proxy, TS_BLACKHOLE);
    for (int i = 0; i < QUESTIONS - 2; i++)
        answers_ask(&questions[i], PDK_FOREVER, &answers[QUESTIONS + i]);
    ts_sleep_ms(2 * SESSION_MS);
    ts_proxy_heal_discard(asked.client->proxy);
    for (int i = 0; i < QUESTIONS - 2; i++) {
        answers_expect(&questions[i], &answers[QUESTIONS + i], PDK_OK);
        answers_done(&answers[i]);
        answers_done(&answers[QUESTIONS + i]);
    }
    answers_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("answers");
    TCase *tcase = ts_bench_case(suite, "answers");
    tcase_add_test(tcase, each_is_answered_as_the_call_that_blocks);
    tcase_add_test(tcase, what_is_not_there_has_an_answer);
    tcase_add_test(tcase, a_hold_that_is_lost_cannot_be_ensured);
    tcase_add_test(tcase, each_answers_by_its_deadline);
    tcase_add_test(tcase, a_renewal_that_does_not_come);
    tcase_add_test(tcase, each_goes_on_through_a_lost_connection_and_a_lost_session);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
