/* Which periods and options a job refuses, what it makes of records that others wrote, and how its calls end. */
#include <glib.h>
#include <pthread.h>

#include "jobs.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_observer.h"

#define NODE "_c_00000000-0000-8000-8000-000000000001-lock-0000000007"

static struct {
    const char *path;
    ts_client *a;
    pdk_job *job;
} it;

static void make_it(void) {
    it.path = ts_fresh_path();
    it.a = ts_bench_client(SLOW_MS);
    it.job = job_of(it.a, it.path, NULL);
}

static void refuses_options(pdk_job_options options, const char *word) {
    pdk_job *job = NULL;
    refused(pdk_job_new(it.a->session, "/a", &options, &job), PDK_INVALID, word);
    ck_assert_ptr_null(job);
}

START_TEST(periods_are_checked) {
    make_it();
    const pdk_job_options defaults = PDK_JOB_OPTIONS_INIT;
    pdk_job_options o = defaults;
    o.at_ms = 1;
    refuses_options(o, "at_ms");
    o.every_ms = 1000;
    o.at_ms = 1000;
    refuses_options(o, "at_ms");
    o.at_ms = -1;
    refuses_options(o, "at_ms");
    o = defaults;
    o.zone = "Europe/Berlin";
    refuses_options(o, "every_ms");
    o.every_ms = 3600000;
    refuses_options(o, "every_ms");
    o.every_ms = 86400000;
    o.zone = "Europe/Nowhere";
    refuses_options(o, "Europe/Nowhere");
}
END_TEST

START_TEST(options_are_checked) {
    make_it();
    pdk_session *s = it.a->session;
    pdk_job *job = NULL;
    const pdk_job_options defaults = PDK_JOB_OPTIONS_INIT;
    pdk_job_options o = defaults;
    g_autofree char *path = g_strnfill(501, 'p');
    path[0] = '/';
    refused(pdk_job_new(s, path, NULL, &job), PDK_INVALID, "record stands below");
    o.every_ms = -1;
    refuses_options(o, "every_ms");
    o = defaults;
    o.at_least_ms = INT64_C(315576000001);
    refuses_options(o, "at_least_ms");
    o = defaults;
    o.at_most_ms = INT64_MIN;
    refuses_options(o, "at_most_ms");
    o = defaults;
    o.retry = 2;
    refuses_options(o, "retry");
    o = defaults;
    o.history = 0;
    refuses_options(o, "history");
    o.history = 101;
    refuses_options(o, "history");
    ck_assert_int_eq(pdk_job_options_init(&o, sizeof o), PDK_OK);
    ck_assert_int_eq(o.history, 16);
    pdk_hold *hold = job_begun(it.job);
    refused(pdk_job_finish(it.job, hold, -1, 0), PDK_INVALID, "outcome");
    refused(pdk_job_finish(job_of(it.a, "/a", NULL), hold, 0, 0), PDK_INVALID, "hold");
    job_finished(it.job, hold, 0);
}
END_TEST

static void refuses(pdk_status status, const char *word) {
    pdk_hold *hold = NULL;
    pdk_job_runs *runs = NULL;
    g_autofree char *before = job_text(it.path);
    refused(pdk_job_acquire(it.job, PATIENCE_MS, &hold, &runs), status, word);
    refused(pdk_job_history(it.a->session, it.path, PATIENCE_MS, &runs), status, word);
    g_autofree char *after = job_text(it.path);
    ck_assert_str_eq(before, after);
    ck_assert_ptr_null(hold);
    ck_assert_ptr_null(runs);
}

START_TEST(records_of_others) {
    make_it();
    job_write(it.path, "paddock-job 2\nsomething new");
    refuses(PDK_UNSUPPORTED, "later version");
    job_write(it.path, "hello");
    refuses(PDK_DAMAGED, "/record");
    job_write(it.path, "paddock-job 1\nR 9 1 0 0 0 0 0 ../../" NODE " a\n");
    refuses(PDK_DAMAGED, "/record");
    g_autofree char *large = g_strnfill(100000, 'x');
    job_write(it.path, large);
    refuses(PDK_DAMAGED, "/record");
    job_write(it.path, "paddock-job 1\n"); /* nobody ever writes that, and it says that nobody ran */
    job_finished(it.job, job_begun(it.job), 0);
    /* A run of a later token than any that the servers give: nobody may come after it. */
    job_write(it.path, "paddock-job 1\nR 9223372036854775807 1 0 0 0 0 0 " NODE " a\n");
    pdk_hold *hold = NULL;
    refused(pdk_job_acquire(it.job, PATIENCE_MS, &hold, NULL), PDK_LOST, "came after");
    /* One that the servers' clock will not see. */
    job_write(it.path, "paddock-job 1\nF 1 253402300799999 253402300799999 0 0 0 0 " NODE " a\n");
    job_skipped(it.job);
}
END_TEST

START_TEST(the_record_goes_while_it_runs) {
    make_it();
    g_autofree char *record = g_strconcat(it.path, "/record", NULL);
    pdk_hold *hold = job_begun(it.job);
    ck_assert_int_eq(ts_delete(ts_bench_server(), record), 0);
    refused(pdk_job_finish(it.job, hold, 0, PATIENCE_MS), PDK_REPLACED, it.path);
    job_write(it.path, "hello");
    refused(pdk_job_finish(it.job, hold, 0, PATIENCE_MS), PDK_DAMAGED, it.path);
    pdk_hold_release(hold);
}
END_TEST

START_TEST(what_may_not_be_read_or_written) {
    make_it();
    pdk_job_runs *runs = NULL;
    pdk_hold *hold = job_begun(it.job);
    g_autofree char *record = g_strconcat(it.path, "/record", NULL);
    ts_observer *admin = ts_observer_open(ts_bench_server());
    ck_assert_int_eq(ts_observer_set_acl(admin, record, TS_PERM_READ | TS_PERM_ADMIN, "world", "anyone"), 0);
    refused(pdk_job_finish(it.job, hold, 0, PATIENCE_MS), PDK_NO_PERMISSION, record);
    ck_assert_int_eq(ts_observer_set_acl(admin, record, TS_PERM_ADMIN, "world", "anyone"), 0);
    refused(pdk_job_finish(it.job, hold, 0, PATIENCE_MS), PDK_NO_PERMISSION, record);
    refused(pdk_job_history(it.a->session, it.path, PATIENCE_MS, &runs), PDK_NO_PERMISSION, record);
    pdk_hold_release(hold);
    ts_observer_close(admin);
}
END_TEST

struct call {
    pdk_hold *hold;
    pdk_status status;
};

static void *call_begin(void *user) {
    struct call *call = user;
    call->status = pdk_job_acquire(it.job, ts_patience(PATIENCE_MS), &call->hold, NULL);
    return NULL;
}

static void *call_finish(void *user) {
    struct call *call = user;
    call->status = pdk_job_finish(it.job, call->hold, 0, ts_patience(PATIENCE_MS));
    return NULL;
}

/* The link is silent as soon as the record is asked for. */
static GThread *begin_in_the_dark(struct call *call) {
    ts_proxy_arm(it.a->proxy, TS_OP_GET_DATA, TS_LOSE_REPLY, TS_BLACKHOLE);
    GThread *thread = g_thread_new("begin", call_begin, call);
    ck_assert(ts_proxy_wait_fired(it.a->proxy, PATIENCE_MS));
    return thread;
}

START_TEST(a_closed_session_ends_a_call) {
    make_it();
    struct call call = {0};
    GThread *thread = begin_in_the_dark(&call);
    pdk_session_close(it.a->session, 0);
    g_thread_join(thread);
    ck_assert_int_eq(call.status, PDK_CLOSED);
    pdk_job_runs *runs = NULL;
    refused(pdk_job_acquire(it.job, 0, &call.hold, NULL), PDK_CLOSED, "");
    refused(pdk_job_history(it.a->session, it.path, 0, &runs), PDK_CLOSED, "");
}
END_TEST

static void *call_record(void *user) {
    struct call *call = user;
    pdk_job_runs *runs = NULL;
    call->status = pdk_job_history(it.a->session, it.path, PDK_FOREVER, &runs);
    return NULL;
}

/* Cancel a thread while it waits for the answer to a request of that kind. */
static void cancel_in(void *(*fn)(void *user), struct call *call, int op) {
    pthread_t thread;
    void *result = NULL;
    ts_proxy_arm(it.a->proxy, op, TS_LOSE_REPLY, TS_BLACKHOLE);
    ck_assert_int_eq(pthread_create(&thread, NULL, fn, call), 0);
    ck_assert(ts_proxy_wait_fired(it.a->proxy, PATIENCE_MS));
    ck_assert_int_eq(pthread_cancel(thread), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    ts_proxy_heal(it.a->proxy);
}

/* In each of its requests. The sanitizer looks what it leaves behind. */
START_TEST(a_thread_may_be_cancelled) {
    struct call call = {0};
    make_it();
    g_autofree char *record = g_strconcat(it.path, "/record", NULL);
    cancel_in(call_begin, &call, TS_OP_CREATE); /* of the record */
    cancel_in(call_begin, &call, TS_OP_GET_DATA);
    cancel_in(call_begin, &call, TS_OP_SET_DATA); /* which may leave a run that died */
    ck_assert_int_eq(ts_delete(ts_bench_server(), record), 0);
    call.hold = job_begun(it.job);
    cancel_in(call_begin, &call, TS_OP_GET_DATA); /* a look at the run that stands */
    cancel_in(call_record, &call, TS_OP_GET_DATA);
    cancel_in(call_finish, &call, TS_OP_GET_DATA);
    cancel_in(call_finish, &call, TS_OP_SET_DATA);
    job_finished(it.job, call.hold, 0);
}
END_TEST

START_TEST(nobody_answers) {
    make_it();
    pdk_hold *hold = job_begun(it.job);
    pdk_job_runs *runs = NULL;
    ts_proxy_set_mode(it.a->proxy, TS_BLACKHOLE);
    refused(pdk_job_finish(it.job, hold, 0, 100), PDK_UNAVAILABLE, it.path);
    refused(pdk_job_history(it.a->session, it.path, 100, &runs), PDK_UNAVAILABLE, it.path);
    ts_proxy_heal(it.a->proxy);
    job_finished(it.job, hold, 0);
}
END_TEST

START_TEST(somebody_else_only_asks) {
    make_it();
    g_autofree char *lock = g_strconcat(it.path, "/lock", NULL);
    pdk_lock *asks = ts_lock(it.a, lock);
    pdk_hold *other = ts_bench_acquire(asks, PATIENCE_MS), *hold = NULL;
    refused(pdk_job_acquire(it.job, 0, &hold, NULL), PDK_BUSY, "others ask");
    refused(pdk_job_acquire(it.job, 120, &hold, NULL), PDK_BUSY, "others ask");
    refused(pdk_job_finish(it.job, other, 0, 0), PDK_INVALID, "hold");
    struct call call = {0};
    GThread *thread = g_thread_new("begin", call_begin, &call);
    ts_sleep_ms(100);
    pdk_hold_release(other);
    g_thread_join(thread);
    ck_assert_int_eq(call.status, PDK_OK);
    job_finished(it.job, call.hold, 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("job_input");
    TCase *all = ts_bench_case(suite, "job input");
    tcase_add_test(all, periods_are_checked);
    tcase_add_test(all, options_are_checked);
    tcase_add_test(all, records_of_others);
    tcase_add_test(all, the_record_goes_while_it_runs);
    tcase_add_test(all, what_may_not_be_read_or_written);
    tcase_add_test(all, a_closed_session_ends_a_call);
    tcase_add_test(all, a_thread_may_be_cancelled);
    tcase_add_test(all, nobody_answers);
    tcase_add_test(all, somebody_else_only_asks);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
