/* Tests of tests/support/servers: libzookeeper behind a proxy. Counting, cuts at an exact moment, expiry. */
#include <check.h>
#include <glib.h>
#include <stdatomic.h>
#include <zookeeper/zookeeper.h>

#include "ts_check.h"
#include "ts_support.h"

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
    for (int i = 0; i < 5; i++) { /* a busy machine may spoil one, hardly all */
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

START_TEST(a_silent_link_is_noticed_without_a_reset) {
    int64_t before;

    connect_client();
    before = ts_now_ns();
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    ck_assert(wait_state(ZOO_CONNECTING_STATE, 10000));
    ck_assert_int_gt(ts_now_ns() - before, INT64_C(1500000000)); /* a reset would have been noticed at once */
    ts_proxy_heal(proxy);
    ck_assert(wait_state(ZOO_CONNECTED_STATE, 10000));
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
    Suite *suite = suite_create("test support: client");
    TCase *client = tcase_create("client");

    tcase_add_unchecked_fixture(client, start_server, stop_server);
    tcase_add_checked_fixture(client, good_link, close_client);
    tcase_add_test(client, requests_are_counted);
    tcase_add_test(client, pipelined_requests_are_delayed_together);
    tcase_add_test(client, a_lost_request_is_never_executed);
    tcase_add_test(client, a_lost_reply_leaves_the_node);
    tcase_add_test(client, a_silent_link_is_noticed_without_a_reset);
    tcase_add_test(client, an_expired_session_is_expired);
    suite_add_tcase(suite, client);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
