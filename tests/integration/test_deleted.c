/* An administrator deletes a node of what is held, for each recipe: all of it is lost, and nothing of it stays in the way. */
#include <glib.h>

#include "sides.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000 };

static const char *server(void) { return ts_bench_server(); }

enum deletion { AT_ONCE, LATER, AFTER_A_WRITE, RIGHT_AFTER_A_WRITE, AFTER_A_RECONNECT, WHILE_DISCONNECTED, DELETIONS };

static void before_the_deletion(enum deletion when, char *nodes[RECIPES]) {
    for (each_side(s)) {
        const ts_client *client = s->p.client[0];
        if (when == AFTER_A_WRITE || when == RIGHT_AFTER_A_WRITE)
            ck_assert_int_eq(ts_set(server(), nodes[s - sides], "__REVOKE__"), 0);
        else if (when == AFTER_A_RECONNECT)
            ts_proxy_reset(client->proxy);
        else if (when == WHILE_DISCONNECTED)
            ts_proxy_set_mode(client->proxy, TS_CUT);
    }
    for (struct side *s = sides; when == AFTER_A_RECONNECT && s < sides + RECIPES; s++)
        assert_recipe(s->p.r, ts_wait_event(s->p.client[0], PDK_SESSION_RESTORED, 1, ts_patience(3000)));
    ts_sleep_ms(when == AFTER_A_WRITE ? 150 : 0);
}

/* One of its nodes, the first or the last one: all of it is lost, and what is left of it is given back. */
START_TEST(deleted_by_somebody) {
    const enum deletion when = (enum deletion)(_i % DELETIONS);
    char *nodes[RECIPES];
    sides_hold(SESSION_MS);
    if (when != AT_ONCE)
        sides_follow();
    ts_sleep_ms(when == AT_ONCE ? 0 : 150);
    for (each_side(s)) {
        g_autoptr(GPtrArray) own = recipe_nodes_of(s->p.client[0], s->p.path);
        ck_assert_uint_gt(own->len, 0);
        nodes[s - sides] = g_strdup(own->pdata[_i < DELETIONS ? 0 : own->len - 1]);
        ts_paddock_keep(nodes[s - sides], g_free);
    }
    before_the_deletion(when, nodes);
    for (each_side(s)) {
        assert_recipe(s->p.r, ts_answer_is_valid(s->held));
        ck_assert_int_eq(ts_delete(server(), nodes[s - sides]), 0);
        ts_proxy_heal(s->p.client[0]->proxy);
    }
    sides_assert_lost(PDK_REASON_NODE_GONE, ts_patience(1500));
    if (when != AT_ONCE)
        sides_assert_followed();
    for (each_side(s)) {
        pair_release(&s->p, 0, recipe_take(s->p.r, s->p.object[0]));
        recipe_await_nodes(s->p.r, s->p.path, 0);
        assert_recipe(s->p.r, ts_events(s->p.client[0], PDK_SESSION_EXPIRED) == 0);
    }
}
END_TEST

/* The grant is gone, but those who wait for it in this process are not: they queue again. Nor is a thread refused that has lost it. */
START_TEST(local_waiters_survive_a_deletion) {
    sides_hold(SESSION_MS);
    for (each_side(s)) {
        const recipe *r = s->p.r;
        ts_answer *waiter = recipe_async(r, s->p.object[0], PDK_FOREVER);
        ts_sleep_ms(20);
        ck_assert_int_eq(ts_delete(server(), pdk_hold_node(ts_answer_part(s->held))), 0);
        assert_recipe(r, ts_fd_readable(ts_answer_fd(s->held), ts_patience(1000)));
        const bool whole = ts_answer_set(s->held); /* its other parts are held until its release */
        assert_recipe(r, !whole || recipe_release(r, s->p.object[0], s->held) == PDK_LOST);
        recipe_await(r, waiter, PDK_OK);
        assert_recipe(r, r->shares > 1 || ts_answer_token(waiter) > s->token);
        pair_release(&s->p, 0, waiter);
        pair_release(&s->p, 0, recipe_take(r, s->p.object[0]));
        assert_recipe(r, whole || recipe_release(r, s->p.object[0], s->held) == PDK_LOST);
        recipe_await_nodes(r, s->p.path, 0);
    }
}
END_TEST

/* The nodes of one that waits are deleted, and then those of the holder: the holder is told, and the other one is granted. */
START_TEST(deleted_with_its_waiter) {
    sides_hold(SESSION_MS);
    sides_follow();
    ts_sleep_ms(100);
    for (each_side(s))
        for (int k = 1; k >= 0; k--) {
            g_autoptr(GPtrArray) nodes = recipe_nodes_of(s->p.client[k], s->p.path);
            for (guint i = 0; i < nodes->len; i++)
                ts_delete(server(), nodes->pdata[i]);
        }
    sides_assert_lost(PDK_REASON_NODE_GONE, ts_patience(1500));
    sides_assert_followed();
    for (each_side(s))
        pair_release(&s->p, 0, recipe_take(s->p.r, s->p.object[0]));
}
END_TEST

START_TEST(the_directories_are_made_again) {
    sides_begin(SESSION_MS);
    for (int i = 0; i < 5; i++)
        for (each_side(s)) {
            pair_release(&s->p, 0, recipe_take(s->p.r, s->p.object[0]));
            pair_flush(&s->p, 0);
            ck_assert_int_eq(ts_delete_tree(server(), s->p.path), 0);
        }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("deleted");
    TCase *tcase = ts_bench_case(suite, "deleted");
    tcase_add_loop_test(tcase, deleted_by_somebody, 0, 2 * DELETIONS);
    tcase_add_test(tcase, local_waiters_survive_a_deletion);
    tcase_add_test(tcase, deleted_with_its_waiter);
    tcase_add_test(tcase, the_directories_are_made_again);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
