/* The lock's directory: how it is created and deleted, the names of the nodes, and other nodes in it. */
#include <glib.h>
#include <string.h>

#include "directory_remover.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_observer.h"
#include "ts_support.h"

enum { SESSION_MS = 6000 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

/* ---- what a server takes ---- */

/* The first and the last of each class, and their neighbours: whatever a server takes is taken, and nothing else. */
START_TEST(names_that_a_server_takes) {
    static const gunichar characters[] = {0x01,   0x1f,   0x20,    0x21,    0x7e,    0x7f,    0x80,     0x9f,
                                          0xa0,   0xff,   0x100,   0x7ff,   0x800,   0xd7ff,  0xe000,   0xe001,
                                          0xf8fe, 0xf8ff, 0xf900,  0xf901,  0xfdd0,  0xfeff,  0xffef,   0xfff0,
                                          0xfffd, 0xffff, 0x10000, 0x1f40e, 0xe0100, 0xf0000, 0x10fffd, 0x10ffff};
    const char *path = ts_fresh_path();
    ck_assert_int_eq(ts_create(server(), path, "", 0, NULL), 0);
    ts_observer *o = ts_observer_open(server());
    int taken = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(characters); i++) {
        char text[7] = "";
        g_unichar_to_utf8(characters[i], text);
        g_autofree char *name = g_strdup_printf("%s/%s", path, text);
        pdk_lock *lock = NULL;
        int rc = ts_observer_create(o, name, "", 0, NULL);
        pdk_status status = pdk_lock_new(ts_bench_client(SESSION_MS)->session, name, NULL, &lock);
        ck_assert_msg(status == (rc == 0 ? PDK_OK : PDK_INVALID), "U+%04X: the server says %d, and Paddock %s",
                      characters[i], rc, pdk_status_name(status));
        pdk_lock_unref(lock);
        taken += rc == 0;
    }
    ck_assert_int_eq(taken, 14);
    ts_observer_close(o);
}
END_TEST

/* ---- the directory ---- */

/* Another client removes the directory whenever it is empty, as the server does with containers, only much more
 * often. */
START_TEST(a_directory_that_vanishes_again_and_again) {
    const char *path = ts_fresh_path();
    pdk_lock *locks[2] = {ts_lock(a, path), ts_lock(b, path)};
    const int64_t end = ts_now_ms() + 1500;
    int failures = 0, grants = 0;
    directory_remover *remover = directory_remover_start(path, NULL);

    for (; ts_now_ms() < end && failures == 0; grants++) {
        pdk_hold *hold = NULL;

        failures += pdk_lock_acquire(locks[grants % 2], 5000, &hold) != PDK_OK;
        failures += hold == NULL || pdk_hold_release(hold) != PDK_OK;
        if (grants % 8 == 0) {
            ts_sleep_ms(1);
        }
    }
    ck_assert_int_gt(directory_remover_stop(remover), 10);
    ck_assert_int_eq(failures, 0);
    ck_assert_int_gt(grants, 20);
    ck_assert(ts_wait_children(server(), path, 0, 2000));
}
END_TEST

START_TEST(below_a_chroot) {
    g_autofree char *chroot = g_strconcat(ts_fresh_path(), "/app", NULL);
    g_autofree char *full = g_strconcat(chroot, "/locks/x", NULL);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_hold *hold = NULL;

    options.session_timeout_ms = SESSION_MS;
    ts_client *c = ts_client_open_with(server(), chroot, &options);
    ck_assert_ptr_nonnull(c);
    hold = ts_bench_acquire(ts_lock(c, "/locks/x"), 5000);
    ck_assert_int_eq(ts_child_count(server(), full), 1);
    g_autofree char *node = ts_hold_node(hold);
    ck_assert(g_str_has_prefix(node, full));
    /* The same directory, from a session without a chroot. */
    pdk_hold *other = NULL;
    ck_assert_int_eq(pdk_lock_acquire(ts_lock(a, full), 0, &other), PDK_BUSY);
    ck_assert_int_eq(pdk_session_check_sequencer(a->session, pdk_hold_sequencer(hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(c->session, pdk_hold_sequencer(hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* ---- names ---- */

static void assert_name(const char *path, const char *pattern) {
    g_auto(GStrv) children = ts_children(server(), path, NULL);

    ck_assert_ptr_nonnull(children);
    ck_assert_uint_eq(g_strv_length(children), 1);
    ck_assert_msg(g_regex_match_simple(pattern, children[0], 0, 0), "%s does not match %s", children[0], pattern);
}

/* They make their directories with the parents: containers, and persistent nodes. */
START_TEST(names_of_both_profiles) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    g_autofree char *curator = g_strconcat(ts_fresh_path(), "/x/y/z", NULL);
    const char *kazoo = ts_fresh_path();
    g_autofree char *data = NULL;

    pdk_hold *one = ts_bench_acquire(ts_lock(a, curator), 5000);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_CREATE_CONTAINER), 5); /* /t, /t/N and three levels */
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_CREATE), 0);
    assert_name(curator, "^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-[0-9]{10}$");
    options.naming = PDK_NAMING_KAZOO;
    pdk_hold *two = ts_bench_acquire(ts_lock_with(b, kazoo, &options), 5000), *other = NULL;
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_CREATE_CONTAINER), 0);
    assert_name(kazoo, "^[0-9a-f]{32}__lock__[0-9]{10}$");
    ck_assert_int_eq(pdk_lock_acquire(ts_lock(a, kazoo), 0, &other), PDK_BUSY); /* they exclude each other */
    g_autofree char *node = ts_hold_node(two);
    ck_assert_int_eq(ts_get(server(), node, &data, NULL, NULL), 0);
    ck_assert_str_eq(data, pdk_session_identity(b->session));
    pdk_hold_release(one);
    pdk_hold_release(two);
}
END_TEST

/* ---- foreign children ---- */

static const char *const foreign[] = {
    "0",
    "zzz",
    "README",
    "0000000000",
    "-0000000001",
    "lock",
    "lock-",
    "x-0000000000",
    "lock-000000",
    "__lock__",
    "lock-0000000000 ",
    "_c_-lock-00000000x0",
    "lock-9999999999", /* more than 32 bits */
    "_c_x-latch-0000000000",
};

static void add_foreign(const char *path) {
    g_autofree char *giant = g_strnfill(800, 'f');
    g_autofree char *giant_path = g_strdup_printf("%s/%s", path, giant);

    ck_assert_int_eq(ts_create(server(), giant_path, "", TS_PERSISTENT, NULL), 0);
    for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++) {
        g_autofree char *child = g_strdup_printf("%s/%s", path, foreign[i]);

        ck_assert_int_eq(ts_create(server(), child, "", TS_PERSISTENT, NULL), 0);
    }
}

START_TEST(foreign_children_neither_block_nor_vanish) {
    const char *path = ts_fresh_path();
    const int others = (int)G_N_ELEMENTS(foreign) + 1;
    pdk_contenders *list = NULL;

    add_foreign(path);
    for (int i = 0; i < 2; i++) {
        pdk_hold *hold = ts_bench_acquire(ts_lock(a, path), 5000);
        ts_answer *waiter = ts_acquire_async(ts_lock(b, path), 10000);
        pdk_hold *tried = NULL;

        ck_assert(ts_wait_children(server(), path, others + 2, 5000));
        ck_assert_int_eq(pdk_lock_list(ts_lock(a, path), 5000, &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 2);
        pdk_contenders_free(list);
        ck_assert_int_eq(pdk_lock_acquire(ts_lock(b, path), 0, &tried), PDK_BUSY);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
        ck_assert(ts_answer_wait(waiter, ts_patience(2000)));
        ck_assert_int_eq(ts_answer_release(waiter), PDK_OK);
        ck_assert(ts_wait_children(server(), path, others, 2000));
    }
    pdk_session_close(a->session, 5000);
    ck_assert_int_eq(ts_child_count(server(), path), others);
}
END_TEST

/* Contenders of other libraries count. */
START_TEST(contenders_of_others_are_waited_for) {
    static const char *const names[] = {"_c_0d9f-lock-0000000000", "deadbeef__lock__0000000000",
                                        "_c_1-__WRIT__0000000000", "_c_1-__READ__0000000000", "abc__rlock__0000000000"};

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *path = ts_fresh_path();
        g_autofree char *child = g_strdup_printf("%s/%s", path, names[i]);
        pdk_hold *hold = NULL;

        ck_assert_int_eq(ts_bench_stranger(child, "", 0, NULL), 0);
        ck_assert_int_eq(pdk_lock_acquire(ts_lock(a, path), 0, &hold), PDK_BUSY);
        ts_answer *waiter = ts_acquire_async(ts_lock(b, path), 10000);
        ck_assert(!ts_answer_wait(waiter, 100));
        ck_assert_int_eq(ts_delete(server(), child), 0);
        ck_assert(ts_answer_wait(waiter, ts_patience(2000)));
        ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("path");
    TCase *tcase = ts_bench_case(suite, "path");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, names_that_a_server_takes);
    tcase_add_test(tcase, a_directory_that_vanishes_again_and_again);
    tcase_add_test(tcase, below_a_chroot);
    tcase_add_test(tcase, names_of_both_profiles);
    tcase_add_test(tcase, foreign_children_neither_block_nor_vanish);
    tcase_add_test(tcase, contenders_of_others_are_waited_for);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
