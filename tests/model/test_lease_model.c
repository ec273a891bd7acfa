/* Every order of a session's requests, reports and faults over the real lease, within the time of an everyday run.
 * Tests of where the lease's promise ends. And a proof that the things the model forgets cannot matter. */
#include "bound.h"
#include "lease_model.h"
#include "ts_check.h"

#include <string.h>

struct row {
    const char *name;
    uint64_t least; /* states */
    struct lease_config config;
};

#define PLAIN .hops = 1, .rate = LEASE_RATE, .requests = 1
/* Half a tick is a third of the timeout, or less, which the lease is told. Elsewhere it is a quarter, the tightest that is legal. */
#define FINE .half = 2, .tick_known = true
/* A unit is 50 ms here, as much as threads may be late. */
#define QUICK .unit = LEASE_SLACK, .half = 1, .late = 1, .tick_known = true, .prompt = true, .hops = 1, .requests = 1

static const struct row rows[] = {
    {"a connection is lost", 1000000, {PLAIN, FINE, .timeout = 6, .prompt = true, .budgets = {[LEASE_LOSSES] = 1}}},
    {"a leader is deposed", 500000, {PLAIN, FINE, .timeout = 5, .syncs = true, .budgets = {[LEASE_DEPOSALS] = 1}}},
    {"a leader is paused", 1000000, {PLAIN, FINE, .timeout = 6, .prompt = true, .budgets = {[LEASE_STALLS] = 1}}},
    {"every fault, and a shorter timeout",
     500000,
     {PLAIN, .half = 1, .timeout = 5, .shorter = 4, .tick_known = true, .prompt = true, .budgets = {1, 1, 1, 1}}},
    {"links are slow, and the client's clock too",
     1000000,
     {FINE, .timeout = 6, .hops = 1, .requests = 1, .never_leader = true, .rate = LEASE_RATE - 1}},
    {"links are slow, and the client's clock is fast",
     1000000,
     {FINE, .timeout = 6, .hops = 1, .requests = 1, .never_leader = true, .rate = LEASE_RATE + 1}},
    {"pings are late, and the client's clock slow", 500000, {QUICK, .timeout = 7, .rate = LEASE_RATE - 1}},
    {"pings are late, and the client's clock fast", 500000, {QUICK, .timeout = 8, .rate = LEASE_RATE + 1}},
    {"two requests in flight",
     500000,
     {.half = 1,
      .timeout = 4,
      .hops = 1,
      .rate = LEASE_RATE,
      .requests = 2,
      .budgets = {[LEASE_LOSSES] = 1, [LEASE_DEPOSALS] = 1}}},
    {"three requests in flight", 500000, {.half = 1, .timeout = 4, .hops = 1, .rate = LEASE_RATE, .requests = 3}},
    {"behind an observer master",
     1000000,
     {.half = 1, .timeout = 6, .hops = 2, .rate = LEASE_RATE, .requests = 1, .prompt = true}},
};

/* Explore all of it, or as much as there is time for (bound.h). */
START_TEST(keeps_promises) {
    struct lease_config config = rows[_i].config;
    config.max_states = model_bound(10000);
    struct lease_result r = lease_explore(&config, stdout);
    printf("        %s: %llu states, %llu transitions, %u units of time, %.1f s%s\n", rows[_i].name,
           (unsigned long long)r.search.states, (unsigned long long)r.search.steps, r.search.depth, r.search.seconds,
           r.search.closed ? "" : ", not all");
    if (config.max_states && r.broken && strcmp(r.broken, "not vacuous") == 0)
        return; /* the part that is cut off may hold what was to be seen */
    ck_assert_msg(!r.broken, "%s: %s", r.broken, r.detail);
    ck_assert(r.search.closed || config.max_states != 0);
    ck_assert_uint_ge(r.search.states, r.search.closed ? rows[_i].least : config.max_states);
}
END_TEST

/* Where the promise ends: if a lease bore these, the tests would fail, and belong above. */
static const struct row limits[] = {
    {"a leader that is paused twice", 0, {PLAIN, FINE, .timeout = 5, .prompt = true, .budgets = {[LEASE_STALLS] = 2}}},
    {"a leader that is paused, and a slow link", 0, {PLAIN, FINE, .timeout = 5, .budgets = {[LEASE_STALLS] = 1}}},
    {"pings that are later than threads may be", 0, {PLAIN, FINE, .timeout = 6, .late = 1}},
    {"a slow link behind an observer master",
     0,
     {.half = 1, .timeout = 5, .hops = 2, .rate = LEASE_RATE, .requests = 1, .never_leader = true, .slow_link = true}},
    {"news of a shorter timeout that is late",
     0,
     {PLAIN, FINE, .timeout = 6, .shorter = 5, .late_news = true, .budgets = {[LEASE_LOSSES] = 1, [LEASE_SHORTS] = 1}}},
};

START_TEST(outlives_its_session) {
    FILE *nowhere = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(nowhere);
    struct lease_result r = lease_explore(&limits[_i].config, nowhere);
    fclose(nowhere);
    ck_assert_msg(r.broken, "%s", limits[_i].name);
    ck_assert_str_eq(r.broken, "no lease outlives its session");
}
END_TEST

/* ---- the model itself */

START_TEST(a_run_that_shows_nothing_fails) {
    struct lease_config config = rows[0].config;
    config.max_states = 10;
    struct lease_result r = lease_explore(&config, stdout);
    ck_assert_str_eq(r.broken, "not vacuous");
    ck_assert(!r.search.complete && !r.search.closed);
}
END_TEST

static uint64_t seed;

static int32_t any(int32_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int32_t)(seed % (uint64_t)below);
}

/* A lease that is never restored, and forgets nothing, is kept beside it. */
struct whole {
    struct pdk__lease lease;
    int32_t now, sent[LEASE_REQUESTS], requests;
};

static void follow(const struct lease_model *m, struct whole *w, const struct lease_state *before,
                   const struct lease_state *after, lease_action a) {
    enum lease_action_kind kind = lease_kind_of(a);
    if (kind == LEASE_TICK) {
        w->now++;
    } else if (kind == LEASE_SEND) {
        w->sent[w->requests++] = w->now;
    } else if (kind == LEASE_LOSE) {
        w->requests = 0;
    } else if (kind == LEASE_LOOK) {
        pdk__lease_dialled(&w->lease, lease_clock(m, w->now), lease_clock(m, w->now));
    } else if (kind == LEASE_ANSWER) {
        pdk__lease_answered(&w->lease, lease_clock(m, w->sent[0]), lease_clock(m, w->now),
                            before->request[0].kind == LEASE_BARRIER);
        memmove(w->sent, w->sent + 1, sizeof w->sent[0] * (size_t)--w->requests);
    } else if (kind == LEASE_LEARN) {
        pdk__lease_negotiated(&w->lease, before->news * m->config.unit);
    } else if ((kind == LEASE_RECONNECT || kind == LEASE_RECONNECT_DEPOSED) && before->connection == LEASE_DOWN &&
               lease_target_shorter(lease_argument_of(a)) && after->news == 0) {
        pdk__lease_negotiated(&w->lease, m->config.shorter * m->config.unit);
    }
}

static uint64_t walk(struct lease_model *m) {
    struct lease_state s;
    struct whole w = {0};
    uint64_t on = 0;
    lease_begin(&s);
    pdk__lease_init(&w.lease, 2 * m->config.half * m->config.unit, m->config.hops);
    pdk__lease_begin(&w.lease, lease_clock(m, 0));
    for (int32_t step = 0; step < 400; step++) {
        lease_action actions[SEARCH_ACTIONS];
        struct lease_state before = s;
        int32_t count = lease_possible(m, &s, actions);
        ck_assert_int_gt(count, 0);
        lease_action a = actions[any(count)];
        lease_apply(m, &s, a);
        ck_assert_msg(!m->broken, "%s: %s", m->broken, m->detail);
        follow(m, &w, &before, &s, a);
        int64_t end = w.lease.end - lease_clock(m, w.now);
        ck_assert_int_eq(s.end, w.lease.end != 0 && end > 0 ? end : 0);
        on += s.end != 0;
    }
    return on;
}

START_TEST(what_is_forgotten_does_not_matter) {
    struct lease_config config = {
        FINE,
        .timeout = 16,
        .shorter = 12,
        .hops = 1,
        .rate = LEASE_RATE,
        .requests = LEASE_REQUESTS,
        .syncs = true,
        .budgets = {[LEASE_STALLS] = 2, [LEASE_LOSSES] = 4, [LEASE_DEPOSALS] = 1, [LEASE_SHORTS] = 1}};
    struct lease_model m;
    uint64_t on = 0;
    lease_init(&m, &config);
    for (uint64_t i = 1; i <= (MODEL_SANITIZED ? 200 : 1000); i++) {
        seed = i * UINT64_C(0x9e3779b97f4a7c15);
        on += walk(&m);
    }
    ck_assert_uint_gt(on, MODEL_SANITIZED ? 1000 : 10000); /* leases were on, */
    ck_assert_uint_gt(m.seen.renewals, MODEL_SANITIZED ? 100 : 1000);
    ck_assert_uint_gt(m.seen.reconnects, 100);
    ck_assert_uint_gt(m.seen.shortened, MODEL_SANITIZED ? 0 : 5);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("lease_model");
    TCase *all = tcase_create("every order"), *model = tcase_create("the model");
    tcase_add_loop_test(all, keeps_promises, 0, sizeof rows / sizeof rows[0]);
    tcase_add_loop_test(all, outlives_its_session, 0, sizeof limits / sizeof limits[0]);
    tcase_add_test(model, a_run_that_shows_nothing_fails);
    tcase_add_test(model, what_is_forgotten_does_not_matter);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, model);
    return ts_run_suite(suite);
}
