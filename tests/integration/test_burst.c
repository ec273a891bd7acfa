/* Thousands of events at once. A session that holds thousands of locks ends, in one transaction. Another session waits
 * for each of these locks. */
#include <glib.h>

#include "many_nodes.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum {
    SESSION_MS = 60000, /* no lease ends before the test is over, and nobody checks for lost events */
    PATIENCE_MS = 20000,
    MANY = 5000,
    BY_THE_CLOCK = 100, /* requests that belong to no lock: barriers */
};

static struct {
    ts_client *holder, *waiter;
    ts_answer *held[MANY], *claims[MANY];
    ts_lost *lost[MANY];
} it;

static const char *server(void) { return ts_bench_server(); }

static void claim_all(ts_client *client, ts_answer **claims) {
    for (int i = 0; i < MANY; i++) {
        g_autofree char *path = g_strdup_printf("/burst/%06d", i);

        claims[i] = ts_acquire_async(ts_lock(client, path), PDK_FOREVER);
    }
}

/* The number of granted claims. All are granted within the time of one. */
static int granted(ts_answer **claims) {
    const int64_t end = ts_now_ms() + ts_patience(PATIENCE_MS);
    int valid = 0;

    for (int i = 0; i < MANY && ts_answer_wait(claims[i], MAX(end - ts_now_ms(), 0)); i++) {
        valid += ts_answer_status(claims[i]) == PDK_OK && pdk_hold_is_valid(ts_answer_hold(claims[i]));
    }
    return valid;
}

static int lost_once(void) {
    const int64_t end = ts_now_ms() + ts_patience(PATIENCE_MS);
    int lost = 0;

    for (int i = 0; i < MANY && ts_lost_wait(it.lost[i], MAX(end - ts_now_ms(), 0)); i++) {
        lost += ts_lost_count(it.lost[i]) == 1 && ts_lost_reason(it.lost[i]) == PDK_REASON_EXPIRED &&
                !pdk_hold_is_valid(ts_answer_hold(it.held[i]));
    }
    return lost;
}

static bool watched(void *count) { return ts_watch_count(server()) == *(int *)count; }

/* Each holder watches its own node, and each waiter the node ahead. */
static void await_watches(int count) {
    ck_assert_msg(ts_wait_until(watched, &count, ts_patience(PATIENCE_MS)), "%d watches, not %d",
                  (int)ts_watch_count(server()), count);
}

START_TEST(all_predecessors_vanish_at_once) {
    ts_proxy_counters traffic;

    /* All nodes are below one node: the server keeps figures for each node at the top, and reports them all. */
    ck_assert_int_eq(ts_create(server(), "/burst", "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(many_nodes(server(), "/burst/", 0, MANY), 0);
    it.holder = ts_bench_client(SESSION_MS);
    it.waiter = ts_bench_client(SESSION_MS);
    claim_all(it.holder, it.held);
    ck_assert_int_eq(granted(it.held), MANY);
    for (int i = 0; i < MANY; i++) {
        it.lost[i] = ts_lost_watch(ts_answer_hold(it.held[i]));
    }
    claim_all(it.waiter, it.claims);
    await_watches(2 * MANY);
    ts_proxy_zero(it.waiter->proxy);

    ck_assert_int_eq(ts_expire(it.holder->proxy, server()), 0);
    ck_assert_int_eq(granted(it.claims), MANY);
    ck_assert_int_eq(lost_once(), MANY);
    await_watches(MANY);
    /* No herd: one look at the queue for each event, and one watch on the own node for each grant. */
    ts_proxy_read(it.waiter->proxy, &traffic);
    ck_assert_uint_eq(traffic.notifications, MANY);
    ck_assert_uint_eq(ts_proxy_count(it.waiter->proxy, TS_OP_GET_CHILDREN), MANY);
    ck_assert_uint_eq(ts_proxy_count(it.waiter->proxy, TS_OP_GET_DATA), MANY);
    ck_assert_uint_le(traffic.requests, 2 * MANY + BY_THE_CLOCK);
    ck_assert_int_eq(ts_events(it.waiter, PDK_SESSION_SUSPENDED), 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("burst");
    TCase *tcase = ts_bench_case(suite, "burst");

    tcase_add_test(tcase, all_predecessors_vanish_at_once);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
