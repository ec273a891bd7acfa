/* What is a lock's own: tokens, sequencers, contenders, and hand-overs between threads, whose bounds are those of unit/test_handovers.c.
 * What it shares with other recipes is in test_recipes.c and beside it. */
#include <glib.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SCHEDULING_MS = 250 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

/* ---- tokens and sequencers ---- */

START_TEST(the_token_is_the_czxid_of_the_node) {
    const char *path = ts_fresh_path();
    int64_t last = 0;

    for (int i = 0; i < 6; i++) {
        pdk_hold *hold = ts_bench_acquire(ts_lock(i % 2 ? a : b, path), 5000);
        g_autofree char *node = ts_hold_node(hold);
        g_autofree char *text = g_strdup_printf("%020" G_GINT64_FORMAT, pdk_hold_token(hold));
        ts_stat stat;

        ck_assert_int_eq(ts_exists(server(), node, &stat), 0);
        ck_assert_int_eq(pdk_hold_token(hold), stat.czxid);
        ck_assert_int_eq(pdk_session_id(i % 2 ? a->session : b->session), stat.ephemeral_owner);
        ck_assert_int_gt(pdk_hold_token(hold), last);
        ck_assert_str_eq(pdk_hold_token_text(hold), text);
        last = pdk_hold_token(hold);
        pdk_hold_release(hold);
        if (i == 2) { /* the sequence begins anew, the token goes on */
            pdk_session_flush(b->session, 5000);
            ck_assert_int_eq(ts_delete(server(), path), 0);
        }
    }
}
END_TEST

START_TEST(a_sequencer_can_be_checked_from_anywhere) {
    const char *path = ts_fresh_path();
    pdk_hold *hold = ts_bench_acquire(ts_lock(a, path), 5000);
    g_autofree char *node = ts_hold_node(hold);
    g_autofree char *text = g_strdup(pdk_hold_sequencer(hold));
    g_autofree char *expected = g_strdup_printf("pdk1 %s exclusive %" G_GINT64_FORMAT " 0", node, pdk_hold_token(hold));
    g_autofree char *stale =
        g_strdup_printf("pdk1 %s exclusive %" G_GINT64_FORMAT " 0", node, pdk_hold_token(hold) - 1);

    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(pdk_session_check_sequencer(a->session, text, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, text, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, stale, 5000), PDK_LOST);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, "pdk1 /x exclusive", 5000), PDK_INVALID);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, NULL, 5000), PDK_INVALID);
    ts_proxy_set_mode(b->proxy, TS_BLACKHOLE);
    const int64_t before = ts_now_ms();
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, text, 200), PDK_UNAVAILABLE);
    ck_assert_int_le(ts_now_ms() - before, 200 + ts_patience(SCHEDULING_MS));
    ts_proxy_heal(b->proxy);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, text, 5000), PDK_LOST);
    ck_assert_int_eq(pdk_session_check_sequencer(a->session, text, 5000), PDK_LOST);
}
END_TEST

/* ---- the queue, seen from outside ---- */

START_TEST(contenders_and_holder) {
    const char *path = ts_fresh_path();
    pdk_lock *lock = ts_lock(a, path);
    pdk_contenders *list = NULL;

    ck_assert_int_eq(pdk_lock_holder(lock, 5000, &list), PDK_OK); /* not even the directory exists */
    ck_assert_uint_eq(pdk_contenders_count(list), 0);
    pdk_contenders_free(list);
    pdk_hold *hold = ts_bench_acquire(lock, 5000);
    ts_acquire_async(ts_lock(b, path), 20000);
    ck_assert(ts_wait_children(server(), path, 2, 5000));
    ck_assert_int_eq(pdk_lock_list(ts_lock(b, path), 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 2);
    ck_assert_int_eq(pdk_contenders_token(list, 0), pdk_hold_token(hold));
    ck_assert_int_gt(pdk_contenders_token(list, 1), pdk_hold_token(hold));
    ck_assert_int_eq(pdk_contenders_session(list, 0), pdk_session_id(a->session));
    ck_assert_int_eq(pdk_contenders_session(list, 1), pdk_session_id(b->session));
    ck_assert_str_eq(pdk_contenders_identity(list, 0), pdk_session_identity(a->session));
    ck_assert_int_gt(pdk_contenders_since_ms(list, 0), INT64_C(1600000000000));
    ck_assert_ptr_null(pdk_contenders_identity(list, 2));
    ck_assert_int_eq(pdk_contenders_token(list, 2), 0);
    pdk_contenders_free(list);
    ck_assert_int_eq(pdk_lock_holder(lock, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    ck_assert_int_eq(pdk_contenders_token(list, 0), pdk_hold_token(hold));
    pdk_contenders_free(list);
    pdk_hold_release(hold);
}
END_TEST

/* ---- hand-over ---- */

START_TEST(a_release_hands_over_without_touching_the_server) {
    const char *path = ts_fresh_path();
    pdk_lock *lock = ts_lock_of_long_handovers(a, path);
    pdk_hold *hold = ts_bench_acquire(lock, 5000);
    const int64_t token = pdk_hold_token(hold);
    ts_answer *waiters[3];

    for (int i = 0; i < 3; i++) {
        int32_t ahead = -1;

        waiters[i] = ts_acquire_async(lock, 10000);
        ck_assert_int_eq(pdk_claim_position(ts_answer_claim(waiters[i]), &ahead), PDK_OK);
        ck_assert_int_eq(ahead, i + 1);
    }
    ck_assert_int_eq(ts_child_count(server(), path), 1);
    ts_proxy_zero(a->proxy);
    ck_assert_uint_eq(pdk_hold_handover(hold), 0);
    ck_assert_ptr_eq(pdk_hold_ref(hold), hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(ts_answer_wait(waiters[0], ts_patience(1000)));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_NOT_HELD); /* it hands over once */
    ck_assert(!ts_answer_wait(waiters[1], 100));
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert(ts_answer_wait(waiters[i], ts_patience(1000)));
        ck_assert_int_eq(ts_answer_status(waiters[i]), PDK_OK);
        ck_assert_int_eq(pdk_hold_token(ts_answer_hold(waiters[i])), token);
        ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(waiters[i])), i + 1);
        ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_CREATE2), 0);
        ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_DELETE), 0);
        ck_assert_int_eq(ts_answer_release(waiters[i]), PDK_OK);
    }
    ck_assert(ts_wait_children(server(), path, 0, 2000));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("lock");
    TCase *tcase = ts_bench_case(suite, "lock");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, the_token_is_the_czxid_of_the_node);
    tcase_add_test(tcase, a_sequencer_can_be_checked_from_anywhere);
    tcase_add_test(tcase, contenders_and_holder);
    tcase_add_test(tcase, a_release_hands_over_without_touching_the_server);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
