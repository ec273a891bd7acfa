/* Releases during link failures, and closing a session with pending work: bounded in time, and nothing is left. */
#include <glib.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, CLEAN_MS = 2000, SCHEDULING_MS = 250 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *client;
    pdk_lock *lock;
    pdk_hold *hold;
} it;

static void acquire_it(void) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.lock = ts_lock_of_long_handovers(it.client, it.path);
    it.hold = ts_bench_acquire(it.lock, 5000);
}

static void assert_clean_and_usable(void) {
    ck_assert_msg(ts_wait_children(server(), it.path, 0, CLEAN_MS), "%d nodes are left",
                  ts_child_count(server(), it.path));
    pdk_hold_release(ts_bench_acquire(it.lock, 5000));
    ck_assert_int_eq(pdk_session_flush(it.client->session, ts_patience(2000)), PDK_OK);
    ck_assert_int_eq(ts_child_count(server(), it.path), 0);
}

static const struct {
    ts_proxy_loss loss;
    ts_proxy_mode then;
    bool discard;
} cuts[] = {
    {TS_LOSE_REQUEST, TS_PASS, false},     {TS_LOSE_REPLY, TS_PASS, false},        {TS_LOSE_REQUEST, TS_CUT, false},
    {TS_LOSE_REPLY, TS_CUT, false},        {TS_LOSE_REQUEST, TS_BLACKHOLE, false}, {TS_LOSE_REPLY, TS_BLACKHOLE, false},
    {TS_LOSE_REQUEST, TS_BLACKHOLE, true}, {TS_LOSE_REPLY, TS_BLACKHOLE, true},
};

enum { CUTS = G_N_ELEMENTS(cuts) };

static void heal(int i) {
    if (cuts[i].discard) {
        ts_proxy_heal_discard(it.client->proxy);
    } else {
        ts_proxy_heal(it.client->proxy);
    }
}

START_TEST(the_delete_or_its_answer_is_lost) {
    acquire_it();
    ts_proxy_arm(it.client->proxy, TS_OP_DELETE, cuts[_i].loss, cuts[_i].then);
    const int64_t before = ts_now_ms();
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(SCHEDULING_MS)); /* it never waits for the network */
    ck_assert(ts_proxy_wait_fired(it.client->proxy, ts_patience(2000)));
    ts_sleep_ms(300);
    ck_assert_int_eq(ts_child_count(server(), it.path), cuts[_i].loss == TS_LOSE_REQUEST && cuts[_i].then != TS_PASS);
    heal(_i);
    assert_clean_and_usable();
}
END_TEST

/* The delete is lost again after every reconnect, five times. */
START_TEST(the_delete_is_lost_again_and_again) {
    acquire_it();
    for (int i = 0; i < 5; i++) {
        ts_proxy_arm(it.client->proxy, TS_OP_DELETE, TS_LOSE_REQUEST, TS_CUT);
        if (i == 0) {
            ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
        } else {
            ts_proxy_heal(it.client->proxy);
        }
        ck_assert(ts_proxy_wait_fired(it.client->proxy, ts_patience(2000)));
    }
    ck_assert_int_eq(ts_child_count(server(), it.path), 1);
    ts_proxy_heal(it.client->proxy);
    assert_clean_and_usable();
}
END_TEST

START_TEST(released_while_disconnected) {
    const ts_proxy_mode modes[] = {TS_CUT, TS_BLACKHOLE};

    acquire_it();
    ts_proxy_set_mode(it.client->proxy, modes[_i]);
    ts_sleep_ms(200);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 200), PDK_TIMEOUT);
    ck_assert_int_eq(ts_child_count(server(), it.path), 1);
    ts_proxy_heal(it.client->proxy);
    ck_assert_int_eq(pdk_session_flush(it.client->session, CLEAN_MS), PDK_OK);
    assert_clean_and_usable();
}
END_TEST

/* The lock and the session's last reference are dropped. The node is deleted all the same. */
START_TEST(released_while_disconnected_and_all_dropped) {
    pdk_lock *lock = NULL;

    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    ck_assert_int_eq(pdk_lock_new(it.client->session, it.path, NULL, &lock), PDK_OK);
    it.hold = ts_bench_acquire(lock, 5000);
    ts_proxy_set_mode(it.client->proxy, TS_CUT);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    pdk_lock_unref(lock);
    ts_sleep_ms(100);
    ts_proxy_heal(it.client->proxy);
    ck_assert(ts_wait_children(server(), it.path, 0, CLEAN_MS));
}
END_TEST

/* The hold is released after the lease, while still cut off. That is too late for the grant, but the node is
 * deleted. */
START_TEST(released_after_the_lease_was_over) {
    acquire_it();
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE_DOWN); /* pings arrive: the session lives on */
    ck_assert(ts_fd_readable(pdk_hold_fd(it.hold), SESSION_MS));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ts_proxy_heal(it.client->proxy);
    assert_clean_and_usable();
}
END_TEST

/* The lock is handed over again and again while links fail. There is one holder at a time, and all are served. */
START_TEST(handed_over_while_disconnected) {
    acquire_it();
    ts_answer *waiters[3];

    for (int i = 0; i < 3; i++) {
        waiters[i] = ts_acquire_async(it.lock, 20000);
    }
    ts_proxy_set_mode(it.client->proxy, TS_CUT);
    ts_sleep_ms(50);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(ts_answer_wait(waiters[0], ts_patience(500))); /* within the lease no server is needed */
    ck_assert(pdk_hold_is_valid(ts_answer_hold(waiters[0])));
    ck_assert_int_eq(ts_answer_count(waiters[1]), 0);
    /* Beyond the lease no client holds it, and none is granted. */
    ck_assert(ts_fd_readable(pdk_hold_fd(ts_answer_hold(waiters[0])), SESSION_MS));
    ck_assert_int_eq(ts_answer_release(waiters[0]), PDK_LOST);
    ck_assert(!ts_answer_wait(waiters[1], 200));
    ts_proxy_heal(it.client->proxy);
    for (int i = 1; i < 3; i++) {
        ck_assert(ts_answer_wait(waiters[i], ts_patience(4000)));
        ck_assert_int_eq(ts_answer_status(waiters[i]), PDK_OK);
        ck_assert_int_eq(ts_answer_release(waiters[i]), PDK_OK);
    }
    assert_clean_and_usable();
}
END_TEST

/* ---- close ---- */

START_TEST(close_over_all_that_can_be_pending) {
    const ts_proxy_mode modes[] = {TS_PASS, TS_CUT, TS_BLACKHOLE};

    acquire_it();
    pdk_lock *free_lock = ts_lock(it.client, ts_fresh_path());
    ts_answer *local = ts_acquire_async(it.lock, PDK_FOREVER);
    ts_answer *queued = ts_acquire_thread(ts_lock(it.client, it.path), PDK_FOREVER);
    pdk_hold *released = ts_bench_acquire(ts_lock(it.client, ts_fresh_path()), 5000);
    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ts_proxy_set_mode(it.client->proxy, modes[_i]);
    ts_answer *created = ts_acquire_thread(free_lock, PDK_FOREVER);
    ck_assert_int_eq(pdk_hold_release(released), PDK_OK);
    const int64_t before = ts_now_ms();
    const pdk_status status = pdk_session_close(it.client->session, 1000);
    ck_assert_int_le(ts_now_ms() - before, 1000 + ts_patience(SCHEDULING_MS));
    ck_assert(status == PDK_OK || (_i > 0 && status == PDK_TIMEOUT));
    ck_assert(ts_answer_wait(local, ts_patience(500)) && ts_answer_wait(queued, ts_patience(500)));
    ck_assert(ts_answer_wait(created, ts_patience(500)));
    ck_assert_int_eq(ts_answer_status(local), PDK_CLOSED);
    ck_assert_int_eq(ts_answer_status(queued), PDK_CLOSED);
    ck_assert(ts_answer_status(created) == PDK_CLOSED || (_i == 0 && ts_answer_status(created) == PDK_OK));
    ck_assert(!pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    if (_i == 0) {
        ck_assert_int_eq(ts_child_count(server(), it.path), 0);
    } else { /* the session's end removes the rest */
        ts_proxy_heal_discard(it.client->proxy);
        ck_assert(ts_wait_children(server(), it.path, 0, SESSION_MS + ts_patience(2000)));
    }
}
END_TEST

/* Each of many sessions is closed at another moment of its acquisition. */
START_TEST(close_at_any_moment_of_an_acquisition) {
    const char *path = ts_fresh_path();

    for (int i = 0; i < 25; i++) {
        ts_client *client = ts_bench_client(SESSION_MS);
        ts_proxy_set_delay(client->proxy, 2000, 2000);
        ts_answer *async = ts_acquire_async(ts_lock(client, path), PDK_FOREVER);
        ts_answer *blocked = ts_acquire_thread(ts_lock(client, path), PDK_FOREVER);

        ts_sleep_ms(i);
        ck_assert_int_eq(pdk_session_close(client->session, 5000), PDK_OK);
        ck_assert(ts_answer_wait(async, 0)); /* none after close has returned */
        ck_assert(ts_answer_wait(blocked, ts_patience(500)));
        ck_assert(ts_answer_status(async) == PDK_CLOSED || ts_answer_status(async) == PDK_OK);
        ck_assert(ts_answer_status(blocked) == PDK_CLOSED || ts_answer_status(blocked) == PDK_OK);
        ck_assert(ts_answer_hold(async) == NULL || !pdk_hold_is_valid(ts_answer_hold(async)));
        ck_assert(ts_answer_hold(blocked) == NULL || !pdk_hold_is_valid(ts_answer_hold(blocked)));
        ck_assert_int_le(ts_child_count(server(), path), 0); /* empty, or not even made */
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("release");
    TCase *tcase = ts_bench_case(suite, "release");

    tcase_add_loop_test(tcase, the_delete_or_its_answer_is_lost, 0, CUTS);
    tcase_add_test(tcase, the_delete_is_lost_again_and_again);
    tcase_add_loop_test(tcase, released_while_disconnected, 0, 2);
    tcase_add_test(tcase, released_while_disconnected_and_all_dropped);
    tcase_add_test(tcase, released_after_the_lease_was_over);
    tcase_add_test(tcase, handed_over_while_disconnected);
    tcase_add_loop_test(tcase, close_over_all_that_can_be_pending, 0, 3);
    tcase_add_test(tcase, close_at_any_moment_of_an_acquisition);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
