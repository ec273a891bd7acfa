/* Every way to lose what is held, for each recipe: one LOST callback, the descriptor readable, in time, with its reason; and nobody is
 * granted before. A link or a server that fails for less than the lease loses nothing. The recipes do it side by side, since they wait for
 * leases. */
#include <glib.h>
#include <stdio.h>

#include "sides.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, LEASE_MS = SESSION_MS - SESSION_MS / 16 - 50, PATIENCE_MS = 5000 };

static const char *server(void) { return ts_bench_server(); }

/* ---- expired */

START_TEST(expired_by_the_server) {
    int64_t ids[RECIPES];
    sides_hold(SESSION_MS);
    for (each_side(s)) {
        ids[s - sides] = pdk_session_id(s->p.client[0]->session);
        ck_assert_int_eq(ts_expire(s->p.client[0]->proxy, server()), 0);
    }
    sides_assert_lost(PDK_REASON_EXPIRED, ts_patience(1500));
    for (each_side(s)) {
        const ts_client *client = s->p.client[0];
        assert_recipe(s->p.r, ts_wait_event(client, PDK_SESSION_REOPENED, 1, ts_patience(3000)));
        assert_recipe(s->p.r, ts_events(client, PDK_SESSION_EXPIRED) == 1);
        assert_recipe(s->p.r, pdk_session_id(client->session) != ids[s - sides]);
        ts_answer *next = recipe_take(s->p.r, s->p.object[0]);
        assert_recipe(s->p.r, ts_answer_token(next) > s->token);
        pair_release(&s->p, 0, next);
        recipe_await_nodes(s->p.r, s->p.path, 0);
    }
}
END_TEST

/* Claims survive the expiry. Those in the queue queue again, each with its old deadline. */
START_TEST(claims_survive_an_expiry_with_their_deadlines) {
    enum { HASTY_MS = 1500 };
    static struct pair pairs[RECIPES];
    ts_answer *obstacles[RECIPES], *patient[RECIPES], *hasty[RECIPES];
    int64_t began[RECIPES];
    pairs_begin(pairs, SESSION_MS);
    for (int i = 0; i < RECIPES; i++)
        obstacles[i] = pair_obstruct(&pairs[i], 0);
    for (int i = 0; i < RECIPES; i++) {
        const struct pair *p = &pairs[i];
        patient[i] = pair_waits(p, 1, recipe_nodes(p->path));
        began[i] = ts_now_ms();
        hasty[i] = recipe_thread(p->r, recipe_at(p->r, p->client[1], p->path), HASTY_MS);
        ck_assert_int_eq(ts_expire(p->client[1]->proxy, server()), 0);
    }
    for (int i = 0; i < RECIPES; i++) {
        assert_recipe(pairs[i].r, ts_wait_event(pairs[i].client[1], PDK_SESSION_REOPENED, 1, ts_patience(3000)));
        pair_expect(&pairs[i], hasty[i], PDK_TIMEOUT);
        const int64_t took = ts_answer_at_ns(hasty[i]) / 1000000 - began[i];
        ck_assert_int_ge(took, HASTY_MS);
        ck_assert_int_le(took, HASTY_MS + ts_patience(SIDES_SCHEDULING_MS));
        assert_recipe(pairs[i].r, ts_answer_count(patient[i]) == 0 && ts_answer_is_valid(obstacles[i]));
        pair_admit(&pairs[i], 0, obstacles[i]);
        pair_expect(&pairs[i], patient[i], PDK_OK);
        pair_release(&pairs[i], 1, patient[i]);
        recipe_await_nodes(pairs[i].r, pairs[i].path, 0);
    }
}
END_TEST

/* ---- cut off */

/* True: some of them is held. */
static bool look_at_all(ts_observer *o) {
    bool some = false;
    for (each_side(s)) {
        const int64_t now = ts_now_ns();
        const bool was = s->last_valid > 0;
        if (ts_answer_is_valid(s->held)) {
            s->last_valid = now;
            some = true;
        } else if (was && ts_now_ns() - s->last_valid < 50 * 1000000) { /* the server has its node still */
            ck_assert_int_eq(ts_observer_get(o, pdk_hold_node(ts_answer_part(s->held)), NULL, NULL, NULL), 0);
        }
    }
    return some;
}

/* The link falls silent. What is held is lost by our own clock, while the server still keeps our nodes, and before another client is
 * granted. */
START_TEST(cut_off_beyond_the_lease) {
    int64_t left[RECIPES];
    sides_hold(SESSION_MS);
    sides_follow();
    ts_observer *o = ts_observer_open(server());
    ck_assert_ptr_nonnull(o);
    ts_sleep_ms(_i * 170);
    for (each_side(s)) {
        ts_proxy_set_mode(s->p.client[0]->proxy, TS_BLACKHOLE);
        s->cut = ts_now_ns();
        left[s - sides] = ts_answer_remaining_ms(s->held);
    }
    while (look_at_all(o))
        ts_sleep_ms(2);
    ts_observer_close(o);
    sides_assert_lost(PDK_REASON_LEASE, ts_patience(SIDES_SCHEDULING_MS));
    for (each_side(s)) {
        const int64_t lost_at = ts_lost_at_ns(s->lost);
        assert_recipe(s->p.r, s->last_valid - s->cut >= (left[s - sides] - SIDES_SCHEDULING_MS) * 1000000);
        assert_recipe(s->p.r, lost_at - s->cut <= (LEASE_MS + ts_patience(SIDES_SCHEDULING_MS)) * 1000000);
        recipe_await(s->p.r->against, s->waiter, PDK_OK);
        assert_recipe(s->p.r, ts_answer_at_ns(s->waiter) > s->last_valid);
        assert_recipe(s->p.r, s->p.r->against != s->p.r || ts_answer_token(s->waiter) > s->token);
        fprintf(stderr, "    %s: lost %d ms after the cut; granted elsewhere %d ms later\n", s->p.r->name,
                (int)((lost_at - s->cut) / 1000000), (int)((ts_answer_at_ns(s->waiter) - lost_at) / 1000000));
    }
    sides_assert_followed();
}
END_TEST

/* Requests arrive and replies do not. The session lives on, the hold does not. Its nodes do not stay in the way. */
START_TEST(unanswered_beyond_the_lease) {
    const ts_proxy_mode modes[] = {TS_BLACKHOLE_DOWN, TS_DROP_REPLIES};
    sides_hold(SESSION_MS);
    sides_follow();
    sides_links(0, modes[_i]);
    sides_assert_lost(PDK_REASON_LEASE, LEASE_MS + ts_patience(SIDES_SCHEDULING_MS));
    sides_links(0, TS_PASS);
    sides_assert_followed();
    for (each_side(s)) /* the session can be used again */
        pair_release(&s->p, 0, recipe_take(s->p.r, s->p.object[0]));
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

/* ---- closed */

START_TEST(the_session_is_closed) {
    sides_hold(SESSION_MS);
    for (each_side(s)) {
        assert_recipe(s->p.r, pdk_session_close(s->p.client[0]->session, ts_patience(PATIENCE_MS)) == PDK_OK);
        assert_recipe(s->p.r, recipe_nodes(s->p.path) == s->p.r->left);
    }
    sides_assert_lost(PDK_REASON_CLOSED, 0);
    for (each_side(s)) {
        pair_expect(&s->p, recipe_now(s->p.r, s->p.object[0], 1000), PDK_CLOSED);
        ck_assert_int_eq(ts_events(s->p.client[0], PDK_SESSION_CLOSED), 1);
    }
}
END_TEST

/* ---- kept */

/* Each failure ends in time. Requests that were sent after it renew the lease, which is long enough for a machine that is busy between a
 * renewal and the next failure. */
START_TEST(a_short_failure_is_survived) {
    enum { SILENCE_MS = 1200 };
    const ts_proxy_mode modes[] = {TS_CUT, TS_BLACKHOLE, TS_BLACKHOLE_UP, TS_BLACKHOLE_DOWN};
    sides_hold(2 * SESSION_MS);
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        sides_links(0, modes[i]);
        if (i == 0)
            sides_await_events(PDK_SESSION_SUSPENDED, 1);
        for (each_side(s))
            assert_recipe(s->p.r, i > 0 || ts_event_left_ms(s->p.client[0], PDK_SESSION_SUSPENDED) > 0);
        ts_sleep_ms(SILENCE_MS);
        sides_assert_kept();
        sides_links(0, TS_PASS);
        if (i == 0)
            sides_await_events(PDK_SESSION_RESTORED, 1);
        for (each_side(s))
            ck_assert_str_eq(pdk_status_name(ts_answer_ensure(s->held, 2 * SILENCE_MS)), "PDK_OK");
        sides_assert_kept();
    }
    ts_sleep_ms(2 * SESSION_MS);
    sides_assert_kept();
    sides_release();
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
    Suite *suite = suite_create("loss");
    TCase *tcase = ts_bench_case(suite, "loss");

    tcase_add_test(tcase, expired_by_the_server);
    tcase_add_test(tcase, claims_survive_an_expiry_with_their_deadlines);
    tcase_add_loop_test(tcase, cut_off_beyond_the_lease, 0, 3);
    tcase_add_loop_test(tcase, unanswered_beyond_the_lease, 0, 2);
    tcase_add_test(tcase, restored_comes_with_a_lease);
    tcase_add_test(tcase, the_session_is_closed);
    tcase_add_test(tcase, a_short_failure_is_survived);
    tcase_add_test(tcase, a_server_that_restarts_quickly);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
