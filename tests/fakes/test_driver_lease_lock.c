/* A lease lock in simulated time, where one thing happens at an exact moment. */
#include "driver_bench.h"

#include <string.h>

static pdk_status release(void) { return pdk_lease_lock_release(deeds.lease, deeds.hold, PDK_FOREVER); }

static void on_lost(pdk_hold *hold, pdk_reason reason, void *losses) {
    (void)hold;
    (void)reason;
    ++*(int *)losses;
}

/* A renewal of the record is due at every moment of a release, and its answer comes before or after the thread goes on. */
START_TEST(a_release_is_no_loss) {
    for (int64_t after = 320 * SIM_MS; after < 340 * SIM_MS; after += SIM_MS / 5) {
        pdk_stats stats = PDK_STATS_INIT;
        int losses = 0;
        deeds_begin();
        ck_assert_int_eq(deed(deed_lease), PDK_OK);
        ck_assert_int_eq(pdk_hold_on_lost(deeds.hold, on_lost, &losses, NULL), PDK_OK);
        platform_pass(after);
        for (int i = 0; i < _i; i++) /* other chances */
            sim_random_between(&platform_agenda.chance, 0, 1);
        pdk_status status = deed(release);
        platform_pass(SECOND);
        ck_assert_int_eq(pdk_session_stats(first->session, &stats), PDK_OK);
        ck_assert_msg(status == PDK_OK && losses == 0 && stats.lost_overdue == 0,
                      "released after %ld us: %s, %d losses, %lu counted", after / 1000, pdk_status_name(status),
                      losses, stats.lost_overdue);
        deeds.hold = NULL;
        deeds_end();
    }
}
END_TEST

/* ---- one that waits behind a holder that lives long, and dies */

static pdk_lease_lock *kept;
static struct answer holder;

static pdk_lease_lock *lease_lock_of(pdk_session *s, const char *secret, int64_t duration_ms) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *lock;
    options.secret = secret;
    options.duration_ms = duration_ms;
    ck_assert_int_eq(pdk_lease_lock_new(s, "/waited", &options, &lock), PDK_OK);
    return lock;
}

static void drop_kept(void) {
    pdk_hold_unref(g_steal_pointer(&holder.hold));
    pdk_lease_lock_unref(g_steal_pointer(&kept));
}

/* Its lock node is as old as its wait. What that says of the time must not keep it out, nor let it in. */
START_TEST(one_that_has_waited_in_line_waits_for_the_end_alone) {
    static const int64_t durations_ms[] = {1000, 10000, 60000};
    const int64_t duration_ms = durations_ms[_i];
    struct answer waiter = {0};
    driver_begin();
    memset(&holder, 0, sizeof holder);
    kept = lease_lock_of(second->session, "the secret of two", duration_ms);
    ck_assert_int_eq(pdk_lease_lock_acquire_async(kept, PDK_FOREVER, answered, &holder), PDK_OK);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(holder.hold);
    pdk_lease_lock *lock = lease_lock_of(first->session, "the secret of one", duration_ms);
    ck_assert_int_eq(pdk_lease_lock_acquire_async(lock, PDK_FOREVER, answered, &waiter), PDK_OK);
    platform_pass((20 * duration_ms + duration_ms / 6) * SIM_MS); /* the newest renewal was a while ago */
    ck_assert_uint_eq(waiter.count, 0);
    int64_t end = (platform_node("/app/waited/record")->stat.mtime_ms + duration_ms) * SIM_MS,
            dead = platform_agenda.now;
    driver_kill(two, drop_kept);
    while (waiter.count == 0 && platform_agenda.now < dead + TIMEOUT + 3 * duration_ms * SIM_MS)
        platform_pass(SIM_MS);
    ck_assert_msg(waiter.count == 1, "not granted %ld ms after its end, with a duration of %ld ms",
                  (platform_agenda.now - end) / SIM_MS, duration_ms);
    ck_assert_int_eq(waiter.status, PDK_OK);
    ck_assert_int_ge(platform_agenda.now, end);
    ck_assert_int_le(platform_agenda.now, MAX(end, dead + TIMEOUT) + 2 * SECOND);
    pdk_hold_unref(waiter.hold);
    pdk_lease_lock_unref(lock);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_lease_lock");
    TCase *cases = tcase_create("driver_lease_lock");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, a_release_is_no_loss, 0, 10);
    tcase_add_loop_test(cases, one_that_has_waited_in_line_waits_for_the_end_alone, 0, 3);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
