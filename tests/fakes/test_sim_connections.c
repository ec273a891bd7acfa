/* The simulated client library's connections: lost, silent, expired, and closed, as libzookeeper would have it. */
#include "sim_client_bench.h"

/* ---- connections */

START_TEST(a_cut_says_so_and_then_that_nothing_is_known) {
    client_open(&client_a);
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    client_submit(&client_a, 2, PDK__OP_LIST, "/l");
    bench_pass(SIM_MS / 2);
    sim_client_cut(&client_a.process);
    client_submit(&client_a, 3, PDK__OP_LIST, "/");
    bench_settle();
    client_heard(&client_a, "connecting 1=unknown 2=unknown 3=unknown connected");
}
END_TEST

START_TEST(what_is_asked_without_a_connection_goes_out_with_the_next) {
    client_open(&client_a);
    sim_client_cut(&client_a.process);
    ck_assert(client_awaits(&client_a, SECOND));
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    bench_settle();
    client_heard(&client_a, "connecting connected 1=ok");
}
END_TEST

START_TEST(or_fails_with_the_next_attempt_that_fails) {
    client_open(&client_a);
    for (int32_t i = 0; i < 3; i++)
        sim_server_kill(bench_ensemble, i);
    ck_assert(client_awaits(&client_a, SECOND));
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    bench_pass(TIMEOUT / 60 + 20 * SIM_MS);
    client_heard(&client_a, "connecting 1=unknown");
    uint64_t steps = bench_agenda.steps;
    bench_pass(10 * TIMEOUT); /* all servers, one after the other, and then a pause of a sixtieth */
    ck_assert_uint_ge(bench_agenda.steps - steps, 2400);
    ck_assert_uint_le(bench_agenda.steps - steps, 16000);
    for (int32_t i = 0; i < 3; i++)
        sim_server_start(bench_ensemble, i);
    bench_settle();
    client_heard(&client_a, "connected");
}
END_TEST

/* It tries all servers of its list, in any order. */
START_TEST(it_visits_every_server_but_one_that_is_behind) {
    for (int32_t lag = 0; lag < 2; lag++) {
        bool visited[3] = {false};
        bench_begin(7, &bench_config);
        client_open(&client_a);
        int32_t late = (sim_leader(bench_ensemble) + 1) % 3;
        sim_server_lag(bench_ensemble, late, lag * 100 * SECOND);
        for (uint64_t i = 1; i <= 12; i++) {
            client_submit(&client_a, i, PDK__OP_BARRIER, "/");
            bench_pass(SECOND / 4);
            sim_client_cut(&client_a.process);
            bench_pass(SECOND / 4);
            ck_assert_int_ge(sim_client_server(&client_a.process), 0);
            visited[sim_client_server(&client_a.process)] = true;
        }
        for (int32_t i = 0; i < 3; i++)
            ck_assert_msg(visited[i] == (lag == 0 || i != late), "server %d, lag %d", i, lag);
        client_close(&client_a);
    }
}
END_TEST

START_TEST(the_servers_have_the_last_word_on_the_timeout) {
    client_a.asked_ms = 100;
    client_b.asked_ms = 1000000;
    client_open(&client_a);
    client_open(&client_b);
    ck_assert_int_eq(client_a.timeout_ms, 2 * TICK / SIM_MS);
    ck_assert_int_eq(client_b.timeout_ms, 20 * TICK / SIM_MS);
    bench_pass(30 * TICK);
    client_heard(&client_a, "");
    bench_block(&client_a, false, true, true);
    ck_assert(client_awaits(&client_a, 2 * TICK));
    client_heard(&client_a, "connecting");
}
END_TEST

START_TEST(pings_keep_a_session_that_says_nothing) {
    client_open(&client_a);
    int64_t session = client_a.session;
    bench_pass(10 * TIMEOUT);
    client_heard(&client_a, "");
    ck_assert_ptr_nonnull(sim_tree_session(sim_truth(bench_ensemble), session));
    ck_assert_int_eq(sim_client_session(&client_a.process), session);
}
END_TEST

/* Two thirds of the timeout after the last packet, which is at most a third old; by the process's own clock. */
START_TEST(a_silent_connection_is_given_up) {
    client_a.process.rate = 1.25;
    client_open(&client_a);
    bench_pass(TIMEOUT / 5);
    bench_block(&client_a, false, true, true);
    int64_t since = bench_agenda.now;
    ck_assert(client_awaits(&client_a, 2 * TIMEOUT));
    client_heard(&client_a, "connecting");
    double silent = (double)(client_a.heard_at - since) * client_a.process.rate / (double)TIMEOUT;
    ck_assert_double_gt(silent, 0.33);
    ck_assert_double_le(silent, 0.67);
    bench_block(&client_a, false, true, false);
    bench_settle();
    client_heard(&client_a, "connected");
}
END_TEST

START_TEST(expiry_is_told_by_a_server) {
    client_open(&client_a);
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    client_submit(&client_a, 2, PDK__OP_CREATE, "/l/x-");
    bench_settle();
    client_heard(&client_a, "1=ok 2=ok:x-0000000000");
    bench_block(&client_a, true, true, true);
    bench_pass(TIMEOUT + 2 * TICK);
    client_heard(&client_a, "connecting");
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
    client_submit(&client_a, 3, PDK__OP_LIST, "/l");
    bench_block(&client_a, true, true, false);
    bench_pass(TIMEOUT);
    client_heard(&client_a, "expired 3=unknown");
    ck_assert(!client_try(&client_a, 4, PDK__OP_LIST, "/l"));
    ck_assert_int_eq(sim_client_session(&client_a.process), 0);
    client_close(&client_a);
}
END_TEST

/* ---- the end */

START_TEST(close_answers_everything_but_it_is_still_sent) {
    clients_and_a_node();
    client_submit(&client_b, 3, PDK__OP_MKDIR, "/m");
    client_submit(&client_b, 4, PDK__OP_LIST, "/m");
    client_close(&client_b);
    client_heard(&client_b, "3=unknown 4=unknown");
    bench_settle();
    client_heard(&client_b, "");
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(bench_ensemble), "/m"));
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
    ck_assert_ptr_null(sim_tree_session(sim_truth(bench_ensemble), client_b.session));
}
END_TEST

START_TEST(close_without_a_connection_leaves_the_session_to_its_timeout) {
    clients_and_a_node();
    sim_client_cut(&client_b.process);
    ck_assert(client_awaits(&client_b, SECOND));
    client_close(&client_b);
    bench_pass(TIMEOUT / 2);
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
    bench_pass(TIMEOUT);
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
}
END_TEST

START_TEST(a_paused_process_hears_it_all_later) {
    clients_and_a_node();
    client_submit(&client_a, 1, PDK__OP_WATCH, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "1=ok\"me\"");
    client_submit(&client_a, 2, PDK__OP_STAT, "/l");
    sim_process_pause(&client_a.process, true);
    client_submit(&client_b, 3, PDK__OP_DELETE, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "");
    sim_process_pause(&client_a.process, false);
    bench_pass(20 * SIM_MS);
    client_heard(&client_a, "gone:/l/x-0000000000 2=ok");
    sim_process_pause(&client_a.process, true);
    bench_pass(2 * TIMEOUT);
    sim_process_pause(&client_a.process, false);
    bench_pass(TIMEOUT);
    client_heard(&client_a, "connecting expired");
}
END_TEST

static void count_fired(void *user, int64_t session, const char *path, enum sim_event event) {
    (void)path;
    (void)event;
    if (session == client_b.session)
        ++*(uint32_t *)user;
}

static void ignore_txn(void *user, const struct sim_txn *txn) {
    (void)user;
    (void)txn;
}

START_TEST(a_killed_process_reaches_nobody) {
    uint32_t fired = 0;
    clients_and_a_node();
    client_submit(&client_b, 5, PDK__OP_WATCH, "/l");
    bench_settle();
    client_heard(&client_b, "5=ok");
    sim_observe(bench_ensemble, ignore_txn, count_fired, &fired);
    client_submit(&client_b, 3, PDK__OP_MKDIR, "/m");
    sim_process_kill(&client_b.process); /* the request has not left */
    ck_assert(!client_try(&client_b, 4, PDK__OP_MKDIR, "/n"));
    bench_pass(TIMEOUT / 2);
    ck_assert(sim_admin_set(bench_ensemble, "/l", SIM_SET_DATA, 1));
    bench_pass(TIMEOUT / 10);
    ck_assert_uint_eq(fired, 0); /* the kernel has hung up */
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
    bench_pass(TIMEOUT);
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/m"));
    client_heard(&client_b, "");
    client_close(&client_b);
    client_heard(&client_b, "3=unknown");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("sim_connections");
    TCase *cases = tcase_create("sim_connections");
    tcase_add_checked_fixture(cases, bench_setup, bench_teardown);
    tcase_add_test(cases, a_cut_says_so_and_then_that_nothing_is_known);
    tcase_add_test(cases, what_is_asked_without_a_connection_goes_out_with_the_next);
    tcase_add_test(cases, or_fails_with_the_next_attempt_that_fails);
    tcase_add_test(cases, it_visits_every_server_but_one_that_is_behind);
    tcase_add_test(cases, the_servers_have_the_last_word_on_the_timeout);
    tcase_add_test(cases, pings_keep_a_session_that_says_nothing);
    tcase_add_test(cases, a_silent_connection_is_given_up);
    tcase_add_test(cases, expiry_is_told_by_a_server);
    tcase_add_test(cases, close_answers_everything_but_it_is_still_sent);
    tcase_add_test(cases, close_without_a_connection_leaves_the_session_to_its_timeout);
    tcase_add_test(cases, a_paused_process_hears_it_all_later);
    tcase_add_test(cases, a_killed_process_reaches_nobody);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
