/* What other clients see of a read/write lock: tokens, sequencers, names, paths. */
#include <glib.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SHORT_MS = 300 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

/* ---- tokens and sequencers ---- */

START_TEST(tokens_order_writers_and_readers) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    int64_t newest = 0;

    for (int round = 0; round < 3; round++) {
        pdk_hold *writer = ts_bench_write(lock, 5000);
        ck_assert_int_gt(pdk_hold_token(writer), newest); /* larger than all before, readers' too */
        ts_answer *readers[] = {ts_read_async(lock, 5000), ts_read_async(ts_rwlock(b, path), 5000)};
        const int64_t token = newest = pdk_hold_token(writer);
        ck_assert_int_eq(pdk_hold_release(writer), PDK_OK);
        for (size_t i = 0; i < G_N_ELEMENTS(readers); i++) {
            ts_assert_granted(readers[i]);
            ck_assert_int_gt(pdk_hold_token(ts_answer_hold(readers[i])), token);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(readers); i++) {
            newest = MAX(newest, pdk_hold_token(ts_answer_hold(readers[i])));
            ck_assert_int_eq(ts_answer_release(readers[i]), PDK_OK);
        }
    }
}
END_TEST

static void check_sequencer(pdk_hold *hold, const char *mode, pdk_session *anywhere) {
    g_autofree char *node = ts_hold_node(hold);
    g_autofree char *expected = g_strdup_printf("pdk1 %s %s %" G_GINT64_FORMAT " 0", node, mode, pdk_hold_token(hold));
    g_autofree char *text = g_strdup(pdk_hold_sequencer(hold));
    ts_stat stat;

    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(ts_exists(server(), node, &stat), 0);
    ck_assert_int_eq(stat.czxid, pdk_hold_token(hold));
    ck_assert_int_eq(pdk_session_check_sequencer(anywhere, text, 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(anywhere, text, 5000), PDK_LOST);
}

START_TEST(sequencers_say_how_it_is_held) {
    pdk_rwlock *lock = ts_rwlock(a, ts_fresh_path());

    check_sequencer(ts_bench_write(lock, 5000), "exclusive", b->session);
    check_sequencer(ts_bench_read(lock, 5000), "shared", b->session);
}
END_TEST

/* ---- names ---- */

static const struct {
    pdk_naming naming;
    const char *reader, *writer;
} names[] = {
    {PDK_NAMING_CURATOR, "^_c_[0-9a-f]{8}-[0-9a-f-]{27}-__READ__[0-9]{10}$",
     "^_c_[0-9a-f]{8}-[0-9a-f-]{27}-__WRIT__[0-9]{10}$"},
    {PDK_NAMING_KAZOO, "^[0-9a-f]{32}__rlock__[0-9]{10}$", "^[0-9a-f]{32}__lock__[0-9]{10}$"},
};

static pdk_rwlock *lock_named(const ts_client *client, const char *path, pdk_naming naming) {
    pdk_rwlock_options options = PDK_RWLOCK_OPTIONS_INIT;

    options.naming = naming;
    return ts_rwlock_with(client, path, &options);
}

static void check_named(pdk_hold *hold, const char *pattern) {
    g_autofree char *node = ts_hold_node(hold);

    ck_assert_msg(g_regex_match_simple(pattern, strrchr(node, '/') + 1, 0, 0), "%s", node);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}

START_TEST(nodes_have_the_names_of_other_libraries) {
    pdk_rwlock *lock = lock_named(a, ts_fresh_path(), names[_i].naming);

    check_named(ts_bench_read(lock, 5000), names[_i].reader);
    check_named(ts_bench_write(lock, 5000), names[_i].writer);
}
END_TEST

/* All nodes of Paddock on a path are in one queue, locks' too: a lock is a writer. */
START_TEST(namings_and_locks_share_a_path) {
    const char *path = ts_fresh_path();
    pdk_hold *hold = ts_bench_read(lock_named(a, path, PDK_NAMING_CURATOR), 5000);
    ts_answer *reader = ts_read_async(lock_named(b, path, PDK_NAMING_KAZOO), 5000);
    ts_assert_granted(reader);
    ts_answer *lock = ts_acquire_async(ts_lock(a, path), 20000);
    ts_await_queued(lock);
    ts_answer *writer = ts_write_async(lock_named(b, path, PDK_NAMING_KAZOO), 20000);
    ts_await_queued(writer);
    ts_answer *last = ts_read_async(lock_named(a, path, PDK_NAMING_CURATOR), 20000);

    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_waits(lock, SHORT_MS);
    ck_assert_int_eq(ts_answer_release(reader), PDK_OK);
    ts_assert_granted(lock);
    ts_assert_waits(writer, SHORT_MS);
    ck_assert_int_eq(ts_answer_release(lock), PDK_OK);
    ts_assert_granted(writer);
    ts_assert_waits(last, SHORT_MS);
    ck_assert_int_eq(ts_answer_release(writer), PDK_OK);
    ts_assert_granted(last);
}
END_TEST

/* Sequencers contain the whole path, so that any session can check them. The exchange stays in the directory. */
START_TEST(below_a_chroot) {
    ts_client *below = ts_client_open_with(server(), "/chroot/rw", NULL);
    ck_assert_ptr_nonnull(below);
    pdk_rwlock *lock = ts_rwlock(below, "/lock");
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *reader = ts_read_async(ts_rwlock(a, "/chroot/rw/lock"), 20000);

    ck_assert(g_str_has_prefix(pdk_hold_sequencer(hold), "pdk1 /chroot/rw/lock/_c_"));
    ts_assert_waits(reader, SHORT_MS);
    ck_assert_int_eq(pdk_hold_downgrade(hold), PDK_OK);
    ts_assert_granted(reader);
    ck_assert(ts_wait_children(server(), "/chroot/rw/lock", 2, 2000));
    ck_assert(g_str_has_prefix(pdk_hold_sequencer(hold), "pdk1 /chroot/rw/lock/_c_"));
    ck_assert_ptr_nonnull(strstr(pdk_hold_sequencer(hold), " shared/"));
    ck_assert_int_eq(pdk_session_check_sequencer(a->session, pdk_hold_sequencer(hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(ts_wait_children(server(), "/chroot/rw/lock", 1, 2000));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock_names");
    TCase *tcase = ts_bench_case(suite, "rwlock_names");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, tokens_order_writers_and_readers);
    tcase_add_test(tcase, sequencers_say_how_it_is_held);
    tcase_add_loop_test(tcase, nodes_have_the_names_of_other_libraries, 0, G_N_ELEMENTS(names));
    tcase_add_test(tcase, namings_and_locks_share_a_path);
    tcase_add_test(tcase, below_a_chroot);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
