/* One thread holds a grant several times, and the grant is lost. Each hold is told once, whatever else happens to the
 * others. */
#include <glib.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, LEVELS = 4, QUIET = 2 /* this one has no callback */ };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *client, *other;
    pdk_lock *lock;
    pdk_hold *holds[LEVELS];
    ts_lost *lost[LEVELS];
    ts_answer *theirs; /* another session's claim */
    int64_t token;
} it;

static void set_up(void) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;

    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.other = ts_bench_client(4 * SESSION_MS);
    options.reentrant = 1;
    it.lock = ts_lock_with(it.client, it.path, &options);
    for (int i = 0; i < LEVELS; i++) {
        it.holds[i] = ts_bench_acquire(it.lock, 5000);
        it.lost[i] = i == QUIET ? NULL : ts_lost_watch(it.holds[i]);
    }
    it.token = pdk_hold_token(it.holds[0]);
    it.theirs = ts_acquire_async(ts_lock(it.other, it.path), 60000);
    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
}

static void tear_down(void) {
    for (int i = 0; i < LEVELS; i++) { /* those of a failed test */
        pdk_hold_unref(g_steal_pointer(&it.holds[i]));
    }
}

static pdk_status release(int i) { return pdk_hold_release(g_steal_pointer(&it.holds[i])); }

enum { EXPIRED, NODE_GONE, LEASE, CLOSED, WAYS };

static const pdk_reason reasons[] = {PDK_REASON_EXPIRED, PDK_REASON_NODE_GONE, PDK_REASON_LEASE, PDK_REASON_CLOSED};

static void lose(int way) {
    g_autofree char *node = ts_hold_node(it.holds[LEVELS - 1]);

    if (way == EXPIRED) {
        ck_assert_int_eq(ts_expire(it.client->proxy, server()), 0);
    } else if (way == NODE_GONE) {
        ck_assert_int_eq(ts_delete(server(), node), 0);
    } else if (way == LEASE) {
        ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    } else {
        ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    }
    ck_assert(ts_fd_readable(pdk_hold_fd(it.holds[LEVELS - 1]), SESSION_MS + ts_patience(1000)));
}

START_TEST(each_hold_is_told_once) {
    lose(_i);
    for (int i = LEVELS - 1; i >= 0; i--) {
        ck_assert(!pdk_hold_is_valid(it.holds[i]));
        ck_assert_int_eq(pdk_hold_remaining_ms(it.holds[i]), 0);
        ck_assert_str_eq(pdk_reason_name(pdk_hold_reason(it.holds[i])), pdk_reason_name(reasons[_i]));
        ck_assert(ts_fd_readable(pdk_hold_fd(it.holds[i]), 0));
        ck_assert_int_eq(pdk_hold_token(it.holds[i]), it.token);
        refused(pdk_hold_ensure(it.holds[i], 0), PDK_LOST, "lost");
        if (i != QUIET) {
            ck_assert(ts_lost_wait(it.lost[i], ts_patience(1000)));
            ck_assert_int_eq(ts_lost_reason(it.lost[i]), reasons[_i]);
        }
    }
    ts_proxy_heal_discard(it.client->proxy);
    ck_assert(ts_answer_wait(it.theirs, ts_patience(SESSION_MS + 2000)));
    ck_assert_int_eq(ts_answer_status(it.theirs), PDK_OK);
    for (int i = 0; i < LEVELS; i++) {
        ck_assert_int_eq(release(i), PDK_LOST);
        ck_assert(i == QUIET || ts_lost_wait_freed(it.lost[i], ts_patience(1000)));
        ck_assert_int_eq(i == QUIET ? 1 : ts_lost_count(it.lost[i]), 1);
        ck_assert_int_eq(i == QUIET ? 1 : ts_lost_freed(it.lost[i]), 1);
    }
    ck_assert(pdk_hold_is_valid(ts_answer_hold(it.theirs))); /* the release did not delete the other session's node */
    ck_assert(ts_wait_children(server(), it.path, 1, ts_patience(2000)));
}
END_TEST

/* The thread has lost the grant. It queues like any other, also before it has released the old holds. */
START_TEST(a_lost_grant_is_not_nested_on) {
    pdk_hold *next = NULL;

    if (_i == CLOSED) {
        lose(_i);
        ck_assert_int_eq(pdk_lock_acquire(it.lock, 1000, &next), PDK_CLOSED);
        return;
    }
    lose(_i);
    ts_proxy_heal_discard(it.client->proxy);
    ck_assert(ts_answer_wait(it.theirs, ts_patience(SESSION_MS + 2000)));
    const pdk_status status = pdk_lock_acquire(it.lock, 100, &next);
    ck_assert_msg(status == PDK_TIMEOUT || (status == PDK_UNAVAILABLE && _i != NODE_GONE), "%s",
                  pdk_status_name(status)); /* there may be no new session yet */
    ck_assert_int_eq(ts_answer_release(it.theirs), PDK_OK);
    next = ts_bench_acquire(it.lock, 10000);
    ck_assert_int_gt(pdk_hold_token(next), it.token);
    pdk_hold *inner = ts_bench_acquire(it.lock, 1000);
    ck_assert_int_eq(pdk_hold_token(inner), pdk_hold_token(next));
    for (int i = 0; i < LEVELS; i++) {
        ck_assert_int_eq(release(i), PDK_LOST);
    }
    ck_assert(pdk_hold_is_valid(next) && pdk_hold_is_valid(inner));
    ck_assert_int_eq(pdk_hold_release(next), PDK_OK);
    ck_assert(pdk_hold_is_valid(inner));
    ck_assert_int_eq(pdk_hold_release(inner), PDK_OK);
}
END_TEST

/* The clock ends all of them at the same moment, before any of them is checked. */
START_TEST(they_lapse_together) {
    pdk_hold *next = NULL;

    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    ts_sleep_ms(SESSION_MS / 4);
    pdk_hold *late = ts_bench_acquire(it.lock, 0); /* of the same grant, so it is valid no longer */
    while (pdk_hold_is_valid(it.holds[0])) {
    }
    ck_assert(!pdk_hold_is_valid(late));
    ck_assert_int_eq(pdk_lock_acquire(it.lock, 100, &next), PDK_UNAVAILABLE);
    for (int i = 1; i < LEVELS; i++) {
        ck_assert(!pdk_hold_is_valid(it.holds[i]));
    }
    ck_assert_int_eq(pdk_hold_release(late), PDK_LOST);
    ck_assert_str_eq(pdk_reason_name(pdk_hold_reason(it.holds[3])), "LEASE");
    ts_proxy_heal_discard(it.client->proxy);
}
END_TEST

/* ---- one callback releases the other holds ---- */

static void release_the_others(pdk_hold *hold, void *user) {
    (void)hold;
    (void)user;
    for (int i = 1; i < LEVELS; i++) {
        release(i);
    }
}

/* The first callback releases the other holds. None of their callbacks begins after that. */
START_TEST(a_callback_releases_the_others) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_lock_options reentrant = PDK_LOCK_OPTIONS_INIT;
    const int64_t end = ts_now_ms() + ts_patience(3000);

    tear_down();
    options.dispatch = PDK_DISPATCH_MANUAL;
    options.session_timeout_ms = SESSION_MS;
    it.client = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(it.client);
    it.path = ts_fresh_path();
    reentrant.reentrant = 1;
    it.lock = ts_lock_with(it.client, it.path, &reentrant);
    for (int i = 0; i < LEVELS; i++) {
        it.holds[i] = ts_bench_acquire(it.lock, 5000);
        it.lost[i] = i ? ts_lost_watch(it.holds[i]) : ts_lost_watch_with(it.holds[0], release_the_others, NULL);
    }
    g_autofree char *node = ts_hold_node(it.holds[0]);
    ck_assert_int_eq(ts_delete(server(), node), 0);
    while (ts_lost_count(it.lost[0]) == 0 && ts_now_ms() < end) {
        ts_fd_readable(pdk_session_fd(it.client->session), 100);
        ck_assert_int_eq(pdk_session_dispatch(it.client->session, NULL), PDK_OK);
    }
    ts_sleep_ms(100);
    ck_assert_int_eq(pdk_session_dispatch(it.client->session, NULL), PDK_OK);
    ck_assert_int_eq(ts_lost_count(it.lost[0]), 1);
    for (int i = 1; i < LEVELS; i++) {
        ck_assert_int_eq(ts_lost_count(it.lost[i]), 0);
        ck_assert_int_eq(ts_lost_freed(it.lost[i]), 1);
    }
    ck_assert_int_eq(release(0), PDK_LOST);
}
END_TEST

/* Some holds are released before the loss. These are told nothing, and the others are lost as usual. */
START_TEST(released_ones_are_not_lost) {
    ck_assert_int_eq(release(0), PDK_OK);
    ck_assert_int_eq(release(3), PDK_OK);
    g_autofree char *node = ts_hold_node(it.holds[1]);
    ck_assert_int_eq(ts_delete(server(), node), 0);
    ck_assert(ts_lost_wait(it.lost[1], ts_patience(2000)));
    ck_assert(ts_fd_readable(pdk_hold_fd(it.holds[QUIET]), ts_patience(1000)));
    ck_assert_int_eq(release(1), PDK_LOST);
    ck_assert_int_eq(release(QUIET), PDK_LOST);
    ck_assert_int_eq(ts_lost_count(it.lost[0]), 0);
    ck_assert_int_eq(ts_lost_count(it.lost[3]), 0);
    ck_assert_int_eq(ts_lost_count(it.lost[1]), 1);
    ck_assert_int_eq(ts_lost_freed(it.lost[0]), 1);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("reentrant_loss");
    TCase *tcase = ts_bench_case(suite, "reentrant_loss");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, each_hold_is_told_once, 0, WAYS);
    tcase_add_loop_test(tcase, a_lost_grant_is_not_nested_on, 0, WAYS);
    tcase_add_test(tcase, they_lapse_together);
    tcase_add_test(tcase, a_callback_releases_the_others);
    tcase_add_test(tcase, released_ones_are_not_lost);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
