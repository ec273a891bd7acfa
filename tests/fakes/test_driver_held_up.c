/* A process is held up at any moment of an acquisition: for longer than its lease, or than its hold may last, or than it wanted to
 * wait. What it is given is valid at that moment, and in time. */
#include "driver_bench.h"
#include "sim_thread.h"

#include <paddock/striped.h>
#include <string.h>

enum { WAIT_MS = 300 };
#define STEP (SIM_MS / 4)

static struct {
    pdk_striped *striped;
    pdk_set *set;
    int64_t by; /* its deadline, by its own clock */
    bool answered, in_time, valid;
    pdk_status status;
} it;

static int64_t now(void) { return sim_process_clock(&first->process); }

static void heard(pdk_status status, bool valid) {
    it.answered = true;
    it.status = status;
    it.in_time = now() <= it.by;
    it.valid = valid;
}

static void on_hold(pdk_status status, pdk_hold *hold, void *unused) {
    (void)unused;
    heard(status, hold && pdk_hold_is_valid(hold));
    deeds.hold = hold;
}

static void on_run(pdk_status status, pdk_hold *hold, pdk_job_runs *runs, void *user) {
    pdk_job_runs_free(runs);
    on_hold(status, hold, user);
}

static void on_set(pdk_status status, pdk_set *set, void *unused) {
    (void)unused;
    heard(status, set && pdk_set_is_valid(set));
    it.set = set;
}

/* ---- what is acquired: with a callback, in a call, and in the process */

static pdk_status ask_lock(int64_t ms) { return pdk_lock_acquire_async(deeds.lock, ms, on_hold, NULL, NULL); }
static pdk_status ask_read(int64_t ms) { return pdk_rwlock_acquire_read_async(one->rwlock, ms, on_hold, NULL, NULL); }
static pdk_status ask_write(int64_t ms) { return pdk_rwlock_acquire_write_async(one->rwlock, ms, on_hold, NULL, NULL); }
static pdk_status ask_permits(int64_t ms) {
    return pdk_semaphore_acquire_async(one->semaphore, 2, ms, on_hold, NULL, NULL);
}
static pdk_status ask_any(int64_t ms) { return pdk_striped_acquire_any_async(it.striped, ms, on_hold, NULL, NULL); }
static pdk_status ask_lease(int64_t ms) { return pdk_lease_lock_acquire_async(deeds.lease, ms, on_hold, NULL); }
static pdk_status ask_job(int64_t ms) { return pdk_job_acquire_async(deeds.job, ms, on_run, NULL); }

static pdk_status ask_set(int64_t ms) {
    const pdk_right rights[] = {pdk_right_lock(deeds.lock), pdk_right_permits(one->semaphore, 1)};
    return pdk_set_acquire_async(rights, 2, ms, NULL, on_set, NULL, NULL);
}

static pdk_status take_lock(int64_t ms) { return pdk_lock_acquire(deeds.lock, ms, &deeds.hold); }
static pdk_status take_lease(int64_t ms) { return pdk_lease_lock_acquire(deeds.lease, ms, &deeds.hold); }
static pdk_status take_job(int64_t ms) { return pdk_job_acquire(deeds.job, ms, &deeds.hold, NULL); }

static pdk_status take_set(int64_t ms) {
    const pdk_right rights[] = {pdk_right_lock(deeds.lock), pdk_right_permits(one->semaphore, 1)};
    return pdk_set_acquire(rights, 2, ms, NULL, &it.set);
}

static const struct recipe {
    const char *name;
    pdk_status (*begin)(int64_t ms); /* or it blocks */
    bool blocks, may_be_late;        /* it has written its record by then, or may wait for a request */
} recipes[] = {{"lock", ask_lock, false, false},
               {"read lock", ask_read, false, false},
               {"write lock", ask_write, false, false},
               {"semaphore", ask_permits, false, false},
               {"striped lock", ask_any, false, false},
               {"lease lock", ask_lease, false, true},
               {"job", ask_job, false, true},
               {"set", ask_set, false, false},
               {"lock, in a call", take_lock, true, false},
               {"lease lock, in a call", take_lease, true, true},
               {"job, in a call", take_job, true, true},
               {"set, in a call", take_set, true, false}};

/* ---- in the process */

static void make(void) {
    memset(&it, 0, sizeof it);
    ck_assert_int_eq(pdk_striped_new(first->session, "/stripes", 2, NULL, &it.striped), PDK_OK);
}

static void drop(void) {
    pdk_set_unref(it.set);
    pdk_striped_unref(it.striped);
}

static const struct recipe *blocking;
static int64_t timeout_ms;

static void block(void *unused) {
    (void)unused;
    pdk_status status = blocking->begin(timeout_ms);
    heard(status, it.set ? pdk_set_is_valid(it.set) : pdk_hold_is_valid(deeds.hold));
}

/* ---- from outside */

/* Held up so long after it has asked. false: it was answered before. */
static bool held_up_after(const struct recipe *recipe, int64_t after, int64_t how_long) {
    deeds_begin();
    make();
    driver_want_lock(one); /* a session that holds something has a longer lease */
    platform_pass(SECOND);
    it.by = timeout_ms == PDK_FOREVER ? INT64_MAX : now() + (timeout_ms + 1) * SIM_MS;
    blocking = recipe;
    if (recipe->blocks)
        sim_thread_start(&first->process, block, NULL);
    else
        ck_assert_int_eq(recipe->begin(timeout_ms), PDK_OK);
    platform_pass(after);
    bool before = it.answered;
    if (!before)
        driver_hold_up(how_long);
    for (int64_t until = platform_agenda.now + 30 * SECOND; !it.answered; platform_pass(SIM_MS / 10))
        ck_assert_msg(platform_agenda.now < until, "%s: nobody answers", recipe->name);
    ck_assert_msg(it.status != PDK_OK || (it.valid && (it.in_time || recipe->may_be_late)),
                  "%s, held up after %d us for %d ms: %s", recipe->name, (int)(after / 1000), (int)(how_long / SIM_MS),
                  it.valid ? "it is too late" : "it is not valid");
    drop();
    deeds_end();
    return !before;
}

static void held_up_anywhere(const struct recipe *recipe, int64_t how_long, int64_t step) {
    int64_t after = step;
    while (held_up_after(recipe, after, how_long))
        after += step;
    ck_assert_int_gt(after, 4 * step);
}

/* Longer than its lease, and less long than its session. */
START_TEST(longer_than_its_lease) {
    timeout_ms = PDK_FOREVER;
    held_up_anywhere(&recipes[_i], 1700 * SIM_MS, 2 * STEP);
}
END_TEST

/* Longer than a run, or the record of a lease lock, may last, and less long than its lease. */
START_TEST(longer_than_its_hold_lasts) {
    timeout_ms = PDK_FOREVER;
    held_up_anywhere(&recipes[_i], (DEED_AT_MOST_MS + 20) * SIM_MS, STEP);
    held_up_anywhere(&recipes[_i], (DEED_LEASE_MS - 90) * SIM_MS, STEP);
}
END_TEST

START_TEST(longer_than_it_waits) {
    timeout_ms = WAIT_MS;
    held_up_anywhere(&recipes[_i], 2 * WAIT_MS * SIM_MS, STEP);
}
END_TEST

/* ---- what a thread asks first when it runs again: no timer has rung yet */

static pdk_hold *other;

static pdk_status take_two(void) { return take_set(PDK_FOREVER); }
static pdk_status take_again(void) { return pdk_lock_acquire(deeds.lock, PDK_FOREVER, &other); }
static pdk_status try_again(void) { return pdk_lock_acquire(deeds.lock, 0, &other); }
static pdk_status ensure(void) { return pdk_hold_ensure(deeds.hold, 1); }
static pdk_status release_set(void) { return pdk_set_release(g_steal_pointer(&it.set)); }
static pdk_status lead_on(void) { return pdk_election_wait(one->election, PDK_FOREVER, &other); }

static pdk_status lead(void) {
    driver_join(one);
    return pdk_election_wait(one->election, PDK_FOREVER, &deeds.hold);
}

static const struct first {
    const char *name;
    pdk_status (*before)(void), (*asks)(void);
    pdk_status status;
} firsts[] = {{"release", deed_lock, deed_give_back, PDK_LOST},
              {"release of a set", take_two, release_set, PDK_LOST},
              {"ensure", deed_lock, ensure, PDK_LOST},
              {"reason", deed_lock, deed_nothing, PDK_OK},
              {"acquire again", deed_lock, take_again, PDK_OK},
              {"try again", deed_lock, try_again, PDK_OK},
              {"lead", lead, lead_on, PDK_OK}};

START_TEST(what_is_asked_first_when_it_runs_again) {
    const struct first *what = &firsts[_i];
    deeds_begin();
    make();
    ck_assert_int_eq(deed(what->before), PDK_OK);
    platform_pass(SECOND);
    driver_hold_up(1700 * SIM_MS);
    deed_start(what->asks);
    if (what->asks == deed_nothing)
        ck_assert_int_eq(pdk_hold_reason(deeds.hold), PDK_REASON_LEASE);
    deed_await();
    ck_assert_msg(deeds.status == what->status, "%s: %s", what->name, pdk_status_name(deeds.status));
    ck_assert_msg(!other || pdk_hold_is_valid(other), "%s: it is not valid", what->name);
    pdk_hold_unref(g_steal_pointer(&other));
    drop();
    deeds_end();
}
END_TEST

/* A case for each, so that one may be run alone (PDK_TEST_FILTER). */
static void add(Suite *suite, const char *name, const TTest *test, int count) {
    TCase *cases = tcase_create(name);
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, test, 0, count);
    suite_add_tcase(suite, cases);
}

int main(void) {
    Suite *suite = suite_create("driver_held_up");
    add(suite, "lease", longer_than_its_lease, G_N_ELEMENTS(recipes));
    add(suite, "hold", longer_than_its_hold_lasts, G_N_ELEMENTS(recipes));
    add(suite, "wait", longer_than_it_waits, G_N_ELEMENTS(recipes));
    add(suite, "first", what_is_asked_first_when_it_runs_again, G_N_ELEMENTS(firsts));
    return ts_run_suite(suite);
}
