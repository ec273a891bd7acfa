/* The words that a hold is valid by: the lease's, which is the same for all holds, and its own. A hold that was found invalid stays so,
 * and none is lost for a clock that was read late. */
#include "platform_bench.h"

#include "grant/hold.h"
#include "grant/registry.h"

static struct {
    struct pdk__platform platform;
    int64_t now;           /* of the clock that is put in */
    void (*reading)(void); /* comes between the words and the clock; once */
} it;

static struct pdk__registry *registry(void) { return (struct pdk__registry *)first->session->listener; }
static int64_t lease_end(void) { return atomic_load(&registry()->lease_end); }
static bool is_valid(void) { return pdk_hold_is_valid(first->hold); }

static int64_t stepped_clock(void) {
    void (*reading)(void) = it.reading;
    it.reading = NULL;
    if (reading)
        reading();
    return it.now;
}

static void renewed(void) { atomic_store(&registry()->lease_end, lease_end() + SECOND); }

static void hear(int64_t end) {
    pdk__lock(first->session);
    registry()->listener.calls->lease_extended(&registry()->listener, end);
    pdk__unlock(first->session);
}

static void limit(int64_t latest) {
    pdk__lock(first->session);
    pdk__hold_limit(first->hold, latest, 0);
    pdk__unlock(first->session);
}

/* With a clock that stands. */
static void with_clock(void (*fn)(void)) {
    ck_assert(is_valid());
    ck_assert_int_eq(lease_end(), first->session->lease.end);
    const struct pdk__platform *real = first->session->platform;
    it.platform = *real;
    it.platform.now = stepped_clock;
    it.now = real->now();
    first->session->platform = &it.platform;
    fn();
    first->session->platform = real;
}

static void begin(void) {
    rival_open(first);
    platform_pass(SECOND);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
}

static void in_process(void (*fn)(void)) {
    begin();
    with_clock(fn);
}

static void reads_late(void) {
    it.now = lease_end();
    it.reading = renewed;
    ck_assert(is_valid());
    ck_assert_int_eq(atomic_load(&first->hold->until), INT64_MAX);
}

START_TEST(a_renewal_came_before_the_clock_was_read) { in_process(reads_late); }
END_TEST

static void finds_it_passed(void) {
    it.now = lease_end();
    ck_assert(!is_valid());
    renewed(); /* it had looked at the clock in time */
    ck_assert(!is_valid());
    ck_assert_int_eq(pdk_hold_remaining_ms(first->hold), 0);
}

START_TEST(what_was_found_invalid_stays_so) { in_process(finds_it_passed); }
END_TEST

static void hears_late(void) {
    it.now = lease_end();
    hear(lease_end() + SECOND);
    ck_assert(!is_valid());
    ck_assert_int_eq(pdk_hold_reason(first->hold), PDK_REASON_LEASE);
}

START_TEST(a_renewal_that_is_heard_of_too_late_revives_nothing) {
    in_process(hears_late);
    platform_pass(SECOND);
    ck_assert_uint_eq(first->losses, 1);
    ck_assert_int_eq(first->reason, PDK_REASON_LEASE);
}
END_TEST

/* They are told in slices, between which others have the monitor. Each slice looks at the one behind it. */
enum { OTHERS = 2 };

static pdk_hold *others[OTHERS];

static void on_other(pdk_status status, pdk_hold *hold, void *at) {
    ck_assert_int_eq(status, PDK_OK);
    *(pdk_hold **)at = hold;
}

static pdk_lock *take_other(const char *path, pdk_hold **at) {
    pdk_lock *lock = NULL;
    ck_assert_int_eq(pdk_lock_new(first->session, path, NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, on_other, at, NULL), PDK_OK);
    platform_pass(SECOND);
    return lock;
}

static void hears_late_of_many(void) {
    it.platform.slice = 1;
    it.now = lease_end();
    hear(lease_end() + SECOND);
    ck_assert(!is_valid());
    for (int i = 0; i < OTHERS; i++)
        ck_assert(!pdk_hold_is_valid(others[i]));
}

START_TEST(it_revives_none_of_many) {
    begin();
    pdk_lock *locks[OTHERS] = {take_other("/second", &others[0]), take_other("/third", &others[1])};
    with_clock(hears_late_of_many);
    platform_pass(SECOND);
    for (int i = 0; i < OTHERS; i++) {
        ck_assert_int_eq(pdk_hold_release(others[i]), PDK_LOST);
        pdk_lock_unref(locks[i]);
    }
}
END_TEST

static void is_limited(void) {
    const int64_t end = lease_end();
    limit(end - SECOND / 10);
    hear(end + SECOND);
    it.now = end - SECOND / 10 - 1;
    ck_assert(is_valid());
    limit(end + SECOND / 2);
    it.now = end + SECOND / 2 - 1;
    ck_assert(is_valid());
    limit(end + 2 * SECOND);
    it.now = end + SECOND - 1;
    ck_assert(is_valid());
    it.now++;
    limit(end + 3 * SECOND); /* too late: the lease is over */
    hear(end + 4 * SECOND);
    ck_assert(!is_valid());
}

START_TEST(the_smaller_word_counts) { in_process(is_limited); }
END_TEST

static void passes_its_limit(void) {
    limit(it.now + SECOND / 10);
    it.now += SECOND / 10;
    limit(INT64_MAX);
    ck_assert(!is_valid());
}

START_TEST(a_limit_that_has_passed_stays) { in_process(passes_its_limit); }
END_TEST

static void is_awaited(void) {
    pdk__lock(first->session);
    ck_assert_ptr_eq(pdk__hold_await(first->hold), pdk__hold_await(first->hold));
    const guint awaited = registry()->awaited.length;
    pdk__unlock(first->session);
    ck_assert_uint_eq(awaited, 1);
    hear(lease_end() + SECOND);
    ck_assert_uint_eq(registry()->awaited.length, 0);
}

START_TEST(a_hold_is_awaited_once) { in_process(is_awaited); }
END_TEST

int main(void) {
    return ts_run("driver_lease_words", platform_setup, platform_teardown, a_renewal_came_before_the_clock_was_read,
                  what_was_found_invalid_stays_so, a_renewal_that_is_heard_of_too_late_revives_nothing,
                  it_revives_none_of_many, the_smaller_word_counts, a_limit_that_has_passed_stays,
                  a_hold_is_awaited_once, NULL);
}
