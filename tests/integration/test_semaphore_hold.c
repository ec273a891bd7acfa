/* Permits that were taken at once are one hold: one token, one release, one loss. */
#include <glib.h>
#include <string.h>

#include "permits.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, LEASE_MS = SESSION_MS - SESSION_MS / 16 - 50, SCHEDULING_MS = 250, PERMITS = 5, COUNT = 3 };

static const char *server(void) { return ts_bench_server(); }

/* A hold of three permits out of five, and the witness of its loss. */
static struct {
    const char *path;
    ts_client *client, *other;
    pdk_semaphore *semaphore;
    pdk_hold *hold;
    ts_lost *lost;
} it;

static void acquire_it(void) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.other = ts_bench_client(SESSION_MS);
    it.semaphore = permits_at(it.client, it.path, PERMITS);
    it.hold = permits_take(it.semaphore, COUNT);
    it.lost = ts_lost_watch(it.hold);
    ck_assert_ptr_nonnull(it.lost);
    ck_assert_int_eq(permits_taken(it.path), COUNT);
}

static void forget_it(void) { memset(&it, 0, sizeof it); }

/* The whole hold is lost within that time, once, for that reason. */
static void assert_lost(pdk_reason reason, int64_t within_ms) {
    ck_assert_msg(ts_fd_readable(pdk_hold_fd(it.hold), within_ms), "the descriptor is not readable in time");
    ck_assert(!pdk_hold_is_valid(it.hold));
    ck_assert_msg(ts_lost_wait(it.lost, ts_patience(SCHEDULING_MS)), "no LOST callback");
    ck_assert_str_eq(pdk_reason_name(ts_lost_reason(it.lost)), pdk_reason_name(reason));
    ck_assert_str_eq(pdk_reason_name(pdk_hold_reason(it.hold)), pdk_reason_name(reason));
    ck_assert_int_eq(pdk_hold_remaining_ms(it.hold), 0);
    ts_sleep_ms(150);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert(ts_lost_wait_freed(it.lost, ts_patience(SCHEDULING_MS)));
    ck_assert_int_eq(ts_lost_count(it.lost), 1);
}

/* ---- tokens ---- */

START_TEST(the_token_is_that_of_its_oldest_node) {
    acquire_it();
    pdk_hold *one = permits_take(permits_at(it.other, it.path, PERMITS), 1);
    g_autofree char *oldest = permits_node(it.path, "leases", 0), *last = permits_node(it.path, "leases", COUNT);
    g_autofree char *node = ts_hold_node(it.hold), *theirs = ts_hold_node(one);
    g_autofree char *expected = g_strdup_printf("pdk1 %s permit %" G_GINT64_FORMAT " 0", node, pdk_hold_token(it.hold));
    ts_stat stat;

    ck_assert_str_eq(node, oldest);
    ck_assert_str_eq(theirs, last);
    ck_assert_int_eq(ts_exists(server(), oldest, &stat), 0);
    ck_assert_int_eq(pdk_hold_token(it.hold), stat.czxid);
    ck_assert_int_eq(pdk_session_id(it.client->session), stat.ephemeral_owner);
    ck_assert_int_gt(pdk_hold_token(one), pdk_hold_token(it.hold));
    ck_assert_str_eq(pdk_hold_sequencer(it.hold), expected);
    ck_assert_int_eq(pdk_session_check_sequencer(it.other->session, expected, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(it.client->session, pdk_hold_sequencer(one), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(it.other->session, expected, 5000), PDK_LOST);
    ck_assert_int_eq(pdk_session_check_sequencer(it.client->session, pdk_hold_sequencer(one), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(one), PDK_OK);
}
END_TEST

START_TEST(a_release_gives_back_all_of_it) {
    acquire_it();
    ts_answer *waiter = permits_async(permits_at(it.other, it.path, PERMITS), PERMITS, 20000);
    permits_await_ahead(waiter, 0);
    ck_assert_ptr_eq(pdk_hold_ref(it.hold), it.hold);
    ts_proxy_zero(it.client->proxy);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(!pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_NOT_HELD);
    permits_await_grant(waiter);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert_uint_eq(ts_proxy_count(it.client->proxy, TS_OP_DELETE), COUNT);
    ck_assert_int_eq(permits_taken(it.path), PERMITS);
    ck_assert_int_eq(ts_lost_count(it.lost), 0);
}
END_TEST

/* ---- losses ---- */

/* One of its nodes is deleted, and the whole hold is lost. Its other permits are given back, and free permits stay
 * free. */
START_TEST(one_node_is_deleted) {
    acquire_it();
    pdk_hold *bystander = permits_take(permits_at(it.client, it.path, PERMITS), 1);
    ts_answer *waiter = permits_async(permits_at(it.other, it.path, PERMITS), 4, 20000);
    g_autofree char *node = permits_node(it.path, "leases", (unsigned)_i);

    permits_await_ahead(waiter, 0);
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(ts_delete(server(), node), 0);
    assert_lost(PDK_REASON_NODE_GONE, ts_patience(1500));
    permits_await_grant(waiter);
    ck_assert_int_eq(permits_taken(it.path), PERMITS);
    ck_assert(pdk_hold_is_valid(bystander));
    ck_assert_int_eq(ts_events(it.client, PDK_SESSION_EXPIRED), 0);
    pdk_hold_release(bystander);
    ck_assert_int_eq(ts_answer_release(waiter), PDK_OK);
    permits_assert_none(it.path);
}
END_TEST

START_TEST(all_nodes_are_deleted) {
    acquire_it();
    for (int i = 0; i < COUNT; i++) {
        g_autofree char *node = permits_node(it.path, "leases", 0);
        ck_assert(node == NULL || ts_delete(server(), node) != -4);
    }
    assert_lost(PDK_REASON_NODE_GONE, ts_patience(1500));
    pdk_hold *hold = permits_take(it.semaphore, PERMITS);
    ck_assert_int_eq(permits_taken(it.path), PERMITS);
    pdk_hold_release(hold);
    permits_assert_none(it.path);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("semaphore_hold");
    TCase *tcase = ts_bench_case(suite, "semaphore_hold");

    tcase_add_checked_fixture(tcase, NULL, forget_it);
    tcase_add_test(tcase, the_token_is_that_of_its_oldest_node);
    tcase_add_test(tcase, a_release_gives_back_all_of_it);
    tcase_add_loop_test(tcase, one_node_is_deleted, 0, COUNT);
    tcase_add_test(tcase, all_nodes_are_deleted);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
