/* The link or the server fails for less than the lease, so nothing is lost, of any recipe: what is held stays valid, and
 * the session reports what happens. */
#include <glib.h>

#include "sides.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 4000, LEASE_MS = SESSION_MS - SESSION_MS / 16 - 50 };

static void ensure_all(int64_t ms) {
    for (each_side(s))
        assert_recipe(s->p.r, ts_answer_ensure(s->held, ms) == PDK_OK);
}

/* Each cut ends in time. Requests that were sent after the reconnect renew the lease. */
START_TEST(a_short_cut_is_survived) {
    sides_hold(SESSION_MS);
    for (int i = 1; i <= 2; i++) {
        ts_sleep_ms(400);
        sides_links(0, TS_CUT);
        sides_await_events(PDK_SESSION_SUSPENDED, i);
        for (each_side(s)) {
            const int64_t left = ts_event_left_ms(s->p.client[0], PDK_SESSION_SUSPENDED);
            assert_recipe(s->p.r, left > 0 && left <= LEASE_MS);
        }
        ts_sleep_ms(500);
        sides_assert_kept();
        for (each_side(s))
            ck_assert_int_eq(ts_events(s->p.client[0], PDK_SESSION_RESTORED), i - 1);
        sides_links(0, TS_PASS);
        sides_await_events(PDK_SESSION_RESTORED, i);
        for (each_side(s))
            ck_assert_int_gt(ts_event_left_ms(s->p.client[0], PDK_SESSION_RESTORED), 0);
        ensure_all(LEASE_MS / 2);
        sides_assert_kept();
    }
    ts_sleep_ms(SESSION_MS);
    sides_assert_kept();
    for (each_side(s))
        ck_assert_int_eq(ts_events(s->p.client[0], PDK_SESSION_SUSPENDED), 2);
    sides_release();
}
END_TEST

/* The lease is long enough for a machine that is busy between a renewal and the next silence. */
START_TEST(a_short_silence_is_survived) {
    const ts_proxy_mode modes[] = {TS_BLACKHOLE, TS_BLACKHOLE_UP, TS_BLACKHOLE_DOWN};

    sides_hold(3 * SESSION_MS / 2);
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        sides_links(0, modes[i]);
        ts_sleep_ms(1200);
        sides_assert_kept();
        sides_links(0, TS_PASS);
        ensure_all(2 * LEASE_MS / 3);
        sides_assert_kept();
    }
    sides_release();
}
END_TEST

/* RESTORED promises that there is a lease again when it is told. */
START_TEST(restored_comes_with_a_lease) {
    sides_hold(SESSION_MS);
    sides_links(0, TS_CUT);
    for (each_side(s))
        assert_recipe(s->p.r, ts_lost_wait(s->lost, SESSION_MS + ts_patience(500)));
    sides_links(0, TS_PASS);
    sides_await_events(PDK_SESSION_SUSPENDED, 1);
    for (each_side(s)) {
        const ts_client *client = s->p.client[0];
        if (ts_wait_event(client, PDK_SESSION_RESTORED, 1, ts_patience(2000)))
            ck_assert_int_gt(ts_event_left_ms(client, PDK_SESSION_RESTORED), 0);
        else /* the server was faster */
            ck_assert(ts_wait_event(client, PDK_SESSION_REOPENED, 1, ts_patience(2000)));
        assert_recipe(s->p.r, !ts_answer_is_valid(s->held)); /* it does not become valid again */
        assert_recipe(s->p.r, s->held && recipe_release(s->p.r, s->p.object[0], s->held) == PDK_LOST);
        assert_recipe(s->p.r, ts_lost_count(s->lost) == 1);
        recipe_await_nodes(s->p.r, s->p.path, s->p.r->left);
    }
}
END_TEST

/* This is the last test of the program, because other sessions are affected. */
START_TEST(a_server_that_restarts_quickly) {
    sides_hold(10000);
    sides_follow();
    ts_ensemble_kill(ts_bench_ensemble(), 0);
    sides_await_events(PDK_SESSION_SUSPENDED, 1);
    sides_assert_kept();
    ck_assert(ts_ensemble_restart(ts_bench_ensemble(), 0));
    ck_assert(ts_ensemble_wait_ready(ts_bench_ensemble(), ts_patience(10000)));
    for (each_side(s))
        assert_recipe(s->p.r, ts_wait_event(s->p.client[0], PDK_SESSION_RESTORED, 1, ts_patience(5000)));
    ts_sleep_ms(500);
    sides_assert_kept();
    for (each_side(s))
        assert_recipe(s->p.r, ts_answer_count(s->waiter) == 0);
    sides_release();
    for (each_side(s)) {
        recipe_await(s->p.r->against, s->waiter, PDK_OK);
        pair_admit(&s->p, 1, s->waiter);
        pair_release(&s->p, 0, recipe_take(s->p.r, s->p.object[0]));
        recipe_await_nodes(s->p.r, s->p.path, 0);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("link");
    TCase *tcase = ts_bench_case(suite, "link");

    tcase_add_test(tcase, a_short_cut_is_survived);
    tcase_add_test(tcase, a_short_silence_is_survived);
    tcase_add_test(tcase, restored_comes_with_a_lease);
    tcase_add_test(tcase, a_server_that_restarts_quickly);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
