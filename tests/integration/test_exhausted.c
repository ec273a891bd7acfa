/* The system refuses descriptors and threads. A call that needs one says so and leaves nothing. A session that only
 * loses a connection meanwhile is told of it in time, and goes on when there are some again. The executable's
 * pthread_create replaces the C library's, also for the client library, and counts how many threads are still
 * allowed. */
#include <dlfcn.h>
#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "elections.h"
#include "refused.h"
#include "self.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 2000, CONNECT_MS = 1000, GONE_MS = 20000, MANY = 1000 };

/* ---- what is left to use */

static struct rlimit allowed;
static atomic_int threads_left = MANY;

struct beginning {
    void *(*main)(void *user);
    void *user;
};

static void *count_until_it_ends(void *user) {
    struct beginning it = *(struct beginning *)user;
    g_free(user);
    void *result = it.main(it.user);
    atomic_fetch_add(&threads_left, 1);
    return result;
}

typedef int create_fn(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *user), void *user);

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*main)(void *user), void *user) {
    create_fn *create;
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&create, &symbol, sizeof create);
    if (atomic_fetch_sub(&threads_left, 1) <= 0) {
        atomic_fetch_add(&threads_left, 1);
        return EAGAIN;
    }
    struct beginning *it = g_new(struct beginning, 1);
    *it = (struct beginning){main, user};
    return create(thread, attributes, count_until_it_ends, it);
}

static int lowest_free(void) {
    int fd = dup(STDERR_FILENO);
    ck_assert_int_ge(fd, 0);
    close(fd);
    return fd;
}

/* No descriptor from this number on. */
static void limit_descriptors(rlim_t limit) {
    const struct rlimit less = {limit, allowed.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &less), 0);
}

static void remove_limits(void) {
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &allowed), 0);
    atomic_store(&threads_left, MANY);
}

static void set_up(void) { ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &allowed), 0); }

static void tear_down(void) {
    remove_limits();
    ts_paddock_clear();
}

/* ---- opening */

/* With so many descriptors and threads available. */
static pdk_status open_with(pdk_dispatch dispatch, int descriptors, int threads, pdk_session **s) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.dispatch = dispatch;
    options.connect_timeout_ms = CONNECT_MS;
    limit_descriptors((rlim_t)(lowest_free() + descriptors));
    atomic_store(&threads_left, threads);
    pdk_status status = pdk_session_open(ts_bench_server(), &options, s);
    remove_limits();
    return status;
}

static void use_and_close(pdk_session *s) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, ts_fresh_path(), NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 10000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(lock);
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK);
    pdk_session_unref(s);
}

/* One more each time, until they are enough. Returns how often the open was refused. */
static int open_with_more_and_more(pdk_dispatch dispatch, bool descriptors) {
    int threads = self_thread_count(), open = self_descriptor_count();
    for (int count = 0;; count++) {
        pdk_session *s = NULL;
        pdk_status status = open_with(dispatch, descriptors ? count : MANY, descriptors ? MANY : count, &s);
        if (status == PDK_OK)
            use_and_close(s);
        else if (status == PDK_UNAVAILABLE) /* all but a socket */
            refused(status, PDK_UNAVAILABLE, "connect_timeout_ms");
        else
            refused(status, PDK_SYSTEM, ""); /* of the first thing that is missing */
        ck_assert(self_wait_threads(threads, GONE_MS));
        ck_assert_int_eq(self_descriptor_count(), open);
        if (status == PDK_OK)
            return count;
        ck_assert_ptr_null(s);
    }
}

START_TEST(a_session_without_descriptors_is_refused) {
    /* its timer's, two of a pipe, and a socket of the client library's; one more to announce callbacks */
    ck_assert_int_eq(open_with_more_and_more(PDK_DISPATCH_THREAD, true), 4);
    ck_assert_int_eq(open_with_more_and_more(PDK_DISPATCH_MANUAL, true), 5);
}
END_TEST

static void assert_one_of(int count, int least) {
    ck_assert_int_ge(count, least);
    ck_assert_int_le(count, least + 1);
}

START_TEST(a_session_without_threads_is_refused) {
    /* connector, timer and two of the client library's; perhaps one that has just looked up names; and a dispatcher */
    assert_one_of(open_with_more_and_more(PDK_DISPATCH_MANUAL, false), 4);
    assert_one_of(open_with_more_and_more(PDK_DISPATCH_THREAD, false), 5);
}
END_TEST

/* ---- holding */

static int64_t cpu_ms(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * INT64_C(1000) + used.tv_nsec / 1000000;
}

START_TEST(a_hold_is_valid_without_a_descriptor) {
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_lock *lock = ts_lock(client, ts_fresh_path());
    limit_descriptors((rlim_t)lowest_free());
    pdk_hold *hold = ts_bench_acquire(lock, 5000); /* needs no descriptor */
    ck_assert_int_eq(pdk_hold_fd(hold), -1);
    ck_assert_str_ne(pdk_last_error(), "");
    ck_assert(pdk_hold_is_valid(hold));
    remove_limits();
    ck_assert_int_ge(pdk_hold_fd(hold), 0);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

START_TEST(a_holder_that_cannot_connect_again_is_told) {
    int first = lowest_free(); /* all descriptors of a connection come after it */
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_lock *lock = ts_lock(client, ts_fresh_path());
    pdk_hold *hold = ts_bench_acquire(lock, 5000), *none = NULL;
    ts_lost *lost = ts_lost_watch(hold);
    int fd = pdk_hold_fd(hold);

    limit_descriptors((rlim_t)first);
    ts_proxy_reset(client->proxy);
    int64_t began = ts_now_ms(), used = cpu_ms();
    ck_assert(ts_lost_wait(lost, SESSION_MS + ts_patience(500)));
    ck_assert(!pdk_hold_is_valid(hold));
    ck_assert(ts_fd_readable(fd, 0));
    ck_assert_int_eq(pdk_lock_acquire(lock, 500, &none), PDK_UNAVAILABLE);
    /* it tries again and again, and waits in between */
    ck_assert_int_lt(cpu_ms() - used, (ts_now_ms() - began) / 2);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    ck_assert_int_eq(ts_events(client, PDK_SESSION_RESTORED) + ts_events(client, PDK_SESSION_REOPENED), 0);

    remove_limits();
    hold = ts_bench_acquire(lock, ts_patience(10000));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(ts_lost_count(lost), 1);
}
END_TEST

START_TEST(a_session_that_expired_waits_for_threads) {
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_lock *lock = ts_lock(client, ts_fresh_path());
    pdk_hold *hold = ts_bench_acquire(lock, 5000);
    ts_lost *lost = ts_lost_watch(hold);

    /* Two threads end with the old handle, so one is allowed, to look up names. The next handle gets none. */
    atomic_store(&threads_left, -1);
    ck_assert_int_eq(ts_expire(client->proxy, ts_bench_server()), 0);
    ck_assert(ts_lost_wait(lost, SESSION_MS + ts_patience(1000)));
    ts_sleep_ms(SESSION_MS); /* it has tried */
    ck_assert_int_eq(ts_events(client, PDK_SESSION_EXPIRED), 1);
    ck_assert_int_eq(ts_events(client, PDK_SESSION_REOPENED), 0);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);

    remove_limits();
    hold = ts_bench_acquire(lock, ts_patience(10000));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(ts_wait_event(client, PDK_SESSION_REOPENED, 1, ts_patience(1000)));
    ck_assert_int_eq(ts_events(client, PDK_SESSION_REOPENED), 1);
}
END_TEST

/* ---- leading */

static atomic_int terms;

static void lead(pdk_term *term, void *user) {
    *(int *)user = pdk_term_fd(term);
    atomic_fetch_add(&terms, 1);
    while (!pdk_term_is_ending(term))
        ts_sleep_ms(10);
}

static bool has_led(void *count) { return atomic_load(&terms) >= *(int *)count; }

START_TEST(a_service_waits_for_threads_and_needs_no_descriptor) {
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_election *election = election_on(client, ts_fresh_path(), NULL);
    pdk_service *service = NULL;
    int fd = 0, once = 1, twice = 2;
    atomic_store(&terms, 0);
    atomic_store(&threads_left, 0);
    refused(pdk_service_start(election, lead, &fd, NULL, &service), PDK_SYSTEM, "pthread_create");
    ck_assert_ptr_null(service);
    limit_descriptors((rlim_t)lowest_free());
    atomic_store(&threads_left, 1); /* its own; it gets none for the function */
    ck_assert_int_eq(pdk_service_start(election, lead, &fd, NULL, &service), PDK_OK);
    ts_sleep_ms(500);
    ck_assert_int_eq(atomic_load(&terms), 0);
    atomic_store(&threads_left, MANY);
    ck_assert(ts_wait_until(has_led, &once, ts_patience(10000)));
    ck_assert_int_eq(pdk_service_resign(service), PDK_OK); /* it hears of that without a descriptor */
    ck_assert(ts_wait_until(has_led, &twice, ts_patience(10000)));
    ck_assert_int_eq(fd, -1);
    ck_assert_int_eq(pdk_service_close(service, ts_patience(10000)), PDK_OK);
    pdk_service_unref(service);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("exhausted");
    TCase *cases = ts_bench_case(suite, "exhausted");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, a_session_without_descriptors_is_refused);
    tcase_add_test(cases, a_session_without_threads_is_refused);
    tcase_add_test(cases, a_hold_is_valid_without_a_descriptor);
    tcase_add_test(cases, a_holder_that_cannot_connect_again_is_told);
    tcase_add_test(cases, a_session_that_expired_waits_for_threads);
    tcase_add_test(cases, a_service_waits_for_threads_and_needs_no_descriptor);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
