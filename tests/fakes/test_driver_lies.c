/* What a client library tells the driver of a server that lies: that it is connected, again and again; a handshake without a session;
 * things that are not well-formed. */
#include "platform_bench.h"
#include "session/session.h"
#include "session/supervise.h"

#include <string.h>

static int lines;

static void count_lines(pdk_log_level level, const char *text, void *user) {
    (void)user;
    lines += level == PDK_LOG_WARN && strstr(text, "not well-formed") != NULL;
}

static void open_in(void *subject, void *what) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    (void)what;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK / SIM_MS;
    options.on_log = count_lines;
    ((struct rival *)subject)->session = platform_open(&options);
}

static void tell_in(void *subject, void *state) {
    pdk_session *s = ((struct rival *)subject)->session;
    pdk__session_sink.state(s, s->zk, *(const enum pdk__zk_state *)state, s->id, TIMEOUT_MS);
}

static void tell(enum pdk__zk_state state) { sim_call_in(&first->process, tell_in, first, &state); }

/* Each time it would renew its lease, and list anew. */
START_TEST(who_is_connected_again_and_again) {
    enum { TIMES = 1000, AT_MOST = 100 };
    rival_open(first);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    uint64_t before = first->session->requests;
    for (int i = 0; i < TIMES; i++) {
        tell(PDK__ZK_CONNECTED);
        platform_pass(SIM_MS);
    }
    ck_assert_uint_gt(first->session->requests, before); /* it is believed at first */
    ck_assert_uint_le(first->session->requests - before, AT_MOST);
    ck_assert(rival_is_valid(first));
    ck_assert_str_eq(first->events->str, "connected");
}
END_TEST

START_TEST(a_handshake_that_gives_no_session) {
    rival_open(first);
    platform_pass(SECOND);
    tell(PDK__ZK_SPOILT);
    ck_assert_int_eq(first->session->trouble, PDK_UNAVAILABLE);
    ck_assert_msg(strstr(first->session->trouble_text, "handshake") != NULL, "%s", first->session->trouble_text);
    platform_pass(2 * TIMEOUT);
    ck_assert_str_eq(first->events->str, "connected expired reopened");
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_int_eq(first->status, PDK_OK);
}
END_TEST

static void tell_malformed_in(void *subject, void *what) {
    pdk_session *s = ((struct rival *)subject)->session;
    pdk__session_sink.malformed(s, s->zk, what);
}

/* They are counted, and told once a second. */
START_TEST(what_is_not_well_formed_is_counted) {
    enum { TIMES = 50 };
    lines = 0;
    sim_call_in(&first->process, open_in, first, NULL);
    platform_pass(SECOND);
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < TIMES; i++)
            sim_call_in(&first->process, tell_malformed_in, first, (void *)"a list");
        platform_pass(2 * SECOND);
        ck_assert_int_eq(lines, round);
        ck_assert_uint_eq(first->session->stats.counts.answers_malformed, (uint64_t)(round * TIMES));
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_lies");
    TCase *cases = tcase_create("driver_lies");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, who_is_connected_again_and_again);
    tcase_add_test(cases, a_handshake_that_gives_no_session);
    tcase_add_test(cases, what_is_not_well_formed_is_counted);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
