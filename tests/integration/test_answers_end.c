/* Where the callbacks of calls run, what becomes of them when the session ends, and what is refused. */
#include <glib.h>
#include <poll.h>
#include <string.h>

#include "answers.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_support.h"

/* ---- the session ends */

static void close_while_they_wait(pdk_dispatch dispatch) {
    enum { MORE = 50 }; /* a close does not take them all at once */
    static struct answer answers[QUESTIONS], more[MORE];
    memset(answers, 0, sizeof answers);
    memset(more, 0, sizeof more);
    answers_begin(dispatch);
    ts_proxy_set_mode(asked.client->proxy, TS_BLACKHOLE);
    for (int i = 0; i < QUESTIONS; i++)
        answers_ask(&questions[i], PDK_FOREVER, &answers[i]);
    for (int i = 0; i < MORE; i++)
        answers_ask(&questions[0], PDK_FOREVER, &more[i]);
    pdk_session_close(asked.client->session, dispatch == PDK_DISPATCH_THREAD ? 1000 : 3000);
    for (int i = 0; i < QUESTIONS; i++)
        if (!questions[i].own_time) {
            answers_expect(&questions[i], &answers[i], PDK_CLOSED);
            ck_assert_int_le(answers[i].at_ns, ts_event_at_ns(asked.client, PDK_SESSION_CLOSED)); /* the last event */
            answers_done(&answers[i]);
        }
    for (int i = 0; i < MORE; i++) {
        answers_expect(&questions[0], &more[i], PDK_CLOSED);
        answers_done(&more[i]);
    }
    g_free(answers[QUESTIONS - 2].words); /* of ensure, which may have been faster */
    ck_assert_int_eq(atomic_load(&answers[QUESTIONS - 2].count), 1);
    ts_proxy_heal(asked.client->proxy);
    answers_end();
}

START_TEST(a_close_answers_all_of_them) { close_while_they_wait(PDK_DISPATCH_THREAD); }
END_TEST
START_TEST(a_close_answers_all_of_them_by_manual_dispatch) { close_while_they_wait(PDK_DISPATCH_MANUAL); }
END_TEST

static void close_it(pdk_status status, pdk_contenders *list, void *user) {
    answers_list(status, list, user);
    ck_assert_int_eq(pdk_session_close(asked.client->session, 0), PDK_OK);
}

/* It drops what is due. Nothing leaks: ASan looks. */
START_TEST(a_close_from_a_callback_drops_the_answers) {
    struct answer first = {0}, dropped = {0};
    answers_begin(PDK_DISPATCH_MANUAL);
    ck_assert_int_eq(pdk_lock_holder_async(asked.lock, PATIENCE_MS, close_it, &first), PDK_OK);
    ck_assert_int_eq(pdk_lock_holder_async(asked.lock, PATIENCE_MS, answers_list, &dropped), PDK_OK);
    while (!answers_is_there(&first)) {
        ts_sleep_ms(50);
        ck_assert_int_eq(pdk_session_dispatch(asked.client->session, NULL), PDK_OK);
    }
    pdk_session_close(asked.client->session, PATIENCE_MS);
    ck_assert_int_eq(atomic_load(&dropped.count), 0);
    ck_assert_int_eq(first.status, PDK_OK);
    answers_done(&first);
    answers_end();
}
END_TEST

/* A call that is under way has a reference to its session. */
START_TEST(an_answer_comes_after_the_last_reference_was_given_back) {
    struct answer a = {0};
    pdk_session *session = NULL;
    pdk_lock *lock = NULL;
    answers_begin(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), NULL, &session), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(session, asked.path, NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_holder_async(lock, PATIENCE_MS, answers_list, &a), PDK_OK);
    pdk_lock_unref(lock);
    pdk_session_unref(session);
    answers_expect(&questions[0], &a, PDK_OK);
    ts_sleep_ms(100);
    answers_done(&a);
    answers_end();
}
END_TEST

/* ---- callbacks */

START_TEST(they_may_be_made_in_a_callback) {
    static struct answer answers[QUESTIONS + 1];
    memset(answers, 0, sizeof answers);
    answers_begin(PDK_DISPATCH_THREAD);
    for (int i = 0; i + 1 < QUESTIONS; i++) {
        answers[i].next = &questions[i + 1];
        answers[i].following = &answers[i + 1];
    }
    answers_ask(&questions[0], PATIENCE_MS, &answers[0]);
    for (int i = 0; i < QUESTIONS; i++)
        answers_expect(&questions[i], &answers[i], PDK_OK);
    ck_assert_int_eq(pdk_session_close(asked.client->session, PATIENCE_MS), PDK_OK);
    for (int i = 0; i < QUESTIONS; i++) {
        if (answers[i].next)
            ck_assert_int_eq(answers[i].inside, PDK_WRONG_THREAD);
        answers_done(&answers[i]);
    }
    answers_end();
}
END_TEST

START_TEST(manual_dispatch_runs_them_where_it_is_called) {
    static struct answer answers[QUESTIONS];
    memset(answers, 0, sizeof answers);
    answers_begin(PDK_DISPATCH_MANUAL);
    for (int i = 0; i < QUESTIONS; i++)
        answers_ask(&questions[i], PATIENCE_MS, &answers[i]);
    ts_sleep_ms(300);
    for (int i = 0; i < QUESTIONS; i++)
        ck_assert_int_eq(atomic_load(&answers[i].count), 0);
    struct pollfd due = {.fd = pdk_session_fd(asked.client->session), .events = POLLIN};
    ck_assert_int_eq(poll(&due, 1, 0), 1);
    for (int i = 0; i < QUESTIONS; i++) {
        for (int64_t until = ts_now_ms() + ts_patience(PATIENCE_MS);
             !answers_is_there(&answers[i]) && ts_now_ms() < until;) {
            ck_assert_int_eq(pdk_session_dispatch(asked.client->session, NULL), PDK_OK);
            ts_sleep_ms(5);
        }
        answers_expect(&questions[i], &answers[i], PDK_OK);
        ck_assert_ptr_eq(answers[i].thread, g_thread_self());
        answers_done(&answers[i]);
    }
    answers_end();
}
END_TEST

/* ---- a set */

static pdk_set *acquire_set(pdk_session *one, pdk_session *other) {
    pdk_lock *a = NULL, *b = NULL;
    pdk_set *set = NULL;
    ck_assert_int_eq(pdk_lock_new(one, "/t/all-a", NULL, &a), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(other, "/t/all-b", NULL, &b), PDK_OK);
    const pdk_right rights[] = {pdk_right_lock(a), pdk_right_lock(b)};
    ck_assert_int_eq(pdk_set_acquire(rights, 2, PATIENCE_MS, NULL, &set), PDK_OK);
    pdk_lock_unref(a);
    pdk_lock_unref(b);
    return set;
}

START_TEST(all_parts_are_ensured) {
    struct answer enough = {0}, lost = {0}, closed = {0};
    answers_begin(PDK_DISPATCH_THREAD);
    ts_client *other = ts_bench_client(SESSION_MS);
    pdk_set *set = acquire_set(asked.client->session, other->session);
    ck_assert_int_eq(pdk_set_ensure_async(set, WANTED_MS / 2, answers_status, &enough), PDK_OK);
    ck_assert(ts_wait_until(answers_is_there, &enough, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(enough.status, PDK_OK);
    ck_assert_int_eq(pdk_session_close(other->session, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(pdk_set_ensure_async(set, WANTED_MS / 2, answers_status, &lost), PDK_OK);
    ck_assert(ts_wait_until(answers_is_there, &lost, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(lost.status, PDK_LOST);
    answers_done(&lost);
    ck_assert_int_eq(pdk_session_close(asked.client->session, PATIENCE_MS), PDK_OK);
    refused(pdk_set_ensure_async(set, WANTED_MS / 2, answers_status, &closed), PDK_CLOSED, "pdk_set_ensure_async");
    pdk_set_release(set);
    answers_done(&enough);
    answers_end();
}
END_TEST

/* ---- bad input */

static pdk_status null_fn(const struct question *q) {
    switch (q - questions) {
    case 0:
        return pdk_lock_holder_async(asked.lock, 0, NULL, NULL);
    case 1:
        return pdk_lock_list_async(asked.lock, 0, NULL, NULL);
    case 2:
        return pdk_rwlock_list_async(asked.rwlock, 0, NULL, NULL);
    case 3:
        return pdk_semaphore_holders_async(asked.semaphore, 0, NULL, NULL);
    case 4:
        return pdk_election_leader_async(asked.election, 0, NULL, NULL);
    case 5:
        return pdk_election_list_async(asked.election, 0, NULL, NULL);
    case 6:
        return pdk_session_check_sequencer_async(asked.client->session, asked.proof, 0, NULL, NULL);
    case 7:
        return pdk_session_request_release_async(asked.client->session, asked.path, NULL, NULL, 0, 0, NULL, NULL);
    case 8:
        return pdk_job_history_async(asked.client->session, asked.job, 0, NULL, NULL);
    case 9:
        return pdk_hold_ensure_async(asked.own, 1, NULL, NULL);
    default:
        return pdk_session_break_async(asked.client->session, asked.victim, 1, 0, NULL, NULL);
    }
}

START_TEST(bad_input_is_refused_and_never_answered) {
    struct answer a = {0};
    answers_begin(PDK_DISPATCH_THREAD);
    pdk_session *s = asked.client->session;
    for (int i = 0; i < QUESTIONS; i++) {
        refused(null_fn(&questions[i]), PDK_INVALID, "fn");
        if (!questions[i].own_time)
            refused(questions[i].start(-2, &a), PDK_INVALID, "timeout_ms");
    }
    refused(pdk_session_flush_async(s, 0, NULL, NULL), PDK_INVALID, "fn");
    refused(pdk_session_flush_async(s, -2, answers_status, &a), PDK_INVALID, "timeout_ms");
    refused(pdk_session_flush_async(NULL, 0, answers_status, &a), PDK_INVALID, "session");
    refused(pdk_lock_holder_async(NULL, 0, answers_list, &a), PDK_INVALID, "lock");
    refused(pdk_lock_list_async(NULL, 0, answers_list, &a), PDK_INVALID, "lock");
    refused(pdk_rwlock_list_async(NULL, 0, answers_list, &a), PDK_INVALID, "lock");
    refused(pdk_semaphore_holders_async(NULL, 0, answers_list, &a), PDK_INVALID, "semaphore");
    refused(pdk_election_leader_async(NULL, 0, answers_list, &a), PDK_INVALID, "election");
    refused(pdk_election_list_async(NULL, 0, answers_list, &a), PDK_INVALID, "election");
    refused(pdk_session_check_sequencer_async(NULL, asked.proof, 0, answers_status, &a), PDK_INVALID, "session");
    refused(pdk_session_check_sequencer_async(s, "no sequencer", 0, answers_status, &a), PDK_INVALID, "text");
    refused(pdk_session_request_release_async(NULL, asked.path, NULL, NULL, 0, 0, answers_status, &a), PDK_INVALID,
            "session");
    refused(pdk_session_request_release_async(s, asked.path, "/", NULL, 0, 0, answers_status, &a), PDK_INVALID, "node");
    refused(pdk_session_break_async(s, asked.victim, 0, 0, answers_list, &a), PDK_INVALID, "token");
    refused(pdk_job_history_async(s, "no path", 0, answers_runs, &a), PDK_INVALID, "path");
    refused(pdk_hold_ensure_async(NULL, 0, answers_status, &a), PDK_INVALID, "hold");
    refused(pdk_hold_ensure_async(asked.own, -1, answers_status, &a), PDK_INVALID, "ms");
    refused(pdk_hold_ensure_async(asked.own, 10 * SESSION_MS, answers_status, &a), PDK_INVALID, "ms");
    ck_assert_int_eq(pdk_session_close(s, PATIENCE_MS), PDK_OK);
    for (int i = 0; i < QUESTIONS; i++)
        refused(questions[i].start(0, &a), PDK_CLOSED, "closed");
    refused(pdk_session_flush_async(s, 0, answers_status, &a), PDK_CLOSED, "closed");
    ck_assert_int_eq(atomic_load(&a.count), 0);
    answers_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("answers_end");
    TCase *tcase = ts_bench_case(suite, "answers_end");
    tcase_add_test(tcase, a_close_answers_all_of_them);
    tcase_add_test(tcase, a_close_answers_all_of_them_by_manual_dispatch);
    tcase_add_test(tcase, a_close_from_a_callback_drops_the_answers);
    tcase_add_test(tcase, an_answer_comes_after_the_last_reference_was_given_back);
    tcase_add_test(tcase, they_may_be_made_in_a_callback);
    tcase_add_test(tcase, manual_dispatch_runs_them_where_it_is_called);
    tcase_add_test(tcase, all_parts_are_ensured);
    tcase_add_test(tcase, bad_input_is_refused_and_never_answered);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
