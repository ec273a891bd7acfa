/* Directed scenarios of the driver in simulated time: what no schedule of the simulation makes visible. */
#include "driver_bench.h"
#include "session/session.h"
#include "session/watches.h"
#include "sim_server.h"

#include <string.h>
#include <zookeeper/zookeeper.h>

#define LEASES "/app/locks/permits/leases"

/* ---- watches */

/* What is counted is what is watched. */
static void assert_watched(pdk_session *s) {
    GHashTableIter iter;
    gpointer key;
    size_t bytes = 0;
    g_hash_table_iter_init(&iter, s->watches);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        bytes += strlen(key) + 4;
    ck_assert_uint_eq(s->watched_bytes, bytes);
}

START_TEST(watches_that_fired_make_room) {
    driver_begin();
    for (int round = 0; round < 10; round++) {
        driver_want_lock(one);
        platform_pass(SECOND);
        driver_want_lock(two);
        platform_pass(SECOND);
        ck_assert_uint_gt(second->session->watched_bytes, 0); /* the predecessor's */
        assert_watched(first->session);
        assert_watched(second->session);
        driver_pass_and_release(2 * SECOND);
    }
    const size_t directory = strlen("/app/locks/lock") + 4; /* which each of them watches, for its mirror */
    ck_assert_uint_eq(first->session->watched_bytes + second->session->watched_bytes, 2 * directory);
}
END_TEST

static void count_contenders(pdk_status status, pdk_contenders *list, void *count) {
    *(size_t *)count += status == PDK_OK ? pdk_contenders_count(list) : 0;
    pdk_contenders_free(list);
}

/* Reads prove nothing: renewals go on beside them. The create and the list of a free lock go out together. */
START_TEST(a_hold_begins_soon_and_goes_on) {
    size_t count = 0;
    driver_begin();
    driver_want_lock(one);
    platform_pass(SECOND); /* the directory is there */
    driver_release_all(one);
    platform_pass(SECOND);
    driver_want_lock(one);
    platform_pass(10 * SIM_MS);
    ck_assert_uint_eq(one->holds_count, 1);
    for (int i = 0; i < 400; i++) {
        ck_assert_int_eq(pdk_lock_list_async(one->lock, 1000, count_contenders, &count), PDK_OK);
        platform_pass(20 * SIM_MS);
        ck_assert(pdk_hold_is_valid(one->holds[0]));
    }
    ck_assert_uint_ge(count, 399);
}
END_TEST

/* The thread that calls sends it, as one that waits does. */
START_TEST(a_question_waits_for_no_timer) {
    size_t count = 0;
    driver_begin();
    driver_want_lock(one);
    platform_pass(SECOND);
    driver_forget_seen();
    ck_assert_int_eq(pdk_lock_list_async(one->lock, 1000, count_contenders, &count), PDK_OK);
    ck_assert_uint_eq(driver_seen[PDK__OP_LIST], 1);
    platform_pass(SECOND);
    ck_assert_uint_eq(count, 1);
}
END_TEST

/* The question is asked by a handle that goes. */
START_TEST(a_list_outlives_its_handle) {
    size_t count = 0;
    driver_begin();
    driver_want_lock(two);
    platform_pass(SECOND);
    ck_assert_int_eq(pdk_lock_list_async(one->lock, 20000, count_contenders, &count), PDK_OK);
    rival_reopen(first);
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(count, 1);
}
END_TEST

/* ---- the connection */

/* Nothing is heard after the reconnect, so the shorter lease is not renewed. */
START_TEST(a_shorter_timeout_shortens_what_is_held) {
    driver_begin();
    rival_acquire(first, PDK_FOREVER);
    platform_pass(2 * TIMEOUT);
    int64_t before = pdk_hold_remaining_ms(first->hold);
    platform_ensemble->config.session_most = TIMEOUT / 2;
    sim_client_cut(&first->process);
    for (; first->session->lease.timeout == TIMEOUT; platform_step())
        ck_assert_uint_eq(first->losses, 0);
    platform_block(first, true);
    int64_t left = (first->session->lease.end - sim_process_clock(&first->process)) / SIM_MS;
    ck_assert_int_lt(pdk_hold_remaining_ms(first->hold), before - TIMEOUT_MS / 2 + TIMEOUT_MS / 16);
    ck_assert_int_eq(pdk_hold_remaining_ms(first->hold), left);
    int64_t over = platform_agenda.now + left * SIM_MS;
    platform_pass(TIMEOUT);
    ck_assert_uint_eq(first->losses, 1);
    ck_assert_int_eq(first->reason, PDK_REASON_LEASE);
    ck_assert_int_le(first->lost_at, over + 10 * SIM_MS);
}
END_TEST

START_TEST(the_names_of_the_next_session_begin_otherwise) {
    char before[sizeof first->session->uuid_prefix];
    driver_begin();
    memcpy(before, first->session->uuid_prefix, sizeof before);
    ck_assert_uint_eq(strlen(before), sizeof before - 1);
    rival_reopen(first);
    platform_pass(TIMEOUT);
    ck_assert_str_eq(first->events->str, "connected expired reopened");
    ck_assert_str_ne(first->session->uuid_prefix, before);
}
END_TEST

/* ---- the number of permits */

static void assert_number(void) { ck_assert_str_eq(platform_node(LEASES)->data, "2"); }

/* Each of its requests in turn is answered with an error, also the one for the number. */
START_TEST(a_number_that_could_not_be_read_is_not_agreed) {
    uint32_t asked = 0;
    for (int step = 0; step < 40; step++) {
        struct answer answer = {0};
        pdk_semaphore *semaphore;
        driver_begin();
        driver_want_permits(one, 1, PDK_FOREVER);
        platform_pass(SECOND);
        ck_assert_uint_eq(one->granted, 1);
        assert_number();
        driver_release_all(one);
        platform_pass(SECOND);
        ck_assert_int_eq(pdk_semaphore_new(second->session, "/locks/permits", 3, NULL, &semaphore), PDK_OK);
        ck_assert_int_eq(pdk_semaphore_acquire_async(semaphore, 1, PDK_FOREVER, answered, &answer, NULL), PDK_OK);
        for (int i = 0; i < step; i++)
            platform_step();
        asked += answer.count == 0;
        sim_answer_next(platform_ensemble, sim_client_session(&second->process), ZOPERATIONTIMEOUT, false);
        platform_pass(TIMEOUT);
        ck_assert_uint_eq(answer.count, 1);
        ck_assert_int_eq(answer.status, PDK_MISMATCH);
        assert_number();
        pdk_semaphore_unref(semaphore);
    }
    ck_assert_uint_gt(asked, 20);
}
END_TEST

/* A list that is refused leaves no watch, nor does one that could not be sent. */
START_TEST(leases_that_are_not_listed_are_not_watched) {
    driver_begin();
    driver_want_permits(one, 1, PDK_FOREVER);
    platform_pass(SECOND);
    driver_release_all(one);
    if (_i)
        ck_assert(sim_admin_set(platform_ensemble, LEASES, SIM_SET_ACL, SIM_NO_READ));
    platform_pass(SECOND);
    driver_arm(PDK__OP_GET, "/");
    fault.refuse = _i ? 0 : INT32_MAX;
    driver_want_permits(one, 1, PDK_FOREVER);
    platform_pass(SECOND);
    assert_watched(first->session);
    ck_assert_ptr_null(g_hash_table_lookup(first->session->watches, LEASES "/"));
    ck_assert_uint_eq(one->failed, (uint32_t)_i);
    ck_assert_int_eq(one->status, _i ? PDK_NO_PERMISSION : PDK_OK);
    if (_i)
        return;
    ck_assert_uint_gt(fault.seen, 10);
    fault.refuse = 0;
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 2);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver");
    TCase *cases = tcase_create("driver");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, watches_that_fired_make_room);
    tcase_add_test(cases, a_hold_begins_soon_and_goes_on);
    tcase_add_test(cases, a_question_waits_for_no_timer);
    tcase_add_test(cases, a_list_outlives_its_handle);
    tcase_add_test(cases, a_shorter_timeout_shortens_what_is_held);
    tcase_add_test(cases, the_names_of_the_next_session_begin_otherwise);
    tcase_add_test(cases, a_number_that_could_not_be_read_is_not_agreed);
    tcase_add_loop_test(cases, leases_that_are_not_listed_are_not_watched, 0, 2);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
