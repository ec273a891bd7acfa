/* What a session is told, and what it finds, that it need not act upon: states told twice, words that come after its end, and
 * nodes of strangers that look like its own. */
#include "driver_bench.h"
#include "session/session.h"
#include "session/supervise.h"
#include "sim_client.h"

static struct driver_user *const one = &driver_users[0], *const two = &driver_users[1];

struct news {
    enum pdk__zk_state state;
    int32_t timeout_ms;
};

static void tell_in(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    const struct news *news = what;
    pdk__session_sink.state(s, s->zk, news->state, s->id, news->timeout_ms);
    ck_assert_int_ne(pdk_session_id(s), 0); /* it is the same session */
}

static void tell(enum pdk__zk_state state) {
    struct news news = {state, TIMEOUT_MS};
    sim_call_in(&one->rival->process, tell_in, one, &news);
}

START_TEST(a_connection_may_be_told_twice) {
    driver_begin();
    driver_want_lock(one);
    platform_pass(SECOND);
    tell(PDK__ZK_CONNECTED);
    ck_assert_str_eq(one->rival->events->str, "connected");
    tell(PDK__ZK_CONNECTING);
    tell(PDK__ZK_CONNECTING);
    platform_pass(10 * SIM_MS);
    ck_assert_str_eq(one->rival->events->str, "connected suspended");
    tell(PDK__ZK_CONNECTED);
    platform_pass(SECOND);
    ck_assert_str_eq(one->rival->events->str, "connected suspended restored");
    ck_assert_uint_eq(one->granted, 1);
    driver_release_all(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

/* Every SUSPENDED but the last is followed by its RESTORED: a connection that ended without any proof is no news. */
START_TEST(a_link_that_ends_before_it_is_proved_is_not_told) {
    driver_begin();
    tell(PDK__ZK_CONNECTING);
    for (int i = 0; i < 3; i++) {
        tell(PDK__ZK_CONNECTED);
        tell(PDK__ZK_CONNECTING);
    }
    tell(PDK__ZK_CONNECTED);
    platform_pass(SECOND);
    ck_assert_str_eq(one->rival->events->str, "connected suspended restored");
    tell(PDK__ZK_CONNECTING);
    tell(PDK__ZK_CONNECTED);
    platform_pass(SECOND);
    ck_assert_str_eq(one->rival->events->str, "connected suspended restored suspended restored");
}
END_TEST

static void expire_in(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    (void)what;
    pdk__session_sink.state(s, s->zk, PDK__ZK_EXPIRED, s->id, TIMEOUT_MS);
}

static void expire(void) { sim_call_in(&one->rival->process, expire_in, one, NULL); }

static void remaining_in(void *subject, void *what) {
    *(int64_t *)what = pdk_hold_remaining_ms(((struct driver_user *)subject)->holds[0]);
}

/* A server may negotiate less than the one before. */
START_TEST(a_shorter_timeout_shortens_a_hold) {
    struct news news = {PDK__ZK_CONNECTED, TIMEOUT_MS / 2};
    int64_t before, after;
    driver_begin();
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
    sim_call_in(&one->rival->process, remaining_in, one, &before);
    sim_call_in(&one->rival->process, tell_in, one, &news);
    sim_call_in(&one->rival->process, remaining_in, one, &after);
    ck_assert_int_gt(before, TIMEOUT_MS / 2);
    ck_assert_int_lt(after, TIMEOUT_MS / 2);
    ck_assert_int_gt(after, 0);
}
END_TEST

/* A session that can keep no lease is no session. Its servers may be configured anew. */
START_TEST(a_timeout_that_carries_no_lease_is_refused) {
    struct news shorter = {PDK__ZK_CONNECTED, TIMEOUT_MS / 2};
    driver_begin();
    driver_answers_within(140 * SIM_MS);
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
    sim_call_in(&one->rival->process, tell_in, one, &shorter); /* a session with holds goes on */
    platform_pass(SECOND);
    driver_release_all(one);
    driver_answers_within(400 * SIM_MS);
    tell(PDK__ZK_CONNECTING);
    expire();
    driver_want_lock(one);
    platform_pass(5 * SECOND);
    ck_assert_str_eq(one->rival->events->str, "connected suspended expired");
    driver_answers_within(140 * SIM_MS);
    platform_pass(3 * SECOND);
    ck_assert_str_eq(one->rival->events->str, "connected suspended expired reopened");
    ck_assert_uint_eq(one->granted, 2);
}
END_TEST

static void reason_in(void *subject, void *what) {
    *(pdk_reason *)what = pdk_hold_reason(((struct rival *)subject)->hold);
}

/* Its process wakes up, and asks before its timer has looked. Released, it is told nothing. */
START_TEST(a_hold_that_lapsed_in_a_pause) {
    for (int asks = 0; asks < 2; asks++) {
        pdk_reason reason = PDK_REASON_LEASE;
        driver_begin();
        rival_acquire(first, PDK_FOREVER);
        platform_pass(SECOND);
        sim_process_pause(&first->process, true);
        platform_pass(2 * TIMEOUT);
        sim_process_pause(&first->process, false);
        if (asks)
            sim_call_in(&first->process, reason_in, first, &reason);
        rival_release(first);
        ck_assert_int_eq(first->status, PDK_LOST);
        ck_assert_int_eq(reason, PDK_REASON_LEASE);
        platform_pass(SECOND);
        ck_assert_uint_eq(first->losses, 0);
    }
}
END_TEST

/* Its servers are out of reach, their names and its handles as well: it tries until they are back. */
START_TEST(names_and_handles_are_tried_again) {
    static const struct {
        pdk_status opening;
        const char *words;
    } refusals[] = {{PDK_UNSUPPORTED, "has no TLS"}, {PDK_SYSTEM, "no thread or descriptor"}};
    driver_begin();
    driver_want_lock(one);
    platform_pass(SECOND);
    platform_block(one->rival, true);
    driver_unresolved = "nobody knows it";
    driver_opening = refusals[_i].opening;
    platform_pass(20 * SECOND); /* long enough to give the session up */
    driver_unresolved = NULL;
    platform_pass(5 * SECOND);
    ck_assert_int_eq(one->rival->session->trouble, refusals[_i].opening);
    ck_assert_msg(strstr(one->rival->session->trouble_text, refusals[_i].words) != NULL, "%s",
                  one->rival->session->trouble_text);
    driver_opening = PDK_OK;
    platform_block(one->rival, false);
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
        driver_begin();
        driver_want_lock(one);
        platform_pass(SECOND);
        sim_answer_next(platform_ensemble, sim_client_session(&one->rival->process), -102, false);
        driver_release_all(one);
        platform_pass(after * SIM_MS / 8);
        driver_give_back(one);
        platform_pass(after * SIM_MS / 8);
        if (_i)
            sim_client_cut(&one->rival->process);
        platform_pass(8 * SECOND); /* it is given the time of a request */
        ck_assert_uint_eq(driver_nodes(), 0);
        ck_assert_int_eq(sim_client_session(&one->rival->process), 0);
    }
}
END_TEST

static void create(const char *dir, const char *name) {
    char *text = g_strdup_printf("/app/locks/%s/%s", dir, name);
    const char *path = sim_text(&platform_agenda, text);
    g_free(text);
    struct sim_packet packet = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = path, .data = ""};
    ck_assert(sim_admin(platform_ensemble, &packet));
    platform_pass(SECOND / 10);
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(platform_ensemble), path));
}

/* They begin as the names of this session do. What is no name of a node of ours is nobody's to delete. */
START_TEST(names_that_begin_like_ours_are_left_alone) {
    driver_begin();
    driver_want_lock(two);
    platform_pass(SECOND);
    const char *prefix = one->rival->session->uuid_prefix;
    char *filler = g_strnfill(200, 'f');
    char *names[] = {
        g_strdup_printf("_c_%s0123456789ab-what-1000000000", prefix),
        g_strdup_printf("_c_%s%s-lock-1000000000", prefix, filler),
        g_strdup_printf("_c_%s%.50s-lock-1000000000", prefix, filler),
    };
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        create("lock", names[i]);
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 2 + G_N_ELEMENTS(names));
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        g_free(names[i]);
    g_free(filler);
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
    size_t count;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), "/app/locks/lock", &count);
    ck_assert_uint_eq(count, 1);
    create("permits/locks", names[0]);
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

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_news");
    TCase *cases = tcase_create("driver_news");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, a_connection_may_be_told_twice);
    tcase_add_test(cases, a_link_that_ends_before_it_is_proved_is_not_told);
    tcase_add_test(cases, a_shorter_timeout_shortens_a_hold);
    tcase_add_test(cases, a_timeout_that_carries_no_lease_is_refused);
    tcase_add_test(cases, a_hold_that_lapsed_in_a_pause);
    tcase_add_loop_test(cases, names_and_handles_are_tried_again, 0, 2);
    tcase_add_loop_test(cases, a_node_that_is_stuck_does_not_keep_a_session_that_ends, 0, 2);
    tcase_add_test(cases, names_that_begin_like_ours_are_left_alone);
    tcase_add_test(cases, a_name_is_ours_in_its_own_directory_alone);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
