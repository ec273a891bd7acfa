/* A process is held up at any moment of an acquisition: for longer than its lease, or than its hold may last, or than it wanted to
 * wait. What it is given is valid at that moment, and in time. */
#include "deeds.h"
#include "sim_thread.h"

#include <paddock/striped.h>
#include <string.h>

enum { WAIT_MS = 300 };
#define STEP (SIM_MS / 4)

static struct {
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    pdk_striped *striped;
    pdk_set *set;
    int64_t by; /* its deadline, by its own clock */
    bool answered, in_time, valid;
    pdk_status status;
} it;

static int64_t now_in(const struct rival *rival) { return sim_process_clock(&rival->process); }

static void heard(pdk_status status, bool valid) {
    it.answered = true;
    it.status = status;
    it.in_time = now_in(group_one->rival) <= it.by;
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
static pdk_status ask_read(int64_t ms) { return pdk_rwlock_acquire_read_async(it.rwlock, ms, on_hold, NULL, NULL); }
static pdk_status ask_write(int64_t ms) { return pdk_rwlock_acquire_write_async(it.rwlock, ms, on_hold, NULL, NULL); }
static pdk_status ask_permits(int64_t ms) {
    return pdk_semaphore_acquire_async(it.semaphore, 2, ms, on_hold, NULL, NULL);
}
static pdk_status ask_any(int64_t ms) { return pdk_striped_acquire_any_async(it.striped, ms, on_hold, NULL, NULL); }
static pdk_status ask_lease(int64_t ms) { return pdk_lease_lock_acquire_async(deeds.lease, ms, on_hold, NULL); }
static pdk_status ask_job(int64_t ms) { return pdk_job_acquire_async(deeds.job, ms, on_run, NULL); }

static pdk_status ask_set(int64_t ms) {
    const pdk_right rights[] = {pdk_right_lock(deeds.lock), pdk_right_permits(it.semaphore, 1)};
    return pdk_set_acquire_async(rights, 2, ms, NULL, on_set, NULL, NULL);
}

static pdk_status take_lock(int64_t ms) { return pdk_lock_acquire(deeds.lock, ms, &deeds.hold); }
static pdk_status take_lease(int64_t ms) { return pdk_lease_lock_acquire(deeds.lease, ms, &deeds.hold); }
static pdk_status take_job(int64_t ms) { return pdk_job_acquire(deeds.job, ms, &deeds.hold, NULL); }

static pdk_status take_set(int64_t ms) {
    const pdk_right rights[] = {pdk_right_lock(deeds.lock), pdk_right_permits(it.semaphore, 1)};
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

static void make_in(void *rival, void *unused) {
    pdk_session *s = ((struct rival *)rival)->session;
    (void)unused;
    ck_assert_int_eq(pdk_rwlock_new(s, "/rw", NULL, &it.rwlock), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_new(s, "/permits", 2, NULL, &it.semaphore), PDK_OK);
    ck_assert_int_eq(pdk_striped_new(s, "/stripes", 2, NULL, &it.striped), PDK_OK);
}

static void drop_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_set_unref(it.set);
    pdk_rwlock_unref(it.rwlock);
    pdk_semaphore_unref(it.semaphore);
    pdk_striped_unref(it.striped);
}

static const struct recipe *blocking;
static int64_t timeout_ms;

static void block(void *unused) {
    (void)unused;
    pdk_status status = blocking->begin(timeout_ms);
    heard(status, it.set ? pdk_set_is_valid(it.set) : pdk_hold_is_valid(deeds.hold));
}

static void ask_in(void *rival, void *what) {
    const struct recipe *recipe = what;
    it.by = timeout_ms == PDK_FOREVER ? INT64_MAX : now_in(rival) + timeout_ms * SIM_MS + SIM_MS;
    if (recipe->blocks)
        sim_thread_start(&((struct rival *)rival)->process, block, NULL);
    else
        ck_assert_int_eq(recipe->begin(timeout_ms), PDK_OK);
}

/* ---- from outside */

/* Held up so long after it has asked. false: it was answered before. */
static bool held_up_after(const struct recipe *recipe, int64_t after, int64_t how_long) {
    deeds_begin();
    memset(&it, 0, sizeof it);
    group_call(group_one, make_in, NULL);
    driver_want_lock(&driver_users[0]); /* a session that holds something has a longer lease */
    platform_pass(SECOND);
    blocking = recipe;
    group_call(group_one, ask_in, (void *)(gsize)recipe);
    platform_pass(after);
    bool before = it.answered;
    if (!before)
        deed_hold_up(how_long);
    for (int64_t until = platform_agenda.now + 30 * SECOND; !it.answered; platform_pass(SIM_MS / 10))
        ck_assert_msg(platform_agenda.now < until, "%s: nobody answers", recipe->name);
    ck_assert_msg(it.status != PDK_OK || it.valid, "%s, held up after %d us for %d ms: it is not valid", recipe->name,
                  (int)(after / 1000), (int)(how_long / SIM_MS));
    ck_assert_msg(it.status != PDK_OK || it.in_time || recipe->may_be_late,
                  "%s, held up after %d us for %d ms: it is too late", recipe->name, (int)(after / 1000),
                  (int)(how_long / SIM_MS));
    group_call(group_one, drop_in, NULL);
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

static pdk_election *office;
static pdk_hold *other;

static pdk_status take(void) { return take_lock(PDK_FOREVER); }
static pdk_status take_two(void) { return take_set(PDK_FOREVER); }
static pdk_status take_again(void) { return pdk_lock_acquire(deeds.lock, PDK_FOREVER, &other); }
static pdk_status try_again(void) { return pdk_lock_acquire(deeds.lock, 0, &other); }
static pdk_status ensure(void) { return pdk_hold_ensure(deeds.hold, 1); }
static pdk_status release_set(void) { return pdk_set_release(g_steal_pointer(&it.set)); }
static pdk_status release(void) { return pdk_hold_release(g_steal_pointer(&deeds.hold)); }
static pdk_status stay_put(void) { return PDK_OK; }

static pdk_status join(void) {
    pdk_status status = pdk_election_new(group_one->rival->session, "/office", NULL, &office);
    return status == PDK_OK ? pdk_election_join(office, NULL) : status;
}

static pdk_status lead(void) {
    pdk_status status = join();
    return status == PDK_OK ? pdk_election_wait(office, PDK_FOREVER, &deeds.hold) : status;
}

static pdk_status lead_on(void) { return pdk_election_wait(office, PDK_FOREVER, &other); }

static void drop_more_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_hold_unref(g_steal_pointer(&other));
    pdk_election_unref(g_steal_pointer(&office));
}

static const struct first {
    const char *name;
    pdk_status (*before)(void), (*asks)(void);
    pdk_status status;
} firsts[] = {{"release", take, release, PDK_LOST},
              {"release of a set", take_two, release_set, PDK_LOST},
              {"ensure", take, ensure, PDK_LOST},
              {"reason", take, stay_put, PDK_OK},
              {"acquire again", take, take_again, PDK_OK},
              {"try again", take, try_again, PDK_OK},
              {"lead", lead, lead_on, PDK_OK}};

START_TEST(what_is_asked_first_when_it_runs_again) {
    const struct first *first_of_all = &firsts[_i];
    deeds_begin();
    memset(&it, 0, sizeof it);
    group_call(group_one, make_in, NULL);
    ck_assert_int_eq(deed(first_of_all->before), PDK_OK);
    platform_pass(SECOND);
    deed_hold_up(1700 * SIM_MS);
    deed_start(first_of_all->asks);
    if (first_of_all->asks == stay_put)
        ck_assert_int_eq(deed_reason(), PDK_REASON_LEASE);
    deed_await();
    ck_assert_msg(deeds.status == first_of_all->status, "%s: %s", first_of_all->name, pdk_status_name(deeds.status));
    if (other) {
        pdk_hold *old = deeds.hold;
        deeds.hold = other;
        ck_assert_msg(deed_is_valid(), "%s: it is not valid", first_of_all->name);
        deeds.hold = old;
    }
    group_call(group_one, drop_more_in, NULL);
    group_call(group_one, drop_in, NULL);
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

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_held_up");
    add(suite, "lease", longer_than_its_lease, G_N_ELEMENTS(recipes));
    add(suite, "hold", longer_than_its_hold_lasts, G_N_ELEMENTS(recipes));
    add(suite, "wait", longer_than_it_waits, G_N_ELEMENTS(recipes));
    add(suite, "first", what_is_asked_first_when_it_runs_again, G_N_ELEMENTS(firsts));
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
