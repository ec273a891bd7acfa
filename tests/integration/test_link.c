/* The link or the server fails for less than the lease, so nothing is lost. The hold survives, and the session reports
 * what happens. */
#include <glib.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 4000, LEASE_MS = SESSION_MS - SESSION_MS / 16 - 50 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *client;
    pdk_hold *hold;
    ts_lost *lost;
} it;

static void acquire_it(int session_ms) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(session_ms);
    it.hold = ts_bench_acquire(ts_lock(it.client, it.path), 5000);
    it.lost = ts_lost_watch(it.hold);
}

static void assert_kept(void) {
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(ts_lost_count(it.lost), 0);
    ck_assert(!ts_fd_readable(pdk_hold_fd(it.hold), 0));
    ck_assert_int_eq(ts_events(it.client, PDK_SESSION_EXPIRED), 0);
}

/* Each cut ends in time. Requests that were sent after the reconnect renew the lease. */
START_TEST(a_short_cut_is_survived) {
    acquire_it(SESSION_MS);
    for (int i = 1; i <= 2; i++) {
        ts_sleep_ms(400);
        ts_proxy_set_mode(it.client->proxy, TS_CUT);
        ck_assert(ts_wait_event(it.client, PDK_SESSION_SUSPENDED, i, ts_patience(1000)));
        ck_assert_int_gt(ts_event_left_ms(it.client, PDK_SESSION_SUSPENDED), 0);
        ck_assert_int_le(ts_event_left_ms(it.client, PDK_SESSION_SUSPENDED), LEASE_MS);
        ts_sleep_ms(500);
        assert_kept();
        ck_assert_int_eq(ts_events(it.client, PDK_SESSION_RESTORED), i - 1);
        ts_proxy_heal(it.client->proxy);
        ck_assert(ts_wait_event(it.client, PDK_SESSION_RESTORED, i, ts_patience(2000)));
        ck_assert_int_gt(ts_event_left_ms(it.client, PDK_SESSION_RESTORED), 0);
        ck_assert_int_eq(pdk_hold_ensure(it.hold, LEASE_MS / 2), PDK_OK);
        assert_kept();
    }
    ts_sleep_ms(SESSION_MS);
    assert_kept();
    ck_assert_int_eq(ts_events(it.client, PDK_SESSION_SUSPENDED), 2);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(ts_lost_wait_freed(it.lost, ts_patience(500)));
    ck_assert_int_eq(ts_lost_count(it.lost), 0);
}
END_TEST

START_TEST(a_short_silence_is_survived) {
    const ts_proxy_mode modes[] = {TS_BLACKHOLE, TS_BLACKHOLE_UP, TS_BLACKHOLE_DOWN};

    acquire_it(SESSION_MS);
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        ts_proxy_set_mode(it.client->proxy, modes[i]);
        ts_sleep_ms(1200);
        assert_kept();
        ts_proxy_heal(it.client->proxy);
        ck_assert_int_eq(pdk_hold_ensure(it.hold, LEASE_MS / 2), PDK_OK);
        assert_kept();
    }
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}
END_TEST

/* Nothing is held, and nothing is claimed. The events come all the same: one RESTORED for each SUSPENDED. */
START_TEST(an_idle_session_is_restored_each_time) {
    ts_client *client = ts_bench_client(SESSION_MS);

    for (int i = 1; i <= 4; i++) {
        ts_proxy_reset(client->proxy);
        ck_assert_msg(ts_wait_event(client, PDK_SESSION_SUSPENDED, i, ts_patience(1000)), "SUSPENDED %d", i);
        ck_assert_msg(ts_wait_event(client, PDK_SESSION_RESTORED, i, ts_patience(2500)), "RESTORED %d", i);
    }
    ts_sleep_ms(300);
    ck_assert_int_eq(ts_events(client, PDK_SESSION_SUSPENDED), 4);
    ck_assert_int_eq(ts_events(client, PDK_SESSION_RESTORED), 4);
    ck_assert_int_eq(ts_events(client, PDK_SESSION_CONNECTED), 1);
}
END_TEST

/* RESTORED promises that there is a lease again when it is told. */
START_TEST(restored_comes_with_a_lease) {
    acquire_it(SESSION_MS);
    ts_proxy_set_mode(it.client->proxy, TS_CUT);
    ck_assert(ts_lost_wait(it.lost, SESSION_MS + ts_patience(500)));
    ts_proxy_heal(it.client->proxy);
    ck_assert(ts_wait_event(it.client, PDK_SESSION_SUSPENDED, 1, ts_patience(2000)));
    if (ts_wait_event(it.client, PDK_SESSION_RESTORED, 1, ts_patience(2000))) {
        ck_assert_int_gt(ts_event_left_ms(it.client, PDK_SESSION_RESTORED), 0);
    } else { /* the server was faster */
        ck_assert(ts_wait_event(it.client, PDK_SESSION_REOPENED, 1, ts_patience(2000)));
    }
    ck_assert(!pdk_hold_is_valid(it.hold)); /* the lost hold does not become valid again */
    ck_assert(ts_wait_children(server(), it.path, 0, 2000));
    ck_assert_int_eq(ts_lost_count(it.lost), 1);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
}
END_TEST

/* This is the last test of the program, because other sessions are affected. */
START_TEST(a_server_that_restarts_quickly) {
    acquire_it(10000);
    pdk_lock *lock = ts_lock(it.client, it.path);
    ts_answer *waiter = ts_acquire_async(ts_lock(ts_bench_client(10000), it.path), 60000);

    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ts_ensemble_kill(ts_bench_ensemble(), 0);
    ck_assert(ts_wait_event(it.client, PDK_SESSION_SUSPENDED, 1, ts_patience(2000)));
    assert_kept();
    ck_assert(ts_ensemble_restart(ts_bench_ensemble(), 0));
    ck_assert(ts_ensemble_wait_ready(ts_bench_ensemble(), ts_patience(10000)));
    ck_assert(ts_wait_event(it.client, PDK_SESSION_RESTORED, 1, ts_patience(5000)));
    ts_sleep_ms(500);
    assert_kept();
    ck_assert_int_eq(ts_answer_count(waiter), 0);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(ts_answer_wait(waiter, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
    ck_assert_int_eq(ts_answer_release(waiter), PDK_OK);
    pdk_hold_release(ts_bench_acquire(lock, 5000));
    ck_assert(ts_wait_children(server(), it.path, 0, 2000));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("link");
    TCase *tcase = ts_bench_case(suite, "link");

    tcase_add_test(tcase, a_short_cut_is_survived);
    tcase_add_test(tcase, a_short_silence_is_survived);
    tcase_add_test(tcase, an_idle_session_is_restored_each_time);
    tcase_add_test(tcase, restored_comes_with_a_lease);
    tcase_add_test(tcase, a_server_that_restarts_quickly);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
