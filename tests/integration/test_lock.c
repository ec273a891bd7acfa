/* What is a lock's own: tokens, sequencers, contenders, hand-overs between threads and their bounds; and ensure. What it shares with other
 * recipes is in test_recipes.c and beside it. */
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

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

START_TEST(the_token_survives_the_loss) {
    pdk_hold *hold = ts_bench_acquire(ts_lock(a, ts_fresh_path()), 5000);
    const int64_t token = pdk_hold_token(hold);
    g_autofree char *node = ts_hold_node(hold);
    g_autofree char *sequencer = g_strdup(pdk_hold_sequencer(hold));

    ck_assert_int_eq(ts_delete(server(), node), 0);
    ck_assert(ts_fd_readable(pdk_hold_fd(hold), ts_patience(2000)));
    ck_assert_int_eq(pdk_hold_token(hold), token);
    ck_assert_str_eq(pdk_hold_sequencer(hold), sequencer);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
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

START_TEST(contenders_in_a_cut_are_unavailable_in_time) {
    pdk_lock *lock = ts_lock(a, ts_fresh_path());
    pdk_contenders *list = NULL;

    ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
    const int64_t before = ts_now_ms();
    ck_assert_int_eq(pdk_lock_list(lock, 200, &list), PDK_UNAVAILABLE);
    ck_assert_int_le(ts_now_ms() - before, 200 + ts_patience(SCHEDULING_MS));
    ck_assert_ptr_null(list);
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
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
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

START_TEST(a_hold_released_twice_hands_over_once) {
    pdk_lock *lock = ts_lock(a, ts_fresh_path());
    pdk_hold *hold = ts_bench_acquire(lock, 5000);
    ts_answer *one = ts_acquire_async(lock, 10000), *two = ts_acquire_async(lock, 10000);

    ck_assert_ptr_eq(pdk_hold_ref(hold), hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(!pdk_hold_is_valid(hold));
    ck_assert(ts_answer_wait(one, ts_patience(1000)));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_NOT_HELD);
    ck_assert(!ts_answer_wait(two, 200));
    ck_assert(pdk_hold_is_valid(ts_answer_hold(one)));
    ck_assert_int_eq(ts_answer_release(one), PDK_OK);
    ck_assert(ts_answer_wait(two, ts_patience(1000)));
}
END_TEST

typedef struct {
    pdk_lock *lock;
    atomic_bool stop;
    atomic_int grants, failures, inside, overlaps;
} hammer;

static void *acquire_again_and_again(void *user) {
    hammer *h = user;

    while (!atomic_load(&h->stop)) {
        pdk_hold *hold = NULL;

        if (pdk_lock_acquire(h->lock, 20000, &hold) != PDK_OK) {
            atomic_fetch_add(&h->failures, 1);
            break;
        }
        if (atomic_fetch_add(&h->inside, 1) != 0) {
            atomic_fetch_add(&h->overlaps, 1);
        }
        atomic_fetch_add(&h->grants, 1);
        ts_sleep_ms(2);
        atomic_fetch_sub(&h->inside, 1);
        if (pdk_hold_release(hold) != PDK_OK) {
            atomic_fetch_add(&h->failures, 1);
        }
    }
    return NULL;
}

/* How many grants of four threads a waiter of another session has to let pass after it is in the queue. */
static int grants_before_the_other(const pdk_lock_options *options) {
    const char *path = ts_fresh_path();
    hammer h = {.lock = ts_lock_with(a, path, options)};
    pthread_t threads[4];
    int before = 0, most = 0;

    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, acquire_again_and_again, &h);
    }
    pdk_lock *lock = ts_lock(b, path);
    for (int i = 0; i < 10; i++) {
        int32_t ahead;

        ts_sleep_ms(7);
        ts_answer *other = ts_acquire_async(lock, 20000);
        while (pdk_claim_position(ts_answer_claim(other), &ahead) == PDK_UNAVAILABLE) {
            sched_yield();
        }
        before = atomic_load(&h.grants);
        if (!ts_answer_wait(other, ts_patience(20000)) || ts_answer_status(other) != PDK_OK) {
            atomic_fetch_add(&h.failures, 1);
            break;
        }
        most = MAX(most, atomic_load(&h.grants) - before);
        if (atomic_load(&h.inside) != 0) {
            atomic_fetch_add(&h.overlaps, 1);
        }
        ts_answer_release(other);
    }
    atomic_store(&h.stop, true);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(atomic_load(&h.failures), 0);
    ck_assert_int_eq(atomic_load(&h.overlaps), 0);
    ck_assert(ts_wait_children(server(), path, 0, 2000));
    return most;
}

START_TEST(other_sessions_are_served_after_a_bounded_number) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;

    options.max_handovers = 4;
    options.max_handover_ms = 60000;
    /* The granted claim, and four hand-overs. One more may pass between the waiter's queueing and our look at the
     * counter. */
    ck_assert_int_le(grants_before_the_other(&options), 4 + 1);
}
END_TEST

START_TEST(other_sessions_are_served_after_a_bounded_time) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;

    options.max_handovers = INT32_MAX;
    options.max_handover_ms = 30; /* each takes at least 2 ms */
    ck_assert_int_le(grants_before_the_other(&options), 30 / 2 + 2);
}
END_TEST

START_TEST(without_hand_overs_each_grant_is_a_new_node) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    const char *path = ts_fresh_path();

    options.max_handovers = 0;
    pdk_lock *lock = ts_lock_with(a, path, &options);
    pdk_hold *hold = ts_bench_acquire(lock, 5000);
    ts_answer *one = ts_acquire_async(lock, 10000), *two = ts_acquire_async(lock, 10000);
    const int64_t token = pdk_hold_token(hold);

    pdk_hold_release(hold);
    ck_assert(ts_answer_wait(one, ts_patience(2000)));
    ck_assert_int_gt(pdk_hold_token(ts_answer_hold(one)), token);
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(one)), 0);
    const int64_t next = pdk_hold_token(ts_answer_hold(one));
    ck_assert_int_eq(ts_answer_release(one), PDK_OK);
    ck_assert(ts_answer_wait(two, ts_patience(2000)));
    ck_assert_int_gt(pdk_hold_token(ts_answer_hold(two)), next);
    ck_assert_int_eq(ts_answer_release(two), PDK_OK);
    ck_assert(ts_wait_children(server(), path, 0, 2000));
}
END_TEST

/* ---- renewals ---- */

START_TEST(ensure_waits_for_a_renewal) {
    pdk_hold *hold = ts_bench_acquire(ts_lock(a, ts_fresh_path()), 5000);
    const int64_t delay = (SESSION_MS / 4 + 50 + 50) * 17 / 16,
                  gaps = SESSION_MS / 8; /* of the formula in core/lease.h */
    const int64_t longest = SESSION_MS - SESSION_MS / 16 - 50 - delay - gaps;

    for (int64_t wanted = 0; wanted < longest; wanted += 500) {
        ck_assert_int_eq(pdk_hold_ensure(hold, wanted), PDK_OK);
        ck_assert_int_ge(pdk_hold_remaining_ms(hold), wanted - ts_patience(100));
    }
    ck_assert_int_eq(pdk_hold_ensure(hold, SESSION_MS), PDK_INVALID);
    ck_assert_int_eq(pdk_hold_ensure(hold, -1), PDK_INVALID);
    pdk_hold_ref(hold);
    pdk_hold_release(hold);
    ck_assert_int_eq(pdk_hold_ensure(hold, 0), PDK_NOT_HELD);
    pdk_hold_unref(hold);
}
END_TEST

/* The lease is long, and gets no longer: the caller hears of that before it ends. */
START_TEST(ensure_gives_up_in_time) {
    enum { REQUEST_MS = 300 };
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = REQUEST_MS;
    ts_client *client = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(client);
    pdk_hold *hold = ts_bench_acquire(ts_lock(client, ts_fresh_path()), 5000);
    ts_proxy_set_mode(client->proxy, TS_BLACKHOLE);
    const int64_t left = pdk_hold_remaining_ms(hold) / 2, began = ts_now_ms();
    while (pdk_hold_remaining_ms(hold) >= left)
        ts_sleep_ms(100);
    ck_assert_int_eq(pdk_hold_ensure(hold, left), PDK_UNAVAILABLE);
    ck_assert_int_ge(ts_now_ms() - began, REQUEST_MS);
    ck_assert(pdk_hold_is_valid(hold));
    ts_proxy_heal(client->proxy);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("lock");
    TCase *tcase = ts_bench_case(suite, "lock");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, the_token_is_the_czxid_of_the_node);
    tcase_add_test(tcase, the_token_survives_the_loss);
    tcase_add_test(tcase, a_sequencer_can_be_checked_from_anywhere);
    tcase_add_test(tcase, contenders_and_holder);
    tcase_add_test(tcase, contenders_in_a_cut_are_unavailable_in_time);
    tcase_add_test(tcase, a_release_hands_over_without_touching_the_server);
    tcase_add_test(tcase, a_hold_released_twice_hands_over_once);
    tcase_add_test(tcase, other_sessions_are_served_after_a_bounded_number);
    tcase_add_test(tcase, other_sessions_are_served_after_a_bounded_time);
    tcase_add_test(tcase, without_hand_overs_each_grant_is_a_new_node);
    tcase_add_test(tcase, ensure_waits_for_a_renewal);
    tcase_add_test(tcase, ensure_gives_up_in_time);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
