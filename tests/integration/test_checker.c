/* Sequencers that are checked often: what it costs at the server, and how old an answer may be. */
#include <glib.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, LEASE_MS = SESSION_MS - SESSION_MS / 16 - 50, SLOW_MS = 20000, PATIENCE_MS = 10000 };

static struct {
    const char *path;
    ts_client *holder, *client;
    pdk_lock *lock;
    pdk_hold *hold; /* NULL: the test has released it */
    char *text;     /* it outlives the hold */
    pdk_checker *checker;
} it;

static const char *server(void) { return ts_bench_server(); }

static pdk_checker *checker_on(const ts_client *client, int32_t capacity) {
    pdk_checker_options options = PDK_CHECKER_OPTIONS_INIT;
    pdk_checker *checker = NULL;
    options.capacity = capacity;
    ck_assert_int_eq(pdk_checker_new(client->session, &options, &checker), PDK_OK);
    return checker;
}

static void begin(int session_ms) {
    it.path = ts_fresh_path();
    it.holder = ts_bench_client(SLOW_MS);
    it.client = ts_bench_client(session_ms);
    it.lock = ts_lock(it.holder, it.path);
    it.hold = ts_bench_acquire(it.lock, PATIENCE_MS);
    it.text = g_strdup(pdk_hold_sequencer(it.hold));
    it.checker = checker_on(it.client, 1000);
}

static void end(void) {
    if (it.hold)
        pdk_hold_release(it.hold); /* lost, where the test deleted its node */
    pdk_checker_unref(it.checker);
    g_free(it.text);
    memset(&it, 0, sizeof it);
}

static pdk_status check_now(void) { return pdk_checker_check(it.checker, it.text, 0); }

static void is_ok(const char *text) {
    ck_assert_int_eq(pdk_checker_check(it.checker, text, ts_patience(PATIENCE_MS)), PDK_OK);
}

/* LOST within the time; and never OK again. */
static void becomes_lost(int64_t within_ms) {
    const int64_t from = ts_now_ms();
    while (check_now() == PDK_OK && ts_now_ms() - from < within_ms)
        ts_sleep_ms(1);
    refused(check_now(), PDK_LOST, it.path);
    ck_assert_int_eq(pdk_checker_check(it.checker, it.text, PATIENCE_MS), PDK_LOST);
}

static uint64_t reads(void) { return ts_proxy_count(it.client->proxy, TS_OP_GET_DATA); }

/* ---- what it costs */

START_TEST(many_checks_cost_one_read) {
    begin(SLOW_MS);
    ts_proxy_zero(it.client->proxy);
    is_ok(it.text);
    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(check_now(), PDK_OK);
    ck_assert_uint_eq(reads(), 1);
    ck_assert_int_eq(ts_set(server(), pdk_hold_node(it.hold), "another"), 0);
    for (int64_t from = ts_now_ms(); reads() == 1 && ts_now_ms() - from < ts_patience(PATIENCE_MS);)
        ts_sleep_ms(5);
    is_ok(it.text); /* a node that was written stands, and is watched again */
    ck_assert_uint_eq(reads(), 2);
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), PDK_OK);
    becomes_lost(ts_patience(1000));
    ck_assert_uint_eq(reads(), 2); /* the watch tells it */
}
END_TEST

static pdk_hold *holds[3];

static void hold_three(void) {
    for (int i = 0; i < 3; i++)
        holds[i] = ts_bench_acquire(ts_lock(it.holder, ts_fresh_path()), PATIENCE_MS);
}

static void release_three(void) {
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pdk_hold_release(holds[i]), PDK_OK);
}

/* The one that was not asked about for longest is asked about anew. */
START_TEST(the_number_of_nodes_is_bounded) {
    begin(SLOW_MS);
    hold_three();
    pdk_checker_unref(it.checker);
    it.checker = checker_on(it.client, 2);
    ts_proxy_zero(it.client->proxy);
    is_ok(pdk_hold_sequencer(holds[0]));
    is_ok(pdk_hold_sequencer(holds[1]));
    is_ok(pdk_hold_sequencer(holds[0]));
    ck_assert_uint_eq(reads(), 2);
    is_ok(pdk_hold_sequencer(holds[2]));
    is_ok(pdk_hold_sequencer(holds[0]));
    ck_assert_uint_eq(reads(), 3);
    is_ok(pdk_hold_sequencer(holds[1]));
    ck_assert_uint_eq(reads(), 4);
    g_autofree char *forgotten = g_strdup(pdk_hold_sequencer(holds[2]));
    release_three();
    ck_assert_int_eq(pdk_session_flush(it.holder->session, PATIENCE_MS), PDK_OK);
    refused(pdk_checker_check(it.checker, forgotten, PATIENCE_MS), PDK_LOST, "/t/");
}
END_TEST

/* ---- how old an answer may be */

static void *check_patiently(void *user) {
    return GINT_TO_POINTER(pdk_checker_check(it.checker, user, ts_patience(SLOW_MS)));
}

/* The last OK comes before the lease is over. The node is deleted meanwhile, or stands. */
START_TEST(cut_off_it_answers_until_its_lease_is_over) {
    begin(SESSION_MS);
    is_ok(it.text);
    ts_sleep_ms(_i < 2 ? 500 : SESSION_MS / 2); /* without a question under way, and with one */
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    const int64_t cut = ts_now_ms();
    if (_i % 2 == 0)
        ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), PDK_OK);
    ck_assert_int_eq(check_now(), PDK_OK);
    int64_t last = 0;
    for (int64_t now = cut; now - cut < SESSION_MS + 500; now = ts_now_ms()) {
        if (check_now() == PDK_OK)
            last = now;
        ts_sleep_ms(2);
    }
    ck_assert_int_le(last - cut, LEASE_MS);
    ck_assert_int_ge(last - cut, LEASE_MS / 4);
    ck_assert_int_eq(check_now(), PDK_UNAVAILABLE);
    ck_assert_int_eq(pdk_checker_check(it.checker, it.text, 50), PDK_UNAVAILABLE);
    GThread *thread = g_thread_new("checks", check_patiently, it.text);
    ts_sleep_ms(100);
    ts_proxy_heal_discard(it.client->proxy);
    ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(thread)), _i % 2 == 0 ? PDK_LOST : PDK_OK);
}
END_TEST

/* What an earlier ZooKeeper session has read does not count. */
START_TEST(a_new_session_reads_anew) {
    begin(SESSION_MS);
    is_ok(it.text);
    ck_assert_int_eq(ts_expire(it.client->proxy, server()), 0);
    ck_assert(ts_wait_event(it.client, PDK_SESSION_REOPENED, 1, ts_patience(PATIENCE_MS)));
    is_ok(it.text);
    ts_proxy_reset(it.client->proxy);
    ck_assert(ts_wait_event(it.client, PDK_SESSION_RESTORED, 1, ts_patience(PATIENCE_MS)));
    is_ok(it.text);
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), PDK_OK);
    becomes_lost(ts_patience(1000));
}
END_TEST

/* ---- what is refused */

START_TEST(wrong_arguments_are_refused) {
    begin(SLOW_MS);
    pdk_checker *out = it.checker;
    pdk_checker_options options = PDK_CHECKER_OPTIONS_INIT;
    options.capacity = 0;
    refused(pdk_checker_new(it.client->session, &options, &out), PDK_INVALID, "capacity");
    options.capacity = 100001;
    refused(pdk_checker_new(it.client->session, &options, &out), PDK_INVALID, "capacity");
    ck_assert_ptr_eq(out, it.checker);
    ck_assert_int_eq(pdk_checker_options_init(&options, sizeof options), PDK_OK);
    ck_assert_int_eq(options.capacity, 1000);
    refused(pdk_checker_check(it.checker, "pdk1 /x exclusive", 0), PDK_INVALID, "text");
    is_ok(it.text);
    g_auto(GStrv) words = g_strsplit(it.text, " ", -1); /* another node of that name */
    g_autofree char *stale = g_strdup_printf("%s %s %s %" G_GINT64_FORMAT " %s", words[0], words[1], words[2],
                                             pdk_hold_token(it.hold) - 1, words[4]);
    ck_assert_int_eq(pdk_checker_check(it.checker, stale, PATIENCE_MS), PDK_LOST);
}
END_TEST

START_TEST(a_node_that_may_not_be_read) {
    begin(SLOW_MS);
    ts_observer *o = ts_observer_open(server());
    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(ts_observer_set_acl(o, pdk_hold_node(it.hold), TS_PERM_DELETE | TS_PERM_ADMIN, "world", "anyone"),
                     0);
    refused(pdk_checker_check(it.checker, it.text, PATIENCE_MS), PDK_NO_PERMISSION, it.path);
    ck_assert_int_eq(ts_observer_set_acl(o, pdk_hold_node(it.hold), TS_PERM_ALL, "world", "anyone"), 0);
    is_ok(it.text);
    ts_observer_close(o);
}
END_TEST

/* One thread waits for the only node that is remembered. */
START_TEST(a_checker_whose_nodes_are_all_waited_for) {
    begin(SLOW_MS);
    hold_three();
    pdk_checker_unref(it.checker);
    it.checker = checker_on(it.client, 1);
    ts_proxy_arm(it.client->proxy, TS_OP_GET_DATA, TS_LOSE_REQUEST, TS_BLACKHOLE);
    GThread *thread = g_thread_new("checks", check_patiently, it.text);
    ck_assert(ts_proxy_wait_fired(it.client->proxy, ts_patience(PATIENCE_MS)));
    refused(pdk_checker_check(it.checker, pdk_hold_sequencer(holds[0]), 0), PDK_LIMIT, "/t/");
    ts_proxy_heal(it.client->proxy);
    ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(thread)), PDK_OK);
    is_ok(pdk_hold_sequencer(holds[0]));
    release_three();
}
END_TEST

START_TEST(a_close_ends_a_check_that_waits) {
    begin(SLOW_MS);
    ts_proxy_arm(it.client->proxy, TS_OP_GET_DATA, TS_LOSE_REQUEST, TS_BLACKHOLE);
    GThread *thread = g_thread_new("checks", check_patiently, it.text);
    ck_assert(ts_proxy_wait_fired(it.client->proxy, ts_patience(PATIENCE_MS)));
    pdk_session_close(it.client->session, 0);
    ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(thread)), PDK_CLOSED);
    ts_proxy_heal_discard(it.client->proxy);
    ck_assert_int_eq(pdk_session_close(it.client->session, PDK_FOREVER), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("checker");
    TCase *cases = ts_bench_case(suite, "checker");
    tcase_add_checked_fixture(cases, NULL, end);
    tcase_add_test(cases, many_checks_cost_one_read);
    tcase_add_test(cases, the_number_of_nodes_is_bounded);
    tcase_add_loop_test(cases, cut_off_it_answers_until_its_lease_is_over, 0, 4);
    tcase_add_test(cases, a_new_session_reads_anew);
    tcase_add_test(cases, wrong_arguments_are_refused);
    tcase_add_test(cases, a_node_that_may_not_be_read);
    tcase_add_test(cases, a_checker_whose_nodes_are_all_waited_for);
    tcase_add_test(cases, a_close_ends_a_check_that_waits);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
