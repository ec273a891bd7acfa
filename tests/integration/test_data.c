/*
 * Servers lose their data, or a part of it. No client goes on believing in a grant whose node does not exist.
 *
 * A server that has lost transactions does not take back a session that has seen them. Tokens count the transactions of the data. A
 * session grants none that is smaller than what it had seen before.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <stdatomic.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_requests.h"
#include "ts_support.h"
#include "ts_wire.h"

enum {
    SHORT_MS = 2000, /* the session is given up while the test waits */
    EARLIER = 50,    /* transactions before those of the test: a wiped server does not reach as many by itself */
    BACK_SESSION_MS = 6000,
    A_WHILE_MS = 300,
};

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *holder, *waiter;
    pdk_hold *held;
    ts_lost *lost;
    ts_answer *claim;
    int64_t seen; /* the last transaction before the data was lost */
} it;

static void write_until(int64_t zxid) {
    ts_observer *o = ts_observer_open(server());
    int rc = o ? 0 : -1;
    while (rc == 0 && ts_zxid(server()) < zxid)
        for (int i = 0; i < 10 && rc == 0; i++)
            rc = ts_observer_set(o, "/", "");
    ts_observer_close(o);
    ck_assert_int_eq(rc, 0);
}

/* The lines in which the waiter's session says that the servers went back. */
static atomic_int rewound;

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)user;
    rewound += level == PDK_LOG_ERROR && strstr(text, "token_base") != NULL;
}

static ts_client *open_logged(int64_t token_base) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SHORT_MS;
    options.token_base = token_base;
    options.on_log = on_log;
    ts_client *client = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(client);
    return client;
}

static void open_both(void) {
    write_until(ts_zxid(server()) + EARLIER);
    it.path = ts_fresh_path();
    it.holder = ts_bench_client(SHORT_MS);
    it.waiter = open_logged(0);
}

static void hold_and_wait(void) {
    it.held = ts_bench_acquire(ts_lock(it.holder, it.path), 5000);
    it.lost = ts_lost_watch(it.held);
    it.claim = ts_acquire_async(ts_lock(it.waiter, it.path), 120000);
    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
}

/* ---- the data */

static char *in_folder(const char *name) {
    g_autofree char *folder = g_path_get_dirname(ts_ensemble_log(ts_bench_ensemble(), 0));
    return g_build_filename(folder, name, NULL);
}

static void kill_it(void) {
    it.seen = ts_zxid(server());
    ts_ensemble_kill(ts_bench_ensemble(), 0);
    ck_assert(ts_wait_event(it.holder, PDK_SESSION_SUSPENDED, 1, ts_patience(2000)));
}

/* The server starts without its data. */
static void start_it(void) {
    g_autofree char *source = in_folder("version-2"), *target = in_folder("old");
    ck_assert_int_eq(g_rename(source, target), 0);
    ck_assert(ts_ensemble_restart(ts_bench_ensemble(), 0));
    ck_assert(ts_ensemble_wait_ready(ts_bench_ensemble(), ts_patience(20000)));
    ck_assert_int_lt(ts_zxid(server()), it.seen);
}

/* ---- what must hold */

static void assert_lost(void) {
    ck_assert(ts_lost_wait(it.lost, ts_patience(5000)));
    ck_assert_int_eq(ts_lost_reason(it.lost), PDK_REASON_LEASE);
    ck_assert(!pdk_hold_is_valid(it.held));
    ck_assert(ts_fd_readable(pdk_hold_fd(it.held), 0));
}

/* ---- the tests */

/* The session that went on grants nothing, says why with both numbers, and leaves no node behind. */
static void assert_refused(int64_t seen) {
    g_autofree char *number = g_strdup_printf("after %" G_GINT64_FORMAT, seen);
    pdk_hold *hold = NULL;
    ck_assert(ts_answer_wait(it.claim, ts_patience(15000)));
    ck_assert_int_eq(ts_answer_status(it.claim), PDK_REWOUND);
    ck_assert_int_eq(pdk_lock_acquire(ts_lock(it.waiter, it.path), 5000, &hold), PDK_REWOUND);
    ck_assert_ptr_null(hold);
    ck_assert_msg(strstr(pdk_last_error(), number) != NULL, "%s", pdk_last_error());
    ck_assert(ts_wait_children(server(), it.path, 0, 5000));
    ck_assert_int_eq(pdk_session_token_seen(it.waiter->session), seen);
    ck_assert_int_eq(rewound, 1);
}

/* A new generation: its tokens are larger than all before, and no sequencer of another one holds. */
static void assert_goes_on_above(int64_t seen, const char *former) {
    ts_client *next = open_logged(pdk_token_base_above(seen));
    pdk_hold *hold = ts_bench_acquire(ts_lock(next, it.path), 5000);
    ck_assert_int_gt(pdk_hold_token(hold), seen);
    ck_assert_int_ge(pdk_session_token_seen(next->session), pdk_hold_token(hold));
    ck_assert_int_eq(pdk_session_check_sequencer(next->session, pdk_hold_sequencer(hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(it.waiter->session, pdk_hold_sequencer(hold), 5000), PDK_LOST);
    ck_assert_int_eq(pdk_session_check_sequencer(next->session, former, 5000), PDK_LOST);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}

static bool waiter_has_seen_more(void *unused) {
    (void)unused;
    return pdk_session_token_seen(it.waiter->session) > pdk_hold_token(it.held);
}

/* No other client writes, so the server does not take the sessions back, and they are given up for new ones. The server
 * is down for longer than the lease, as it should be when data is wiped on purpose. So nobody could be granted before the
 * hold is lost. */
START_TEST(data_lost_for_good) {
    open_both();
    hold_and_wait();
    g_autofree char *former = g_strdup(pdk_hold_sequencer(it.held));
    ck_assert(ts_wait_until(waiter_has_seen_more, NULL, ts_patience(5000))); /* its own node came later */
    const int64_t seen = pdk_session_token_seen(it.waiter->session);
    kill_it();
    assert_lost();
    start_it();
    assert_refused(seen);
    ck_assert_int_eq(ts_events(it.waiter, PDK_SESSION_EXPIRED), 1);
    ck_assert_int_eq(ts_events(it.waiter, PDK_SESSION_REOPENED), 1);
    ck_assert_int_eq(pdk_hold_release(it.held), PDK_LOST);
    assert_goes_on_above(seen, former);
}
END_TEST

/* ---- a node that is back
 *
 * Servers that lose confirmed transactions leave nodes behind: a deleted node exists again, and its session lives on. Here another
 * connection of that session creates the node again. The session removes it when it next looks. No other client does. */

static ts_client *a, *b;
static pdk_lock *of_a, *of_b;
static const char *path;

static void two_locks(pdk_naming naming) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.naming = naming;
    path = ts_fresh_path();
    a = ts_bench_client(BACK_SESSION_MS);
    b = ts_bench_client(BACK_SESSION_MS);
    of_a = ts_lock_with(a, path, &options);
    of_b = ts_lock_with(b, path, &options);
}

/* The name of a node that session a had. */
static char *once_held(void) {
    pdk_hold *hold = ts_bench_acquire(of_a, 5000);
    char *node = ts_hold_node(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    ck_assert_int_eq(ts_child_count(server(), path), 0);
    return node;
}

/* Creates the node again, in session a. */
static void bring_back(const char *node) {
    GByteArray *body = g_byte_array_new();
    ts_session_key key;
    ts_wire wire;

    ck_assert(ts_proxy_last_session(a->proxy, &key));
    ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(ts_wire_open(&wire, server(), key.timeout_ms, &key), 0);
    ts_put_create(body, node, "", TS_EPHEMERAL);
    ck_assert_int_eq(ts_wire_call(&wire, TS_OP_CREATE, body, NULL), 0);
    ts_wire_shut(&wire);
    g_byte_array_unref(body);
    ts_proxy_heal(a->proxy);
}

static void assert_granted(ts_answer *answer) {
    ck_assert(ts_answer_wait(answer, ts_patience(3000)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_OK);
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
}

/* A waiter behind the node waits until the session looks. */
START_TEST(a_node_that_is_back_is_removed) {
    two_locks(_i == 0 ? PDK_NAMING_CURATOR : PDK_NAMING_KAZOO);
    g_autofree char *node = once_held();
    bring_back(node);

    ts_answer *second = ts_acquire_async(of_b, 20000);
    ts_sleep_ms(A_WHILE_MS);
    ck_assert_int_eq(ts_answer_count(second), 0);
    ck_assert_int_eq(ts_child_count(server(), path), 2);

    ts_answer *third = ts_acquire_async(of_a, 20000);
    assert_granted(second);
    assert_granted(third);
    ck_assert(ts_wait_children(server(), path, 0, ts_patience(2000)));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("data");
    TCase *tcase = ts_bench_case(suite, "data");

    tcase_add_loop_test(tcase, a_node_that_is_back_is_removed, 0, 2);
    tcase_add_test(tcase, data_lost_for_good);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
