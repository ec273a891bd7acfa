/* A try looks whether somebody is there, as of now, before it writes anything. */
#include "driver_bench.h"

#include <string.h>

static struct answer tried;

static void try_lock(void) { ck_assert_int_eq(pdk_lock_acquire_async(one->lock, 0, answered, &tried, NULL), PDK_OK); }

static uint32_t writes(void) {
    return driver_seen[PDK__OP_CREATE] + driver_seen[PDK__OP_DELETE] + driver_seen[PDK__OP_MKDIR];
}

/* The second holds. */
static void begin(void) {
    driver_begin();
    memset(&tried, 0, sizeof tried);
    driver_want_lock(two);
    platform_pass(SECOND);
    driver_forget_seen();
}

static void assert_busy(uint32_t tries) {
    ck_assert_uint_eq(tried.count, tries);
    ck_assert_int_eq(tried.status, PDK_BUSY);
    ck_assert_uint_eq(writes(), 0);
}

START_TEST(a_try_that_finds_somebody_writes_nothing) {
    enum { TRIES = 10 };
    begin();
    for (uint32_t i = 1; i <= TRIES; i++) {
        try_lock();
        platform_pass(100 * SIM_MS);
        assert_busy(i);
    }
    ck_assert_uint_eq(driver_seen[PDK__OP_SYNC], TRIES);
    ck_assert_uint_eq(driver_seen[PDK__OP_LIST], TRIES);
    driver_release_all(two);
    platform_pass(SECOND);
    try_lock();
    platform_pass(100 * SIM_MS);
    ck_assert_int_eq(tried.status, PDK_OK);
    ck_assert_uint_eq(driver_seen[PDK__OP_CREATE], 1);
    answer_release(&tried);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

/* A claim that waits needs a node, whether it was first or came while the try looked. */
START_TEST(who_waits_does_not_look) {
    begin();
    if (_i)
        try_lock();
    driver_want_lock(one);
    platform_pass(100 * SIM_MS);
    ck_assert_uint_eq(driver_seen[PDK__OP_SYNC], (uint32_t)_i);
    ck_assert_uint_eq(tried.count, (uint32_t)_i);
    ck_assert_int_eq(tried.status, _i ? PDK_BUSY : PDK_OK);
    ck_assert_uint_eq(driver_nodes(), 2);
    driver_release_all(two);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

START_TEST(a_look_that_cannot_be_sent_is_sent_later) {
    begin();
    driver_arm(_i ? PDK__OP_SYNC : PDK__OP_LIST, "/");
    fault.refuse = 3;
    try_lock();
    platform_pass(SECOND);
    ck_assert_int_eq(fault.refuse, 0);
    assert_busy(1);
}
END_TEST

/* The sync was lost with its connection, and the list goes out on the next one: that may be an old server's. */
START_TEST(a_list_without_its_sync_does_not_count) {
    begin();
    driver_arm(PDK__OP_LIST, "/");
    fault.refuse = INT32_MAX;
    platform_block(first, true);
    try_lock();
    platform_pass(TIMEOUT * 3 / 4);
    ck_assert_uint_eq(driver_seen[PDK__OP_SYNC], 1);
    ck_assert_str_eq(first->events->str, "connected suspended");
    fault.refuse = 0;
    platform_block(first, false);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_seen[PDK__OP_SYNC], 2);
    assert_busy(1);
}
END_TEST

/* At any moment after the session was begun, and after its own release: its node on its way out is nobody, also where the delete cannot be sent
 * at once. */
START_TEST(a_try_where_nobody_is_ahead_is_granted) {
    for (int step = 0; step < 60; step++) {
        platform_end();
        platform_begin(5);
        rival_open(first);
        for (int i = 0; i < step * 3; i++)
            platform_step();
        rival_acquire(first, 0);
        platform_pass(TIMEOUT);
        ck_assert_int_eq(first->status, PDK_OK);
        platform_refuse(PDK__OP_DELETE, step % 4);
        rival_release(first);
        for (int i = 0; i < step; i++)
            platform_step();
        rival_acquire(first, 0);
        platform_pass(SECOND);
        ck_assert_uint_eq(first->answers, 2);
        ck_assert_int_eq(first->status, PDK_OK);
    }
}
END_TEST

/* Its server was cut off before the holder left. What it shows is old. */
START_TEST(an_old_list_makes_no_try_busy) {
    uint32_t cut_off = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        platform_end();
        platform_begin(seed);
        rival_open(first);
        rival_open(second);
        rival_acquire(second, PDK_FOREVER);
        platform_pass(SECOND);
        int32_t server = sim_client_server(&first->process);
        if (server == sim_leader(platform_ensemble) || server == sim_client_server(&second->process))
            continue;
        cut_off++;
        platform_pass((int64_t)seed * 17 * SIM_MS); /* a renewal under way would hold the look up */
        for (int32_t i = 0; i < PLATFORM_SERVERS; i++)
            if (i != server) {
                sim_net_block(&platform_net, server, i, true);
                sim_net_block(&platform_net, i, server, true);
            }
        rival_release(second);
        platform_pass(10 * SIM_MS);
        rival_acquire(first, 0);
        platform_pass(5 * SECOND);
        ck_assert_int_eq(first->status, PDK_OK);
        ck_assert_ptr_nonnull(first->hold);
    }
    ck_assert_uint_ge(cut_off, 3);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_tries");
    TCase *cases = tcase_create("driver_tries");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, a_try_that_finds_somebody_writes_nothing);
    tcase_add_loop_test(cases, who_waits_does_not_look, 0, 2);
    tcase_add_loop_test(cases, a_look_that_cannot_be_sent_is_sent_later, 0, 2);
    tcase_add_test(cases, a_list_without_its_sync_does_not_count);
    tcase_add_test(cases, a_try_where_nobody_is_ahead_is_granted);
    tcase_add_test(cases, an_old_list_makes_no_try_busy);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
