/*
 * Servers lose their data, or go back to older data. No client goes on believing in a grant whose node does not exist.
 *
 * A server that has lost transactions does not take back a session that has seen them. It takes it back when it has had
 * as many transactions itself; other writers make that sooner. What it then knows of sessions and nodes is what its
 * data tell.
 *
 * Tokens count the transactions of the data. A session grants none that is smaller than what it had seen before.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <stdatomic.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum {
    SHORT_MS = 2000, /* the session is given up while the test waits */
    LONG_MS = 20000, /* the session is not given up, and its lease outlives the restart */
    /* Until a server has taken a session back. A server that starts may leave a handshake unanswered. The client
     * library then waits for the answer for two thirds of the session timeout before it tries again. */
    BACK_MS = LONG_MS * 2 / 3 + 3000,
    EARLIER = 50,    /* transactions before those of the test: a wiped server does not reach as many by itself */
    ON_THE_WAY = 20, /* transactions that may come between asking a server for its last one and killing it */
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

static ts_client *open_logged(int session_ms, int64_t token_base) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = session_ms;
    options.token_base = token_base;
    options.on_log = on_log;
    ts_client *client = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(client);
    return client;
}

static void open_both(int session_ms) {
    write_until(ts_zxid(server()) + EARLIER);
    rewound = 0;
    it.path = ts_fresh_path();
    it.holder = ts_bench_client(session_ms);
    it.waiter = open_logged(session_ms, 0);
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

static void move(const char *from, const char *to) {
    g_autofree char *source = in_folder(from), *target = in_folder(to);
    ck_assert_int_eq(g_rename(source, target), 0);
}

/* The server stands still, so that no transaction is half written. */
static void copy_data(void) {
    g_autofree char *from = in_folder("version-2"), *to = in_folder("copy");
    const char *const command[] = {"cp", "-a", from, to, NULL};
    const pid_t pid = ts_ensemble_pid(ts_bench_ensemble(), 0);
    ck_assert(ts_pause(pid));
    const int status = ts_wait(ts_spawn(command, NULL), ts_patience(5000));
    ck_assert(ts_resume(pid));
    ck_assert_int_eq(status, 0);
}

static void kill_it(void) {
    it.seen = ts_zxid(server());
    ts_ensemble_kill(ts_bench_ensemble(), 0);
    ck_assert(ts_wait_event(it.holder, PDK_SESSION_SUSPENDED, 1, ts_patience(2000)));
}

/* The server starts without its data, or with the copy. */
static void start_it(bool copy) {
    static int generation;
    g_autofree char *old = g_strdup_printf("old%d", ++generation);
    move("version-2", old);
    if (copy)
        move("copy", "version-2");
    ck_assert(ts_ensemble_restart(ts_bench_ensemble(), 0));
    ck_assert(ts_ensemble_wait_ready(ts_bench_ensemble(), ts_patience(20000)));
    ck_assert_int_lt(ts_zxid(server()), it.seen);
}

/* ---- what must hold */

static void assert_lost(pdk_reason reason, int64_t within_ms) {
    ck_assert(ts_lost_wait(it.lost, within_ms));
    ck_assert_int_eq(ts_lost_reason(it.lost), reason);
    ck_assert(!pdk_hold_is_valid(it.held));
    ck_assert(ts_fd_readable(pdk_hold_fd(it.held), 0));
}

/* The waiter has the grant, and its node is the only one. The lost hold is not valid, and is not lost twice. */
static void assert_passed_on(int64_t within_ms) {
    ck_assert(ts_answer_wait(it.claim, within_ms));
    ck_assert_int_eq(ts_answer_status(it.claim), PDK_OK);
    pdk_hold *hold = ts_answer_hold(it.claim);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_session_check_sequencer(it.waiter->session, pdk_hold_sequencer(hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(it.waiter->session, pdk_hold_sequencer(it.held), 5000), PDK_LOST);
    ck_assert_int_eq(ts_child_count(server(), it.path), 1);
    ck_assert_int_eq(ts_lost_count(it.lost), 1);
    ck_assert_int_eq(pdk_hold_release(it.held), PDK_LOST);
}

/* Both go on: the client that lost its hold claims again, and is granted after the other's release. */
static void assert_goes_on(void) {
    ts_answer *next = ts_acquire_async(ts_lock(it.holder, it.path), 60000);
    ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(10000)));
    ck_assert_int_eq(ts_answer_release(it.claim), PDK_OK);
    ck_assert(ts_answer_wait(next, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_status(next), PDK_OK);
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, 5000));
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
    ts_client *next = open_logged(SHORT_MS, pdk_token_base_above(seen));
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
    open_both(SHORT_MS);
    hold_and_wait();
    g_autofree char *former = g_strdup(pdk_hold_sequencer(it.held));
    ck_assert(ts_wait_until(waiter_has_seen_more, NULL, ts_patience(5000))); /* its own node came later */
    const int64_t seen = pdk_session_token_seen(it.waiter->session);
    kill_it();
    assert_lost(PDK_REASON_LEASE, ts_patience(5000));
    start_it(false);
    assert_refused(seen);
    ck_assert_int_eq(ts_events(it.waiter, PDK_SESSION_EXPIRED), 1);
    ck_assert_int_eq(ts_events(it.waiter, PDK_SESSION_REOPENED), 1);
    ck_assert_int_eq(pdk_hold_release(it.held), PDK_LOST);
    assert_goes_on_above(seen, former);
}
END_TEST

/* Others write so much that the server takes the sessions back while the lease lasts. It does not know them. */
START_TEST(data_lost_and_written_anew) {
    open_both(LONG_MS);
    hold_and_wait();
    kill_it();
    start_it(false);
    write_until(it.seen + ON_THE_WAY);
    assert_lost(PDK_REASON_EXPIRED, ts_patience(BACK_MS));
    ck_assert(ts_wait_event(it.holder, PDK_SESSION_REOPENED, 1, ts_patience(BACK_MS)));
    ck_assert_int_le(ts_lost_at_ns(it.lost), ts_event_at_ns(it.holder, PDK_SESSION_REOPENED));
    assert_passed_on(ts_patience(BACK_MS));
    assert_goes_on();
}
END_TEST

/* The sessions exist in the data, but no node of the queue does. */
START_TEST(data_from_before_the_grant) {
    open_both(LONG_MS);
    copy_data();
    hold_and_wait();
    kill_it();
    start_it(true);
    write_until(it.seen + ON_THE_WAY);
    assert_lost(PDK_REASON_NODE_GONE, ts_patience(BACK_MS));
    assert_passed_on(ts_patience(BACK_MS));
    ck_assert_int_eq(ts_events(it.holder, PDK_SESSION_EXPIRED), 0);
    assert_goes_on();
}
END_TEST

/* Session and node exist in the data: the hold goes on. */
START_TEST(data_from_after_the_grant) {
    open_both(LONG_MS);
    hold_and_wait();
    copy_data();
    write_until(ts_zxid(server()) + EARLIER);
    kill_it();
    start_it(true);
    write_until(it.seen + ON_THE_WAY);
    ck_assert(ts_wait_event(it.holder, PDK_SESSION_RESTORED, 1, ts_patience(BACK_MS)));
    ck_assert(ts_wait_event(it.waiter, PDK_SESSION_RESTORED, 1, ts_patience(BACK_MS)));
    ck_assert(pdk_hold_is_valid(it.held));
    ck_assert_int_eq(pdk_session_check_sequencer(it.waiter->session, pdk_hold_sequencer(it.held), 5000), PDK_OK);
    ck_assert_int_eq(ts_lost_count(it.lost), 0);
    ck_assert_int_eq(ts_answer_count(it.claim), 0);
    ck_assert_int_eq(pdk_hold_release(it.held), PDK_OK);
    ck_assert(ts_answer_wait(it.claim, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_status(it.claim), PDK_OK);
    assert_goes_on();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("data");
    TCase *tcase = ts_bench_case(suite, "data");

    tcase_add_test(tcase, data_lost_and_written_anew);
    tcase_add_test(tcase, data_from_before_the_grant);
    tcase_add_test(tcase, data_from_after_the_grant);
    tcase_add_test(tcase, data_lost_for_good);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
