/* The production driver in simulated time: whole sessions on the fake ensemble. */
#include "platform_bench.h"
#include "session/session.h"

START_TEST(a_session_acquires_and_releases) {
    rival_open(first);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_int_eq(first->status, PDK_OK);
    ck_assert_ptr_nonnull(first->hold);
    ck_assert_uint_eq(platform_contenders(), 1);
    platform_pass(20 * TIMEOUT);
    ck_assert(rival_is_valid(first));
    rival_release(first);
    ck_assert_int_eq(first->status, PDK_OK);
    platform_pass(SECOND);
    ck_assert_uint_eq(platform_contenders(), 0);
    ck_assert_str_eq(first->events->str, "connected");
    platform_pass(20 * SECOND); /* the directory goes as well, being a container */
    ck_assert_ptr_null(sim_tree_find(sim_truth(platform_ensemble), "/app/locks/one"));
    platform_pass(20 * SECOND); /* and so do the levels above it, one after the other */
    ck_assert_ptr_null(sim_tree_find(sim_truth(platform_ensemble), "/app"));
}
END_TEST

START_TEST(two_processes_alternate) {
    rival_open(first);
    rival_open(second);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    rival_acquire(second, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert(first->hold && !second->hold);
    int64_t since = platform_agenda.now;
    rival_release(first);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(second->hold);
    ck_assert_int_gt(second->token, first->token);
    ck_assert_int_le(second->granted_at - since, 20 * SIM_MS);
    for (int i = 0; i < 3; i++)
        rival_acquire(first, 0);
    platform_pass(SECOND);
    ck_assert_int_eq(first->status, PDK_BUSY);
    ck_assert_uint_eq(first->answers, 1 + 3);
    rival_acquire(first, 500);
    platform_pass(SECOND);
    ck_assert_int_eq(first->status, PDK_TIMEOUT);
}
END_TEST

START_TEST(the_next_gets_what_a_killed_process_held) {
    rival_open(first);
    rival_open(second);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    rival_acquire(second, PDK_FOREVER);
    platform_pass(SECOND);
    int64_t since = platform_agenda.now;
    sim_process_kill(&first->process);
    platform_pass(5 * SECOND);
    ck_assert_ptr_nonnull(second->hold);
    ck_assert_int_ge(second->granted_at - since, TIMEOUT / 2);
    ck_assert_int_le(second->granted_at - since, TIMEOUT + 2 * TICK);
    ck_assert_int_gt(second->token, first->token);
    ck_assert_uint_eq(first->losses, 0); /* nobody hears of it */
}
END_TEST

/* Its follower serves it well, and it reaches nobody else. For the rest of the ensemble the session is over. */
START_TEST(a_holder_on_a_cut_off_follower_loses_before_the_next_is_granted) {
    uint32_t cut_off = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        platform_end();
        platform_begin(seed);
        rival_open(first);
        rival_open(second);
        rival_acquire(first, PDK_FOREVER);
        platform_pass(SECOND);
        rival_acquire(second, PDK_FOREVER);
        platform_pass(SECOND);
        int32_t server = sim_client_server(&first->process);
        if (server == sim_leader(platform_ensemble) || server == sim_client_server(&second->process))
            continue;
        cut_off++;
        for (int32_t i = 0; i < 3; i++)
            if (i != server) {
                sim_net_block(&platform_net, server, i, true);
                sim_net_block(&platform_net, i, server, true);
                sim_net_block(&platform_net, first->process.host, i, true);
            }
        platform_pass(3 * TIMEOUT);
        ck_assert_uint_eq(first->losses, 1);
        ck_assert_int_eq(first->reason, PDK_REASON_LEASE);
        ck_assert_ptr_nonnull(second->hold);
        ck_assert_int_lt(first->lost_at, second->granted_at);
        ck_assert_int_gt(second->token, first->token);
    }
    ck_assert_uint_ge(cut_off, 3);
}
END_TEST

START_TEST(an_expired_session_is_opened_anew_and_queues_again) {
    rival_open(first);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    platform_block(first, true);
    platform_pass(2 * TIMEOUT);
    ck_assert_uint_eq(first->losses, 1);
    rival_release(first);
    ck_assert_int_eq(first->status, PDK_LOST);
    rival_acquire(first, PDK_FOREVER);
    platform_block(first, false);
    platform_pass(2 * TIMEOUT);
    ck_assert_str_eq(first->events->str, "connected suspended expired reopened");
    ck_assert(first->hold && rival_is_valid(first));
    ck_assert_uint_eq(platform_contenders(), 1);
}
END_TEST

START_TEST(a_paused_holder_knows_at_once) {
    rival_open(first);
    rival_open(second);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    rival_acquire(second, PDK_FOREVER);
    sim_process_pause(&first->process, true);
    platform_pass(2 * TIMEOUT);
    ck_assert_ptr_nonnull(second->hold);
    sim_process_pause(&first->process, false);
    ck_assert(!rival_is_valid(first));
    platform_pass(SECOND);
    ck_assert_uint_eq(first->losses, 1);
    ck_assert_int_eq(first->reason, PDK_REASON_LEASE);
}
END_TEST

static void drop_hold(pdk_status status, pdk_hold *hold, void *user) {
    struct rival *r = user;
    r->status = status;
    r->answers++;
    pdk_hold_unref(hold);
    rival_gives_back(r, NULL); /* the last references, from inside a callback */
}

static void acquire_and_drop_in(void *subject, void *what) {
    struct rival *r = subject;
    (void)what;
    ck_assert_int_eq(pdk_lock_acquire_async(r->lock, PDK_FOREVER, drop_hold, r, NULL), PDK_OK);
}

START_TEST(a_dropped_session_ends_in_the_background) {
    rival_open(first);
    sim_call_in(&first->process, acquire_and_drop_in, first, NULL);
    platform_pass(SECOND / 2);
    ck_assert_uint_eq(first->answers, 1);
    ck_assert_int_eq(first->status, PDK_OK);
    ck_assert_ptr_null(first->session);
    ck_assert_uint_eq(platform_contenders(), 0);
    ck_assert_int_eq(sim_client_session(&first->process), 0);
    ck_assert_uint_eq(sim_truth(platform_ensemble)->sessions_count, 0); /* closed, not expired */
}
END_TEST

/* From its first event on. Nothing is left, and nothing is used after its end. */
START_TEST(a_process_can_be_disposed_of_at_any_moment) {
    for (int64_t moment = 0; moment < 60; moment++) {
        platform_end();
        platform_begin(4);
        rival_open(first);
        rival_open(second);
        rival_acquire(first, 1000);
        rival_acquire(first, PDK_FOREVER);
        rival_acquire(second, PDK_FOREVER);
        for (int64_t i = 0; i < moment * 4; i++)
            sim_step(&platform_agenda, INT64_MAX - 1);
        uint32_t answers = first->answers;
        sim_dispose(&first->process, rival_gives_back, first, NULL);
        ck_assert_uint_eq(first->answers, answers);
        platform_pass(SECOND / 10);
        ck_assert_uint_eq(first->answers, answers);
    }
}
END_TEST

START_TEST(names_are_addresses) {
    struct pdk__hosts *hosts;
    char *servers, *why;
    ck_assert_int_eq(pdk__hosts_parse("10.0.0.2:2181,10.0.0.1:2181", &hosts), PDK_OK);
    struct pdk__names *names = pdk__names_new(hosts);
    pdk__names_look_up(names, sim_platform.look_up);
    ck_assert_int_eq(pdk__names_list(names, &servers, &why), PDK_OK);
    ck_assert_str_eq(servers, "10.0.0.1:2181,10.0.0.2:2181,10.0.0.1:2181");
    g_free(servers);
    pdk__names_unref(names);
    pdk__hosts_free(hosts);
}
END_TEST

static uint64_t run_of(uint64_t seed) {
    platform_end();
    platform_begin(seed);
    for (int32_t i = 0; i < RIVALS; i++)
        rival_open(&rivals[i]);
    for (int32_t round = 0; round < 10; round++) {
        for (int32_t i = 0; i < RIVALS; i++) {
            struct rival *r = &rivals[i];
            if (r->hold)
                rival_release(r);
            else if (r->answers == (uint32_t)round)
                rival_acquire(r, 400);
        }
        platform_pass(150 * SIM_MS);
    }
    uint64_t sum = platform_agenda.steps;
    for (int32_t i = 0; i < RIVALS; i++)
        sum = sum * 31 + (uint64_t)rivals[i].granted_at * 7 + rivals[i].answers;
    return sum * 31 + (uint64_t)sim_truth(platform_ensemble)->zxid;
}

START_TEST(a_seed_says_it_all) {
    uint64_t once = run_of(9);
    ck_assert_uint_ne(run_of(10), once);
    ck_assert_uint_eq(run_of(9), once);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("platform");
    TCase *cases = tcase_create("platform");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, a_session_acquires_and_releases);
    tcase_add_test(cases, two_processes_alternate);
    tcase_add_test(cases, the_next_gets_what_a_killed_process_held);
    tcase_add_test(cases, a_holder_on_a_cut_off_follower_loses_before_the_next_is_granted);
    tcase_add_test(cases, an_expired_session_is_opened_anew_and_queues_again);
    tcase_add_test(cases, a_paused_holder_knows_at_once);
    tcase_add_test(cases, a_dropped_session_ends_in_the_background);
    tcase_add_test(cases, a_process_can_be_disposed_of_at_any_moment);
    tcase_add_test(cases, names_are_addresses);
    tcase_add_test(cases, a_seed_says_it_all);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
