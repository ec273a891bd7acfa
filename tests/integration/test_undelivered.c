/* A grant that lapses before its callback runs, of each recipe: the claim queues again, where it was. The user dispatches late, so the
 * callback is due for as long as the test wants. */
#include <glib.h>

#include "elections.h"
#include "sides.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 2000, REQUEST_MS = 60000, PATIENCE_MS = 10000 };

/* The first clients dispatch late; the second ones are rivals. A set and keys take their steps in callbacks, and are not here. */
static bool is_here(const struct side *s) { return s->p.r->start != NULL; }

static ts_client *late_client(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = REQUEST_MS;
    options.dispatch = PDK_DISPATCH_MANUAL;
    ts_client *client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(client);
    return client;
}

static void begin(void) {
    sides_begin(10 * SESSION_MS);
    for (each_side(s)) {
        s->p.client[0] = late_client();
        s->p.object[0] = recipe_at(s->p.r, s->p.client[0], s->p.path);
    }
}

static ts_answer *claim(const struct side *s, int64_t timeout_ms) {
    return is_here(s) ? recipe_async(s->p.r, s->p.object[0], timeout_ms) : NULL;
}

static bool is_decided(void *answer) {
    int32_t ahead;
    return ts_answer_position(answer, &ahead) == PDK_NOT_HELD;
}

static void assert_decided(const struct side *s, ts_answer *answer) {
    if (!is_here(s))
        return;
    assert_recipe(s->p.r, ts_wait_until(is_decided, answer, ts_patience(PATIENCE_MS)));
    assert_recipe(s->p.r, ts_answer_count(answer) == 0);
}

/* Until everything of them has lapsed and the server has ended their sessions. */
static void silence(void) {
    sides_links(0, TS_BLACKHOLE);
    ts_sleep_ms(2 * SESSION_MS);
    for (each_side(s))
        ts_proxy_heal_discard(s->p.client[0]->proxy);
}

struct due {
    pdk_session *session;
    ts_answer *answer;
};

static bool is_answered(void *user) {
    const struct due *due = user;
    pdk_session_dispatch(due->session, NULL);
    return ts_answer_count(due->answer) > 0;
}

static void assert_answered(const struct side *s, ts_answer *answer, pdk_status status) {
    struct due due = {s->p.client[0]->session, answer};
    if (!is_here(s))
        return;
    assert_recipe(s->p.r, ts_wait_until(is_answered, &due, ts_patience(PATIENCE_MS)));
    pair_expect(&s->p, answer, status);
}

static void release(const struct side *s, ts_answer *answer) {
    if (is_here(s))
        pair_release(&s->p, 0, answer);
}

START_TEST(two_lapsed_grants_come_back_in_their_order) {
    ts_answer *second[RECIPES];
    begin();
    for (each_side(s)) {
        s->held = claim(s, PDK_FOREVER);
        second[s - sides] = claim(s, PDK_FOREVER);
    }
    for (each_side(s))
        assert_decided(s, s->held);
    silence();
    for (each_side(s))
        assert_decided(s, second[s - sides]);
    silence();
    for (each_side(s)) {
        assert_answered(s, s->held, PDK_OK);
        assert_recipe(s->p.r, s->p.r->shares > 1 || !is_here(s) || ts_answer_count(second[s - sides]) == 0);
        release(s, s->held);
        assert_answered(s, second[s - sides], PDK_OK);
        release(s, second[s - sides]);
    }
}
END_TEST

/* Its time is over before it is delivered; and its session. */
START_TEST(a_grant_that_is_delivered_too_late) {
    begin();
    for (each_side(s))
        s->held = claim(s, SESSION_MS);
    for (each_side(s))
        assert_decided(s, s->held);
    ts_sleep_ms(SESSION_MS);
    for (each_side(s)) {
        assert_answered(s, s->held, PDK_TIMEOUT);
        s->held = claim(s, PDK_FOREVER);
        assert_decided(s, s->held);
        pdk_session *session = s->p.client[0]->session; /* it dispatches what is due */
        assert_recipe(s->p.r, pdk_session_close(session, ts_patience(PATIENCE_MS)) == PDK_OK);
        if (is_here(s))
            pair_expect(&s->p, s->held, PDK_CLOSED);
    }
}
END_TEST

/* Meanwhile somebody else has got it, and the next claim waits behind that. A semaphore's has been admitted. */
START_TEST(a_lapsed_try_does_not_wait_behind_others) {
    ts_answer *next[RECIPES];
    begin();
    for (each_side(s))
        s->held = claim(s, 0);
    for (each_side(s))
        assert_decided(s, s->held);
    for (each_side(s)) {
        next[s - sides] = claim(s, PDK_FOREVER);
        s->waiter = recipe_async(s->p.r->against, s->p.against[1], PDK_FOREVER);
    }
    silence();
    for (each_side(s)) {
        if (is_here(s))
            recipe_await(s->p.r->against, s->waiter, PDK_OK);
    }
    for (each_side(s)) {
        if (is_here(s) &&
            s->p.r->shares == 1) /* otherwise the next one, too, had been granted, and asks when it is told */
            recipe_await_nodes(s->p.r, s->p.path, s->p.r->against->held + s->p.r->waiting);
    }
    ts_sleep_ms(200); /* the next ones are first, and have looked */
    for (each_side(s))
        assert_answered(s, s->held, PDK_BUSY);
    for (each_side(s)) {
        if (is_here(s))
            pair_admit(&s->p, 1, s->waiter);
        assert_answered(s, next[s - sides], PDK_OK);
        release(s, next[s - sides]);
    }
}
END_TEST

/* The callback that says so is due when the candidate leaves: it is not told. */
START_TEST(a_candidate_that_leaves_is_not_told_that_it_failed) {
    pdk_election_callbacks callbacks;
    const char *path = ts_fresh_path();
    const ts_client *late = late_client();
    g_autofree char *below = g_strdup_printf("%s/office", path);
    ck_assert_int_eq(ts_create(ts_bench_server(), path, "", TS_PERSISTENT, NULL), 0);
    ts_observer *administrator = ts_observer_open(ts_bench_server());
    ck_assert_int_eq(ts_observer_set_acl(administrator, path, TS_PERM_READ, "world", "anyone"), 0);
    ts_observer_close(administrator);
    pdk_election *election = election_on(late, below, NULL);
    record *r = record_new();
    record_callbacks(r, &callbacks);
    ck_assert_int_eq(pdk_election_join(election, &callbacks), PDK_OK);
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_election_wait(election, ts_patience(PATIENCE_MS), &hold), PDK_NOT_HELD); /* it cannot be one */
    ck_assert_int_eq(pdk_election_leave(election), PDK_OK);
    ck_assert_int_eq(pdk_session_dispatch(late->session, NULL), PDK_OK);
    assert_history(r, "");
    ck_assert_int_eq(pdk_election_leave(election), PDK_NOT_HELD);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("undelivered");
    TCase *tcase = ts_bench_case(suite, "undelivered");
    tcase_add_test(tcase, two_lapsed_grants_come_back_in_their_order);
    tcase_add_test(tcase, a_grant_that_is_delivered_too_late);
    tcase_add_test(tcase, a_lapsed_try_does_not_wait_behind_others);
    tcase_add_test(tcase, a_candidate_that_leaves_is_not_told_that_it_failed);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
