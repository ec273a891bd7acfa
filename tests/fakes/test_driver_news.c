/* What a session is told, and what it finds, that it need not act upon: states told twice, words that come after its end, or of a server that
 * lies, a handle that was retired while the program has it, and nodes of strangers that look like its own. */
#include "driver_bench.h"
#include "session/session.h"
#include "session/supervise.h"
#include "sim_client.h"

#include <paddock/borrow.h>
#include <string.h>

static void tell_with(enum pdk__zk_state state, int32_t timeout_ms) {
    pdk__session_sink.state(first->session, first->session->zk, state, first->session->id, timeout_ms);
}

static void tell(enum pdk__zk_state state) { tell_with(state, TIMEOUT_MS); }

static void assert_heard(int64_t ns, const char *events) {
    platform_pass(ns);
    ck_assert_str_eq(first->events->str, events);
}

/* The first process holds the lock. */
static void hold(void) {
    driver_begin();
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
}

/* ---- states */

/* Every SUSPENDED but the last is followed by its RESTORED: a connection that ended without any proof is no news. */
START_TEST(a_connection_may_be_told_twice) {
    hold();
    tell(PDK__ZK_CONNECTED);
    tell(PDK__ZK_CONNECTING);
    tell(PDK__ZK_CONNECTING);
    assert_heard(10 * SIM_MS, "connected suspended");
    for (int i = 0; i < 3; i++) {
        tell(PDK__ZK_CONNECTED);
        tell(PDK__ZK_CONNECTING);
    }
    tell(PDK__ZK_CONNECTED);
    assert_heard(SECOND, "connected suspended restored");
    tell(PDK__ZK_CONNECTING);
    tell(PDK__ZK_CONNECTED);
    assert_heard(SECOND, "connected suspended restored suspended restored");
    driver_release_all(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

/* Each time it would renew its lease, and list anew. */
START_TEST(who_is_connected_again_and_again) {
    enum { TIMES = 1000, AT_MOST = 100 };
    hold();
    uint32_t before = driver_requests;
    for (int i = 0; i < TIMES; i++) {
        tell(PDK__ZK_CONNECTED);
        platform_pass(SIM_MS);
    }
    ck_assert_uint_gt(driver_requests, before); /* it is believed at first */
    ck_assert_uint_le(driver_requests - before, AT_MOST);
    ck_assert(pdk_hold_is_valid(one->holds[0]));
    assert_heard(0, "connected");
}
END_TEST

/* A session that can keep no lease is no session. Its servers may be configured anew. */
START_TEST(a_timeout_that_carries_no_lease_is_refused) {
    hold();
    driver_answers_within(140 * SIM_MS);
    tell_with(PDK__ZK_CONNECTED, TIMEOUT_MS / 2); /* a session with holds goes on */
    ck_assert_int_lt(pdk_hold_remaining_ms(one->holds[0]), TIMEOUT_MS / 2);
    ck_assert_int_gt(pdk_hold_remaining_ms(one->holds[0]), 0);
    platform_pass(SECOND);
    driver_release_all(one);
    driver_answers_within(400 * SIM_MS);
    tell(PDK__ZK_CONNECTING);
    tell(PDK__ZK_EXPIRED);
    driver_want_lock(one);
    assert_heard(5 * SECOND, "connected suspended expired");
    driver_answers_within(140 * SIM_MS);
    assert_heard(3 * SECOND, "connected suspended expired reopened");
    ck_assert_uint_eq(one->granted, 2);
}
END_TEST

START_TEST(a_handshake_that_gives_no_session) {
    driver_begin();
    tell(PDK__ZK_SPOILT);
    ck_assert_int_eq(first->session->trouble, PDK_UNAVAILABLE);
    ck_assert_msg(strstr(first->session->trouble_text, "handshake") != NULL, "%s", first->session->trouble_text);
    assert_heard(2 * TIMEOUT, "connected expired reopened");
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

/* It is told in words. Another server of the list may be a ZooKeeper. */
START_TEST(a_server_that_is_no_zookeeper) {
    driver_begin();
    tell(_i ? PDK__ZK_HUNG_UP : PDK__ZK_FOREIGN);
    ck_assert_int_eq(first->session->trouble, PDK_UNSUPPORTED);
    ck_assert_msg(strstr(first->session->trouble_text, _i ? "was lost meanwhile" : "has no create2") != NULL, "%s",
                  first->session->trouble_text);
    assert_heard(2 * TIMEOUT, "connected expired reopened");
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

static int lines;

static void count_lines(pdk_log_level level, const char *text, void *user) {
    (void)user;
    lines += level == PDK_LOG_WARN && strstr(text, "not well-formed") != NULL;
}

/* They are counted, and told once a second. */
START_TEST(what_is_not_well_formed_is_counted) {
    enum { TIMES = 50 };
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK / SIM_MS;
    options.on_log = count_lines;
    lines = 0;
    first->session = platform_open(&options);
    platform_pass(SECOND);
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < TIMES; i++)
            pdk__session_sink.malformed(first->session, first->session->zk, "a list");
        platform_pass(2 * SECOND);
        ck_assert_int_eq(lines, round);
        ck_assert_uint_eq(first->session->stats.counts.answers_malformed, (uint64_t)(round * TIMES));
    }
}
END_TEST

/* ---- ends */

/* Its servers are out of reach, their names and its handles as well: it tries until they are back. */
START_TEST(names_and_handles_are_tried_again) {
    static const struct {
        pdk_status opening;
        const char *words;
    } refusals[] = {{PDK_UNSUPPORTED, "has no TLS"}, {PDK_SYSTEM, "no thread or descriptor"}};
    hold();
    platform_block(first, true);
    driver_unresolved = "nobody knows it";
    driver_opening = refusals[_i].opening;
    platform_pass(20 * SECOND); /* long enough to give the session up */
    driver_unresolved = NULL;
    platform_pass(5 * SECOND);
    ck_assert_int_eq(first->session->trouble, refusals[_i].opening);
    ck_assert_msg(strstr(first->session->trouble_text, refusals[_i].words) != NULL, "%s", first->session->trouble_text);
    driver_opening = PDK_OK;
    platform_block(first, false);
    driver_release_all(one);
    driver_want_lock(one);
    driver_pass_and_release(20 * SECOND);
    ck_assert_uint_eq(one->granted, 2);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

/* The session is closed as its node turns out not to be deletable: it ends all the same. _i: its connection is cut meanwhile. */
START_TEST(a_node_that_is_stuck_does_not_keep_a_session_that_ends) {
    for (int64_t after = 0; after < 20; after++) {
        hold();
        sim_answer_next(platform_ensemble, sim_client_session(&first->process), NOT_ALLOWED_CODE, false);
        driver_release_all(one);
        platform_pass(after * SIM_MS / 8);
        driver_give_back(one);
        platform_pass(after * SIM_MS / 8);
        if (_i)
            sim_client_cut(&first->process);
        platform_pass(8 * SECOND); /* it is given the time of a request */
        ck_assert_uint_eq(driver_nodes(), 0);
        ck_assert_int_eq(sim_client_session(&first->process), 0);
    }
}
END_TEST

static pdk_borrow *borrow;
static uint32_t closed;

/* The borrow is gone with its handle. */
static void on_closed(void *user) {
    (void)user;
    closed++;
    borrow = NULL;
}

/* While the connector resolves names, which takes long, the old handle reports. Then nothing that it reports is heard. No check is made
 * under the monitor: it would stay locked. */
static void report_while_opening(pdk_session *s, pdk__zk *old) {
    pdk__lock(s);
    bool none = !s->zk;
    s->link = PDK__LINK_OPENING;
    pdk__unlock(s);
    pdk__session_sink.state(s, old, PDK__ZK_CONNECTED, 77, TIMEOUT_MS);
    pdk__lock(s);
    bool heard = s->zk || s->link != PDK__LINK_OPENING;
    s->zk = NULL;
    s->link = PDK__LINK_NONE;
    pdk__unlock(s);
    ck_assert(none && !heard);
}

START_TEST(a_retired_handle_is_kept_and_not_heard) {
    driver_begin();
    closed = 0;
    pdk_session *s = first->session;
    ck_assert_int_eq(pdk_session_borrow(s, on_closed, NULL, &borrow), PDK_OK);
    pdk__zk *old = s->zk;
    rival_reopen(first);
    ck_assert_uint_eq(s->retired.length, 1);
    report_while_opening(s, old);
    platform_pass(3 * SECOND);
    ck_assert_ptr_nonnull(s->zk);
    ck_assert_ptr_ne(s->zk, old);
    ck_assert_uint_eq(s->retired.length, 1);
    ck_assert_uint_eq(closed, 0);
    pdk_borrow_release(g_steal_pointer(&borrow));
    platform_pass(SECOND);
    ck_assert_uint_eq(s->retired.length + s->borrows.length, 0);
    ck_assert_uint_eq(closed, 1);
}
END_TEST

/* ---- names */

static void create(const char *dir, const char *name) {
    g_autofree char *text = g_strdup_printf("/app/locks/%s/%s", dir, name);
    const char *path = sim_text(&platform_agenda, text);
    platform_admin(SIM_OP_CREATE, path);
    platform_pass(SECOND / 10);
    ck_assert_ptr_nonnull(platform_node(path));
}

/* They begin as the names of this session do. What is no name of a node of ours is nobody's to delete. */
START_TEST(names_that_begin_like_ours_are_left_alone) {
    driver_begin();
    driver_want_lock(two);
    platform_pass(SECOND);
    const char *prefix = first->session->uuid_prefix;
    g_autofree char *filler = g_strnfill(200, 'f');
    char *names[] = {
        g_strdup_printf("_c_%s0123456789ab-what-1000000000", prefix),
        g_strdup_printf("_c_%s%s-lock-1000000000", prefix, filler),
        g_strdup_printf("_c_%s%.50s-lock-1000000000", prefix, filler),
    };
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        create("lock", names[i]);
        g_free(names[i]);
    }
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 2 + G_N_ELEMENTS(names));
}
END_TEST

/* The node that we are deleting here has the name of a stranger's there, which we wait for. */
START_TEST(a_name_is_ours_in_its_own_directory_alone) {
    driver_begin();
    driver_want_permits(two, 2, PDK_FOREVER);
    platform_pass(SECOND);
    driver_release_all(two);
    platform_pass(SECOND);
    driver_want_lock(one);
    driver_want_permits(one, 1, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 2);
    create("permits/locks", strrchr(platform_child("/app/locks/lock", 0), '/') + 1);
    const int32_t leader = sim_leader(platform_ensemble);
    sim_server_pause(platform_ensemble, leader, true);
    driver_release_all(one);
    driver_want_permits(one, 1, 0);
    platform_pass(10 * SIM_MS);
    sim_server_pause(platform_ensemble, leader, false);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->answered, 3);
}
END_TEST

/* A session does not end as long as its handle is borrowed, not even that of a test that has failed. */
static void teardown(void) {
    pdk_borrow_release(g_steal_pointer(&borrow));
    driver_teardown();
}

int main(void) {
    Suite *suite = suite_create("driver_news");
    TCase *cases = tcase_create("driver_news");
    tcase_add_checked_fixture(cases, platform_setup, teardown);
    tcase_add_test(cases, a_connection_may_be_told_twice);
    tcase_add_test(cases, who_is_connected_again_and_again);
    tcase_add_test(cases, a_timeout_that_carries_no_lease_is_refused);
    tcase_add_test(cases, a_handshake_that_gives_no_session);
    tcase_add_loop_test(cases, a_server_that_is_no_zookeeper, 0, 2);
    tcase_add_test(cases, what_is_not_well_formed_is_counted);
    tcase_add_loop_test(cases, names_and_handles_are_tried_again, 0, 2);
    tcase_add_loop_test(cases, a_node_that_is_stuck_does_not_keep_a_session_that_ends, 0, 2);
    tcase_add_test(cases, a_retired_handle_is_kept_and_not_heard);
    tcase_add_test(cases, names_that_begin_like_ours_are_left_alone);
    tcase_add_test(cases, a_name_is_ours_in_its_own_directory_alone);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
