/* A directory with as many nodes that no recipe made as one may have. They cost time, and do no harm. */
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
    tcase_add_test(tcase, one_more_than_a_recipe_looks_at);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
