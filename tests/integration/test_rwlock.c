/* What is a read/write lock's own: the order of readers and writers, whom a release wakes, what a thread may ask for, writers
 * that share a node, and its names. What it shares with other recipes is in test_recipes.c and beside it. */
#include <glib.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SHORT_MS = 300, SCHEDULING_MS = 250 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

/* ---- the order ---- */

/* A random queue is served in its order: the readers between two writers together, each writer alone. */
START_TEST(a_queue_is_served_in_order) {
    static const char kinds[] = "rrwrwwrrrw";
    enum { QUEUED = sizeof kinds - 1 };
    const char *path = ts_fresh_path();
    pdk_hold *hold = ts_bench_write(ts_rwlock(a, path), 5000);
    ts_answer *queue[QUEUED];
    int64_t last = pdk_hold_token(hold);

    for (int i = 0; i < QUEUED; i++) {
        pdk_rwlock *lock = ts_rwlock(i % 2 ? a : b, path);

        queue[i] = kinds[i] == 'r' ? ts_read_async(lock, 30000) : ts_write_async(lock, 30000);
        ts_await_queued(queue[i]);
    }
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    for (int i = 0, end; i < QUEUED; i = end) {
        for (end = i + 1; kinds[i] == 'r' && end < QUEUED && kinds[end] == 'r'; end++) {
        }
        for (int in = i; in < end; in++) {
            ts_assert_granted(queue[in]);
            ck_assert_int_gt(pdk_hold_token(ts_answer_hold(queue[in])), last);
        }
        for (int later = end; later < QUEUED; later++) {
            ck_assert_int_eq(ts_answer_count(queue[later]), 0);
        }
        last = pdk_hold_token(ts_answer_hold(queue[end - 1]));
        for (int in = i; in < end; in++) { /* they do not exclude each other */
            ck_assert(pdk_hold_is_valid(ts_answer_hold(queue[in])));
            ck_assert_int_eq(ts_answer_release(queue[in]), PDK_OK);
        }
    }
    ck_assert(ts_wait_children(server(), path, 0, 2000));
}
END_TEST

/* ---- whom a release wakes ---- */

enum { CROWD = 7 };

/* The writer that holds and the claims behind it, each in a session of its own: w r r w r r w. */
static struct {
    const char *path;
    ts_client *clients[CROWD];
    pdk_hold *held;
    ts_answer *claims[CROWD]; /* index 0 is not used */
} crowd;

static bool is_writer(int i) { return i % 3 == 0; }

static void make_crowd(void) {
    crowd.path = ts_fresh_path();
    for (int i = 0; i < CROWD; i++) {
        crowd.clients[i] = ts_bench_client(SESSION_MS);
        pdk_rwlock *lock = ts_rwlock(crowd.clients[i], crowd.path);

        if (i == 0) {
            crowd.held = ts_bench_write(lock, 5000);
        } else {
            crowd.claims[i] = is_writer(i) ? ts_write_async(lock, 30000) : ts_read_async(lock, 30000);
            ts_await_queued(crowd.claims[i]);
        }
    }
}

static void zero_counters(void) {
    ts_sleep_ms(ts_patience(100)); /* for requests under way */
    for (int i = 0; i < CROWD; i++) {
        ts_proxy_zero(crowd.clients[i]->proxy);
    }
}

/* Events and lists of each since then: "1 1 0 0…". */
static char *woken(void) {
    GString *text = g_string_new(NULL);

    ts_sleep_ms(ts_patience(300));
    for (int i = 0; i < CROWD; i++) {
        ts_proxy_counters counters;

        ts_proxy_read(crowd.clients[i]->proxy, &counters);
        ck_assert_uint_eq(ts_proxy_count(crowd.clients[i]->proxy, TS_OP_CREATE2), 0);
        g_string_append_printf(text, "%d%d ", (int)counters.notifications,
                               (int)ts_proxy_count(crowd.clients[i]->proxy, TS_OP_GET_CHILDREN));
    }
    return g_string_free(text, FALSE);
}

START_TEST(a_release_wakes_only_those_it_admits) {
    make_crowd();
    zero_counters();
    ck_assert_int_eq(pdk_hold_release(crowd.held), PDK_OK);
    ts_assert_granted(crowd.claims[1]);
    ts_assert_granted(crowd.claims[2]);
    g_autofree char *by_writer = woken();
    ck_assert_str_eq(by_writer, "10 11 11 00 00 00 00 "); /* a hold gets an event for its own node, too */
    zero_counters();
    ck_assert_int_eq(ts_answer_release(crowd.claims[1]), PDK_OK);
    g_autofree char *by_first_reader = woken();
    ck_assert_str_eq(by_first_reader, "00 10 00 00 00 00 00 ");
    zero_counters();
    ck_assert_int_eq(ts_answer_release(crowd.claims[2]), PDK_OK);
    ts_assert_granted(crowd.claims[3]);
    g_autofree char *by_last_reader = woken();
    ck_assert_str_eq(by_last_reader, "00 00 10 11 00 00 00 ");
    zero_counters();
    ck_assert_int_eq(ts_answer_release(crowd.claims[3]), PDK_OK);
    ts_assert_granted(crowd.claims[4]);
    ts_assert_granted(crowd.claims[5]);
    g_autofree char *by_second_writer = woken();
    ck_assert_str_eq(by_second_writer, "00 00 00 10 11 11 00 ");
}
END_TEST

/* ---- what one thread may ask for ---- */

/* It is refused at once, whatever time it has, and without a server. */
START_TEST(a_thread_never_waits_for_itself) {
    static const int64_t timeouts[] = {PDK_FOREVER, 0, 5000};
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *again = NULL;

    for (int writes = 0; writes < 2; writes++) {
        pdk_hold *hold = writes ? ts_bench_write(lock, 5000) : ts_bench_read(lock, 5000);
        const int64_t before = ts_now_ms();

        ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
        for (size_t i = 0; i < G_N_ELEMENTS(timeouts); i++) {
            refused(pdk_rwlock_acquire_read(lock, timeouts[i], &again), PDK_DEADLOCK, path);
            refused(pdk_rwlock_acquire_write(lock, timeouts[i], &again), writes ? PDK_DEADLOCK : PDK_UPGRADE, path);
        }
        ck_assert_int_lt(ts_now_ms() - before, ts_patience(SCHEDULING_MS));
        ts_proxy_heal(a->proxy);
        ck_assert(pdk_hold_is_valid(hold));
        ck_assert_int_eq(ts_child_count(server(), path), 1);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    }
    ck_assert_ptr_null(again);
}
END_TEST

/* Holds of other threads, of callbacks, and of other objects do not count. */
START_TEST(only_the_threads_own_holds_count) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path), *other = ts_rwlock(a, path);
    ts_answer *threaded = ts_read_thread(lock, 5000), *async = ts_read_async(lock, 5000);
    pdk_hold *writer = NULL;

    ts_assert_granted(threaded);
    ts_assert_granted(async);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 100, &writer), PDK_TIMEOUT);
    pdk_hold *mine = ts_bench_read(lock, 5000), *second = ts_bench_read(other, 0);
    ck_assert_int_eq(pdk_rwlock_acquire_write(other, 0, &writer), PDK_UPGRADE);
    ck_assert_int_eq(pdk_hold_release(second), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write(other, 0, &writer), PDK_BUSY);
    ck_assert_int_eq(pdk_rwlock_acquire_write(other, 100, &writer), PDK_UPGRADE); /* it would wait */
    ck_assert_int_eq(pdk_hold_release(mine), PDK_OK);
    ck_assert_int_eq(ts_answer_release(threaded), PDK_OK);
    ck_assert_int_eq(ts_answer_release(async), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(ts_bench_write(lock, 5000)), PDK_OK);
}
END_TEST

/* ---- writers of one object share a node ---- */

static void take_turn(ts_answer *answer, int64_t token_before, bool handed_over) {
    ts_assert_granted(answer);
    const pdk_hold *hold = ts_answer_hold(answer);
    ck_assert_int_eq(pdk_hold_token(hold) == token_before, handed_over);
    ck_assert_uint_eq(pdk_hold_handover(hold), handed_over);
    ck_assert_int_ge(pdk_hold_token(hold), token_before);
}

/* A writer that waits here goes ahead of a reader in the queue, unless nothing is handed over. */
START_TEST(writers_hand_over_and_readers_do_not) {
    pdk_rwlock_options options = PDK_RWLOCK_OPTIONS_INIT;
    const char *path = ts_fresh_path();
    options.max_handovers = 0;
    pdk_rwlock *lock = _i ? ts_rwlock_of_long_handovers(a, path) : ts_rwlock_with(a, path, &options);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *reader = ts_read_async(lock, 20000);
    ts_await_queued(reader);
    ts_answer *writer = ts_write_async(lock, 20000), *first = _i ? writer : reader, *second = _i ? reader : writer;
    const int64_t token = pdk_hold_token(hold);

    ck_assert(!_i || ts_child_count(server(), path) == 2);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    take_turn(first, token, _i);
    ts_assert_waits(second, SHORT_MS);
    ck_assert_int_eq(ts_answer_release(first), PDK_OK);
    take_turn(second, token, false);
}
END_TEST

/* ---- readers and a writer that waits ---- */

/* A try of a reader looks for writers ahead, waiting ones too. When the writer gives up, the readers behind it are granted. */
START_TEST(a_writer_that_waits_is_in_the_way_of_readers) {
    const char *path = ts_fresh_path();
    pdk_hold *held = ts_bench_read(ts_rwlock(a, path), 5000), *none = NULL;
    pdk_rwlock *lock = ts_rwlock(b, path);

    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 0, &none), PDK_BUSY);
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_CREATE2), 0);
    ck_assert_int_eq(pdk_hold_release(ts_bench_read(lock, 0)), PDK_OK);
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_CREATE2), 1);
    ts_answer *writer = ts_write_async(lock, 20000);
    ts_await_queued(writer);
    ck_assert_int_eq(pdk_rwlock_acquire_read(ts_rwlock(a, path), 0, &none), PDK_BUSY);
    ts_answer *readers[] = {ts_read_async(ts_rwlock(b, path), 20000), ts_read_async(ts_rwlock(a, path), 20000)};
    ts_await_queued(readers[0]);
    ts_await_queued(readers[1]);
    ck_assert_int_eq(pdk_claim_cancel(ts_answer_claim(writer)), PDK_OK);
    ts_assert_granted(readers[0]);
    ts_assert_granted(readers[1]);
    ck_assert(pdk_hold_is_valid(held));
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
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

/* Its name, and the sequencer that anybody can check. */
static void check_named(pdk_hold *hold, const char *pattern, const char *mode) {
    g_autofree char *node = ts_hold_node(hold);
    g_autofree char *expected = g_strdup_printf("pdk1 %s %s %" G_GINT64_FORMAT " 0", node, mode, pdk_hold_token(hold));
    ts_stat stat;

    ck_assert_msg(g_regex_match_simple(pattern, strrchr(node, '/') + 1, 0, 0), "%s", node);
    ck_assert_str_eq(pdk_hold_sequencer(hold), expected);
    ck_assert_int_eq(ts_exists(server(), node, &stat), 0);
    ck_assert_int_eq(stat.czxid, pdk_hold_token(hold));
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, expected, 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, expected, 5000), PDK_LOST);
}

START_TEST(nodes_have_the_names_of_other_libraries) {
    pdk_rwlock *lock = lock_named(a, ts_fresh_path(), names[_i].naming);

    check_named(ts_bench_read(lock, 5000), names[_i].reader, "shared");
    check_named(ts_bench_write(lock, 5000), names[_i].writer, "exclusive");
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

    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_waits(lock, SHORT_MS);
    ck_assert_int_eq(ts_answer_release(reader), PDK_OK);
    ts_assert_granted(lock);
    ts_assert_waits(writer, SHORT_MS);
    ck_assert_int_eq(ts_answer_release(lock), PDK_OK);
    ts_assert_granted(writer);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock");
    TCase *tcase = ts_bench_case(suite, "rwlock");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, a_queue_is_served_in_order);
    tcase_add_test(tcase, a_release_wakes_only_those_it_admits);
    tcase_add_test(tcase, a_thread_never_waits_for_itself);
    tcase_add_test(tcase, only_the_threads_own_holds_count);
    tcase_add_loop_test(tcase, writers_hand_over_and_readers_do_not, 0, 2);
    tcase_add_test(tcase, a_writer_that_waits_is_in_the_way_of_readers);
    tcase_add_loop_test(tcase, nodes_have_the_names_of_other_libraries, 0, G_N_ELEMENTS(names));
    tcase_add_test(tcase, namings_and_locks_share_a_path);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
