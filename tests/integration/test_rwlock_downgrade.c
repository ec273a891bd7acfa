/* A writer that becomes a reader: which claims are granted, what stays of the hold, which requests are sent, what a
 * sequencer is worth, and which calls are refused. For failures meanwhile see test_rwlock_exchange. */
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

static bool is_exchanged(void *hold) { return strstr(pdk_hold_sequencer(hold), " shared/") != NULL; }

static void downgrade(pdk_hold *hold) {
    const int64_t before = ts_now_ms();

    ck_assert_msg(pdk_hold_downgrade(hold) == PDK_OK, "%s", pdk_last_error());
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(SCHEDULING_MS)); /* it never waits for the network */
    ck_assert(pdk_hold_is_valid(hold));
}

static void await_exchange(pdk_hold *hold) { ck_assert(ts_wait_until(is_exchanged, hold, ts_patience(3000))); }

/* ---- which claims are granted ---- */

START_TEST(readers_behind_are_granted_and_writers_are_not) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *reader = ts_read_async(ts_rwlock(b, path), 20000);
    ts_await_queued(reader);
    ts_answer *local = ts_read_async(lock, 20000);
    ts_await_queued(local);
    ts_answer *writer = ts_write_async(ts_rwlock(b, path), 20000);
    ts_await_queued(writer);
    ts_answer *last = ts_read_async(ts_rwlock(b, path), 20000);
    ts_await_queued(last);

    ts_assert_waits(reader, SHORT_MS);
    downgrade(hold);
    ts_assert_granted(reader);
    ts_assert_granted(local);
    ck_assert_int_gt(pdk_hold_token(ts_answer_hold(reader)), pdk_hold_token(hold));
    ts_assert_waits(writer, SHORT_MS);
    ck_assert_int_eq(ts_answer_count(last), 0);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(ts_answer_release(reader), PDK_OK);
    ck_assert_int_eq(ts_answer_release(local), PDK_OK);
    ts_assert_waits(writer, SHORT_MS); /* it waits for the hold that was downgraded */
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_granted(writer);
    ck_assert_int_eq(ts_answer_count(last), 0);
}
END_TEST

/* The next writer waits for the new node. Only this writer lists again, once. */
START_TEST(it_wakes_those_that_watched) {
    const char *path = ts_fresh_path();
    ts_client *c = ts_bench_client(SESSION_MS);
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *writer = ts_write_async(ts_rwlock(b, path), 20000);
    ts_proxy_counters counters;
    ts_await_queued(writer);
    ts_answer *behind = ts_read_async(ts_rwlock(c, path), 20000);

    ts_await_queued(behind);
    ts_sleep_ms(100);
    ts_proxy_zero(b->proxy);
    ts_proxy_zero(c->proxy);
    downgrade(hold);
    await_exchange(hold);
    ck_assert(ts_wait_children(server(), path, 3, 2000));
    ts_assert_waits(writer, SHORT_MS);
    ts_proxy_read(b->proxy, &counters);
    ck_assert_uint_eq(counters.notifications, 1);
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_GET_CHILDREN), 1);
    ts_proxy_read(c->proxy, &counters);
    ck_assert_uint_eq(counters.notifications, 0);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_granted(writer);
}
END_TEST

START_TEST(tries_afterwards) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *hold = ts_bench_write(lock, 5000), *other = NULL;

    ck_assert_int_eq(pdk_rwlock_acquire_read(ts_rwlock(b, path), 0, &other), PDK_BUSY);
    downgrade(hold);
    await_exchange(hold);
    ck_assert(ts_wait_children(server(), path, 1, 2000));
    ck_assert_int_eq(pdk_rwlock_acquire_read(ts_rwlock(b, path), 0, &other), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(other), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write(ts_rwlock(b, path), 0, &other), PDK_BUSY);
    ts_answer *local = ts_write_async(lock, 0);
    ck_assert(ts_answer_wait(local, ts_patience(1000)));
    ck_assert_int_eq(ts_answer_status(local), PDK_BUSY);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(b->session, 5000), PDK_OK); /* b's try had a node as well */
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 0, &other), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(other), PDK_OK);
}
END_TEST

/* Local writers that waited for a hand-over queue again, behind the readers, and in their order. */
START_TEST(local_writers_queue_anew) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock_of_long_handovers(a, path);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *local[] = {ts_write_async(lock, 20000), ts_write_thread(lock, 20000)};
    ts_answer *reader = ts_read_async(ts_rwlock(b, path), 20000);
    const int64_t token = pdk_hold_token(hold);

    ts_await_queued(reader);
    ck_assert_int_eq(ts_child_count(server(), path), 2);
    downgrade(hold);
    ts_assert_granted(reader);
    ts_assert_waits(local[0], SHORT_MS);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_waits(local[0], SHORT_MS);
    ck_assert_int_eq(ts_answer_release(reader), PDK_OK);
    for (uint32_t i = 0; i < 2; i++) {
        ts_assert_granted(local[i]);
        ck_assert_int_gt(pdk_hold_token(ts_answer_hold(local[i])), token);
        ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(local[i])), i);
        ck_assert_int_eq(ts_answer_release(local[i]), PDK_OK);
    }
    ck_assert(ts_wait_children(server(), path, 0, 2000));
}
END_TEST

/* ---- what stays, and which requests are sent ---- */

static const struct {
    pdk_naming naming;
    const char *writer, *reader;
} names[] = {{PDK_NAMING_CURATOR, "-__WRIT__", "-__READ__"}, {PDK_NAMING_KAZOO, "__lock__", "__rlock__"}};

/* The hold is released before a server has confirmed the exchange. The readers behind were promised that no writer
 * comes in between. */
START_TEST(local_writers_queue_anew_after_a_short_reading) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *local = ts_write_async(lock, 20000);
    ts_answer *reader = ts_read_async(ts_rwlock(b, path), 20000);

    ts_await_queued(local);
    ts_await_queued(reader);
    downgrade(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_granted(reader);
    ts_assert_waits(local, SHORT_MS);
    ck_assert_int_eq(ts_answer_release(reader), PDK_OK);
    ts_assert_granted(local);
    ck_assert_int_gt(pdk_hold_token(ts_answer_hold(local)), pdk_hold_token(ts_answer_hold(reader)));
}
END_TEST

START_TEST(a_readers_node_has_the_writers_number) {
    const char *path = ts_fresh_path();
    pdk_rwlock_options options = PDK_RWLOCK_OPTIONS_INIT;
    g_autofree char *data = NULL;
    ts_stat stat;

    options.naming = names[_i].naming;
    pdk_rwlock *lock = ts_rwlock_with(a, path, &options);
    pdk_hold_release(ts_bench_write(lock, 5000)); /* so that the number is not zero */
    pdk_hold *hold = ts_bench_write(lock, 5000);
    g_autofree char *before = ts_hold_node(hold);
    downgrade(hold);
    await_exchange(hold);
    g_autofree char *after = ts_hold_node(hold);
    g_autofree char *ending = g_strconcat(names[_i].reader, before + strlen(before) - 10, NULL);

    ck_assert_msg(strstr(before, names[_i].writer) != NULL, "%s", before);
    ck_assert_msg(g_str_has_suffix(after, ending), "%s", after);
    ck_assert(ts_wait_children(server(), path, 1, 2000));
    ck_assert_int_eq(ts_exists(server(), before, NULL), -101);
    ck_assert_int_eq(ts_get(server(), after, &data, NULL, &stat), 0);
    ck_assert_str_eq(data, pdk_session_identity(a->session));
    ck_assert_int_eq(stat.ephemeral_owner, pdk_session_id(a->session));
    ck_assert_int_gt(stat.czxid, pdk_hold_token(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(ts_wait_children(server(), path, 0, 2000));
}
END_TEST

START_TEST(it_stays_the_same_hold) {
    pdk_rwlock *lock = ts_rwlock_of_long_handovers(a, ts_fresh_path());
    pdk_hold *first = ts_bench_write(lock, 5000);
    ts_answer *second = ts_write_async(lock, 5000);
    const int64_t token = pdk_hold_token(first);
    ck_assert_int_eq(pdk_hold_release(first), PDK_OK);
    ts_assert_granted(second); /* handed over: its node is as old as the first one's */
    pdk_hold *hold = ts_answer_hold(second);
    ts_lost *lost = ts_lost_watch(hold);
    const int fd = pdk_hold_fd(hold);

    downgrade(hold);
    for (int i = 0; i < 200; i++) { /* at each moment of the exchange it is held */
        ck_assert(pdk_hold_is_valid(hold));
        ck_assert_int_gt(pdk_hold_remaining_ms(hold), 0);
        ts_sleep_ms(1);
    }
    await_exchange(hold);
    ck_assert_int_eq(pdk_hold_ensure(hold, 1000), PDK_OK);
    ck_assert_int_eq(pdk_hold_token(hold), token);
    ck_assert_uint_eq(pdk_hold_handover(hold), 1);
    ck_assert_int_eq(pdk_hold_fd(hold), fd);
    ck_assert(!ts_fd_readable(fd, 0));
    ck_assert_int_eq(ts_lost_count(lost), 0);
    g_autofree char *node = ts_hold_node(hold); /* its loss is told as usual */
    ck_assert_int_eq(ts_delete(server(), node), 0);
    ck_assert(ts_lost_wait(lost, ts_patience(2000)));
    ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_NODE_GONE);
    ck_assert(ts_fd_readable(fd, ts_patience(1000)));
    ck_assert_int_eq(ts_answer_release(second), PDK_LOST);
    ck_assert_int_eq(ts_lost_count(lost), 1);
}
END_TEST

START_TEST(the_old_sequencer_is_worth_nothing) {
    pdk_rwlock *lock = ts_rwlock(a, ts_fresh_path());
    pdk_hold *hold = ts_bench_write(lock, 5000);
    const char *before = pdk_hold_sequencer(hold); /* lives as long as the hold */
    g_autofree char *copy = g_strdup(before);
    ts_stat stat;

    ck_assert_int_eq(pdk_session_check_sequencer(b->session, before, 5000), PDK_OK);
    downgrade(hold);
    await_exchange(hold);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    g_autofree char *node = ts_hold_node(hold);
    ck_assert_int_eq(ts_exists(server(), node, &stat), 0);
    g_autofree char *after = g_strdup_printf("pdk1 %s shared/%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " 0", node,
                                             stat.czxid, pdk_hold_token(hold));
    g_autofree char *forged = g_strdup_printf("pdk1 %s shared/%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " 0", node,
                                              stat.czxid + 1, pdk_hold_token(hold));
    ck_assert_str_eq(before, copy);
    ck_assert_str_eq(pdk_hold_sequencer(hold), after);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, before, 5000), PDK_LOST);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, after, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, forged, 5000), PDK_LOST);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, after, 5000), PDK_LOST);
}
END_TEST

START_TEST(others_see_a_reader) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    pdk_contenders *list = NULL;

    ck_assert_int_eq(pdk_rwlock_list(ts_rwlock(b, path), 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    ck_assert(!pdk_contenders_is_shared(list, 0));
    ck_assert_int_eq(pdk_contenders_token(list, 0), pdk_hold_token(hold));
    pdk_contenders_free(list);
    downgrade(hold);
    await_exchange(hold);
    ck_assert(ts_wait_children(server(), path, 1, 2000));
    ck_assert_int_eq(pdk_rwlock_list(ts_rwlock(b, path), 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    ck_assert(pdk_contenders_is_shared(list, 0));
    ck_assert(!pdk_contenders_is_shared(list, 1));
    ck_assert_int_eq(pdk_contenders_session(list, 0), pdk_session_id(a->session));
    pdk_contenders_free(list);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* ---- calls that are refused ---- */

START_TEST(holds_that_cannot_be_downgraded) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *plain = ts_bench_acquire(ts_lock(a, ts_fresh_path()), 5000);
    pdk_hold *reader = ts_bench_read(lock, 5000);

    refused(pdk_hold_downgrade(plain), PDK_INVALID, "not one of a read/write lock");
    refused(pdk_hold_downgrade(reader), PDK_INVALID, "shared");
    ck_assert_int_eq(pdk_hold_release(plain), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(reader), PDK_OK);
    pdk_hold *hold = pdk_hold_ref(ts_bench_write(lock, 5000));
    ck_assert_int_eq(ts_child_count(server(), path), 1);
    downgrade(hold);
    refused(pdk_hold_downgrade(hold), PDK_INVALID, "shared"); /* under way */
    await_exchange(hold);
    refused(pdk_hold_downgrade(hold), PDK_INVALID, "shared"); /* done */
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    refused(pdk_hold_downgrade(hold), PDK_NOT_HELD, "released");
    pdk_hold_unref(hold);
    hold = ts_bench_write(lock, 5000);
    g_autofree char *node = ts_hold_node(hold);
    ck_assert_int_eq(ts_delete(server(), node), 0);
    ck_assert(ts_fd_readable(pdk_hold_fd(hold), ts_patience(2000)));
    refused(pdk_hold_downgrade(hold), PDK_LOST, "lost");
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    ck_assert(ts_wait_children(server(), path, 0, 2000));
}
END_TEST

/* It is a reader from the moment of the call, whatever the servers know of it. */
START_TEST(it_cannot_be_upgraded_again) {
    pdk_rwlock *lock = ts_rwlock(a, ts_fresh_path());
    pdk_hold *hold = ts_bench_write(lock, 5000), *again = NULL;

    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            downgrade(hold);
        } else {
            await_exchange(hold);
        }
        refused(pdk_rwlock_acquire_write(lock, 5000, &again), PDK_UPGRADE, "shared");
        refused(pdk_rwlock_acquire_read(lock, 5000, &again), PDK_DEADLOCK, "holds it");
    }
    pdk_hold_detach_thread(hold);
    again = ts_bench_read(lock, 5000);
    ck_assert_int_eq(pdk_hold_release(again), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock_downgrade");
    TCase *tcase = ts_bench_case(suite, "rwlock_downgrade");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, readers_behind_are_granted_and_writers_are_not);
    tcase_add_test(tcase, it_wakes_those_that_watched);
    tcase_add_test(tcase, tries_afterwards);
    tcase_add_test(tcase, local_writers_queue_anew);
    tcase_add_test(tcase, local_writers_queue_anew_after_a_short_reading);
    tcase_add_loop_test(tcase, a_readers_node_has_the_writers_number, 0, G_N_ELEMENTS(names));
    tcase_add_test(tcase, it_stays_the_same_hold);
    tcase_add_test(tcase, the_old_sequencer_is_worth_nothing);
    tcase_add_test(tcase, others_see_a_reader);
    tcase_add_test(tcase, holds_that_cannot_be_downgraded);
    tcase_add_test(tcase, it_cannot_be_upgraded_again);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
