/* A directory with tens of thousands of nodes that no recipe made. They cost time, and do no harm. */
#include <glib.h>
#include <string.h>

#include "groups.h"
#include "many_nodes.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum {
    SESSION_MS = 20000,
    PATIENCE_MS = 10000,
    CROWD = 60000,
    ALLOWED = 100000, /* children that a recipe looks at, with its own node */
};

static ts_client *a, *b;
static const char *path;

static const char *server(void) { return ts_bench_server(); }

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
    path = ts_fresh_path();
    ck_assert_int_eq(ts_create(server(), path, "", TS_PERSISTENT, NULL), 0);
}

/* Their names are more than a megabyte, which is the maximum of a request. An answer may be longer. */
static void add_foreign(int first, int count) {
    g_autofree char *prefix = g_strconcat(path, "/job-of-somebody-", NULL);

    ck_assert_int_eq(many_nodes(server(), prefix, first, count), 0);
}

static void assert_children(int count) {
    ck_assert_msg(ts_wait_children(server(), path, count, ts_patience(PATIENCE_MS)), "%d children, not %d",
                  ts_child_count(server(), path), count);
}

static void assert_queued(size_t count) {
    pdk_contenders *list = NULL;

    ck_assert_int_eq(pdk_lock_list(ts_lock(a, path), ts_patience(PATIENCE_MS), &list), PDK_OK);
    const size_t seen = pdk_contenders_count(list);
    pdk_contenders_free(list);
    ck_assert_uint_eq(seen, count);
}

START_TEST(foreign_children_neither_block_nor_vanish) {
    pdk_hold *tried = NULL;
    int32_t ahead = -1;

    add_foreign(0, CROWD);
    pdk_hold *held = ts_bench_acquire(ts_lock(a, path), ts_patience(PATIENCE_MS));
    ts_answer *waiter = ts_acquire_async(ts_lock(b, path), PDK_FOREVER);
    assert_children(CROWD + 2);
    assert_queued(2);
    ck_assert_int_eq(pdk_lock_acquire(ts_lock(a, path), 0, &tried), PDK_BUSY);
    ck_assert_int_eq(pdk_claim_position(ts_answer_claim(waiter), &ahead), PDK_OK);
    ck_assert_int_eq(ahead, 1);
    ck_assert_int_eq(ts_answer_count(waiter), 0);
    ck_assert(pdk_hold_is_valid(held));

    ts_proxy_zero(b->proxy);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    ck_assert(ts_answer_wait(waiter, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
    ck_assert(pdk_hold_is_valid(ts_answer_hold(waiter)));
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_GET_CHILDREN), 1);
    ck_assert_int_eq(ts_answer_release(waiter), PDK_OK);
    assert_children(CROWD);
}
END_TEST

/* A holder keeps its hold. A new claim is refused, and leaves nothing behind. The watcher of a group waits for fewer. */
START_TEST(one_more_than_a_recipe_looks_at) {
    pdk_hold *refused = NULL;

    add_foreign(0, ALLOWED - 1);
    pdk_hold *held = ts_bench_acquire(ts_lock(a, path), ts_patience(PATIENCE_MS));
    ck_assert_int_eq(pdk_lock_acquire(ts_lock(b, path), ts_patience(PATIENCE_MS), &refused), PDK_LIMIT);
    ck_assert_ptr_null(refused);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), path));
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "100,000"));
    assert_children(ALLOWED);
    ck_assert_int_eq(pdk_hold_ensure(held, SESSION_MS / 2), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    assert_children(ALLOWED - 1);

    g_autofree char *node = g_strconcat(path, "/job-of-somebody-000000", NULL);
    add_foreign(ALLOWED - 1, 2);
    watch *w = watch_begin(a, path);
    ts_sleep_ms(1500); /* it is listed every second */
    ck_assert_int_eq(watch_views(w), 0);
    ck_assert_int_eq(ts_delete(server(), node), 0);
    assert_watch(w, "");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("children");
    TCase *tcase = ts_bench_case(suite, "children");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, foreign_children_neither_block_nor_vanish);
    tcase_add_test(tcase, one_more_than_a_recipe_looks_at);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
