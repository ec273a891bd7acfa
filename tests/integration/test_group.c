/* A group: who joins is seen with its data, who leaves or dies is not; each change is told once, and no watcher goes back in time.
 * What it refuses, what it makes of nodes that others made, and how its calls end. */
#include <glib.h>
#include <pthread.h>
#include <string.h>

#include "groups.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SOON_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *a, *b; /* a's members are in the group, b watches it */
} it;

#define UNTOUCHED ((void *)&it)

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
    ts_proxy_zero(it.a->proxy);
    pdk_member *bruno = member_joined(it.a, it.path, "bruno");
    ck_assert_uint_eq(ts_proxy_count(it.a->proxy, TS_OP_CREATE2),
                      1); /* nobody blocks it: the answer is all that it needs */
    ck_assert_uint_eq(ts_proxy_count(it.a->proxy, TS_OP_GET_CHILDREN), 0);
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

/* The watcher loses its connection, or its session, while members come, change and go. */
START_TEST(a_watcher_in_trouble) {
    make_it();
    pdk_member *anna = member_joined(it.a, it.path, "anna");
    watch *w = watch_begin(it.b, it.path);
    assert_watch(w, "anna");
    if (_i == 0)
        ts_proxy_set_mode(it.b->proxy, TS_CUT);
    else
        ck_assert_int_eq(ts_expire(it.b->proxy, server()), 0);
    pdk_member *bruno = member_joined(it.a, it.path, "bruno");
    ck_assert_int_eq(pdk_member_set_data(anna, "dora", 4, ts_patience(SOON_MS)), PDK_OK);
    ts_proxy_heal(it.b->proxy);
    assert_watch(w, "dora,bruno");
    ck_assert_int_eq(pdk_member_leave(bruno), PDK_OK);
    assert_watch(w, "dora");
}
END_TEST

/* ---- arguments */

START_TEST(too_much_data) {
    pdk_member *member = UNTOUCHED;
    make_it();
    g_autofree char *much = g_malloc0(PDK_GROUP_DATA_MAX + 1);
    refused(pdk_group_join(it.a->session, it.path, much, PDK_GROUP_DATA_MAX + 1, NULL, &member), PDK_LIMIT, "65537");
    ck_assert_ptr_eq(member, UNTOUCHED);
    member = member_joined(it.a, it.path, "here");
    refused(pdk_member_set_data(member, much, PDK_GROUP_DATA_MAX + 1, 0), PDK_LIMIT, "65537");
}
END_TEST

START_TEST(views_are_asked_out_of_bounds) {
    const pdk_member_info *before = UNTOUCHED, *after = UNTOUCHED;
    make_it();
    member_joined(it.a, it.path, "one");
    watch *w = watch_begin(it.b, it.path);
    assert_watch(w, "one");
    ck_assert_ptr_null(pdk_group_view_member(watch_newest(w), 1));
    ck_assert(!pdk_group_view_change(watch_newest(w), 1, &before, &after));
    ck_assert(!pdk_group_view_change(watch_newest(w), 0, NULL, &after));
    ck_assert(!pdk_group_view_change(watch_newest(w), 0, &before, NULL));
    ck_assert(before == UNTOUCHED && after == UNTOUCHED);
    ck_assert(pdk_group_view_change(watch_newest(w), 0, &before, &after));
    ck_assert(!before && after);
}
END_TEST

/* ---- what others made */

static char *node_at(const char *name) { return g_strconcat(it.path, "/", name, NULL); }

START_TEST(nodes_of_others) {
    static const char uuid[] = "_c_01234567-89ab-cdef-0123-456789abcdef";
    make_it();
    member_joined(it.a, it.path, "anna");
    ts_observer *admin = ts_observer_open(server());
    g_autofree char *long_name = g_strnfill(150, 'x');
    g_autofree char *names[] = {g_strconcat(uuid, "-member-0000000077", NULL), g_strdup("notes"),
                                g_strconcat(long_name, "-member-0000000078", NULL),
                                g_strconcat(uuid, "-lock-0000000079", NULL)};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *node = node_at(names[i]);
        ck_assert_int_eq(ts_observer_create(admin, node, "ghost", i == 0 ? TS_PERSISTENT : TS_EPHEMERAL, NULL), 0);
    }
    watch *w = watch_begin(it.b, it.path);
    assert_watch(w, "anna"); /* neither a ghost, nor a stranger */
    g_autofree char *big = g_strnfill(PDK_GROUP_DATA_MAX + 1, 'b'), *other = node_at("x-member-0000000080");
    ck_assert_int_eq(ts_observer_create(admin, other, big, TS_EPHEMERAL, NULL), 0);
    assert_watch(w, "anna,!LIMIT");
    g_autofree char *shut = node_at("y-member-0000000081");
    ck_assert_int_eq(ts_observer_create(admin, shut, "secret", TS_EPHEMERAL, NULL), 0);
    assert_watch(w, "anna,!LIMIT,secret");
    ck_assert_int_eq(ts_observer_set_acl(admin, shut, TS_PERM_WRITE | TS_PERM_DELETE, "world", "anyone"), 0);
    watch *late = watch_begin(it.a, it.path);
    ck_assert(watch_wait_count(late, 3, ts_patience(SOON_MS)));
    g_autofree char *text = watch_text(late);
    ck_assert_str_eq(text, "!NO_PERMISSION,anna,!LIMIT"); /* it has no token */
    ts_sleep_ms(SESSION_MS + 500);                        /* it is asked again, and nothing new is told */
    ck_assert_int_eq(watch_views(late), 1);
    ts_observer_close(admin);
    ck_assert(watch_wait_count(late, 1, ts_patience(SESSION_MS + SOON_MS)));
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        g_free(g_steal_pointer(&names[i]));
}
END_TEST

START_TEST(a_directory_that_may_not_be_listed) {
    make_it();
    ck_assert_int_eq(ts_create(server(), it.path, "", TS_PERSISTENT, NULL), 0);
    ts_observer *admin = ts_observer_open(server());
    ck_assert_int_eq(ts_observer_set_acl(admin, it.path, TS_PERM_ADMIN, "world", "anyone"), 0);
    watch *w = watch_begin(it.b, it.path);
    record *r = record_new();
    member_join_recorded(it.a, it.path, "one", r);
    assert_told(r, FAILED, 1);
    assert_told(r, FREED, 1);
    ts_sleep_ms(1200);
    ck_assert_int_eq(watch_views(w), 0);
    ck_assert_int_eq(ts_observer_set_acl(admin, it.path, TS_PERM_ALL, "world", "anyone"), 0);
    assert_watch(w, "");
    ts_observer_close(admin);
}
END_TEST

START_TEST(a_node_that_may_not_be_written) {
    make_it();
    pdk_member *member = member_joined(it.a, it.path, "one");
    g_autofree char *node = ts_hold_node(member_hold(member));
    ts_observer *admin = ts_observer_open(server());
    ck_assert_int_eq(ts_observer_set_acl(admin, node, TS_PERM_READ | TS_PERM_DELETE, "world", "anyone"), 0);
    ts_observer_close(admin);
    refused(pdk_member_set_data(member, "two", 3, ts_patience(SOON_MS)), PDK_NO_PERMISSION, "member-");
}
END_TEST

/* ---- how calls end */

static pdk_status await_member(void *member, int64_t timeout_ms, pdk_hold **out) {
    return pdk_member_wait(member, timeout_ms, out);
}

static pdk_interrupt *interrupt;

static pdk_status await_interrupted(void *member, int64_t timeout_ms, pdk_hold **out) {
    if (pdk_interrupt_attach(interrupt) != PDK_OK)
        return PDK_SYSTEM;
    const pdk_status status = pdk_member_wait(member, timeout_ms, out);
    pdk_interrupt_detach();
    return status;
}

static void assert_ends(ts_answer *answer, pdk_status wanted) {
    ck_assert(ts_answer_wait(answer, ts_patience(5000)));
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), pdk_status_name(wanted));
}

START_TEST(how_a_wait_ends) {
    pdk_hold *hold = NULL;
    make_it();
    ts_proxy_set_mode(it.a->proxy, TS_CUT);
    pdk_member *member = member_join(it.a, it.path, "later");
    ck_assert_int_eq(pdk_member_wait(member, 100, &hold), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_interrupt_new(&interrupt), PDK_OK);
    ts_answer *interrupted = ts_answer_block(await_interrupted, member, PDK_FOREVER);
    ts_sleep_ms(150);
    pdk_interrupt_raise(interrupt);
    assert_ends(interrupted, PDK_CANCELED);
    pdk_interrupt_unref(interrupt);
    ts_answer *leaving = ts_answer_block(await_member, member, PDK_FOREVER);
    ts_sleep_ms(150);
    ck_assert_int_eq(pdk_member_leave(member), PDK_OK);
    assert_ends(leaving, PDK_NOT_HELD);
    refused(pdk_member_set_data(member, "gone", 4, 0), PDK_NOT_HELD, "left");
    ts_answer *closing = ts_answer_block(await_member, member_join(it.a, it.path, "last"), PDK_FOREVER);
    ts_sleep_ms(150);
    pdk_session_close(it.a->session, 0);
    assert_ends(closing, PDK_CLOSED);
}
END_TEST

static void *set_for_ever(void *member) {
    pdk_member_set_data(member, "cancelled", 9, PDK_FOREVER);
    return NULL;
}

START_TEST(a_thread_that_is_cancelled) {
    pthread_t threads[2]; /* one writes, one waits for its turn */
    make_it();
    pdk_member *member = member_joined(it.a, it.path, "one");
    ts_proxy_set_mode(it.a->proxy, TS_CUT);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, set_for_ever, member), 0);
        ts_sleep_ms(200);
    }
    for (int i = 1; i >= 0; i--) {
        ck_assert_int_eq(pthread_cancel(threads[i]), 0);
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ts_proxy_heal_discard(it.a->proxy);
    const pdk_status status = pdk_member_set_data(member, "after", 5, ts_patience(8000));
    ck_assert_str_eq(pdk_status_name(status), "PDK_OK");
    watch *w = watch_begin(it.b, it.path);
    assert_watch(w, "after");
}
END_TEST

static void stop_within(watch *w, void *user) {
    (void)user;
    watch_stop(w);
    if (watch_freed(w) > 0)
        g_error("freed while fn runs");
}

static bool is_freed(void *w) { return watch_freed(w) == 1; }

START_TEST(stopped) {
    make_it();
    watch *within = watch_begin(it.b, it.path), *without = watch_begin(it.b, it.path);
    assert_watch(within, "");
    assert_watch(without, "");
    watch_stop(without);
    ck_assert_int_eq(watch_freed(without), 1);
    pdk_member *member = member_join(it.a, it.path, "one");
    watch_act(within, stop_within, NULL);
    ck_assert(ts_wait_until(is_freed, within, ts_patience(SOON_MS)));
    ck_assert_int_eq(pdk_member_leave(member), PDK_OK);
    watch *last = watch_begin(it.b, it.path);
    assert_watch(last, "");
    ck_assert_int_eq(watch_views(within), 2);
    ck_assert_int_eq(watch_views(without), 1);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("group");

    TCase *coming = ts_bench_case(suite, "coming");
    tcase_add_test(coming, who_joins_is_seen_and_who_leaves_is_not);

    TCase *data = ts_bench_case(suite, "data");
    tcase_add_test(data, data_change);

    TCase *failures = ts_bench_case(suite, "failures");
    tcase_add_test(failures, an_expired_member_registers_anew);
    tcase_add_loop_test(failures, a_watcher_in_trouble, 0, 2);

    TCase *others = ts_bench_case(suite, "others");
    tcase_add_test(others, too_much_data);
    tcase_add_test(others, views_are_asked_out_of_bounds);
    tcase_add_test(others, nodes_of_others);
    tcase_add_test(others, a_directory_that_may_not_be_listed);
    tcase_add_test(others, a_node_that_may_not_be_written);

    TCase *ends = ts_bench_case(suite, "ends");
    tcase_add_test(ends, how_a_wait_ends);
    tcase_add_test(ends, a_thread_that_is_cancelled);
    tcase_add_test(ends, stopped);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
