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

START_TEST(the_last_unref_releases_and_a_hold_outlives_its_semaphore) {
    pdk_semaphore *semaphore = NULL;
    acquire_it();
    ck_assert_int_eq(pdk_semaphore_new(it.client->session, it.path, PERMITS, NULL, &semaphore), PDK_OK);
    pdk_hold *hold = permits_take(semaphore, 2);
    ts_answer *waiter = permits_async(semaphore, 1, 20000);

    permits_await_ahead(waiter, 0);
    ck_assert_ptr_eq(pdk_semaphore_ref(semaphore), semaphore);
    pdk_semaphore_unref(semaphore);
    ck_assert(!ts_answer_wait(waiter, 100));
    pdk_semaphore_unref(semaphore);
    permits_await_status(waiter, PDK_CANCELED);
    ts_sleep_ms(100);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_ensure(hold, 100), PDK_OK);
    ck_assert_int_eq(permits_taken(it.path), PERMITS);
    pdk_hold_unref(hold);
    ck_assert(permits_wait_taken(it.path, COUNT));
    ck_assert(permits_wait_queued(it.path, 0));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}
END_TEST

/* ---- losses ---- */

enum when { AT_ONCE, LATER, AFTER_A_RECONNECT, WHILE_DISCONNECTED, WHENS };

/* One of its nodes is deleted, and the whole hold is lost. Its other permits are given back, and free permits stay
 * free. */
START_TEST(one_node_is_deleted) {
    acquire_it();
    pdk_hold *bystander = permits_take(permits_at(it.client, it.path, PERMITS), 1);
    ts_answer *waiter = permits_async(permits_at(it.other, it.path, PERMITS), 4, 20000);
    g_autofree char *node = permits_node(it.path, "leases", (unsigned)_i % COUNT);
    const enum when when = (enum when)(_i / COUNT);

    permits_await_ahead(waiter, 0);
    ts_sleep_ms(when == AT_ONCE ? 0 : 100);
    if (when == AFTER_A_RECONNECT) {
        ts_proxy_reset(it.client->proxy);
        ck_assert(ts_wait_event(it.client, PDK_SESSION_RESTORED, 1, ts_patience(3000)));
    } else if (when == WHILE_DISCONNECTED) {
        ts_proxy_set_mode(it.client->proxy, TS_CUT);
    }
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(ts_delete(server(), node), 0);
    ts_proxy_heal(it.client->proxy);
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

/* The link falls silent. The hold is lost by our own clock, before another client is granted. */
START_TEST(cut_off_beyond_the_lease) {
    int64_t last_valid = 0;
    acquire_it();
    ts_answer *waiter = permits_async(permits_at(it.other, it.path, PERMITS), COUNT, 20000);

    permits_await_ahead(waiter, 0);
    ts_proxy_set_mode(it.client->proxy, _i == 0 ? TS_BLACKHOLE : TS_CUT);
    while (pdk_hold_is_valid(it.hold)) {
        last_valid = ts_now_ns();
        ts_sleep_ms(2);
    }
    ck_assert_int_eq(permits_taken(it.path), COUNT);
    assert_lost(PDK_REASON_LEASE, LEASE_MS + ts_patience(SCHEDULING_MS));
    permits_await_grant(waiter);
    ck_assert_int_gt(ts_answer_at_ns(waiter), last_valid);
    ck_assert_int_gt(ts_answer_at_ns(waiter), ts_lost_at_ns(it.lost));
    ts_proxy_heal(it.client->proxy);
    ck_assert(permits_wait_taken(it.path, COUNT));
}
END_TEST

/* Requests arrive and replies do not. The session lives on, the hold does not, and its nodes do not stay in the way. */
START_TEST(unanswered_beyond_the_lease) {
    acquire_it();
    ts_answer *waiter = permits_async(permits_at(it.other, it.path, PERMITS), COUNT, 20000);

    permits_await_ahead(waiter, 0);
    ts_proxy_set_mode(it.client->proxy, TS_DROP_REPLIES);
    assert_lost(PDK_REASON_LEASE, LEASE_MS + ts_patience(SCHEDULING_MS));
    ts_proxy_heal(it.client->proxy);
    permits_await_grant(waiter);
    ck_assert_int_gt(ts_answer_at_ns(waiter), ts_lost_at_ns(it.lost));
    pdk_hold_release(permits_take(it.semaphore, PERMITS - COUNT)); /* the session can be used again */
    ck_assert(permits_wait_taken(it.path, COUNT));
}
END_TEST

START_TEST(expired_by_the_server) {
    acquire_it();
    ck_assert_int_eq(ts_expire(it.client->proxy, server()), 0);
    assert_lost(PDK_REASON_EXPIRED, ts_patience(1500));
    pdk_hold *next = permits_take(it.semaphore, PERMITS);
    ck_assert_int_eq(permits_taken(it.path), PERMITS);
    ck_assert(ts_wait_event(it.client, PDK_SESSION_EXPIRED, 1, ts_patience(1000)));
    ck_assert_int_eq(ts_events(it.client, PDK_SESSION_EXPIRED), 1);
    ck_assert_int_eq(pdk_hold_release(next), PDK_OK);
    permits_assert_none(it.path);
}
END_TEST

START_TEST(the_session_is_closed) {
    acquire_it();
    ts_answer *next = permits_async(it.semaphore, COUNT, PDK_FOREVER);
    permits_await_ahead(next, 0);
    ts_answer *blocked = permits_thread(it.semaphore, 1, PDK_FOREVER);
    pdk_contenders *list = NULL;
    pdk_hold *hold = NULL;

    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    assert_lost(PDK_REASON_CLOSED, 0);
    permits_await_status(next, PDK_CLOSED);
    permits_await_status(blocked, PDK_CLOSED);
    ck_assert_int_eq(permits_taken(it.path), 0);
    ck_assert_int_eq(permits_queued(it.path), 0);
    ck_assert_int_eq(pdk_semaphore_acquire(it.semaphore, 1, 1000, &hold), PDK_CLOSED);
    ck_assert_int_eq(pdk_semaphore_holders(it.semaphore, 1000, &list), PDK_CLOSED);
    ck_assert(hold == NULL && list == NULL);
}
END_TEST

/* Claims survive an expiry with their deadlines. The first claim of the process stays the first. */
START_TEST(claims_survive_an_expiry) {
    acquire_it();
    pdk_semaphore *semaphore = permits_at(it.other, it.path, PERMITS);
    const int64_t began = ts_now_ms();
    ts_answer *next = permits_async(semaphore, COUNT, 20000);
    permits_await_ahead(next, 0);
    ts_answer *hasty = permits_thread(semaphore, COUNT, 1500);

    ck_assert_int_eq(ts_expire(it.other->proxy, server()), 0);
    ck_assert(ts_wait_event(it.other, PDK_SESSION_REOPENED, 1, ts_patience(3000)));
    permits_await_ahead(next, 0);
    permits_await_status(hasty, PDK_TIMEOUT);
    ck_assert_int_ge(ts_answer_at_ns(hasty) / 1000000 - began, 1500);
    ck_assert_int_eq(ts_answer_count(next), 0);
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    permits_await_grant(next);
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
    permits_assert_none(it.path);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("semaphore_hold");
    TCase *tcase = ts_bench_case(suite, "semaphore_hold");

    tcase_add_checked_fixture(tcase, NULL, forget_it);
    tcase_add_test(tcase, the_token_is_that_of_its_oldest_node);
    tcase_add_test(tcase, a_release_gives_back_all_of_it);
    tcase_add_test(tcase, the_last_unref_releases_and_a_hold_outlives_its_semaphore);
    tcase_add_loop_test(tcase, one_node_is_deleted, 0, COUNT * WHENS);
    tcase_add_test(tcase, all_nodes_are_deleted);
    tcase_add_loop_test(tcase, cut_off_beyond_the_lease, 0, 2);
    tcase_add_test(tcase, unanswered_beyond_the_lease);
    tcase_add_test(tcase, expired_by_the_server);
    tcase_add_test(tcase, the_session_is_closed);
    tcase_add_test(tcase, claims_survive_an_expiry);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
