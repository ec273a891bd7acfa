/* The production driver in simulated time: whole sessions on the fake ensemble. */
#include "platform_bench.h"

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

int main(void) {
    return ts_run(
        "platform", platform_setup, platform_teardown, a_holder_on_a_cut_off_follower_loses_before_the_next_is_granted,
        a_dropped_session_ends_in_the_background, a_process_can_be_disposed_of_at_any_moment, a_seed_says_it_all, NULL);
}
