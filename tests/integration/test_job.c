/* A job on a real server: once per period, whoever dies, whatever is lost on the way; which options it refuses, what it makes of records that
 * others wrote, and how its calls end. */
#include <glib.h>
#include <paddock/job.h>
#include <pthread.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_expire.h"
#include "ts_observer.h"

#define NODE "_c_00000000-0000-8000-8000-000000000001-lock-0000000007"

enum { SESSION_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000 };

static void unref_job(void *job) { pdk_job_unref(job); }
static void free_runs(void *runs) { pdk_job_runs_free(runs); }

static pdk_job *job_of(const ts_client *client, const char *path, const pdk_job_options *options) {
    pdk_job *job = NULL;
    pdk_status status = pdk_job_new(client->session, path, options, &job);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ts_paddock_keep(job, unref_job);
    return job;
}

/* A run that was begun: its hold is the caller's. Fails the test when it was not. */
static pdk_hold *job_begun(pdk_job *job) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_job_acquire(job, ts_patience(PATIENCE_MS), &hold, NULL);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert(pdk_hold_is_valid(hold));
    return hold;
}

/* Fails the test unless it is skipped. What the record says, freed by the support. */
static pdk_job_runs *job_skipped(pdk_job *job) {
    pdk_hold *hold = NULL;
    pdk_job_runs *runs = NULL;
    pdk_status status = pdk_job_acquire(job, ts_patience(PATIENCE_MS), &hold, &runs);
    ck_assert_msg(status == PDK_SKIPPED, "%s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert_ptr_null(hold);
    ck_assert_uint_gt(pdk_job_runs_count(runs), 0);
    ts_paddock_keep(runs, free_runs);
    return runs;
}

static void job_finished(pdk_job *job, pdk_hold *hold, int outcome) {
    pdk_status status = pdk_job_finish(job, hold, outcome, ts_patience(PATIENCE_MS));
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
}

static pdk_job_runs *job_runs(const ts_client *client, const char *path) {
    pdk_job_runs *runs = NULL;
    pdk_status status = pdk_job_history(client->session, path, ts_patience(PATIENCE_MS), &runs);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ts_paddock_keep(runs, free_runs);
    return runs;
}

static char *job_text(const char *path) {
    g_autofree char *record = g_strconcat(path, "/record", NULL);
    char *data = NULL;
    ck_assert_int_eq(ts_get(ts_bench_server(), record, &data, NULL, NULL), 0);
    return data;
}

static void job_write(const char *path, const char *text) {
    g_autofree char *record = g_strconcat(path, "/record", NULL);
    if (ts_exists(ts_bench_server(), record, NULL) == 0)
        ck_assert_int_eq(ts_set(ts_bench_server(), record, text), 0);
    else
        ck_assert_int_eq(ts_create(ts_bench_server(), record, text, TS_PERSISTENT, NULL), 0);
}

enum { HOUR_MS = 3600000, DAY_MS = 24 * HOUR_MS };

static struct {
    const char *path;
    ts_client *a, *b;
    pdk_job_options options;
    pdk_job *job; /* of a, with the defaults */
} it;

static void make_it(void) {
    it.path = ts_fresh_path();
    it.a = ts_bench_client(SLOW_MS);
    it.b = ts_bench_client(SLOW_MS);
    it.options = (pdk_job_options)PDK_JOB_OPTIONS_INIT;
    it.job = job_of(it.a, it.path, NULL);
}

static const pdk_job_run *newest(const pdk_job_runs *runs) {
    ck_assert_uint_gt(pdk_job_runs_count(runs), 0);
    return pdk_job_runs_run(runs, 0);
}

/* No moment of the server's day is near the end of a period of ten years. */
START_TEST(once_in_a_period) {
    make_it();
    it.options.every_ms = INT64_C(315576000000);
    it.options.identity = "first";
    pdk_job *a = job_of(it.a, it.path, &it.options);
    it.options.identity = "second\n";
    pdk_job *b = job_of(it.b, it.path, &it.options);
    int64_t before = g_get_real_time() / 1000;
    pdk_hold *hold = job_begun(a);
    const pdk_job_run *run = newest(job_skipped(b));
    ck_assert_int_eq(run->state, PDK_JOB_RUNNING);
    ck_assert_str_eq(run->who, "first");
    ck_assert_int_eq(run->token, pdk_hold_token(hold));
    ck_assert_int_ge(run->start_ms, before);
    ck_assert_int_le(run->start_ms, g_get_real_time() / 1000);
    ck_assert_int_eq(run->next_ms % it.options.every_ms, 0);
    ck_assert_int_eq(run->until_ms, 0);
    ck_assert_int_eq(newest(job_skipped(a))->state, PDK_JOB_RUNNING);
    pdk_hold *none = NULL;
    refused(pdk_job_acquire(b, PDK_FOREVER, &none, NULL), PDK_SKIPPED, "first");
    int64_t start = run->start_ms;
    job_finished(a, hold, 7);
    run = newest(job_skipped(b));
    ck_assert_int_eq(run->state, PDK_JOB_FINISHED);
    ck_assert_int_eq(run->outcome, 7);
    ck_assert_int_eq(run->start_ms, start);
    ck_assert_int_ge(run->end_ms, start);
    ck_assert_int_le(run->end_ms, g_get_real_time() / 1000);
    ck_assert(strstr(pdk_last_error(), "first ran it at"));
    job_skipped(a);
    ck_assert_uint_eq(pdk_job_runs_count(job_runs(it.b, it.path)), 1);
}
END_TEST

/* Two months that are not this one, so that the test is in one period. */
START_TEST(times_that_cron_names) {
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    int month = g_date_time_get_month(now);
    g_autofree char *schedule = g_strdup_printf("30 2 15 %d,%d *", (month + 2) % 12 + 1, (month + 8) % 12 + 1);
    make_it();
    it.options.schedule = schedule;
    pdk_job *a = job_of(it.a, it.path, &it.options);
    it.options.zone = "+05:30";
    pdk_job *b = job_of(it.b, it.path, &it.options);
    memset(schedule, 'x', strlen(schedule)); /* it was copied */
    job_finished(a, job_begun(a), 0);
    int64_t next = newest(job_skipped(b))->next_ms;
    ck_assert_int_eq(newest(job_skipped(a))->next_ms, next);
    g_autoptr(GDateTime) end = g_date_time_new_from_unix_utc(next / 1000);
    g_autofree char *shown = g_date_time_format(end, "%d %H:%M");
    ck_assert_str_eq(shown, "15 02:30");
    ck_assert_int_gt(next, g_get_real_time() / 1000 + 20 * (int64_t)DAY_MS);
    ck_assert_int_lt(next, g_get_real_time() / 1000 + 200 * (int64_t)DAY_MS);
    ck_assert_int_eq(next % (DAY_MS / 24 / 60), 0);
    g_autofree char *text = job_text(it.path), *edge = g_strdup_printf("@%" G_GINT64_FORMAT " ", next);
    ck_assert_msg(strstr(text, edge) != NULL, "%s", text);
}
END_TEST

/* Half a day away from now, so that the test is in one period. */
START_TEST(a_day_of_a_time_zone) {
    g_autoptr(GTimeZone) berlin = g_time_zone_new_identifier("Europe/Berlin");
    g_autoptr(GDateTime) now = g_date_time_new_now(berlin);
    int hour = (g_date_time_get_hour(now) + 12) % 24;
    make_it();
    it.options.every_ms = DAY_MS;
    it.options.at_ms = (int64_t)hour * HOUR_MS;
    it.options.zone = "Europe/Berlin";
    pdk_job *a = job_of(it.a, it.path, &it.options);
    it.options.zone = NULL;
    pdk_job *b = job_of(it.b, it.path, &it.options);
    job_finished(a, job_begun(a), 0);
    job_skipped(a);
    int64_t next = newest(job_skipped(b))->next_ms;
    g_autoptr(GDateTime) end = g_date_time_new_from_unix_utc(next / 1000);
    g_autoptr(GDateTime) shown = g_date_time_to_timezone(end, berlin);
    ck_assert_int_eq(next % HOUR_MS, 0);
    ck_assert_int_gt(next, g_get_real_time() / 1000);
    if (hour != 2) /* a night may not have it */
        ck_assert_int_eq(g_date_time_get_hour(shown), hour);
    g_autofree char *text = job_text(it.path), *edge = g_strdup_printf("@%" G_GINT64_FORMAT " ", next);
    ck_assert_msg(strstr(text, edge) != NULL, "%s", text);
}
END_TEST

/* The hold is lost, its lock node goes, and the next one may run. */
START_TEST(at_most_for) {
    make_it();
    it.options.at_most_ms = 600;
    it.options.retry = PDK_JOB_RETRY_AT_ONCE;
    pdk_job *a = job_of(it.a, it.path, &it.options), *b = job_of(it.b, it.path, &it.options);
    int64_t begun = ts_now_ns();
    pdk_hold *hold = job_begun(a);
    ts_lost *lost = ts_lost_watch(hold);
    const pdk_job_run *run = newest(job_skipped(b));
    ck_assert_int_eq(run->until_ms - run->start_ms, 600);
    ck_assert_int_le(pdk_hold_remaining_ms(hold), 600);
    ck_assert(ts_lost_wait(lost, ts_patience(PATIENCE_MS)));
    ck_assert_int_ge(ts_lost_at_ns(lost) - begun, (int64_t)600 * 1000000 - 1);
    ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_OVERDUE);
    ck_assert(!pdk_hold_is_valid(hold));
    pdk_stats stats = PDK_STATS_INIT;
    ck_assert_int_eq(pdk_session_stats(it.a->session, &stats), PDK_OK);
    ck_assert_uint_eq(stats.lost_overdue, 1);
    refused(pdk_job_finish(a, hold, 0, PATIENCE_MS), PDK_LOST, it.path);
    pdk_hold *next = NULL; /* the lock node goes in its own time */
    while (pdk_job_acquire(b, PATIENCE_MS, &next, NULL) == PDK_SKIPPED)
        ts_sleep_ms(10);
    ck_assert_ptr_nonnull(next);
    pdk_hold_release(hold);
    run = pdk_job_runs_run(job_runs(it.a, it.path), 1);
    ck_assert_int_eq(run->state, PDK_JOB_DIED);
    ck_assert_int_eq(run->end_ms, 0);
    job_finished(b, next, 0);
}
END_TEST

/* Its session expires on the server. _i: the period goes on without it; or it is retried, with a record of one run. */
START_TEST(a_run_that_died) {
    make_it();
    it.options.every_ms = INT64_C(315576000000);
    it.options.retry = _i ? PDK_JOB_RETRY_AT_ONCE : it.options.retry;
    it.options.history = 1;
    pdk_hold *hold = job_begun(job_of(it.a, it.path, &it.options));
    ck_assert_int_eq(ts_expire(it.a->proxy, ts_bench_server()), 0);
    ck_assert_int_eq(newest(job_runs(it.b, it.path))->state, PDK_JOB_DIED);
    pdk_hold_release(hold);
    pdk_job *b = job_of(it.b, it.path, &it.options);
    if (_i)
        job_finished(b, job_begun(b), 0);
    const pdk_job_run *run = newest(job_skipped(b));
    ck_assert_int_eq(run->state, _i ? PDK_JOB_FINISHED : PDK_JOB_DIED);
    ck_assert(_i || strstr(pdk_last_error(), "died"));
    ck_assert_uint_eq(pdk_job_runs_count(job_runs(it.b, it.path)), 1);
}
END_TEST

/* Each request of a begin and of a finish is lost, or its answer is. */
START_TEST(lost_answers_are_settled) {
    static const int ops[] = {TS_OP_GET_DATA, TS_OP_SET_DATA, TS_OP_CREATE};
    static const ts_proxy_loss losses[] = {TS_LOSE_REQUEST, TS_LOSE_REPLY};
    make_it();
    for (size_t k = 0; k < G_N_ELEMENTS(losses); k++) {
        for (size_t i = 0; i < G_N_ELEMENTS(ops); i++) {
            const char *path = ts_fresh_path();
            pdk_job *a = job_of(it.a, path, &it.options);
            ts_proxy_arm(it.a->proxy, ops[i], losses[k], TS_PASS);
            pdk_hold *hold = job_begun(a);
            ck_assert(ts_proxy_wait_fired(it.a->proxy, PATIENCE_MS));
            ck_assert_int_eq(newest(job_runs(it.b, path))->state, PDK_JOB_RUNNING);
            if (i < 2)
                ts_proxy_arm(it.a->proxy, ops[i], losses[k], TS_PASS);
            job_finished(a, hold, 3);
            pdk_job_runs *runs = job_runs(it.b, path);
            ck_assert_uint_eq(pdk_job_runs_count(runs), 1);
            ck_assert_int_eq(newest(runs)->outcome, 3);
        }
    }
}
END_TEST

/* A start that is on its way while its session ends, and comes after the next run has begun. */
START_TEST(a_late_start_is_turned_away) {
    make_it();
    pdk_hold *hold = NULL;
    pdk_job *a = job_of(it.a, it.path, NULL), *b = job_of(it.b, it.path, NULL);
    job_finished(a, job_begun(a), 0);
    ts_proxy_arm(it.a->proxy, TS_OP_SET_DATA, TS_LOSE_REQUEST, TS_BLACKHOLE);
    refused(pdk_job_acquire(a, 300, &hold, NULL), PDK_UNAVAILABLE, it.path);
    g_autofree char *lock = g_strconcat(it.path, "/lock", NULL);
    ck_assert_int_eq(ts_delete_tree(ts_bench_server(), lock), 0);
    hold = job_begun(b);
    ts_proxy_heal(it.a->proxy);
    ck_assert_int_eq(pdk_session_flush(it.a->session, ts_patience(PATIENCE_MS)), PDK_OK);
    pdk_job_runs *runs = job_runs(it.b, it.path);
    ck_assert_uint_eq(pdk_job_runs_count(runs), 2);
    ck_assert_int_eq(newest(runs)->token, pdk_hold_token(hold));
    job_finished(b, hold, 0);
}
END_TEST

struct cost {
    uint64_t rounds, writes;
};

/* What the last call has sent is over by then, also what it has not waited for. A renewal may come in between: the least counts. */
static void count_cost(const ts_client *client, struct cost *least) {
    ts_proxy_counters counters;
    ts_sleep_ms(50);
    ts_proxy_read(client->proxy, &counters);
    ts_proxy_zero(client->proxy);
    if (least && counters.rounds < least->rounds)
        least->rounds = counters.rounds;
    if (least && counters.writes < least->writes)
        least->writes = counters.writes;
}

static void costs(const char *what, struct cost is, uint64_t rounds, uint64_t writes) {
    ck_assert_msg(is.rounds <= rounds && is.writes == writes, "%s: %d rounds, %d writes", what, (int)is.rounds,
                  (int)is.writes);
}

/* docs/recipes/job.md has these numbers. One round more is for what is not waited for: the watch on its own node, or its deletion. */
START_TEST(what_it_costs) {
    struct cost begin = {99, 99}, finish = begin, stands = begin, had = begin;
    make_it();
    pdk_job *a = job_of(it.a, it.path, NULL), *b = job_of(it.b, it.path, NULL);
    job_finished(a, job_begun(a), 0);
    for (int i = 0; i < 12; i++) {
        ck_assert_int_eq(pdk_session_flush(it.a->session, PATIENCE_MS), PDK_OK);
        count_cost(it.a, NULL);
        pdk_hold *hold = job_begun(a);
        count_cost(it.a, &begin);
        count_cost(it.b, NULL);
        job_skipped(b);
        count_cost(it.b, &stands);
        count_cost(it.a, NULL);
        ck_assert_int_eq(pdk_job_finish(a, hold, 0, PATIENCE_MS), PDK_OK);
        count_cost(it.a, &finish);
    }
    it.options.at_least_ms = DAY_MS;
    pdk_job *c = job_of(it.a, it.path, &it.options);
    job_finished(c, job_begun(c), 0);
    for (int i = 0; i < 12; i++) {
        ck_assert_int_eq(pdk_session_flush(it.b->session, PATIENCE_MS), PDK_OK);
        count_cost(it.b, NULL);
        job_skipped(b);
        count_cost(it.b, &had);
    }
    costs("begin", begin, 5, 2);
    costs("finish", finish, 3, 2);
    costs("while a run stands", stands, 3, 0);
    costs("in a period that had its run", had, 4, 2);
}
END_TEST

/* ---- options, records of others, and how calls end */

/* Each differs from the defaults in what is not 0. */
static const struct {
    const char *word;
    int64_t every, at, least, most;
    int32_t retry, history;
    const char *zone, *schedule;
} refused_options[] = {
    {"every_ms and at_ms", .schedule = "@daily", .every = 1},
    {"every_ms and at_ms", .schedule = "@daily", .at = 1},
    {"names no time", .schedule = ""},
    {"names no time", .schedule = "0 0 30 2 *"},
    {"names no time", .schedule = "0 0 30 2 *", .zone = "Europe/Berlin"},
    {"Europe/Nowhere", .schedule = "@daily", .zone = "Europe/Nowhere"},
    {"at_ms", .at = 1},
    {"at_ms", .every = 1000, .at = 1000},
    {"at_ms", .every = 1000, .at = -1},
    {"every_ms", .every = -1},
    {"every_ms", .zone = "Europe/Berlin"},
    {"every_ms", .zone = "Europe/Berlin", .every = HOUR_MS},
    {"Europe/Nowhere", .zone = "Europe/Nowhere", .every = DAY_MS},
    {"at_least_ms", .least = INT64_C(315576000001)},
    {"at_most_ms", .most = INT64_MIN},
    {"retry", .retry = 2},
    {"history", .history = -1},
    {"history", .history = 101},
};

START_TEST(options_are_checked) {
    pdk_job *job = NULL;
    make_it();
    for (size_t i = 0; i < G_N_ELEMENTS(refused_options); i++) {
        pdk_job_options o = PDK_JOB_OPTIONS_INIT;
        o.every_ms = refused_options[i].every;
        o.at_ms = refused_options[i].at;
        o.at_least_ms = refused_options[i].least;
        o.at_most_ms = refused_options[i].most;
        o.retry = refused_options[i].retry;
        o.history = refused_options[i].history ? refused_options[i].history : o.history;
        o.zone = refused_options[i].zone;
        o.schedule = refused_options[i].schedule;
        refused(pdk_job_new(it.a->session, "/a", &o, &job), PDK_INVALID, refused_options[i].word);
    }
    it.options.history = 0;
    refused(pdk_job_new(it.a->session, "/a", &it.options, &job), PDK_INVALID, "history");
    g_autofree char *path = g_strnfill(501, 'p');
    path[0] = '/';
    refused(pdk_job_new(it.a->session, path, NULL, &job), PDK_INVALID, "record stands below");
    ck_assert_ptr_null(job);
    ck_assert_int_eq(pdk_job_options_init(&it.options, sizeof it.options), PDK_OK);
    ck_assert_int_eq(it.options.history, 16);
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
    Suite *suite = suite_create("job");
    TCase *all = ts_bench_case(suite, "job");
    tcase_add_test(all, once_in_a_period);
    tcase_add_test(all, a_day_of_a_time_zone);
    tcase_add_test(all, times_that_cron_names);
    tcase_add_test(all, at_most_for);
    tcase_add_loop_test(all, a_run_that_died, 0, 2);
    tcase_add_test(all, lost_answers_are_settled);
    tcase_add_test(all, a_late_start_is_turned_away);
    tcase_add_test(all, what_it_costs);
    tcase_add_test(all, options_are_checked);
    tcase_add_test(all, records_of_others);
    tcase_add_test(all, the_record_goes_while_it_runs);
    tcase_add_test(all, what_may_not_be_read_or_written);
    tcase_add_test(all, a_thread_may_be_cancelled);
    tcase_add_test(all, somebody_else_only_asks);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
