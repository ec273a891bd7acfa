/* What is a read/write lock's own: what is shared, what excludes, the order, which node each waiter watches, what a thread may ask for,
 * and writers that share a node. What it shares with other recipes is in test_recipes.c and beside it. */
#include <glib.h>
#include <pthread.h>
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

/* ---- sharing and exclusion ---- */

START_TEST(readers_share) {
    enum { READERS = 6 };
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *mine = ts_bench_read(lock, 5000);
    ts_answer *readers[READERS];

    for (int i = 0; i < READERS; i++) { /* of this object and others, of this session and others, blocking or not */
        pdk_rwlock *other = i % 3 == 0 ? lock : ts_rwlock(i % 3 == 1 ? a : b, path);

        readers[i] = i % 2 ? ts_read_thread(other, 5000) : ts_read_async(other, 5000);
        ts_assert_granted(readers[i]);
        ck_assert_int_eq(ts_child_count(server(), path), i + 2);
    }
    ck_assert(pdk_hold_is_valid(mine));
    for (int i = 0; i < READERS; i++) {
        pdk_hold *hold = ts_answer_hold(readers[i]);

        ck_assert(pdk_hold_is_valid(hold));
        ck_assert_int_gt(pdk_hold_token(hold), pdk_hold_token(mine));
        ck_assert_uint_eq(pdk_hold_handover(hold), 0);
    }
    for (int i = 0; i < READERS; i++) {
        ck_assert_int_eq(ts_answer_release(readers[i]), PDK_OK);
    }
    ck_assert(pdk_hold_is_valid(mine));
    ck_assert(ts_wait_children(server(), path, 1, 2000));
    ck_assert_int_eq(pdk_hold_release(mine), PDK_OK);
    ck_assert(ts_wait_children(server(), path, 0, 2000));
}
END_TEST

START_TEST(a_writer_excludes_readers_and_writers) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *waiters[] = {ts_read_async(ts_rwlock(b, path), 20000), ts_read_async(ts_rwlock(a, path), 20000),
                            ts_read_async(lock, 20000), NULL};

    ck_assert(ts_wait_children(server(), path, 4, 5000));
    waiters[3] = ts_write_async(ts_rwlock(b, path), 20000);
    ts_assert_waits(waiters[0], SHORT_MS);
    for (size_t i = 0; i < G_N_ELEMENTS(waiters); i++) {
        ck_assert_int_eq(ts_answer_count(waiters[i]), 0);
    }
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    for (size_t i = 0; i < 3; i++) {
        ts_assert_granted(waiters[i]);
    }
    ts_assert_waits(waiters[3], SHORT_MS);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(ts_answer_count(waiters[3]), 0);
        ck_assert_int_eq(ts_answer_release(waiters[i]), PDK_OK);
    }
    ts_assert_granted(waiters[3]);
}
END_TEST

/* A reader that comes after a waiting writer waits for it, though a reader holds. The writer does not wait for later
 * readers. */
START_TEST(nobody_is_overtaken) {
    const char *path = ts_fresh_path();
    pdk_hold *first = ts_bench_read(ts_rwlock(a, path), 5000);
    ts_answer *writer = ts_write_async(ts_rwlock(b, path), 20000);
    ts_await_queued(writer);
    ts_answer *late[] = {ts_read_async(ts_rwlock(a, path), 20000), ts_read_async(ts_rwlock(b, path), 20000)};

    ts_await_queued(late[0]);
    ts_await_queued(late[1]);
    ts_assert_waits(writer, SHORT_MS);
    ck_assert_int_eq(ts_answer_count(late[0]) + ts_answer_count(late[1]), 0);
    ck_assert_int_eq(pdk_hold_release(first), PDK_OK);
    ts_assert_granted(writer);
    ts_assert_waits(late[0], SHORT_MS);
    ck_assert_int_eq(ts_answer_count(late[1]), 0);
    ck_assert_int_eq(ts_answer_release(writer), PDK_OK);
    ts_assert_granted(late[0]);
    ts_assert_granted(late[1]);
}
END_TEST

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

/* ---- which node each watches ---- */

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

/* The index of the claim whose node each watches. -1: it watches none. -2: a wrong node. wchp tells this. */
static int watched_by(int who, pdk_contenders *list) {
    g_autofree char *wchp = ts_fourletter(server(), "wchp");
    g_autofree char *session = g_strdup_printf("0x%llx", (long long)pdk_session_id(crowd.clients[who]->session));
    g_auto(GStrv) lines = g_strsplit(wchp ? wchp : "", "\n", -1);
    const char *path = "";
    int found = -1;

    for (char **line = lines; *line != NULL; line++) {
        if (*line[0] == '/') {
            path = *line;
        } else if (strcmp(g_strstrip(*line), session) == 0) {
            int at = -2;

            for (size_t i = 0; i < pdk_contenders_count(list); i++) {
                if (strcmp(strrchr(path, '/') + 1, pdk_contenders_node(list, i)) == 0) {
                    at = found == -1 ? (int)i : -2;
                }
            }
            found = at;
        }
    }
    return found;
}

static const int crowd_watches[CROWD] = {0, 0, 0, 2, 3, 3, 5}; /* a hold watches its own node */

static bool crowd_is_watching(void *list) {
    for (int i = 0; i < CROWD; i++) {
        if (watched_by(i, list) != crowd_watches[i]) {
            return false;
        }
    }
    return true;
}

START_TEST(each_watches_the_one_it_waits_for) {
    pdk_contenders *list = NULL;

    make_crowd();
    ck_assert_int_eq(pdk_rwlock_list(ts_rwlock(a, crowd.path), 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), CROWD);
    const bool as_expected = ts_wait_until(crowd_is_watching, list, ts_patience(2000));
    for (int i = 0; i < CROWD; i++) {
        ck_assert_int_eq(pdk_contenders_is_shared(list, (size_t)i), !is_writer(i));
        ck_assert_msg(as_expected || watched_by(i, list) == crowd_watches[i], "%d watches %d, not %d", i,
                      watched_by(i, list), crowd_watches[i]);
    }
    pdk_contenders_free(list);
    ck_assert_int_eq(pdk_hold_release(crowd.held), PDK_OK);
}
END_TEST

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
}
END_TEST

/* The last reader goes first. The writer looks again, and watches the other one. */
START_TEST(a_writer_moves_on_to_the_reader_that_is_left) {
    make_crowd();
    ck_assert_int_eq(pdk_hold_release(crowd.held), PDK_OK);
    ts_assert_granted(crowd.claims[1]);
    ts_assert_granted(crowd.claims[2]);
    zero_counters();
    ck_assert_int_eq(ts_answer_release(crowd.claims[2]), PDK_OK);
    g_autofree char *first = woken();
    ck_assert_str_eq(first, "00 00 10 11 00 00 00 ");
    ck_assert_int_eq(ts_answer_count(crowd.claims[3]), 0);
    ck_assert_int_eq(ts_answer_release(crowd.claims[1]), PDK_OK);
    ts_assert_granted(crowd.claims[3]);
}
END_TEST

/* ---- what one thread may ask for ---- */

START_TEST(a_thread_never_waits_for_itself) {
    static const int64_t timeouts[] = {PDK_FOREVER, 0, 5000};
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *again = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(timeouts); i++) {
        const int64_t timeout_ms = timeouts[i];
        pdk_hold *hold = ts_bench_read(lock, 5000);
        refused(pdk_rwlock_acquire_read(lock, timeout_ms, &again), PDK_DEADLOCK, path);
        refused(pdk_rwlock_acquire_write(lock, timeout_ms, &again), PDK_UPGRADE, path);
        ck_assert(pdk_hold_is_valid(hold));
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
        hold = ts_bench_write(lock, 5000);
        refused(pdk_rwlock_acquire_write(lock, timeout_ms, &again), PDK_DEADLOCK, path);
        refused(pdk_rwlock_acquire_read(lock, timeout_ms, &again), PDK_DEADLOCK, path);
        ck_assert(pdk_hold_is_valid(hold));
        ck_assert_int_eq(ts_child_count(server(), path), 1);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    }
    ck_assert_ptr_null(again);
}
END_TEST

/* Refused even without a server. */
START_TEST(an_upgrade_is_refused_without_a_server) {
    pdk_rwlock *lock = ts_rwlock(a, ts_fresh_path());
    pdk_hold *hold = ts_bench_read(lock, 5000), *again = NULL;
    const int64_t before = ts_now_ms();

    ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 5000, &again), PDK_UPGRADE);
    ck_assert_int_eq(pdk_rwlock_acquire_read(lock, 5000, &again), PDK_DEADLOCK);
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(SCHEDULING_MS));
    ts_proxy_heal(a->proxy);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

START_TEST(a_released_hold_is_no_deadlock) {
    pdk_rwlock *lock = ts_rwlock(a, ts_fresh_path());
    pdk_hold *first = ts_bench_read(lock, 5000), *writer = NULL;

    pdk_hold_detach_thread(first);
    pdk_hold *second = ts_bench_read(lock, 5000);
    ck_assert_int_ne(pdk_hold_token(first), pdk_hold_token(second)); /* each has a node of its own */
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 100, &writer), PDK_UPGRADE);
    pdk_hold_detach_thread(second);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 100, &writer), PDK_TIMEOUT); /* now it waits, and for itself */
    ck_assert_int_eq(pdk_hold_release(first), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 0, &writer), PDK_BUSY);
    ck_assert_int_eq(pdk_hold_release(second), PDK_OK);
    writer = ts_bench_write(lock, 5000);
    pdk_hold_detach_thread(writer);
    ck_assert_int_eq(pdk_rwlock_acquire_read(lock, 100, &first), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 100, &first), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_hold_release(writer), PDK_OK);
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

START_TEST(writers_hand_over_and_readers_do_not) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock_of_long_handovers(a, path);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *reader = ts_read_async(lock, 20000);
    ts_await_queued(reader);
    ts_answer *next = ts_write_async(lock, 20000), *last = ts_write_thread(lock, 20000);
    const int64_t token = pdk_hold_token(hold);

    ck_assert_int_eq(ts_child_count(server(), path), 2);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_granted(next);
    ck_assert_int_eq(pdk_hold_token(ts_answer_hold(next)), token);
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(next)), 1);
    ck_assert_int_eq(ts_answer_count(reader), 0);
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
    ts_assert_granted(last);
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(last)), 2);
    ck_assert_int_eq(ts_answer_count(reader), 0);
    ck_assert_int_eq(ts_answer_release(last), PDK_OK);
    ts_assert_granted(reader);
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(reader)), 0);
}
END_TEST

/* Without hand-overs the first reader in the queue is first, also within one process. */
START_TEST(without_hand_overs_local_writers_queue_anew) {
    pdk_rwlock_options options = PDK_RWLOCK_OPTIONS_INIT;
    options.max_handovers = 0;
    pdk_rwlock *lock = ts_rwlock_with(a, ts_fresh_path(), &options);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *reader = ts_read_async(lock, 20000);
    ts_await_queued(reader);
    ts_answer *writer = ts_write_async(lock, 20000);
    const int64_t token = pdk_hold_token(hold);

    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_granted(reader);
    ts_assert_waits(writer, SHORT_MS);
    ck_assert_int_eq(ts_answer_release(reader), PDK_OK);
    ts_assert_granted(writer);
    ck_assert_int_gt(pdk_hold_token(ts_answer_hold(writer)), token);
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(writer)), 0);
}
END_TEST

/* ---- tries ---- */

/* A reader is in nobody's way but a writer's. */
START_TEST(a_try_looks_for_those_in_its_way) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(b, path);
    pdk_hold *hold = ts_bench_read(ts_rwlock(a, path), 5000), *none = NULL;

    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 0, &none), PDK_BUSY);
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_CREATE2), 0);
    ck_assert_int_eq(pdk_hold_release(ts_bench_read(lock, 0)), PDK_OK);
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_CREATE2), 1);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* A waiting writer is ahead of a reader that tries, though a reader holds. */
START_TEST(a_try_does_not_overtake_a_waiting_writer) {
    const char *path = ts_fresh_path();
    pdk_hold *held = ts_bench_read(ts_rwlock(a, path), 5000), *hold = NULL;
    ts_answer *writer = ts_write_async(ts_rwlock(b, path), 20000);

    ts_await_queued(writer);
    ck_assert_int_eq(pdk_rwlock_acquire_read(ts_rwlock(a, path), 0, &hold), PDK_BUSY);
    ck_assert_int_eq(pdk_rwlock_acquire_write(ts_rwlock(b, path), 0, &hold), PDK_BUSY);
    ck_assert_ptr_null(hold);
    ck_assert_int_eq(ts_answer_count(writer), 0);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    ts_assert_granted(writer);
}
END_TEST

/* ---- the readers behind a writer that gives up are granted ---- */

enum { BY_CANCEL, BY_TIMEOUT, BY_EXPIRY, BY_CLOSE, GIVE_UPS };

START_TEST(readers_pass_a_writer_that_gave_up) {
    const char *path = ts_fresh_path();
    ts_client *c = ts_bench_client(SESSION_MS);
    pdk_hold *held = ts_bench_read(ts_rwlock(a, path), 5000);
    ts_answer *writer = ts_write_async(ts_rwlock(c, path), _i == BY_TIMEOUT ? 1000 : 20000);
    ts_await_queued(writer);
    ts_answer *readers[] = {ts_read_async(ts_rwlock(b, path), 20000), ts_read_async(ts_rwlock(a, path), 20000)};
    ts_await_queued(readers[0]);
    ts_await_queued(readers[1]);

    if (_i == BY_CANCEL) {
        ck_assert_int_eq(pdk_claim_cancel(ts_answer_claim(writer)), PDK_OK);
    } else if (_i == BY_EXPIRY) {
        ck_assert_int_eq(ts_expire(c->proxy, server()), 0); /* the writer queues again, behind them */
    } else if (_i == BY_CLOSE) {
        ck_assert_int_eq(pdk_session_close(c->session, 5000), PDK_OK);
    }
    ts_assert_granted(readers[0]);
    ts_assert_granted(readers[1]);
    ck_assert(pdk_hold_is_valid(held));
    if (_i == BY_EXPIRY) {
        ts_assert_waits(writer, SHORT_MS);
    } else {
        const pdk_status expected = _i == BY_CANCEL ? PDK_CANCELED : _i == BY_CLOSE ? PDK_CLOSED : PDK_TIMEOUT;

        ck_assert(ts_answer_wait(writer, ts_patience(2000)));
        ck_assert_str_eq(pdk_status_name(ts_answer_status(writer)), pdk_status_name(expected));
    }
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock");
    TCase *tcase = ts_bench_case(suite, "rwlock");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, readers_share);
    tcase_add_test(tcase, a_writer_excludes_readers_and_writers);
    tcase_add_test(tcase, nobody_is_overtaken);
    tcase_add_test(tcase, a_queue_is_served_in_order);
    tcase_add_test(tcase, each_watches_the_one_it_waits_for);
    tcase_add_test(tcase, a_release_wakes_only_those_it_admits);
    tcase_add_test(tcase, a_writer_moves_on_to_the_reader_that_is_left);
    tcase_add_test(tcase, a_thread_never_waits_for_itself);
    tcase_add_test(tcase, an_upgrade_is_refused_without_a_server);
    tcase_add_test(tcase, a_released_hold_is_no_deadlock);
    tcase_add_test(tcase, only_the_threads_own_holds_count);
    tcase_add_test(tcase, writers_hand_over_and_readers_do_not);
    tcase_add_test(tcase, without_hand_overs_local_writers_queue_anew);
    tcase_add_test(tcase, a_try_looks_for_those_in_its_way);
    tcase_add_test(tcase, a_try_does_not_overtake_a_waiting_writer);
    tcase_add_loop_test(tcase, readers_pass_a_writer_that_gave_up, 0, GIVE_UPS);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
