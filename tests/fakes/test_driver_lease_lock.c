/* A lease lock in simulated time, where one thing happens at an exact moment. */
#include "driver_bench.h"
#include "sim_thread.h"

#include <paddock/lease_lock.h>
#include <string.h>

enum { DURATION_MS = 1000 };

static struct driver_user *const one = &driver_users[0];

static struct {
    pdk_lease_lock *lock;
    pdk_hold *hold;
    pdk_status status;
    int losses;
    bool over;
    pdk_stats stats;
} it;

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    it.losses++;
}

static void acquire(void *user) {
    (void)user;
    it.status = pdk_lease_lock_acquire(it.lock, PDK_FOREVER, &it.hold);
    if (it.status == PDK_OK)
        ck_assert_int_eq(pdk_hold_on_lost(it.hold, on_lost, NULL, NULL), PDK_OK);
    it.over = true;
}

static void release(void *user) {
    (void)user;
    it.status = pdk_lease_lock_release(it.lock, it.hold, PDK_FOREVER);
    it.over = true;
}

static void start_in(void *rival, void *fn) {
    it.over = false;
    sim_thread_start(&((struct rival *)rival)->process, *(void (**)(void *))fn, NULL);
}

static void start(void (*fn)(void *user)) { sim_call_in(&one->rival->process, start_in, one->rival, &fn); }

static void await_over(void) {
    for (int64_t until = platform_agenda.now + 30 * SECOND; !it.over; platform_pass(SIM_MS / 10))
        ck_assert_int_lt(platform_agenda.now, until);
}

static void make_in(void *rival, void *user) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    (void)user;
    options.secret = "the secret of one";
    options.duration_ms = DURATION_MS;
    ck_assert_int_eq(pdk_lease_lock_new(((struct rival *)rival)->session, "/vm", &options, &it.lock), PDK_OK);
}

static void finish_in(void *rival, void *user) {
    (void)user;
    it.stats = (pdk_stats)PDK_STATS_INIT;
    ck_assert_int_eq(pdk_session_stats(((struct rival *)rival)->session, &it.stats), PDK_OK);
    pdk_lease_lock_unref(g_steal_pointer(&it.lock));
}

static void begin(void) {
    driver_begin();
    memset(&it, 0, sizeof it);
    sim_call_in(&one->rival->process, make_in, one->rival, NULL);
    start(acquire);
    await_over();
    ck_assert_int_eq(it.status, PDK_OK);
}

static void finish(void) { sim_call_in(&one->rival->process, finish_in, one->rival, NULL); }

/* A renewal of the record is due at every moment of a release, and its answer comes before or after the thread goes on. */
START_TEST(a_release_is_no_loss) {
    for (int64_t after = 320 * SIM_MS; after < 340 * SIM_MS; after += SIM_MS / 5) {
        begin();
        platform_pass(after);
        for (int i = 0; i < _i; i++) /* other chances */
            sim_random_between(&platform_agenda.chance, 0, 1);
        start(release);
        await_over();
        platform_pass(SECOND);
        finish();
        ck_assert_msg(it.status == PDK_OK && it.losses == 0 && it.stats.lost_overdue == 0,
                      "released after %ld us: %s, %d losses, %lu counted", after / 1000, pdk_status_name(it.status),
                      it.losses, it.stats.lost_overdue);
    }
}
END_TEST

/* ---- one that waits behind a holder that lives long, and dies */

static struct driver_user *const two = &driver_users[1];
static int64_t waiters_duration_ms;

static struct {
    pdk_lease_lock *lock;
    pdk_hold *hold;
    pdk_status status;
    bool over;
} waiter;

static pdk_lease_lock *lease_lock_of(struct rival *rival, const char *secret) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *lock;
    options.secret = secret;
    options.duration_ms = waiters_duration_ms;
    ck_assert_int_eq(pdk_lease_lock_new(rival->session, "/waited", &options, &lock), PDK_OK);
    return lock;
}

static void make_holder_in(void *rival, void *user) {
    (void)user;
    it.lock = lease_lock_of(rival, "the secret of one");
}

static void wait_for_it(void *user) {
    (void)user;
    waiter.status = pdk_lease_lock_acquire(waiter.lock, PDK_FOREVER, &waiter.hold);
    waiter.over = true;
}

static void start_waiter_in(void *rival, void *user) {
    waiter.lock = lease_lock_of(rival, "the secret of two");
    sim_thread_start(&((struct rival *)rival)->process, wait_for_it, user);
}

static void finish_waiter_in(void *rival, void *user) {
    (void)rival;
    (void)user;
    pdk_hold_unref(g_steal_pointer(&waiter.hold));
    pdk_lease_lock_unref(g_steal_pointer(&waiter.lock));
}

static void holder_gives_back(void *user, void *what) {
    (void)what;
    pdk_hold_unref(g_steal_pointer(&it.hold));
    pdk_lease_lock_unref(g_steal_pointer(&it.lock));
    struct driver_user *u = user;
    pdk_lock_unref(g_steal_pointer(&u->lock));
    pdk_rwlock_unref(g_steal_pointer(&u->rwlock));
    pdk_semaphore_unref(g_steal_pointer(&u->semaphore));
    pdk_election_unref(g_steal_pointer(&u->election));
    rival_gives_back(u->rival, NULL);
}

/* The end of the record as it stands, in simulated time. */
static int64_t record_end(void) {
    const struct sim_node *record = sim_tree_find(sim_truth(platform_ensemble), "/app/waited/record");
    ck_assert_ptr_nonnull(record);
    return (record->stat.mtime_ms + waiters_duration_ms) * SIM_MS;
}

/* Its lock node is as old as its wait. What that says of the time must not keep it out, nor let it in. */
static void waits_behind(int64_t duration_ms) {
    driver_begin();
    memset(&it, 0, sizeof it);
    memset(&waiter, 0, sizeof waiter);
    waiters_duration_ms = duration_ms;
    sim_call_in(&one->rival->process, make_holder_in, one->rival, NULL);
    start(acquire);
    await_over();
    ck_assert_int_eq(it.status, PDK_OK);
    sim_call_in(&two->rival->process, start_waiter_in, two->rival, NULL);
    platform_pass((20 * duration_ms + duration_ms / 6) * SIM_MS); /* the newest renewal was a while ago */
    ck_assert(!waiter.over);
    int64_t end = record_end(), dead = platform_agenda.now;
    sim_dispose(&one->rival->process, holder_gives_back, one, NULL);
    while (!waiter.over && platform_agenda.now < dead + TIMEOUT + 3 * duration_ms * SIM_MS)
        platform_pass(SIM_MS);
    ck_assert_msg(waiter.over, "not granted %ld ms after its end, with a duration of %ld ms",
                  (platform_agenda.now - end) / SIM_MS, duration_ms);
    ck_assert_int_eq(waiter.status, PDK_OK);
    ck_assert_int_ge(platform_agenda.now, end);
    ck_assert_int_le(platform_agenda.now, MAX(end, dead + TIMEOUT) + 2 * SECOND);
    sim_call_in(&two->rival->process, finish_waiter_in, two->rival, NULL);
}

START_TEST(one_that_has_waited_in_line_waits_for_the_end_alone) {
    static const int64_t durations_ms[] = {1000, 10000, 60000};
    waits_behind(durations_ms[_i]);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_lease_lock");
    TCase *cases = tcase_create("driver_lease_lock");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, a_release_is_no_loss, 0, 10);
    tcase_add_loop_test(cases, one_that_has_waited_in_line_waits_for_the_end_alone, 0, 3);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
