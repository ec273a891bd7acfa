/* A thread that waits for a longer lease hears of the end of its hold at once, whatever ends it. It does not wait for more than it can
 * get. */
#include <glib.h>
#include <paddock/job.h>
#include <paddock/lease_lock.h>
#include <stdatomic.h>

#include "refused.h"
#include "session/session.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* The wait for a request is far longer than the lease. */
enum { SESSION_MS = 3000, REQUEST_MS = 20000, WANTED_MS = 1200, SLACK_MS = 1000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    ts_client *client;
    pdk_hold *hold;
    GThread *thread;
    pdk_status status;
    atomic_bool waits;
} it;

static void *ensure(void *user) {
    (void)user;
    atomic_store(&it.waits, true);
    it.status = pdk_hold_ensure(it.hold, WANTED_MS);
    return NULL;
}

static bool is_short(void *user) {
    (void)user;
    return pdk_hold_remaining_ms(it.hold) < WANTED_MS;
}

static bool waits(void *user) {
    (void)user;
    return atomic_load(&it.waits);
}

/* A thread waits, and no answer comes. */
static void begin(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = REQUEST_MS;
    options.server_tick_ms = 200; /* with T/2 a new lease may take as long as the old one lasts */
    it.client = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(it.client);
    it.hold = ts_bench_acquire(ts_lock(it.client, ts_fresh_path()), 5000);
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    ck_assert(ts_wait_until(is_short, NULL, SESSION_MS));
    ck_assert(pdk_hold_is_valid(it.hold));
    atomic_store(&it.waits, false);
    it.thread = g_thread_new("ensure", ensure, NULL);
    ck_assert(ts_wait_until(waits, NULL, 1000));
    ts_sleep_ms(50); /* until it really waits */
}

static void assert_answered(pdk_status status, int64_t began_ms, int64_t within_ms) {
    g_thread_join(it.thread);
    ck_assert_int_eq(it.status, status);
    ck_assert_uint_eq(it.client->session->urgent, 0); /* renewals come at their usual pace again */
    ck_assert_int_le(ts_now_ms() - began_ms, ts_patience(within_ms));
}

START_TEST(the_lease_is_over) {
    begin();
    int64_t began = ts_now_ms();
    assert_answered(PDK_LOST, began, WANTED_MS + SLACK_MS);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
}
END_TEST

START_TEST(another_thread_releases_it) {
    begin();
    int64_t began = ts_now_ms();
    pdk_hold_ref(it.hold);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    assert_answered(PDK_NOT_HELD, began, SLACK_MS);
    pdk_hold_unref(it.hold);
}
END_TEST

START_TEST(the_link_comes_back) {
    begin();
    int64_t began = ts_now_ms();
    ts_proxy_heal(it.client->proxy);
    assert_answered(PDK_OK, began, WANTED_MS + SLACK_MS);
    ck_assert_int_gt(pdk_hold_remaining_ms(it.hold), WANTED_MS / 2);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}
END_TEST

/* Renewals of the session do not help a hold that ends by itself: that is said at once. */
START_TEST(a_lease_lock_ends_by_itself) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *lock = NULL;
    pdk_hold *hold = NULL;
    it.client = ts_bench_client(4 * SESSION_MS);
    options.secret = "the secret of one";
    options.duration_ms =
        3000; /* of which 2762 ms are left when the record is written, and 1762 before it is renewed */
    ck_assert_int_eq(pdk_lease_lock_new(it.client->session, ts_fresh_path(), &options, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lease_lock_acquire(lock, ts_patience(5000), &hold), PDK_OK);
    int64_t began = ts_now_ms();
    refused(pdk_hold_ensure(hold, 2763), PDK_INVALID, "from 0 to 2762, since this hold ends by itself");
    refused(pdk_hold_ensure(hold, INT64_MAX), PDK_INVALID, "from 0 to 2762");
    ck_assert_int_le(ts_now_ms() - began, SLACK_MS);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pdk_hold_ensure(hold, 2300), PDK_OK); /* once it is renewed */
        ck_assert_int_ge(pdk_hold_remaining_ms(hold), 2300 - SLACK_MS);
        ts_sleep_ms(300);
    }
    ck_assert_uint_eq(it.client->session->urgent, 0);
    pdk_hold_release(hold);
    pdk_lease_lock_unref(lock);
}
END_TEST

START_TEST(a_run_of_a_job_ends_by_itself) {
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    pdk_job *job = NULL;
    pdk_hold *hold = NULL;
    it.client = ts_bench_client(4 * SESSION_MS);
    options.at_most_ms = 4000;
    ck_assert_int_eq(pdk_job_new(it.client->session, ts_fresh_path(), &options, &job), PDK_OK);
    ck_assert_int_eq(pdk_job_acquire(job, ts_patience(5000), &hold, NULL), PDK_OK);
    int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_hold_ensure(hold, 500), PDK_OK);
    refused(pdk_hold_ensure(hold, 4001), PDK_INVALID, "since this hold ends by itself");
    ck_assert_int_le(ts_now_ms() - began, SLACK_MS);
    ck_assert_int_eq(pdk_job_finish(job, hold, 0, ts_patience(5000)), PDK_OK);
    pdk_job_unref(job);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("ensure");
    TCase *cases = ts_bench_case(suite, "ensure");
    tcase_add_test(cases, the_lease_is_over);
    tcase_add_test(cases, another_thread_releases_it);
    tcase_add_test(cases, the_link_comes_back);
    tcase_add_test(cases, a_lease_lock_ends_by_itself);
    tcase_add_test(cases, a_run_of_a_job_ends_by_itself);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
