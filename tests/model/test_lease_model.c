/* Every order of a session's requests, reports and faults over the real lease, within the time of an everyday run.
 * Tests of where the lease's promise ends. And a proof that the things the model forgets cannot matter. */
#include "bound.h"
#include "lease_model.h"
#include "ts_check.h"

#include <string.h>

/* Half a tick is a quarter of the timeout, the tightest that is legal by default. */
static struct lease_config coarse(void) {
    return (struct lease_config){.half = 1, .timeout = 4, .hops = 1, .rate = LEASE_RATE, .requests = 1};
}

/* It is a third, which the lease is told. */
static struct lease_config fine(void) {
    struct lease_config config = coarse();
    config.half = 2;
    config.timeout = 6;
    config.tick_known = true;
    return config;
}

/* A unit is 50 ms here, as much as threads may be late. */
static struct lease_config quick(void) {
    struct lease_config config = coarse();
    config.unit = LEASE_SLACK;
    config.timeout = 7;
    config.late = 1;
    config.tick_known = config.prompt = true;
    return config;
}

/* Explore all of it, or as much as there is time for (bound.h). */
static void keeps_promises(struct lease_config config, uint64_t at_least) {
    config.max_states = model_bound(10000);
    struct lease_result r = lease_explore(&config, stdout);
    printf("        %llu states, %llu transitions, %d units of time, %.1f s%s\n", (unsigned long long)r.states,
           (unsigned long long)r.transitions, r.units, r.seconds, r.closed ? "" : ", not all");
    if (config.max_states && r.broken && strcmp(r.broken, "not vacuous") == 0)
        return; /* the part that is cut off may hold what was to be seen */
    ck_assert_msg(!r.broken, "%s: %s", r.broken, r.detail);
    ck_assert(r.closed || config.max_states != 0);
    ck_assert_uint_ge(r.states, r.closed ? at_least : config.max_states);
}

START_TEST(a_connection_is_lost) {
    struct lease_config config = fine();
    config.prompt = true;
    config.budgets[LEASE_LOSSES] = 1;
    keeps_promises(config, 1000000);
}
END_TEST

START_TEST(a_leader_is_deposed) {
    struct lease_config config = fine();
    config.timeout = 5;
    config.syncs = true;
    config.budgets[LEASE_DEPOSALS] = 1;
    keeps_promises(config, 500000);
}
END_TEST

START_TEST(a_leader_is_paused) {
    struct lease_config config = fine();
    config.prompt = true;
    config.budgets[LEASE_STALLS] = 1;
    keeps_promises(config, 1000000);
}
END_TEST

START_TEST(every_fault_and_a_shorter_timeout) {
    struct lease_config config = coarse();
    config.timeout = 5;
    config.shorter = 4;
    config.tick_known = config.prompt = true;
    for (int32_t i = 0; i < LEASE_BUDGETS; i++)
        config.budgets[i] = 1;
    keeps_promises(config, 500000);
}
END_TEST

START_TEST(links_are_slow_and_the_clients_clock_too) {
    struct lease_config config = fine();
    config.rate = LEASE_RATE - 1;
    config.never_leader = true;
    keeps_promises(config, 1000000);
}
END_TEST

START_TEST(links_are_slow_and_the_clients_clock_is_fast) {
    struct lease_config config = fine();
    config.rate = LEASE_RATE + 1;
    config.never_leader = true;
    keeps_promises(config, 1000000);
}
END_TEST

START_TEST(pings_are_late_and_the_clients_clock_slow) {
    struct lease_config config = quick();
    config.rate = LEASE_RATE - 1;
    keeps_promises(config, 500000);
}
END_TEST

START_TEST(pings_are_late_and_the_clients_clock_fast) {
    struct lease_config config = quick();
    config.timeout = 8;
    config.rate = LEASE_RATE + 1;
    keeps_promises(config, 500000);
}
END_TEST

START_TEST(two_requests_in_flight) {
    struct lease_config config = coarse();
    config.requests = 2;
    config.budgets[LEASE_LOSSES] = config.budgets[LEASE_DEPOSALS] = 1;
    keeps_promises(config, 500000);
}
END_TEST

START_TEST(three_requests_in_flight) {
    struct lease_config config = coarse();
    config.requests = 3;
    keeps_promises(config, 500000);
}
END_TEST

START_TEST(behind_an_observer_master) {
    struct lease_config config = coarse();
    config.timeout = 6;
    config.hops = 2;
    config.prompt = true;
    keeps_promises(config, 1000000);
}
END_TEST

/* ---- where the promise ends: if a lease bore these, the tests would fail, and belong above */

static void outlives_its_session(struct lease_config config) {
    FILE *nowhere = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(nowhere);
    struct lease_result r = lease_explore(&config, nowhere);
    fclose(nowhere);
    ck_assert_ptr_nonnull(r.broken);
    ck_assert_str_eq(r.broken, "no lease outlives its session");
}

START_TEST(a_leader_that_is_paused_twice) {
    struct lease_config config = fine();
    config.timeout = 5;
    config.prompt = true;
    config.budgets[LEASE_STALLS] = 2;
    outlives_its_session(config);
}
END_TEST

START_TEST(a_leader_that_is_paused_and_a_slow_link) {
    struct lease_config config = fine();
    config.timeout = 5;
    config.budgets[LEASE_STALLS] = 1;
    outlives_its_session(config);
}
END_TEST

/* By more than threads may be. */
START_TEST(pings_that_are_late) {
    struct lease_config config = fine();
    config.late = 1;
    outlives_its_session(config);
}
END_TEST

START_TEST(a_slow_link_behind_an_observer_master) {
    struct lease_config config = coarse();
    config.hops = 2;
    config.timeout = 5;
    config.never_leader = config.slow_link = true;
    outlives_its_session(config);
}
END_TEST

START_TEST(news_of_a_shorter_timeout_that_is_late) {
    struct lease_config config = fine();
    config.shorter = 5;
    config.late_news = true;
    config.budgets[LEASE_LOSSES] = config.budgets[LEASE_SHORTS] = 1;
    outlives_its_session(config);
}
END_TEST

/* ---- the model itself */

START_TEST(a_run_that_shows_nothing_fails) {
    struct lease_config config = fine();
    config.max_states = 10;
    struct lease_result r = lease_explore(&config, stdout);
    ck_assert_str_eq(r.broken, "not vacuous");
    ck_assert(!r.complete && !r.closed);
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
        lease_action actions[LEASE_POSSIBLE];
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
    struct lease_config config = fine();
    struct lease_model m;
    uint64_t on = 0;
    config.timeout = 16;
    config.shorter = 12;
    config.requests = LEASE_REQUESTS;
    config.syncs = true;
    config.budgets[LEASE_STALLS] = 2;
    config.budgets[LEASE_LOSSES] = 4;
    config.budgets[LEASE_DEPOSALS] = 1;
    config.budgets[LEASE_SHORTS] = 1;
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

static Suite *make_suite(void) {
    Suite *suite = suite_create("lease_model");
    TCase *all = tcase_create("every order"), *limits = tcase_create("its limits"), *model = tcase_create("the model");
    tcase_add_test(all, a_connection_is_lost);
    tcase_add_test(all, a_leader_is_deposed);
    tcase_add_test(all, a_leader_is_paused);
    tcase_add_test(all, every_fault_and_a_shorter_timeout);
    tcase_add_test(all, links_are_slow_and_the_clients_clock_too);
    tcase_add_test(all, links_are_slow_and_the_clients_clock_is_fast);
    tcase_add_test(all, pings_are_late_and_the_clients_clock_slow);
    tcase_add_test(all, pings_are_late_and_the_clients_clock_fast);
    tcase_add_test(all, two_requests_in_flight);
    tcase_add_test(all, three_requests_in_flight);
    tcase_add_test(all, behind_an_observer_master);
    tcase_add_test(limits, a_leader_that_is_paused_twice);
    tcase_add_test(limits, a_leader_that_is_paused_and_a_slow_link);
    tcase_add_test(limits, pings_that_are_late);
    tcase_add_test(limits, a_slow_link_behind_an_observer_master);
    tcase_add_test(limits, news_of_a_shorter_timeout_that_is_late);
    tcase_add_test(model, a_run_that_shows_nothing_fails);
    tcase_add_test(model, what_is_forgotten_does_not_matter);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, limits);
    suite_add_tcase(suite, model);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
