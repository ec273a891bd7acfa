/* A group: who joins is seen with its data, who leaves or dies is not; each change is told once, and no watcher goes back in
 * time. */
#include <string.h>

#include "groups.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SOON_MS = 2000, SILENT_MS = 200, NO_NODE = -101 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *a, *b; /* a's members are in the group, b watches it */
} it;

static void make_it(void) {
    it.path = ts_fresh_path();
    it.a = ts_bench_client(SESSION_MS);
    it.b = ts_bench_client(SESSION_MS);
}

static void assert_nodes(int count) {
    ck_assert(ts_wait_children(server(), it.path, count, ts_patience(SESSION_MS + SOON_MS)));
}

/* ---- coming and going */

START_TEST(who_joins_is_seen_and_who_leaves_is_not) {
    make_it();
    watch *w = watch_begin(it.b, it.path); /* the directory does not exist */
    assert_watch(w, "");
    pdk_member *anna = member_joined(it.a, it.path, "anna");
    assert_watch(w, "anna");
    pdk_member *bruno = member_joined(it.a, it.path, "bruno");
    assert_watch(w, "anna,bruno");
    const pdk_member_info *seen = pdk_group_view_member(watch_newest(w), 1);
    ck_assert_int_eq(seen->token, pdk_hold_token(member_hold(bruno)));
    ck_assert_int_gt(seen->since_ms, 0);
    ck_assert_int_ne(seen->session, 0);
    ck_assert_int_eq(pdk_member_leave(anna), PDK_OK);
    assert_watch(w, "bruno");
    ck_assert_int_eq(pdk_member_leave(anna), PDK_NOT_HELD);
    pdk_member_unref(pdk_member_ref(bruno));
    ck_assert_int_eq(pdk_member_leave(bruno), PDK_OK);
    assert_watch(w, "");
    ck_assert_int_eq(watch_views(w), 5); /* each change once */
    assert_nodes(0);
}
END_TEST

/* Nobody blocks a member, so the answer to its create is all that it needs. After a lost answer it looks. */
START_TEST(a_join_is_one_create) {
    make_it();
    member_joined(it.b, it.path, "makes the directory");
    ts_proxy_zero(it.a->proxy);
    member_joined(it.a, it.path, "one");
    ck_assert_uint_eq(ts_proxy_count(it.a->proxy, TS_OP_CREATE2), 1);
    ck_assert_uint_eq(ts_proxy_count(it.a->proxy, TS_OP_GET_CHILDREN), 0);
    ts_proxy_arm(it.a->proxy, TS_OP_CREATE2, TS_LOSE_REPLY, TS_PASS);
    member_joined(it.a, it.path, "two");
    ck_assert_uint_ge(ts_proxy_count(it.a->proxy, TS_OP_GET_CHILDREN), 1);
    assert_nodes(3);
}
END_TEST

/* A watcher that comes later has all of them in its first view. */
START_TEST(the_first_view_has_all) {
    make_it();
    for (int i = 0; i < 5; i++) {
        g_autofree char *text = g_strdup_printf("%d", i);
        member_joined(it.a, it.path, text);
    }
    watch *w = watch_begin(it.b, it.path), *own = watch_begin(it.a, it.path);
    assert_watch(w, "0,1,2,3,4");
    assert_watch(own, "0,1,2,3,4");
    ck_assert_int_eq(watch_views(w), 1);
    ck_assert_uint_eq(pdk_group_view_changes(watch_newest(w)), 5);
}
END_TEST

START_TEST(the_last_unref_leaves) {
    make_it();
    watch *w = watch_begin(it.b, it.path);
    pdk_member *member = NULL;
    record *r = record_new();
    pdk_election_callbacks recorded = PDK_ELECTION_CALLBACKS_INIT;
    pdk_member_callbacks callbacks = PDK_MEMBER_CALLBACKS_INIT;

    record_callbacks(r, &recorded);
    callbacks.joined = recorded.elected;
    callbacks.lost = recorded.deposed;
    callbacks.user = recorded.user;
    callbacks.user_free = record_freed;
    ck_assert_int_eq(pdk_group_join(it.a->session, it.path, NULL, 0, &callbacks, &member), PDK_OK);
    assert_told(r, ELECTED, 1);
    ck_assert(watch_wait_count(w, 1, ts_patience(SOON_MS)));
    ck_assert_uint_eq(pdk_group_view_member(watch_newest(w), 0)->size, 0);
    pdk_member_unref(member);
    assert_watch(w, "");
    assert_told(r, FREED, 1);
    assert_history(r, "elected deposed:NONE freed");
}
END_TEST

/* ---- data */

START_TEST(data_change) {
    static const char binary[] = "a\0b\xff";
    make_it();
    pdk_member *member = member_join(it.a, it.path, "old");
    watch *w = watch_begin(it.b, it.path);
    ck_assert_int_eq(pdk_member_set_data(member, "new", 3, ts_patience(SOON_MS)), PDK_OK);
    assert_watch(w, "new");
    ck_assert_int_eq(pdk_member_set_data(member, binary, sizeof binary, ts_patience(SOON_MS)), PDK_OK);
    g_autofree char *megabytes = g_malloc0(PDK_GROUP_DATA_MAX);
    ck_assert(watch_wait_count(w, 1, ts_patience(SOON_MS)));
    ck_assert_int_eq(pdk_member_set_data(member, megabytes, pdk_group_data_max(), ts_patience(SOON_MS)), PDK_OK);
    ck_assert_int_eq(pdk_member_set_data(member, NULL, 0, ts_patience(SOON_MS)), PDK_OK);
    assert_watch(w, "");
    ck_assert_uint_eq(pdk_group_view_count(watch_newest(w)), 1);
    member_joined(it.a, it.path, "next");
    ck_assert_int_eq(pdk_member_set_data(member, binary, sizeof binary, ts_patience(SOON_MS)), PDK_OK);
    ck_assert(watch_wait_count(w, 2, ts_patience(SOON_MS)));
    for (int i = 0; i < 100 && pdk_group_view_member(watch_newest(w), 0)->size == 0; i++)
        ts_sleep_ms(20);
    const pdk_member_info *seen = pdk_group_view_member(watch_newest(w), 0);
    ck_assert_mem_eq(seen->data, binary, sizeof binary);
    ck_assert_uint_eq(seen->size, sizeof binary);
}
END_TEST

/* A change by somebody else is told to who writes next, and to who watches. */
START_TEST(somebody_else_writes) {
    make_it();
    pdk_member *member = member_joined(it.a, it.path, "ours");
    watch *w = watch_begin(it.b, it.path);
    assert_watch(w, "ours");
    g_autofree char *node = ts_hold_node(member_hold(member));
    ck_assert_int_eq(ts_set(server(), node, "theirs"), 0);
    assert_watch(w, "theirs");
    ck_assert_int_eq(pdk_member_set_data(member, "again", 5, ts_patience(SOON_MS)), PDK_REPLACED);
    assert_watch(w, "theirs");
    ck_assert_int_eq(pdk_member_set_data(member, "again", 5, ts_patience(SOON_MS)), PDK_OK);
    assert_watch(w, "again");
}
END_TEST

/* The request, or the answer, of the write is lost: it is written, once. */
START_TEST(a_lost_set) {
    make_it();
    pdk_member *member = member_joined(it.a, it.path, "old");
    g_autofree char *node = ts_hold_node(member_hold(member));
    ts_stat stat;

    ck_assert_int_eq(pdk_member_set_data(member, "older", 5, ts_patience(SOON_MS)), PDK_OK);
    ts_proxy_arm(it.a->proxy, TS_OP_SET_DATA, _i == 0 ? TS_LOSE_REQUEST : TS_LOSE_REPLY, TS_PASS);
    ck_assert_int_eq(pdk_member_set_data(member, "new", 3, ts_patience(SESSION_MS)), PDK_OK);
    ck_assert_int_eq(ts_exists(server(), node, &stat), 0);
    ck_assert_int_eq(stat.version, 2);
    g_autofree char *data = NULL;
    ck_assert_int_eq(ts_get(server(), node, &data, NULL, NULL), 0);
    ck_assert_str_eq(data, "new");
}
END_TEST

/* No answer comes to two writes, one after the other. The next one finds what the first one wrote, and knows that it is ours. */
START_TEST(two_sets_without_an_answer) {
    make_it();
    pdk_member *member = member_joined(it.a, it.path, "old");
    watch *w = watch_begin(it.b, it.path);

    assert_watch(w, "old");
    ts_proxy_set_mode(it.a->proxy, TS_BLACKHOLE_DOWN);
    ck_assert_int_eq(pdk_member_set_data(member, "one", 3, SILENT_MS), PDK_UNAVAILABLE);
    ck_assert_int_eq(pdk_member_set_data(member, "two", 3, SILENT_MS), PDK_UNAVAILABLE);
    assert_watch(w, "one");
    ts_proxy_heal_discard(it.a->proxy);
    ck_assert_int_eq(pdk_member_set_data(member, "three", 5, ts_patience(SESSION_MS)), PDK_OK);
    assert_watch(w, "three");
}
END_TEST

/* What is set before there is a connection comes with the registration. */
START_TEST(data_that_are_set_without_a_connection) {
    make_it();
    watch *w = watch_begin(it.b, it.path);
    assert_watch(w, "");
    ts_proxy_set_mode(it.a->proxy, TS_CUT);
    ts_sleep_ms(SILENT_MS); /* it is known that there is none */
    pdk_member *member = member_join(it.a, it.path, "old");
    ck_assert_int_eq(pdk_member_set_data(member, "new", 3, SILENT_MS), PDK_UNAVAILABLE);
    ts_proxy_heal(it.a->proxy);
    assert_watch(w, "new");
    assert_nodes(1);
}
END_TEST

/* ---- failures */

START_TEST(an_expired_member_registers_anew) {
    make_it();
    record *r = record_new();
    pdk_member *member = member_join_recorded(it.a, it.path, "one", r);
    watch *w = watch_begin(it.b, it.path);
    pdk_hold *first = member_hold(member);
    ck_assert_int_eq(pdk_member_set_data(member, "two", 3, ts_patience(SOON_MS)), PDK_OK);
    assert_watch(w, "two");
    ck_assert_int_eq(ts_expire(it.a->proxy, server()), 0);
    assert_told(r, ELECTED, 2);
    ck_assert(!pdk_hold_is_valid(first));
    pdk_hold *second = member_hold(member);
    ck_assert_int_gt(pdk_hold_token(second), pdk_hold_token(first));
    assert_nodes(1);
    for (int i = 0; i < 200 && pdk_group_view_count(watch_newest(w)) == 0; i++)
        ts_sleep_ms(20);
    assert_watch(w, "two");
    ck_assert_int_eq(pdk_member_leave(member), PDK_OK);
    assert_told(r, FREED, 1);
    g_autofree char *history = record_history(r);
    ck_assert(g_str_has_prefix(history, "elected deposed:") &&
              g_str_has_suffix(history, " elected deposed:NONE freed"));
    ck_assert_int_eq(record_count(r, ELECTED), 2);
}
END_TEST

/* A member that is cut off has an invalid hold before its node is gone. */
START_TEST(a_member_that_is_cut_off_knows_first) {
    make_it();
    pdk_member *member = member_joined(it.a, it.path, "cut");
    watch *w = watch_begin(it.b, it.path);
    pdk_hold *hold = member_hold(member);
    bool valid = true;

    assert_watch(w, "cut");
    ts_proxy_set_mode(it.a->proxy, TS_BLACKHOLE);
    const int64_t end = ts_now_ns() + ts_patience(4 * SESSION_MS) * 1000000;
    while (pdk_group_view_count(watch_newest(w)) == 1 && ts_now_ns() < end) {
        valid = pdk_hold_is_valid(hold);
        ts_sleep_ms(1);
    }
    ck_assert_uint_eq(pdk_group_view_count(watch_newest(w)), 0);
    ck_assert(!valid);
    ts_proxy_heal_discard(it.a->proxy);
    assert_watch(w, "cut");
    assert_nodes(1);
}
END_TEST

START_TEST(a_deleted_node_comes_back) {
    make_it();
    pdk_member *member = member_joined(it.a, it.path, "here");
    watch *w = watch_begin(it.b, it.path);
    pdk_hold *hold = member_hold(member);
    assert_watch(w, "here");
    delete_node_of(hold);
    for (int i = 0; i < 200 && pdk_hold_is_valid(hold); i++)
        ts_sleep_ms(20);
    member_hold(member);
    for (int i = 0; i < 200 && (pdk_group_view_count(watch_newest(w)) == 0 ||
                                pdk_group_view_member(watch_newest(w), 0)->token == pdk_hold_token(hold));
         i++)
        ts_sleep_ms(20);
    assert_watch(w, "here");
    ck_assert_int_gt(pdk_group_view_member(watch_newest(w), 0)->token, pdk_hold_token(hold));
    assert_nodes(1);
}
END_TEST

/* Whatever is lost of a join, there is one node. */
START_TEST(a_lost_join) {
    static const int opcodes[] = {TS_OP_CREATE2, TS_OP_GET_CHILDREN, TS_OP_CREATE_CONTAINER};
    make_it();
    watch *w = watch_begin(it.b, it.path);
    ts_proxy_arm(it.a->proxy, opcodes[_i / 2], _i % 2 == 0 ? TS_LOSE_REQUEST : TS_LOSE_REPLY, TS_PASS);
    pdk_member *member = member_joined(it.a, it.path, "one");
    ck_assert(ts_proxy_wait_fired(it.a->proxy, ts_patience(SOON_MS)));
    assert_watch(w, "one");
    assert_nodes(1);
    ck_assert_int_eq(pdk_member_leave(member), PDK_OK);
    assert_watch(w, "");
    assert_nodes(0);
}
END_TEST

/* The watcher loses requests and answers, its connection, or its session, while members come, change and go. */
START_TEST(a_watcher_in_trouble) {
    make_it();
    pdk_member *anna = member_joined(it.a, it.path, "anna");
    watch *w = watch_begin(it.b, it.path);
    assert_watch(w, "anna");
    if (_i < 6) {
        static const int opcodes[] = {TS_OP_GET_CHILDREN, TS_OP_GET_DATA, TS_OP_MULTI};
        ts_proxy_arm(it.b->proxy, opcodes[_i / 2], _i % 2 == 0 ? TS_LOSE_REQUEST : TS_LOSE_REPLY, TS_PASS);
    } else if (_i == 6) {
        ts_proxy_set_mode(it.b->proxy, TS_CUT);
    } else {
        ck_assert_int_eq(ts_expire(it.b->proxy, server()), 0);
    }
    pdk_member *bruno = member_joined(it.a, it.path, "bruno");
    ck_assert_int_eq(pdk_member_set_data(anna, "dora", 4, ts_patience(SOON_MS)), PDK_OK);
    ts_proxy_heal(it.b->proxy);
    assert_watch(w, "dora,bruno");
    ck_assert_int_eq(pdk_member_leave(bruno), PDK_OK);
    assert_watch(w, "dora");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("group");

    TCase *coming = ts_bench_case(suite, "coming");
    tcase_add_test(coming, who_joins_is_seen_and_who_leaves_is_not);
    tcase_add_test(coming, a_join_is_one_create);
    tcase_add_test(coming, the_first_view_has_all);
    tcase_add_test(coming, the_last_unref_leaves);

    TCase *data = ts_bench_case(suite, "data");
    tcase_add_test(data, data_change);
    tcase_add_test(data, somebody_else_writes);
    tcase_add_loop_test(data, a_lost_set, 0, 2);
    tcase_add_test(data, two_sets_without_an_answer);
    tcase_add_test(data, data_that_are_set_without_a_connection);

    TCase *failures = ts_bench_case(suite, "failures");
    tcase_add_test(failures, an_expired_member_registers_anew);
    tcase_add_test(failures, a_member_that_is_cut_off_knows_first);
    tcase_add_test(failures, a_deleted_node_comes_back);
    tcase_add_loop_test(failures, a_lost_join, 0, 6);
    tcase_add_loop_test(failures, a_watcher_in_trouble, 0, 8);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
