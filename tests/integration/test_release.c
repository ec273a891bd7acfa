/* Claims and releases during link failures, of each recipe, side by side. A release never waits for the network, and nothing is left. */
#include <glib.h>

#include "sides.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, CLEAN_MS = 2000, SCHEDULING_MS = 250 };

/* Soon after the links are healed nothing is left, but what an end without a release leaves, and each client gets it again. */
static void heal_and_check(bool discard, bool lost) {
    const int64_t healed = ts_now_ms();
    for (each_side(s))
        (discard ? ts_proxy_heal_discard : ts_proxy_heal)(s->p.client[0]->proxy);
    for (each_side(s))
        recipe_await_nodes(s->p.r, s->p.path, lost ? s->p.r->left : 0);
    ck_assert_int_lt(ts_now_ms() - healed, ts_patience(CLEAN_MS));
    for (each_side(s)) {
        pair_release(&s->p, 0, recipe_take(s->p.r, s->p.object[0]));
        pair_flush(&s->p, 0);
        ck_assert_int_eq(recipe_nodes(s->p.path), 0);
    }
}

static void release(struct side *s, pdk_status status) {
    const int64_t before = ts_now_ms();
    assert_recipe(s->p.r, recipe_release(s->p.r, s->p.object[0], s->held) == status);
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(SCHEDULING_MS));
}

static void lose_the_delete(const struct side *s, ts_proxy_loss loss, ts_proxy_mode then) {
    ts_proxy_arm(s->p.client[0]->proxy, TS_OP_DELETE, loss, then);
}

static void await_loss(const struct side *s) {
    assert_recipe(s->p.r, ts_proxy_wait_fired(s->p.client[0]->proxy, ts_patience(2000)));
}

static const struct {
    ts_proxy_loss loss;
    ts_proxy_mode then;
    bool discard;
} cuts[] = {
    {TS_LOSE_REQUEST, TS_PASS, false},     {TS_LOSE_REPLY, TS_PASS, false},        {TS_LOSE_REQUEST, TS_CUT, false},
    {TS_LOSE_REPLY, TS_CUT, false},        {TS_LOSE_REQUEST, TS_BLACKHOLE, false}, {TS_LOSE_REPLY, TS_BLACKHOLE, false},
    {TS_LOSE_REQUEST, TS_BLACKHOLE, true}, {TS_LOSE_REPLY, TS_BLACKHOLE, true},
};

enum { CUTS = G_N_ELEMENTS(cuts) };

START_TEST(the_delete_or_its_answer_is_lost) {
    const ts_proxy_loss loss = cuts[_i].loss;
    sides_hold(4 * SESSION_MS);
    for (each_side(s)) {
        lose_the_delete(s, loss, cuts[_i].then);
        release(s, PDK_OK);
        await_loss(s);
    }
    ts_sleep_ms(300);
    for (each_side(s)) {
        const int left = recipe_nodes(s->p.path);
        if (cuts[_i].then != TS_PASS && (loss == TS_LOSE_REQUEST || s->p.r->held == 1))
            assert_recipe(s->p.r, (left > 0) == (loss == TS_LOSE_REQUEST));
        assert_recipe(s->p.r, left <= s->p.r->held);
    }
    heal_and_check(cuts[_i].discard, false);
}
END_TEST

/* Nobody has the object any more, either. */
START_TEST(released_while_disconnected) {
    const ts_proxy_mode modes[] = {TS_CUT, TS_BLACKHOLE};
    void *objects[RECIPES];

    sides_begin(4 * SESSION_MS); /* the sessions outlive the questions */
    for (each_side(s)) {
        objects[s - sides] = s->p.r->make(s->p.client[0], s->p.path);
        s->held = recipe_take(s->p.r, objects[s - sides]);
        pair_flush(&s->p, 0);
    }
    sides_links(0, modes[_i]);
    ts_sleep_ms(200);
    for (each_side(s)) {
        release(s, PDK_OK);
        s->p.r->unref(objects[s - sides]);
        assert_recipe(s->p.r, pdk_session_flush(s->p.client[0]->session, 50) == PDK_TIMEOUT);
        recipe_await_nodes(s->p.r, s->p.path, s->p.r->held);
    }
    sides_links(0, TS_PASS);
    for (each_side(s))
        assert_recipe(s->p.r, pdk_session_flush(s->p.client[0]->session, ts_patience(CLEAN_MS)) == PDK_OK);
    heal_and_check(false, false);
}
END_TEST

/* While still cut off. That is too late for the grant, but the nodes are deleted. */
START_TEST(released_after_the_lease_was_over) {
    sides_hold(SESSION_MS);
    sides_links(0, TS_BLACKHOLE_DOWN); /* pings arrive: the session lives on */
    for (each_side(s))
        assert_recipe(s->p.r, ts_fd_readable(ts_answer_fd(s->held), SESSION_MS));
    for (each_side(s))
        release(s, PDK_LOST);
    heal_and_check(false, true);
}
END_TEST

/* ---- claims: one request, or its answer, is lost with its connection, and all the same each is granted, once */

static const struct {
    const char *name;
    int opcode;
} requests[] = {
    {"directory", TS_OP_CREATE_CONTAINER},
    {"number or record", TS_OP_GET_DATA},
    {"record or pledge", TS_OP_CREATE},
    {"list", TS_OP_GET_CHILDREN},
    {"node", TS_OP_CREATE2},
};
enum { REQUESTS = G_N_ELEMENTS(requests) };

static void lose_a_request(int which) {
    for (each_side(s))
        ts_proxy_arm(s->p.client[1]->proxy, requests[which / 2].opcode, which % 2 ? TS_LOSE_REPLY : TS_LOSE_REQUEST,
                     TS_PASS);
}

/* How many claims met the loss: not every recipe makes every request. */
static int assert_recovered(void) {
    int met = 0;
    for (each_side(s)) {
        pair_expect(&s->p, s->waiter, PDK_OK);
        met += ts_proxy_wait_fired(s->p.client[1]->proxy, 0);
        ts_proxy_disarm(s->p.client[1]->proxy);
        recipe_await_nodes(s->p.r, s->p.path, s->p.r->held);
        const char *proof = pdk_hold_sequencer(ts_answer_part(s->waiter));
        assert_recipe(s->p.r, pdk_session_check_sequencer(s->p.client[0]->session, proof, 5000) == PDK_OK);
        ck_assert_int_eq(ts_events(s->p.client[1], PDK_SESSION_EXPIRED), 0);
        pair_release(&s->p, 1, s->waiter);
        recipe_await_nodes(s->p.r, s->p.path, 0);
    }
    return met;
}

START_TEST(a_lost_answer_is_recovered) {
    static const int least[REQUESTS] = {RECIPES, 5, 3, RECIPES, RECIPES};
    sides_begin(2 * SESSION_MS);
    lose_a_request(_i);
    for (each_side(s))
        s->waiter = recipe_async(s->p.r, s->p.object[1], 20000);
    ck_assert_int_ge(assert_recovered(), least[_i / 2]);
}
END_TEST

/* The link is there until the one ahead has gone. */
START_TEST(a_lost_answer_after_a_wait_is_recovered) {
    sides_wait(2 * SESSION_MS, PDK_FOREVER);
    ts_sleep_ms(50);
    lose_a_request(_i);
    for (each_side(s))
        pair_admit(&s->p, 0, s->held);
    const int met = assert_recovered();
    /* The event of the predecessor's node grants a lock, an election and what stands on them. The others list. */
    ck_assert_msg(met >= (requests[_i / 2].opcode == TS_OP_GET_CHILDREN ? RECIPES - 4 : 1), "%s: %d",
                  requests[_i / 2].name, met);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("release");
    TCase *tcase = ts_bench_case(suite, "release");

    tcase_add_loop_test(tcase, the_delete_or_its_answer_is_lost, 0, CUTS);
    tcase_add_loop_test(tcase, released_while_disconnected, 0, 2);
    tcase_add_test(tcase, released_after_the_lease_was_over);
    tcase_add_loop_test(tcase, a_lost_answer_is_recovered, 0, 2 * REQUESTS);
    tcase_add_loop_test(tcase, a_lost_answer_after_a_wait_is_recovered, 2, 2 * REQUESTS); /* the directories exist */
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
