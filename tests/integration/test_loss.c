/* Every way to lose a hold: one LOST callback, the descriptor readable, in time, with its reason. Also failures that
 * lose nothing. */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, LEASE_MS = SESSION_MS - SESSION_MS / 16 - 50, SCHEDULING_MS = 250 };

static const char *server(void) { return ts_bench_server(); }

/* ---- a hold and its witnesses ---- */

static struct {
    const char *path;
    ts_client *client;
    pdk_hold *hold;
    ts_lost *lost;
    char *node;
    int64_t token;
} it;

static void acquire_it(void) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.hold = ts_bench_acquire(ts_lock(it.client, it.path), 5000);
    it.lost = ts_lost_watch(it.hold);
    ck_assert_ptr_nonnull(it.lost);
    ck_assert(!ts_fd_readable(pdk_hold_fd(it.hold), 0));
    it.node = ts_hold_node(it.hold);
    it.token = pdk_hold_token(it.hold);
}

static void forget_it(void) {
    g_free(it.node);
    memset(&it, 0, sizeof it);
}

/* The hold is lost within that time, once, for that reason. Its release then tells nothing more. */
static void assert_lost(pdk_reason reason, int64_t within_ms) {
    ck_assert_msg(ts_fd_readable(pdk_hold_fd(it.hold), within_ms), "the descriptor is not readable in time");
    ck_assert(!pdk_hold_is_valid(it.hold));
    ck_assert_msg(ts_lost_wait(it.lost, ts_patience(SCHEDULING_MS)), "no LOST callback");
    ck_assert_str_eq(pdk_reason_name(ts_lost_reason(it.lost)), pdk_reason_name(reason));
    ck_assert_str_eq(pdk_reason_name(pdk_hold_reason(it.hold)), pdk_reason_name(reason));
    ck_assert_int_eq(pdk_hold_remaining_ms(it.hold), 0);
    ck_assert_int_ne(pdk_hold_ensure(it.hold, 0), PDK_OK);
    ck_assert_int_eq(pdk_hold_token(it.hold), it.token);
    ts_sleep_ms(150);
    ck_assert(ts_fd_readable(pdk_hold_fd(it.hold), 0));
    ck_assert(!pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert(ts_lost_wait_freed(it.lost, ts_patience(SCHEDULING_MS)));
    ck_assert_int_eq(ts_lost_count(it.lost), 1);
    ck_assert_int_eq(ts_lost_freed(it.lost), 1);
    ck_assert(!ts_lost_freed_early(it.lost));
}

/* ---- expired ---- */

START_TEST(expired_by_the_server) {
    acquire_it();
    pdk_lock *lock = ts_lock(it.client, it.path);
    const int64_t id = pdk_session_id(it.client->session);

    ck_assert_int_eq(ts_expire(it.client->proxy, server()), 0);
    assert_lost(PDK_REASON_EXPIRED, ts_patience(1500));
    ck_assert(ts_wait_event(it.client, PDK_SESSION_REOPENED, 1, ts_patience(3000)));
    ck_assert_int_eq(ts_events(it.client, PDK_SESSION_EXPIRED), 1);
    ck_assert_int_ne(pdk_session_id(it.client->session), id);
    pdk_hold *next = ts_bench_acquire(lock, 5000);
    ck_assert_int_gt(pdk_hold_token(next), it.token);
    ck_assert_int_eq(pdk_hold_release(next), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, 2000));
}
END_TEST

/* Claims survive the expiry. Those in the queue queue again, each with its old deadline. */
START_TEST(claims_survive_an_expiry_with_their_deadlines) {
    acquire_it();
    ts_client *c = ts_bench_client(SESSION_MS);
    const int64_t began = ts_now_ms();
    ts_answer *patient = ts_acquire_async(ts_lock(c, it.path), 20000);
    ts_answer *hasty = ts_acquire_thread(ts_lock(c, it.path), 1500);

    ck_assert(ts_wait_children(server(), it.path, 3, 5000));
    ck_assert_int_eq(ts_expire(c->proxy, server()), 0);
    ck_assert(ts_wait_event(c, PDK_SESSION_REOPENED, 1, ts_patience(3000)));
    ck_assert(ts_wait_children(server(), it.path, 3, ts_patience(2000)));
    ck_assert(ts_answer_wait(hasty, ts_patience(3000)));
    ck_assert_int_eq(ts_answer_status(hasty), PDK_TIMEOUT);
    ck_assert_int_ge(ts_answer_at_ns(hasty) / 1000000 - began, 1500);
    ck_assert_int_le(ts_answer_at_ns(hasty) / 1000000 - began, 1500 + ts_patience(SCHEDULING_MS));
    ck_assert_int_eq(ts_answer_count(patient), 0);
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(ts_answer_wait(patient, ts_patience(2000)));
    ck_assert_int_eq(ts_answer_status(patient), PDK_OK);
    ck_assert_int_gt(pdk_hold_token(ts_answer_hold(patient)), it.token);
    ck_assert_int_eq(ts_answer_release(patient), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, 2000));
}
END_TEST

/* ---- cut off ---- */

/* The link falls silent. The hold is lost by our own clock, while the server still keeps our node, and before another
 * client is granted. */
START_TEST(cut_off_beyond_the_lease) {
    ts_client *other = ts_bench_client(SESSION_MS);
    int64_t last_valid = 0;

    acquire_it();
    ts_answer *waiter = ts_acquire_async(ts_lock(other, it.path), 20000);
    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ts_sleep_ms(_i * 170);
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    const int64_t cut = ts_now_ns(), left = pdk_hold_remaining_ms(it.hold);
    while (pdk_hold_is_valid(it.hold)) {
        last_valid = ts_now_ns();
        ts_sleep_ms(2);
    }
    ck_assert_int_eq(ts_exists(server(), it.node, NULL), 0);
    ck_assert_int_ge(last_valid - cut, (left - SCHEDULING_MS) * 1000000);
    assert_lost(PDK_REASON_LEASE, ts_patience(SCHEDULING_MS));
    ck_assert_int_le(ts_lost_at_ns(it.lost) - cut, (LEASE_MS + ts_patience(SCHEDULING_MS)) * 1000000);
    ck_assert(ts_answer_wait(waiter, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
    ck_assert_int_gt(ts_answer_at_ns(waiter), last_valid);
    ck_assert_int_gt(ts_answer_at_ns(waiter), ts_lost_at_ns(it.lost));
    ck_assert_int_gt(pdk_hold_token(ts_answer_hold(waiter)), it.token);
    fprintf(stderr, "    lost %d ms after the cut; granted elsewhere %d ms later\n",
            (int)((ts_lost_at_ns(it.lost) - cut) / 1000000),
            (int)((ts_answer_at_ns(waiter) - ts_lost_at_ns(it.lost)) / 1000000));
}
END_TEST

/* Requests arrive and replies do not. The session lives on, the hold does not. Its node does not stay in the way. */
START_TEST(unanswered_beyond_the_lease) {
    const ts_proxy_mode modes[] = {TS_BLACKHOLE_DOWN, TS_DROP_REPLIES};
    ts_client *other = ts_bench_client(SESSION_MS);

    acquire_it();
    ts_answer *waiter = ts_acquire_async(ts_lock(other, it.path), 20000);
    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ts_proxy_set_mode(it.client->proxy, modes[_i]);
    assert_lost(PDK_REASON_LEASE, LEASE_MS + ts_patience(SCHEDULING_MS));
    ts_proxy_heal(it.client->proxy);
    ck_assert(ts_answer_wait(waiter, ts_patience(4000)));
    ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
    ck_assert_int_gt(ts_answer_at_ns(waiter), ts_lost_at_ns(it.lost));
    ck_assert(ts_wait_children(server(), it.path, 1, 2000));
    pdk_hold *hold = NULL; /* the session can be used again */
    ck_assert_int_eq(pdk_lock_acquire(ts_lock(it.client, ts_fresh_path()), 5000, &hold), PDK_OK);
    pdk_hold_release(hold);
}
END_TEST

/* ---- deleted ---- */

enum deletion { AT_ONCE, LATER, AFTER_A_WRITE, RIGHT_AFTER_A_WRITE, AFTER_A_RECONNECT, WHILE_DISCONNECTED, DELETIONS };

START_TEST(deleted_by_somebody) {
    ts_client *other = ts_bench_client(SESSION_MS);

    acquire_it();
    if (_i == AT_ONCE) {
        ck_assert_int_eq(ts_delete(server(), it.node), 0);
        assert_lost(PDK_REASON_NODE_GONE, ts_patience(1000));
        return;
    }
    ts_answer *waiter = ts_acquire_async(ts_lock(other, it.path), 20000);
    ts_sleep_ms(150);
    if (_i == AFTER_A_WRITE || _i == RIGHT_AFTER_A_WRITE) {
        ck_assert_int_eq(ts_set(server(), it.node, "__REVOKE__"), 0);
        ts_sleep_ms(_i == AFTER_A_WRITE ? 150 : 0);
    } else if (_i == AFTER_A_RECONNECT) {
        ts_proxy_reset(it.client->proxy);
        ck_assert(ts_wait_event(it.client, PDK_SESSION_RESTORED, 1, ts_patience(3000)));
    } else if (_i == WHILE_DISCONNECTED) {
        ts_proxy_set_mode(it.client->proxy, TS_CUT);
    }
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(ts_delete(server(), it.node), 0);
    ts_proxy_heal(it.client->proxy);
    assert_lost(PDK_REASON_NODE_GONE, ts_patience(1500));
    ck_assert(ts_answer_wait(waiter, ts_patience(2000)));
    ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
    ck_assert_int_eq(ts_events(it.client, PDK_SESSION_EXPIRED), 0);
}
END_TEST

/* The grant is gone, but the local waiters are not: they queue again. */
START_TEST(local_waiters_survive_a_deletion) {
    const char *path = ts_fresh_path();
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_lock *lock = ts_lock(client, path);
    pdk_hold *hold = ts_bench_acquire(lock, 5000);
    ts_answer *waiter = ts_acquire_async(lock, 10000);
    g_autofree char *node = ts_hold_node(hold);

    ts_sleep_ms(50);
    ck_assert_int_eq(ts_delete(server(), node), 0);
    ck_assert(ts_answer_wait(waiter, ts_patience(2000)));
    ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
    ck_assert(!pdk_hold_is_valid(hold));
    ck_assert_int_gt(pdk_hold_token(ts_answer_hold(waiter)), pdk_hold_token(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    ck_assert(pdk_hold_is_valid(ts_answer_hold(waiter)));
}
END_TEST

/* ---- closed ---- */

START_TEST(the_session_is_closed) {
    acquire_it();
    ts_answer *blocked = ts_acquire_thread(ts_lock(it.client, it.path), PDK_FOREVER);
    pdk_hold *hold = NULL;
    pdk_lock *lock = ts_lock(it.client, it.path);

    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    assert_lost(PDK_REASON_CLOSED, 0);
    ck_assert(ts_answer_wait(blocked, ts_patience(1000)));
    ck_assert_int_eq(ts_answer_status(blocked), PDK_CLOSED);
    ck_assert_int_eq(ts_child_count(server(), it.path), 0);
    ck_assert_int_eq(pdk_lock_acquire(lock, 1000, &hold), PDK_CLOSED);
    ck_assert_int_eq(ts_events(it.client, PDK_SESSION_CLOSED), 1);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("loss");
    TCase *tcase = ts_bench_case(suite, "loss");

    tcase_add_checked_fixture(tcase, NULL, forget_it);
    tcase_add_test(tcase, expired_by_the_server);
    tcase_add_test(tcase, claims_survive_an_expiry_with_their_deadlines);
    tcase_add_loop_test(tcase, cut_off_beyond_the_lease, 0, 3);
    tcase_add_loop_test(tcase, unanswered_beyond_the_lease, 0, 2);
    tcase_add_loop_test(tcase, deleted_by_somebody, 0, DELETIONS);
    tcase_add_test(tcase, local_waiters_survive_a_deletion);
    tcase_add_test(tcase, the_session_is_closed);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
