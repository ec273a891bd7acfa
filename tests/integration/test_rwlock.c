/* The read/write lock between sessions, on a real server: what is shared, what excludes, the order, and which node each
 * waiter watches. */
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
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
