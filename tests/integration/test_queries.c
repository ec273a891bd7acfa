/* Questions that a caller waits for: whom a list shows, and what becomes of a question when nodes or answers are lost meanwhile. */
#include <glib.h>
#include <string.h>

#include "elections.h"
#include "many_nodes.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000, IDENTITY_MAX = 1024 };

static const char *server(void) { return ts_bench_server(); }

static void put(const char *path, const char *name, const char *data) {
    g_autofree char *node = g_strdup_printf("%s/%s", path, name);
    ck_assert_int_eq(ts_bench_stranger(node, data, 0, NULL), 0);
}

static void assert_node(const pdk_contenders *list, size_t index, const char *name) {
    ck_assert_str_eq(pdk_contenders_node(list, index), name);
}

/* As after a counter at its end. Of those with the same number, the first by name is ahead. A long identity is cut. */
START_TEST(equal_numbers_are_in_the_order_of_names) {
    ts_client *client = ts_bench_client(SESSION_MS);
    const char *path = ts_fresh_path();
    g_autofree char *data = g_strnfill(2 * IDENTITY_MAX, 'd');
    pdk_contenders *list = NULL;
    put(path, "_c_b-latch-2147483647", data);
    put(path, "_c_a-latch-2147483647", "a");
    put(path, "_c_c-latch-2147483647", "c");
    pdk_election *election = election_on(client, path, NULL);
    ck_assert_int_eq(pdk_election_list(election, PATIENCE_MS, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 3);
    assert_node(list, 0, "_c_a-latch-2147483647");
    ck_assert_uint_eq(strlen(pdk_contenders_identity(list, 1)), IDENTITY_MAX);
    assert_node(list, 2, "_c_c-latch-2147483647");
    pdk_contenders_free(list);

    record *watching = record_new();
    pdk_observer *observer = NULL;
    ck_assert_int_eq(pdk_election_observe(election, record_leader, watching, record_freed, &observer), PDK_OK);
    ck_assert(record_wait_leader(watching, "a", PATIENCE_MS));
    pdk_observer_close(observer);
}
END_TEST

/* Each would be read. The holder alone can be told all the same. */
START_TEST(a_queue_may_be_too_long_to_list) {
    ts_client *client = ts_bench_client(SLOW_MS);
    const char *path = ts_fresh_path();
    g_autofree char *prefix = g_strdup_printf("%s/_c_a-lock-0001", path);
    pdk_contenders *list = NULL;
    ck_assert_int_eq(ts_create(server(), path, "", TS_PERSISTENT, NULL), 0);
    put(path, "_c_a-lock-0000999999", "");
    ck_assert_int_eq(many_nodes(server(), prefix, 0, 5001), 0);
    pdk_lock *lock = ts_lock(client, path);
    refused(pdk_lock_list(lock, ts_patience(PATIENCE_MS), &list), PDK_LIMIT, path);
    ck_assert_int_eq(pdk_lock_holder(lock, ts_patience(PATIENCE_MS), &list), PDK_OK);
    assert_node(list, 0, "_c_a-lock-0000999999");
    pdk_contenders_free(list);
}
END_TEST

/* ---- something is lost between a question and its answer */

struct asking {
    ts_client *client;
    pdk_lock *lock;
    const char *sequencer; /* NULL: asks who holds the lock */
    bool contenders;       /* asks for all contenders */
    pdk_contenders *list;
    pdk_status status;
};

static void *ask(void *user) {
    struct asking *a = user;
    if (a->sequencer)
        a->status = pdk_session_check_sequencer(a->client->session, a->sequencer, ts_patience(SLOW_MS));
    else if (a->contenders)
        a->status = pdk_lock_list(a->lock, ts_patience(SLOW_MS), &a->list);
    else
        a->status = pdk_lock_holder(a->lock, ts_patience(SLOW_MS), &a->list);
    return NULL;
}

/* The holder is another client than the one that asks. */
static pdk_hold *set_up(struct asking *a, const char *path) {
    a->client = ts_bench_client(SESSION_MS);
    a->lock = ts_lock(a->client, path);
    return ts_bench_acquire(ts_lock(ts_bench_client(SLOW_MS), path), PATIENCE_MS);
}

START_TEST(the_holder_may_leave_between_list_and_reading) {
    struct asking a = {0};
    const char *path = ts_fresh_path();
    pdk_hold *hold = set_up(&a, path);
    ts_proxy_arm(a.client->proxy, TS_OP_GET_DATA, TS_LOSE_REQUEST, TS_BLACKHOLE);
    GThread *thread = g_thread_new("asks", ask, &a);
    ck_assert(ts_proxy_wait_fired(a.client->proxy, PATIENCE_MS));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(ts_wait_children(server(), path, 0, PATIENCE_MS));
    ts_proxy_heal(a.client->proxy); /* the request arrives, late */
    g_thread_join(thread);
    ck_assert_int_eq(a.status, PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(a.list), 0);
    pdk_contenders_free(a.list);
}
END_TEST

/* Then the question is asked again, on the next connection. */
static void lose(struct asking *a, int opcode) {
    ts_proxy_arm(a->client->proxy, opcode, TS_LOSE_REPLY, TS_PASS);
    GThread *thread = g_thread_new("asks", ask, a);
    ck_assert(ts_proxy_wait_fired(a->client->proxy, PATIENCE_MS));
    g_thread_join(thread);
    ck_assert_int_eq(a->status, PDK_OK);
    pdk_contenders_free(g_steal_pointer(&a->list));
}

START_TEST(a_lost_answer_is_asked_for_again) {
    struct asking a = {0};
    pdk_hold *hold = set_up(&a, ts_fresh_path());
    for (int i = 0; i < 2; i++) {
        a.contenders = i == 1;
        lose(&a, TS_OP_GET_CHILDREN);
        lose(&a, TS_OP_GET_DATA);
    }
    a.sequencer = pdk_hold_sequencer(hold);
    lose(&a, TS_OP_MULTI);
    lose(&a, TS_OP_EXISTS);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("queries");
    TCase *tcase = ts_bench_case(suite, "queries");
    tcase_add_test(tcase, equal_numbers_are_in_the_order_of_names);
    tcase_add_test(tcase, a_queue_may_be_too_long_to_list);
    tcase_add_test(tcase, the_holder_may_leave_between_list_and_reading);
    tcase_add_test(tcase, a_lost_answer_is_asked_for_again);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
