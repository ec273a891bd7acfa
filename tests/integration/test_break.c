/* A holder's znode is deleted by an operator, and only if it is still the one that was meant. Then the ways out of the calls of
 * revoke.h: bad input, refusals, threads that are cancelled, callbacks, forks. */
#include <glib.h>
#include <pthread.h>
#include <string.h>

#include "asked.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 20000, PATIENCE_MS = 10000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *holder, *op;
    pdk_hold *hold;
    char *node;
} it;

static void hold_it(void) {
    it.path = ts_fresh_path();
    it.holder = ts_bench_client(SESSION_MS);
    it.op = ts_bench_client(SESSION_MS);
    it.hold = ts_bench_acquire(ts_lock(it.holder, it.path), PATIENCE_MS);
    g_free(it.node);
    it.node = ts_hold_node(it.hold);
}

static pdk_status break_it(const char *node, int64_t token, pdk_contenders **out) {
    return pdk_session_break(it.op->session, node, token, ts_patience(PATIENCE_MS), out);
}

static pdk_status ask(const char *node, const char *who, int64_t within_ms) {
    return pdk_session_request_release(it.op->session, it.path, node, who, within_ms, ts_patience(PATIENCE_MS));
}

static void assert_broken(void) {
    ck_assert(ts_fd_readable(pdk_hold_fd(it.hold), ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(pdk_hold_reason(it.hold), PDK_REASON_NODE_GONE);
    ck_assert_int_eq(ts_child_count(server(), it.path), 0);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
}

START_TEST(the_holder_loses_and_who_it_was_is_told) {
    pdk_contenders *before = NULL, *list = NULL;
    hold_it();
    ck_assert_int_eq(pdk_lock_holder(ts_lock(it.op, it.path), PATIENCE_MS, &before), PDK_OK);
    ck_assert_int_eq(ask(NULL, "operator", 0), PDK_OK);
    asked *a = asked_watch(it.hold);
    ck_assert_int_eq(break_it(it.node, pdk_hold_token(it.hold), &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    ck_assert_str_eq(pdk_contenders_identity(list, 0), pdk_contenders_identity(before, 0));
    ck_assert_str_eq(pdk_contenders_node(list, 0), strrchr(it.node, '/') + 1);
    ck_assert_int_eq(pdk_contenders_session(list, 0), pdk_session_id(it.holder->session));
    ck_assert_int_eq(pdk_contenders_token(list, 0), pdk_hold_token(it.hold));
    ck_assert_int_gt(pdk_contenders_since_ms(list, 0), 0);
    ck_assert(!pdk_contenders_is_shared(list, 0));
    pdk_contenders_free(before);
    pdk_contenders_free(list);
    assert_broken();
    ck_assert(asked_wait_freed(a, ts_patience(PATIENCE_MS)));
}
END_TEST

START_TEST(another_token_deletes_nothing) {
    hold_it();
    int64_t token = pdk_hold_token(it.hold);
    refused(break_it(it.node, token + 1, NULL), PDK_GONE, "token");
    refused(break_it(it.node, token - 1, NULL), PDK_GONE, "token");
    ck_assert_int_eq(ts_child_count(server(), it.path), 1);
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, PATIENCE_MS));
    refused(break_it(it.node, token, NULL), PDK_GONE, it.node);
}
END_TEST

/* Whatever answer is lost, the node is gone, and the caller is told so. */
START_TEST(a_break_gets_through) {
    static const int requests[] = {TS_OP_SYNC, TS_OP_GET_DATA, TS_OP_DELETE};
    for (size_t i = 0; i < G_N_ELEMENTS(requests); i++) {
        pdk_contenders *list = NULL;
        hold_it();
        ts_proxy_arm(it.op->proxy, requests[i], TS_LOSE_REPLY, TS_PASS);
        ck_assert_int_eq(break_it(it.node, pdk_hold_token(it.hold), &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 1);
        pdk_contenders_free(list);
        assert_broken();
    }
}
END_TEST

static void *call_break(void *list) { return GINT_TO_POINTER(break_it(it.node, pdk_hold_token(it.hold), list)); }

/* The holder lets go while the delete is on its way. It never arrives, so the next one finds nothing to delete: that is what
 * was wanted. */
START_TEST(the_owner_may_be_faster) {
    pdk_contenders *list = NULL;
    hold_it();
    pdk_hold_ref(it.hold);
    ts_proxy_arm(it.op->proxy, TS_OP_DELETE, TS_LOSE_REQUEST, TS_BLACKHOLE);
    GThread *thread = g_thread_new("break", call_break, &list);
    ck_assert(ts_proxy_wait_fired(it.op->proxy, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, PATIENCE_MS));
    ts_proxy_heal_discard(it.op->proxy);
    ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(thread)), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    pdk_contenders_free(list);
    pdk_hold_unref(it.hold);
}
END_TEST

/* ---- the ways out */

static void never(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    (void)hold;
    (void)who;
    (void)until_ms;
    (void)user;
}

START_TEST(bad_input_is_refused) {
    hold_it();
    pdk_session *s = it.op->session;
    int64_t token = pdk_hold_token(it.hold);
    g_autofree char *longest = g_strnfill(1024, 'w'), *longer = g_strnfill(1025, 'w');
    refused(pdk_session_request_release(s, it.path, "", NULL, 0, 1), PDK_INVALID, "node");
    refused(pdk_session_request_release(s, it.path, "zzz", NULL, 0, 1), PDK_INVALID, "node");
    refused(pdk_session_request_release(s, it.path, longest, NULL, 0, 1), PDK_INVALID, "node");
    refused(pdk_session_request_release(s, it.path, "a/b-lock-0000000000", NULL, 0, 1), PDK_INVALID, "node");
    refused(ask(NULL, "", 0), PDK_INVALID, "who");
    refused(ask(NULL, "a\nb", 0), PDK_INVALID, "who");
    refused(ask(NULL, "\xff", 0), PDK_INVALID, "who");
    refused(ask(NULL, longer, 0), PDK_INVALID, "who");
    refused(ask(NULL, NULL, -1), PDK_INVALID, "within_ms");
    refused(ask(NULL, NULL, INT64_C(1000000000000000)), PDK_INVALID, "within_ms");
    ck_assert_int_eq(ask(NULL, longest, INT64_C(999999999999999)), PDK_OK);
    refused(break_it("node", token, NULL), PDK_INVALID, "path");
    refused(break_it("/node", token, NULL), PDK_INVALID, "path");
    refused(break_it("/a/x-lock-0000000001", token, NULL), PDK_INVALID, "UUID");
    refused(break_it("/a/0123456789abcdef0123456789abcdef", token, NULL), PDK_INVALID, "UUID");
    g_autofree char *much = g_strconcat("/a/", longest, NULL);
    refused(break_it(much, token, NULL), PDK_INVALID, "UUID");
    refused(break_it(it.node, 0, NULL), PDK_INVALID, "token");
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}
END_TEST

START_TEST(one_callback_per_hold_and_none_after_the_release) {
    hold_it();
    pdk_hold *other = ts_bench_acquire(ts_lock(it.op, ts_fresh_path()), PATIENCE_MS);
    ck_assert_int_eq(pdk_hold_on_request(other, never, NULL, NULL), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(other), PDK_OK);
    asked *a = asked_watch(it.hold);
    refused(pdk_hold_on_request(it.hold, never, NULL, NULL), PDK_INVALID, "already");
    pdk_hold_ref(it.hold);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    refused(pdk_hold_on_request(it.hold, never, NULL, NULL), PDK_NOT_HELD, "released");
    ck_assert_int_eq(asked_freed(a), 0);
    pdk_hold_unref(it.hold);
    ck_assert_int_eq(asked_freed(a), 1);
}
END_TEST

/* A persistent node with a contender's name, and with a child. */
START_TEST(what_the_server_refuses_is_told) {
    g_autofree char *node = NULL;
    ts_stat stat;
    it.path = ts_fresh_path();
    it.op = ts_bench_client(SESSION_MS);
    g_autofree char *name = g_strconcat(it.path, "/_c_01234567-89ab-4def-8123-456789abcdef-lock-", NULL);
    ck_assert_int_eq(ts_create(server(), name, "", TS_SEQUENTIAL, &node), 0);
    g_autofree char *child = g_strconcat(node, "/child", NULL);
    ck_assert_int_eq(ts_create(server(), child, "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_exists(server(), node, &stat), 0);
    refused(break_it(node, stat.czxid, NULL), PDK_UNSUPPORTED, "ZNOTEMPTY");
    ck_assert_int_eq(ts_delete_tree(server(), it.path), 0);
}
END_TEST

/* Who may not write may not ask, and who may not delete may not break. */
START_TEST(access_control_is_obeyed) {
    hold_it();
    ts_observer *o = ts_observer_open(server());
    g_autofree char *node = g_path_get_basename(it.node);
    ck_assert_int_eq(ts_observer_set_acl(o, it.node, TS_PERM_READ | TS_PERM_ADMIN, "world", "anyone"), 0);
    refused(ask(NULL, NULL, 0), PDK_NO_PERMISSION, it.node);
    ck_assert_int_eq(ts_observer_set_acl(o, it.node, TS_PERM_ADMIN, "world", "anyone"), 0);
    refused(ask(node, NULL, 0), PDK_NO_PERMISSION, it.node);
    refused(break_it(it.node, pdk_hold_token(it.hold), NULL), PDK_NO_PERMISSION, it.node);
    ck_assert_int_eq(ts_observer_set_acl(o, it.path, TS_PERM_ADMIN, "world", "anyone"), 0);
    refused(ask(NULL, NULL, 0), PDK_NO_PERMISSION, it.path);
    ck_assert_int_eq(ts_observer_set_acl(o, it.path, TS_PERM_ALL, "world", "anyone"), 0);
    ts_observer_close(o);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}
END_TEST

static void *call_ask(void *user) {
    (void)user;
    pdk_session_request_release(it.op->session, it.path, NULL, NULL, 0, PDK_FOREVER);
    return NULL;
}

/* Cancelled in each of its waits. What it has is given back, and the session works on. */
START_TEST(a_cancelled_thread_leaves_nothing) {
    static const struct {
        void *(*run)(void *user);
        int request;
    } calls[] = {{call_ask, TS_OP_SYNC},
                 {call_ask, TS_OP_GET_DATA},
                 {call_ask, TS_OP_SET_DATA},
                 {call_break, TS_OP_SYNC},
                 {call_break, TS_OP_DELETE}};
    hold_it();
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        pthread_t thread;
        void *result = NULL;
        ts_proxy_arm(it.op->proxy, calls[i].request, TS_LOSE_REQUEST, TS_BLACKHOLE);
        ck_assert_int_eq(pthread_create(&thread, NULL, calls[i].run, NULL), 0);
        ck_assert(ts_proxy_wait_fired(it.op->proxy, ts_patience(PATIENCE_MS)));
        ts_sleep_ms(50);
        ck_assert_int_eq(pthread_cancel(thread), 0);
        ck_assert_int_eq(pthread_join(thread, &result), 0);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
        ts_proxy_heal_discard(it.op->proxy);
        ck_assert_int_eq(ask(NULL, NULL, 0), PDK_OK);
    }
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}
END_TEST

/* No server, no time, no session. A callback for a closed session is set, and never called. */
START_TEST(without_an_answer) {
    hold_it();
    int64_t token = pdk_hold_token(it.hold);
    refused(pdk_session_request_release(it.op->session, it.path, NULL, NULL, 0, 0), PDK_UNAVAILABLE, "timeout_ms");
    ts_proxy_set_mode(it.op->proxy, TS_BLACKHOLE);
    refused(pdk_session_request_release(it.op->session, it.path, NULL, NULL, 0, 100), PDK_UNAVAILABLE, "timeout_ms");
    refused(pdk_session_break(it.op->session, it.node, token, 100, NULL), PDK_UNAVAILABLE, "timeout_ms");
    ts_proxy_heal(it.op->proxy);
    ck_assert_int_eq(ask(NULL, NULL, 0), PDK_OK);
    ts_sleep_ms(300); /* the holder has read it */
    ck_assert_int_eq(pdk_session_close(it.op->session, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(pdk_session_close(it.holder->session, PATIENCE_MS), PDK_OK);
    asked *a = asked_watch(it.hold);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert_int_eq(asked_count(a), 0);
    ck_assert_int_eq(asked_freed(a), 1);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("break");
    TCase *all = ts_bench_case(suite, "break");
    tcase_add_test(all, the_holder_loses_and_who_it_was_is_told);
    tcase_add_test(all, another_token_deletes_nothing);
    tcase_add_test(all, a_break_gets_through);
    tcase_add_test(all, the_owner_may_be_faster);
    tcase_add_test(all, bad_input_is_refused);
    tcase_add_test(all, one_callback_per_hold_and_none_after_the_release);
    tcase_add_test(all, what_the_server_refuses_is_told);
    tcase_add_test(all, access_control_is_obeyed);
    tcase_add_test(all, a_cancelled_thread_leaves_nothing);
    tcase_add_test(all, without_an_answer);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
