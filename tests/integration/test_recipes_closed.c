/* A session is closed over all that a recipe may have pending: in time, each claim is answered, and nothing is left. What was made before
 * stays in the hands of its owners. Which status each call answers from then on, tests/input plays. */
#include <glib.h>
#include <string.h>

#include "sides.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, CLOSE_MS = 1000, SCHEDULING_MS = 250, PATIENCE_MS = 5000 };

/* One close, on a thread of its own: a link that fails makes it wait. */
struct close {
    pdk_session *session;
    int64_t within_ms, took;
    pdk_status status;
};

static gpointer close_main(gpointer user) {
    struct close *close = user;
    const int64_t before = ts_now_ms();
    close->status = pdk_session_close(close->session, close->within_ms);
    close->took = ts_now_ms() - before;
    return NULL;
}

static void close_all(struct close closes[RECIPES], int64_t within_ms) {
    GThread *threads[RECIPES];
    for (each_side(s)) {
        closes[s - sides] = (struct close){.session = s->p.client[0]->session, .within_ms = within_ms};
        threads[s - sides] = g_thread_new("close", close_main, &closes[s - sides]);
    }
    for (int i = 0; i < RECIPES; i++)
        g_thread_join(threads[i]);
}

/* Held; in the queue behind that, with a callback and blocking; just released; and just claimed when the link fails. */
START_TEST(over_all_that_can_be_pending) {
    const ts_proxy_mode modes[] = {TS_PASS, TS_CUT, TS_BLACKHOLE};
    struct close closes[RECIPES];
    ts_answer *queued[RECIPES], *created[RECIPES];
    void *fresh[RECIPES];

    sides_hold(SESSION_MS);
    for (each_side(s)) {
        const struct pair *p = &s->p;
        s->waiter = pair_against(p, 0);
        queued[s - sides] = recipe_thread(p->r->against, p->against[0], PDK_FOREVER);
        void *released = recipe_at(p->r, p->client[0], ts_fresh_path());
        assert_recipe(p->r, recipe_release(p->r, released, recipe_take(p->r, released)) == PDK_OK);
        fresh[s - sides] = recipe_at(p->r, p->client[0], ts_fresh_path());
    }
    sides_links(0, modes[_i]);
    for (each_side(s))
        created[s - sides] = recipe_thread(s->p.r, fresh[s - sides], PDK_FOREVER);
    close_all(closes, _i > 0 ? CLOSE_MS : ts_patience(PATIENCE_MS));
    for (each_side(s)) {
        const struct close *close = &closes[s - sides];
        const pdk_status claimed =
            (ts_answer_wait(created[s - sides], ts_patience(500)), ts_answer_status(created[s - sides]));
        assert_recipe(s->p.r, close->took <= close->within_ms + ts_patience(SCHEDULING_MS));
        assert_recipe(s->p.r, close->status == PDK_OK || (_i > 0 && close->status == PDK_TIMEOUT));
        recipe_await(s->p.r, s->waiter, PDK_CLOSED);
        recipe_await(s->p.r, queued[s - sides], PDK_CLOSED);
        assert_recipe(s->p.r, claimed == PDK_CLOSED || (_i == 0 && claimed == PDK_OK));
        assert_recipe(s->p.r, !ts_answer_is_valid(s->held));
        assert_recipe(s->p.r, recipe_release(s->p.r, s->p.object[0], s->held) == PDK_LOST);
        if (_i > 0) /* the session's end removes the rest */
            ts_proxy_heal_discard(s->p.client[0]->proxy);
        else
            assert_recipe(s->p.r, recipe_nodes(s->p.path) == s->p.r->left);
    }
    for (each_side(s))
        recipe_await_nodes(s->p.r, s->p.path, s->p.r->left);
}
END_TEST

/* After the close: granted before, or not at all. */
static void assert_ended(const recipe *r, ts_answer *answer, int64_t within_ms) {
    assert_recipe(r, ts_answer_wait(answer, within_ms));
    assert_recipe(r, ts_answer_status(answer) == PDK_CLOSED || ts_answer_status(answer) == PDK_OK);
    assert_recipe(r, !ts_answer_holds(answer) || !ts_answer_is_valid(answer));
}

/* Each of many sessions is closed at another moment of its acquisition. */
START_TEST(at_any_moment_of_an_acquisition) {
    enum { MOMENTS = 25, DELAY_US = 2000 };
    const recipe *r = recipe_of(_i);
    const char *path = ts_fresh_path();

    for (int i = 0; i < MOMENTS; i++) {
        ts_client *client = ts_bench_client(SESSION_MS);
        ts_proxy_set_delay(client->proxy, DELAY_US, DELAY_US);
        ts_answer *async = recipe_async(r, recipe_at(r, client, path), PDK_FOREVER);
        ts_answer *blocked = recipe_thread(r, recipe_at(r, client, path), PDK_FOREVER);

        ts_sleep_ms(i);
        ck_assert_int_eq(pdk_session_close(client->session, PATIENCE_MS), PDK_OK);
        assert_ended(r, async, recipe_is_async(r) ? 0 : ts_patience(500)); /* no callback after close has returned */
        assert_ended(r, blocked, ts_patience(500));
        assert_recipe(r, r->left > 0 || recipe_nodes(path) == 0); /* of a hold that the close has ended */
    }
}
END_TEST

/* ---- what was made before */

static void lost_after_close(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    g_error("a callback after pdk_session_close has returned");
}

static void count_up(void *number) { ++*(int *)number; }

static void expect_lost(pdk_hold *hold, int64_t token, const char *sequencer) {
    int freed = 0;
    ck_assert(!pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_remaining_ms(hold), 0);
    ck_assert_int_eq(pdk_hold_reason(hold), PDK_REASON_CLOSED);
    ck_assert_int_eq(pdk_hold_token(hold), token);
    ck_assert_int_eq(g_ascii_strtoll(pdk_hold_token_text(hold), NULL, 10), token);
    ck_assert_str_eq(pdk_hold_sequencer(hold), sequencer);
    ck_assert(ts_fd_readable(pdk_hold_fd(hold), 0));
    pdk_hold_detach_thread(hold);
    ck_assert_int_eq(pdk_hold_on_lost(hold, lost_after_close, &freed, count_up), PDK_OK);
    pdk_hold *kept = pdk_hold_ref(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    ck_assert_int_eq(pdk_hold_release(kept), PDK_NOT_HELD);
    ck_assert_int_eq(freed, 1);
}

/* _i: how it is dispatched. */
START_TEST(owners_keep_what_they_have) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.dispatch = _i ? PDK_DISPATCH_MANUAL : PDK_DISPATCH_THREAD;
    const ts_client *client = ts_client_open_with(ts_bench_server(), NULL, &options);
    pdk_hold *hold = ts_bench_acquire(ts_lock(client, ts_fresh_path()), PATIENCE_MS);
    const int64_t token = pdk_hold_token(hold);
    g_autofree char *sequencer = g_strdup(pdk_hold_sequencer(hold));
    pdk_session *s = client->session;
    int count = 77;

    ck_assert_int_eq(pdk_session_close(s, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(pdk_session_close(s, 0), PDK_OK);
    ck_assert_int_eq(pdk_session_id(s), 0);
    ck_assert_ptr_nonnull(strchr(pdk_session_identity(s), ':'));
    for (int i = 0; i < 2 && _i; i++) { /* a loop hears of the close, and runs nothing more */
        ck_assert(ts_fd_readable(pdk_session_fd(s), 0));
        ck_assert_int_eq(pdk_session_dispatch(s, &count), PDK_CLOSED);
        ck_assert_int_eq(count, 77);
    }
    expect_lost(hold, token, sequencer);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("recipes_closed");
    TCase *tcase = ts_bench_case(suite, "all");
    tcase_add_loop_test(tcase, over_all_that_can_be_pending, 0, 3);
    tcase_add_loop_test(tcase, owners_keep_what_they_have, 0, 2);
    recipes_each(suite, at_any_moment_of_an_acquisition, 1);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
