/* Servers that come back at other addresses under their old names, and look-ups that are late, fail, or never end (ts_names.h). */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <string.h>

#include "event_log.h"
#include "ts_check.h"
#include "ts_moving.h"
#include "ts_names.h"
#include "ts_support.h"

enum { TICK_MS = 200, TIMEOUT_MS = 30000, SHORT_MS = 5000, PATIENCE_MS = 60000 };

static ts_moving *servers;
static struct event_log event_log;

static void begin(void) { servers = ts_moving_start(TICK_MS); }
static void end(void) { ts_moving_stop(servers); }

static void set_up(void) {
    for (int i = 0; i < 3; i++)
        ts_moving_answers(servers, i, NULL);
    event_log_init(&event_log);
}

static void tear_down(void) { event_log_clear(&event_log); }

static pdk_session *open_for(int32_t timeout_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    options.session_timeout_ms = timeout_ms;
    options.connect_timeout_ms = PATIENCE_MS;
    event_log_attach(&event_log, &options);
    pdk_status status = pdk_session_open(ts_moving_hosts(servers), &options, &s);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    event_log_keep(&event_log, s);
    return s;
}

static pdk_session *open_session(void) { return open_for(TIMEOUT_MS); }

static void close_session(pdk_session *s) {
    ck_assert_int_eq(pdk_session_close(s, 5000), PDK_OK);
    pdk_session_unref(s);
}

static pdk_hold *acquire(pdk_session *s, pdk_lock **lock) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/moved", NULL, lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(*lock, PATIENCE_MS, &hold), PDK_OK);
    return hold;
}

static void release(pdk_hold *hold, pdk_lock *lock) {
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(lock);
}

static void move(int i) { ck_assert_msg(ts_moving_move(servers, i), "server %d does not come back", i + 1); }

static int64_t reconnects(pdk_session *s) {
    pdk_stats stats = PDK_STATS_INIT;
    ck_assert_int_eq(pdk_session_stats(s, &stats), PDK_OK);
    return (int64_t)stats.reconnects;
}

static bool is_connected(void *session) {
    pdk_hold *hold = NULL;
    pdk_lock *lock = NULL;
    ck_assert_int_eq(pdk_lock_new(session, "/moved/other", NULL, &lock), PDK_OK);
    bool connected = pdk_lock_acquire(lock, 1000, &hold) == PDK_OK;
    if (connected)
        pdk_hold_release(hold);
    pdk_lock_unref(lock);
    return connected;
}

/* The session that opened them is the one that is there at the end. */
static void expect_kept(pdk_session *s, pdk_hold *hold, int64_t id) {
    bool kept = ts_wait_until(is_connected, s, PATIENCE_MS) && pdk_hold_is_valid(hold);
    for (guint i = 0; !kept && i < event_log.lines->len; i++)
        fprintf(stderr, "%s\n", (const char *)event_log.lines->pdata[i]);
    ck_assert(kept);
    ck_assert_int_eq(pdk_session_id(s), id);
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_EXPIRED), 0);
}

/* In turn a look-up is late, has no answer, and fails. The server whose name has none is out of reach meanwhile. */
START_TEST(look_ups_that_go_wrong_lose_no_hold) {
    static const char *const words[] = {"late=300 ", "never", "error=-3"};
    pdk_lock *lock;
    pdk_session *s = open_session();
    pdk_hold *hold = acquire(s, &lock);
    int64_t id = pdk_session_id(s);
    for (int i = 0; i < 3; i++) {
        ts_moving_answers(servers, (i + 1) % 3, words[i]);
        move(i);
        ts_moving_answers(servers, (i + 1) % 3, NULL);
    }
    expect_kept(s, hold, id);
    release(hold, lock);
    close_session(s);
}
END_TEST

static bool has_asked(void *from) { return ts_names_asked() >= GPOINTER_TO_INT(from); }

/* While it is connected: the order differs each time, addresses are added and go, a name fails, and one hangs. */
START_TEST(a_connection_is_kept_whatever_is_found) {
    pdk_session *s = open_for(SHORT_MS); /* they are looked up once in a timeout */
    int64_t before = reconnects(s);
    ts_moving_answers(servers, 0, "127.0.0.201,127.0.0.202,");
    ts_moving_answers(servers, 1, "error=-3");
    ck_assert(ts_wait_until(has_asked, GINT_TO_POINTER(ts_names_asked() + 3), PATIENCE_MS));
    ts_moving_answers(servers, 0, "127.0.0.203,");
    ts_moving_answers(servers, 1, "never");
    ck_assert(ts_wait_until(has_asked, GINT_TO_POINTER(ts_names_asked() + 3), PATIENCE_MS));
    ck_assert_int_eq(reconnects(s), before);
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_SUSPENDED), 0);
    close_session(s); /* in time, though one look-up hangs */
}
END_TEST

START_TEST(a_slow_name_does_not_hold_up_the_others) {
    ts_moving_answers(servers, 0, "never");
    ts_moving_answers(servers, 1, "never");
    close_session(open_session());
}
END_TEST

/* Names that are missing at open are found later, and one of them is where the session goes. */
START_TEST(a_name_that_is_missing_at_open_is_found_later) {
    pdk_lock *lock;
    ts_moving_answers(servers, 0, "error=-2");
    ts_moving_answers(servers, 1, "error=-2");
    pdk_session *s = open_session();
    pdk_hold *hold = acquire(s, &lock);
    int64_t id = pdk_session_id(s);
    ts_moving_answers(servers, 0, NULL);
    ts_moving_answers(servers, 1, NULL);
    move(2);
    expect_kept(s, hold, id);
    release(hold, lock);
    close_session(s);
}
END_TEST

/* The client library waits for each of them for two thirds of the timeout. No lease lasts that long. */
START_TEST(addresses_that_answer_nothing_any_more_are_left_soon) {
    pdk_lock *lock;
    ts_moving_leave_silence(servers, true);
    pdk_session *s = open_session();
    pdk_hold *hold = acquire(s, &lock);
    int64_t id = pdk_session_id(s);
    for (int i = 0; i < 3; i++)
        move(i);
    expect_kept(s, hold, id);
    for (int i = 2; i >= 0; i--)
        move(i);
    expect_kept(s, hold, id);
    release(hold, lock);
    close_session(s);
    ts_moving_leave_silence(servers, false);
}
END_TEST

START_TEST(a_look_up_that_hangs_is_told_at_open) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    options.connect_timeout_ms = 1000;
    for (int i = 0; i < 3; i++)
        ts_moving_answers(servers, i, "never");
    const int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_open(ts_moving_hosts(servers), &options, &s), PDK_UNAVAILABLE);
    ck_assert_int_lt(ts_now_ms() - began, 1000 + 4000); /* it does not wait for them */
    ck_assert_msg(strstr(pdk_last_error(), "zk1: its look-up has no answer yet"), "%s", pdk_last_error());
}
END_TEST

int main(void) {
    Suite *suite = suite_create("moved");
    TCase *cases = tcase_create("moved");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, look_ups_that_go_wrong_lose_no_hold);
    tcase_add_test(cases, a_connection_is_kept_whatever_is_found);
    tcase_add_test(cases, a_slow_name_does_not_hold_up_the_others);
    tcase_add_test(cases, a_name_that_is_missing_at_open_is_found_later);
    tcase_add_test(cases, addresses_that_answer_nothing_any_more_are_left_soon);
    tcase_add_test(cases, a_look_up_that_hangs_is_told_at_open);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
