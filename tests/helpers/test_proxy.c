/* Tests of tests/support/servers: a proxy's modes and delay; and libzookeeper behind it: counting, cuts at an exact moment, expiry. */
#include <check.h>
#include <glib.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "ts_check.h"
#include "ts_support.h"
#include "ts_wire.h"

static ts_ensemble *server;
static ts_proxy *proxy;
static const char *direct;
static const char *proxied;

static void start_server(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
    proxy = ts_ensemble_proxy(server, 0);
    direct = ts_ensemble_host(server, 0);
    proxied = ts_ensemble_proxied_host(server, 0);
    ck_assert_int_eq(ts_create(direct, "/t", "", TS_PERSISTENT, NULL), 0);
}

static void stop_server(void) {
    ts_ensemble_stop(server);
    server = NULL;
}

/* Each test begins with a good link. The faults of the test before are undone. */
static void good_link(void) {
    ts_proxy_disarm(proxy);
    ts_proxy_set_delay(proxy, 0, 0);
    ts_proxy_heal(proxy);
    ts_proxy_reset(proxy);
    ts_proxy_zero(proxy);
}

/* A client behind the proxy that soon gives up a silent server. */
static ts_observer *impatient(void) {
    ts_observer *o = ts_observer_open(proxied);

    ck_assert_ptr_nonnull(o);
    ts_observer_set_limit(o, 500);
    return o;
}

/* ---- modes ---- */

static bool is_closed(void *user) {
    ts_proxy_counters counters;

    ts_proxy_read(user, &counters);
    return counters.open == 0;
}

START_TEST(a_good_link_passes_everything) {
    ts_observer *o = ts_observer_open(proxied);
    g_autofree char *large = g_strnfill(900000, 'x');
    g_autofree char *back = NULL;
    ts_proxy_counters counters;

    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(ts_observer_create(o, "/t/large", large, TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_observer_get(o, "/t/large", &back, NULL, NULL), 0);
    ck_assert(strcmp(large, back) == 0);
    ts_observer_close(o);
    ck_assert(ts_wait_until(is_closed, proxy, 5000));
    ts_proxy_read(proxy, &counters);
    ck_assert_uint_eq(counters.accepted, 1);
    ck_assert_uint_gt(counters.bytes_up, 900000);
    ck_assert_uint_gt(counters.bytes_down, 900000);
    ck_assert_int_eq(ts_delete(direct, "/t/large"), 0);
}
END_TEST

START_TEST(a_blackhole_holds_and_heal_delivers) {
    ts_observer *o = impatient();

    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    ck_assert_int_eq(ts_observer_create(o, "/t/held", "", TS_PERSISTENT, NULL), TS_SILENT);
    ck_assert_int_eq(ts_exists(direct, "/t/held", NULL), TS_NO_NODE);
    ts_proxy_heal(proxy);
    ck_assert(ts_wait_children(direct, "/t", 1, 2000));
    ck_assert_int_eq(ts_observer_delete(o, "/t/held"), 0); /* the late reply is left aside */
    ts_observer_close(o);
}
END_TEST

START_TEST(heal_discard_resets_what_was_held) {
    ts_observer *o = impatient();

    ts_proxy_set_mode(proxy, TS_BLACKHOLE_UP);
    ck_assert_int_eq(ts_observer_create(o, "/t/held", "", TS_PERSISTENT, NULL), TS_SILENT);
    ts_proxy_heal_discard(proxy);
    ck_assert_int_eq(ts_observer_delete(o, "/t/held"), TS_CONNECTION_LOSS);
    ck_assert_int_eq(ts_exists(proxied, "/t/held", NULL), TS_NO_NODE);
    ts_observer_abandon(o);
}
END_TEST

START_TEST(one_way_silence_lets_the_request_through) {
    ts_observer *o = impatient();

    ts_proxy_set_mode(proxy, TS_BLACKHOLE_DOWN);
    ck_assert_int_eq(ts_observer_create(o, "/t/deaf", "", TS_PERSISTENT, NULL), TS_SILENT);
    ck_assert_int_eq(ts_exists(direct, "/t/deaf", NULL), 0);
    ts_proxy_heal(proxy);
    ck_assert_int_eq(ts_observer_delete(o, "/t/deaf"), 0);
    ts_observer_close(o);
}
END_TEST

START_TEST(a_cut_resets_and_refuses) {
    ts_observer *o = ts_observer_open(proxied);

    ts_proxy_set_mode(proxy, TS_CUT);
    ck_assert_int_eq(ts_observer_exists(o, "/t", NULL), TS_CONNECTION_LOSS);
    ck_assert_int_eq(ts_exists(proxied, "/t", NULL), TS_CONNECTION_LOSS);
    ck_assert_int_eq(ts_mode(proxied), TS_MODE_DOWN);
    ts_proxy_heal(proxy);
    ck_assert_int_eq(ts_exists(proxied, "/t", NULL), 0);
    ts_observer_abandon(o);
}
END_TEST

static bool server_has_one(void *unused) {
    (void)unused;
    return ts_connection_count(direct) == 1;
}

static bool server_has_none(void *unused) {
    (void)unused;
    return ts_connection_count(direct) == 0;
}

START_TEST(hung_up_on_the_client_the_server_sees_nothing) {
    ts_observer *o = impatient();

    ck_assert(ts_wait_until(server_has_one, NULL, 5000));
    ts_proxy_hang_up(proxy, TS_CLIENT_SIDE);
    ck_assert_int_eq(ts_observer_exists(o, "/t", NULL), TS_CONNECTION_LOSS);
    ck_assert_int_eq(ts_exists(proxied, "/t", NULL), TS_CONNECTION_LOSS);
    ck_assert(ts_wait_until(server_has_one, NULL, 5000)); /* it may have had those that came meanwhile */
    ts_observer_abandon(o);
    ts_proxy_heal(proxy);
    ck_assert(ts_wait_until(server_has_none, NULL, 5000));
    ck_assert_int_eq(ts_exists(proxied, "/t", NULL), 0);
}
END_TEST

START_TEST(hung_up_on_the_server_the_client_sees_nothing) {
    ts_observer *o = impatient();

    ck_assert(ts_wait_until(server_has_one, NULL, 5000));
    ts_proxy_hang_up(proxy, TS_SERVER_SIDE);
    ck_assert(ts_wait_until(server_has_none, NULL, 5000));
    ck_assert_int_eq(ts_observer_exists(o, "/t", NULL), TS_SILENT);
    ck_assert_int_eq(ts_mode(proxied), TS_MODE_DOWN); /* a new connection, and no answer */
    ts_proxy_heal(proxy);
    ck_assert_int_eq(ts_observer_exists(o, "/t", NULL), TS_CONNECTION_LOSS);
    ck_assert_int_eq(ts_exists(proxied, "/t", NULL), 0);
    ts_observer_abandon(o);
}
END_TEST

START_TEST(dropped_replies_end_in_a_reset) {
    ts_observer *o = impatient();

    ts_proxy_set_mode(proxy, TS_DROP_REPLIES);
    ck_assert_int_eq(ts_observer_create(o, "/t/dropped", "", TS_PERSISTENT, NULL), TS_SILENT);
    ck_assert_int_eq(ts_exists(direct, "/t/dropped", NULL), 0);
    ts_proxy_heal(proxy);
    ck_assert_int_eq(ts_observer_delete(o, "/t/dropped"), TS_CONNECTION_LOSS);
    ck_assert_int_eq(ts_delete(proxied, "/t/dropped"), 0);
    ts_observer_abandon(o);
}
END_TEST

START_TEST(a_held_request_arrives_late) {
    ts_observer *o = impatient();

    ts_proxy_arm(proxy, TS_OP_CREATE, TS_LOSE_REQUEST, TS_BLACKHOLE);
    ck_assert_int_eq(ts_observer_create(o, "/t/late", "", TS_PERSISTENT, NULL), TS_SILENT);
    ck_assert(ts_proxy_wait_fired(proxy, 0));
    ts_observer_abandon(o);
    ck_assert_int_eq(ts_child_count(direct, "/t"), 0);
    ts_proxy_heal(proxy); /* the client is gone; its bytes are not */
    ck_assert(ts_wait_children(direct, "/t", 1, 5000));
    ck_assert_int_eq(ts_delete(direct, "/t/late"), 0);
}
END_TEST

/* ---- delay ---- */

static int by_value(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The median time of an exchange that costs one round trip and next to nothing at the server. */
static int64_t median_ns(ts_observer *o, int count) {
    g_autofree int64_t *times = g_new(int64_t, (gsize)count);

    for (int i = 0; i < count; i++) {
        const int64_t before = ts_now_ns();

        ck_assert_int_eq(ts_observer_auth(o, "ip", ""), 0);
        times[i] = ts_now_ns() - before;
    }
    qsort(times, (size_t)count, sizeof *times, by_value);
    return times[count / 2];
}

START_TEST(a_delay_is_a_delay) {
    ts_observer *o = ts_observer_open(proxied);
    const int64_t undelayed = median_ns(o, 50);
    int64_t delayed;

    ts_proxy_set_delay(proxy, 5000, 5000);
    delayed = median_ns(o, 50);
    printf("round trip: %.3f ms, with 5 + 5 ms: %.3f ms\n", (double)undelayed / 1e6, (double)delayed / 1e6);
    ck_assert_int_ge(delayed, 10000000);
    ck_assert_int_lt(delayed, 18000000);
    ts_observer_close(o);
}
END_TEST

/* ---- libzookeeper ---- */

static zhandle_t *handle;
static _Atomic int state;
static atomic_int answers;

static void close_client(void) {
    if (handle != NULL) {
        zookeeper_close(handle);
        handle = NULL;
    }
}

static void watch(zhandle_t *zh, int type, int new_state, const char *path, void *user) {
    (void)zh;
    (void)path;
    (void)user;
    if (type == ZOO_SESSION_EVENT) {
        atomic_store(&state, new_state);
    }
}

static bool state_is(void *wanted) { return atomic_load(&state) == *(int *)wanted; }

static bool wait_state(int wanted, int64_t timeout_ms) { return ts_wait_until(state_is, &wanted, timeout_ms); }

static void connect_client(void) {
    zoo_set_debug_level((ZooLogLevel)0);
    atomic_store(&state, 0);
    atomic_store(&answers, 0);
    handle = zookeeper_init(proxied, watch, 6000, NULL, NULL, ZOO_NO_LOG_CLIENTENV);
    ck_assert_ptr_nonnull(handle);
    zoo_set_servers_resolution_delay(handle, -1);
    ck_assert(wait_state(ZOO_CONNECTED_STATE, 10000));
}

static void created(int rc, const char *path, const struct Stat *stat, const void *user) {
    (void)path;
    (void)stat;
    *(_Atomic int *)(uintptr_t)user = rc;
    atomic_fetch_add(&answers, 1);
}

static void listed(int rc, const struct String_vector *names, const void *user) {
    (void)names;
    *(_Atomic int *)(uintptr_t)user = rc;
    atomic_fetch_add(&answers, 1);
}

static bool answered(void *count) { return atomic_load(&answers) >= *(int *)count; }

/* Creates a node and lists its parent in one round trip, and waits for both answers. */
static void create_and_list(_Atomic int *create_rc, _Atomic int *list_rc) {
    int both = 2;

    atomic_store(&answers, 0);
    ck_assert_int_eq(
        zoo_acreate2(handle, "/t/n-", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE, created, create_rc),
        ZOK);
    ck_assert_int_eq(zoo_aget_children(handle, "/t", 1, listed, list_rc), ZOK);
    ck_assert(ts_wait_until(answered, &both, 10000));
}

static bool notified(void *user) {
    ts_proxy_counters counters;

    ts_proxy_read(user, &counters);
    return counters.notifications > 0;
}

START_TEST(requests_are_counted) {
    _Atomic int create_rc = 1, list_rc = 1;
    ts_proxy_counters counters;

    connect_client();
    ck_assert_uint_eq(ts_proxy_count(proxy, TS_OP_CONNECT), 1);
    ts_proxy_set_delay(proxy, 200000, 0); /* long enough for the second to be sent before the first is answered */
    create_and_list(&create_rc, &list_rc);
    ck_assert_int_eq(create_rc, ZOK);
    ck_assert_int_eq(list_rc, ZOK);
    ts_proxy_set_delay(proxy, 0, 0);
    ck_assert_uint_eq(ts_proxy_count(proxy, TS_OP_CREATE2), 1);
    ck_assert_uint_eq(ts_proxy_count(proxy, TS_OP_GET_CHILDREN), 1);
    ck_assert_uint_eq(ts_proxy_count(proxy, TS_OP_DELETE), 0);
    ck_assert_int_eq(ts_create(direct, "/t/other", "", TS_PERSISTENT, NULL), 0); /* fires the child watch */
    ck_assert(ts_wait_until(notified, proxy, 5000));
    ts_proxy_read(proxy, &counters);
    ck_assert_uint_eq(counters.requests, 2);
    ck_assert_uint_eq(counters.replies, 2);
    ck_assert_uint_eq(counters.writes, 1);
    ck_assert_uint_eq(counters.rounds, 1);
    ck_assert_uint_eq(counters.notifications, 1);
    ck_assert_int_eq(ts_delete(direct, "/t/other"), 0);
}
END_TEST

START_TEST(pipelined_requests_are_delayed_together) {
    int64_t best = INT64_MAX;

    connect_client();
    ts_proxy_set_delay(proxy, 25000, 25000);
    for (int i = 0; i < 100 && best >= 95000000; i++) { /* a busy machine may spoil many, hardly all */
        _Atomic int create_rc = 1, list_rc = 1;
        const int64_t before = ts_now_ns();
        int64_t took;

        create_and_list(&create_rc, &list_rc);
        took = ts_now_ns() - before;
        ck_assert_int_eq(list_rc, ZOK);
        ck_assert_int_ge(took, 50000000);
        best = MIN(best, took);
    }
    ck_assert_int_lt(best, 95000000); /* one after the other they would take 100 ms */
}
END_TEST

START_TEST(a_lost_request_is_never_executed) {
    _Atomic int create_rc = 1, list_rc = 1;

    connect_client();
    ts_proxy_arm(proxy, TS_OP_CREATE2, TS_LOSE_REQUEST, TS_PASS);
    create_and_list(&create_rc, &list_rc);
    ck_assert(ts_proxy_wait_fired(proxy, 5000));
    ck_assert_int_eq(create_rc, ZCONNECTIONLOSS); /* the list may have been asked for after the loss */
    ck_assert(wait_state(ZOO_CONNECTED_STATE, 5000));
    ck_assert_int_eq(ts_child_count(direct, "/t"), 0);
}
END_TEST

START_TEST(a_lost_reply_leaves_the_node) {
    _Atomic int create_rc = 1, list_rc = 1;

    connect_client();
    ts_proxy_arm(proxy, TS_OP_CREATE2, TS_LOSE_REPLY, TS_CUT);
    create_and_list(&create_rc, &list_rc);
    ck_assert(ts_proxy_wait_fired(proxy, 5000));
    ck_assert_int_eq(create_rc, ZCONNECTIONLOSS);
    ck_assert_int_eq(ts_child_count(direct, "/t"), 1);
    ck_assert_int_eq(ts_proxy_get_mode(proxy), TS_CUT);
    ts_proxy_heal(proxy);
    ck_assert(wait_state(ZOO_CONNECTED_STATE, 10000));
    close_client();
    ck_assert(ts_wait_children(direct, "/t", 0, 5000));
}
END_TEST

START_TEST(an_expired_session_is_expired) {
    for (int i = 0; i < 20; i++) {
        _Atomic int create_rc = 1, list_rc = 1;
        ts_session_key key;

        connect_client();
        create_and_list(&create_rc, &list_rc);
        ck_assert_int_eq(create_rc, ZOK);
        ck_assert(ts_proxy_last_session(proxy, &key));
        ck_assert_int_eq(key.id, zoo_client_id(handle)->client_id);
        ck_assert_int_eq(key.timeout_ms, 6000);
        ck_assert(ts_proxy_find_session(proxy, key.id, &key));
        ck_assert_int_eq(ts_expire(proxy, direct), 0);
        ck_assert_int_eq(ts_child_count(direct, "/t"), 0);
        ck_assert(wait_state(ZOO_EXPIRED_SESSION_STATE, 5000));
        close_client();
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("test support: proxy");
    TCase *modes = tcase_create("modes"), *client = tcase_create("client");

    tcase_add_unchecked_fixture(modes, start_server, stop_server);
    tcase_add_checked_fixture(modes, good_link, NULL);
    tcase_add_test(modes, a_good_link_passes_everything);
    tcase_add_test(modes, a_blackhole_holds_and_heal_delivers);
    tcase_add_test(modes, heal_discard_resets_what_was_held);
    tcase_add_test(modes, one_way_silence_lets_the_request_through);
    tcase_add_test(modes, a_cut_resets_and_refuses);
    tcase_add_test(modes, hung_up_on_the_client_the_server_sees_nothing);
    tcase_add_test(modes, hung_up_on_the_server_the_client_sees_nothing);
    tcase_add_test(modes, dropped_replies_end_in_a_reset);
    tcase_add_test(modes, a_held_request_arrives_late);
    tcase_add_test(modes, a_delay_is_a_delay);
    suite_add_tcase(suite, modes);
    tcase_add_unchecked_fixture(client, start_server, stop_server);
    tcase_add_checked_fixture(client, good_link, close_client);
    tcase_add_test(client, requests_are_counted);
    tcase_add_test(client, pipelined_requests_are_delayed_together);
    tcase_add_test(client, a_lost_request_is_never_executed);
    tcase_add_test(client, a_lost_reply_leaves_the_node);
    tcase_add_test(client, an_expired_session_is_expired);
    suite_add_tcase(suite, client);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
