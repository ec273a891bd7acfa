/* The simulated client library, against the fake ensemble: a driver hears of its requests and watches as from
 * libzookeeper. */
#include "sim_client_bench.h"

#include <string.h>
#include <zookeeper/zookeeper.h>

/* ---- requests */

START_TEST(a_create_and_its_list_take_one_round_trip) {
    client_open(&client_a);
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    bench_settle();
    client_heard(&client_a, "1=ok");
    int64_t since = bench_agenda.now;
    client_submit(&client_a, 2, PDK__OP_CREATE, "/l/x-");
    client_submit(&client_a, 3, PDK__OP_LIST, "/l");
    bench_settle();
    client_heard(&client_a, "2=ok:x-0000000000 3=ok,x-0000000000");
    ck_assert_int_le(client_a.heard_at - since, 12 * SIM_MS);
    ck_assert_int_eq(sim_client_session(&client_a.process), client_a.session);
    ck_assert_int_eq(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000")->stat.owner, client_a.session);
    ck_assert_int_eq(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000")->stat.czxid, client_a.token);
}
END_TEST

START_TEST(every_operation_says_what_it_found) {
    client_open(&client_a);
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    client_submit(&client_a, 2, PDK__OP_MKDIR, "/l");
    client_submit(&client_a, 3, PDK__OP_CREATE, "/l/x-");
    client_submit(&client_a, 4, PDK__OP_STAT, "/l/x-0000000000");
    client_submit(&client_a, 5, PDK__OP_GET, "/l/x-0000000000");
    client_submit(&client_a, 6, PDK__OP_GET, "/l");
    client_submit(&client_a, 7, PDK__OP_BARRIER, "/l");
    client_submit(&client_a, 8, PDK__OP_BARRIER, "/m");
    client_submit(&client_a, 9, PDK__OP_DELETE, "/l/x-0000000000");
    client_submit(&client_a, 10, PDK__OP_DELETE, "/l/x-0000000000");
    client_submit(&client_a, 11, PDK__OP_LIST, "/m");
    bench_settle();
    client_heard(&client_a, "1=ok 2=exists 3=ok:x-0000000000 4=ok 5=ok\"me\" 6=ok 7=ok 8=none 9=ok 10=none 11=none");
}
END_TEST

START_TEST(a_server_without_containers_gets_a_plain_directory) {
    struct sim_ensemble_config config = bench_config;
    config.containers = false;
    bench_begin(2, &config);
    client_open(&client_a);
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    client_submit(&client_a, 2, PDK__OP_STAT, "/l");
    bench_settle();
    client_heard(&client_a, "2=none 1=ok");
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(bench_ensemble), "/l"));
}
END_TEST

START_TEST(a_code_is_the_servers) {
    client_open(&client_a);
    sim_answer_next(bench_ensemble, client_a.session, ZTHROTTLEDOP, false);
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    bench_settle();
    client_heard(&client_a, "1=later");
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/l"));
    sim_answer_next(bench_ensemble, client_a.session, ZOPERATIONTIMEOUT, true);
    client_submit(&client_a, 2, PDK__OP_MKDIR, "/l");
    bench_settle();
    client_heard(&client_a, "2=unknown");
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(bench_ensemble), "/l"));
}
END_TEST

START_TEST(a_name_is_given_once) {
    const struct pdk__request create = {.kind = PDK__OP_CREATE, .tag = 1, .path = "/me", .data = "A", .named = true};
    client_open(&client_a);
    client_open(&client_b);
    client_request(&client_a, create);
    bench_settle();
    client_request(&client_b, create);
    client_submit(&client_b, 2, PDK__OP_GET, "/me");
    bench_settle();
    client_heard(&client_a, "1=ok:me");
    client_heard(&client_b, "1=exists 2=ok\"A\"");
    ck_assert_int_eq(sim_tree_find(sim_truth(bench_ensemble), "/me")->stat.owner, client_a.session);
    ck_assert_int_eq(client_b.token, client_a.token);
}
END_TEST

START_TEST(data_are_written_and_read) {
    clients_and_a_node();
    client_request(&client_a, (struct pdk__request){.kind = PDK__OP_MKDIR, .tag = 1, .path = "/d", .data = "seven"});
    client_submit(&client_a, 2, PDK__OP_GET, "/d");
    client_request(&client_a, (struct pdk__request){.kind = PDK__OP_SET, .tag = 3, .path = "/d", .data = "eight"});
    client_submit(&client_a, 4, PDK__OP_GET, "/d");
    client_submit(&client_a, 5, PDK__OP_SET, "/d");
    client_submit(&client_a, 6, PDK__OP_GET, "/d");
    client_submit(&client_a, 7, PDK__OP_SET, "/e");
    client_submit(&client_a, 8, PDK__OP_WATCH, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "1=ok 2=ok\"seven\" 3=ok 4=ok\"eight\" 5=ok 6=ok 7=none 8=ok\"me\"");
    client_submit(&client_b, 3, PDK__OP_SET, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "changed:/l/x-0000000000");
}
END_TEST

/* ---- watches */

START_TEST(a_watch_fires_once_and_ahead_of_the_answer_that_shows_it) {
    clients_and_a_node();
    client_submit(&client_a, 1, PDK__OP_WATCH, "/l/x-0000000000");
    client_submit(&client_a, 2, PDK__OP_WATCH, "/l/y-0000000001");
    bench_settle();
    client_heard(&client_a, "1=ok\"me\" 2=none");
    client_submit(&client_b, 3, PDK__OP_DELETE, "/l/x-0000000000");
    for (uint64_t i = 3; bench_agenda.now < 10 * SECOND && !strstr(client_a.heard->str, "none"); i++) {
        client_submit(&client_a, i, PDK__OP_STAT, "/l/x-0000000000");
        bench_pass(SIM_MS);
    }
    const char *event = strstr(client_a.heard->str, "gone:/l/x-0000000000"),
               *shown = strstr(client_a.heard->str, "none");
    ck_assert(event && shown && event < shown);
    ck_assert_ptr_null(strstr(event + 1, "gone"));
}
END_TEST

START_TEST(watches_are_set_again_elsewhere) {
    clients_and_a_node();
    client_submit(&client_a, 1, PDK__OP_WATCH, "/l/x-0000000000");
    bench_settle();
    int32_t server = sim_client_server(&client_a.process);
    client_heard(&client_a, "1=ok\"me\"");
    sim_client_cut(&client_a.process);
    bench_settle();
    client_heard(&client_a, "connecting connected");
    ck_assert_int_ne(sim_client_server(&client_a.process), server);
    client_submit(&client_b, 3, PDK__OP_DELETE, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "gone:/l/x-0000000000");
}
END_TEST

START_TEST(but_not_those_that_have_fired_or_were_refused) {
    clients_and_a_node();
    client_submit(&client_a, 1, PDK__OP_WATCH, "/l/x-0000000000");
    client_submit(&client_a, 2, PDK__OP_WATCH, "/l/y-0000000000");
    client_submit(&client_b, 3, PDK__OP_DELETE, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "1=ok\"me\" 2=none gone:/l/x-0000000000");
    sim_client_cut(&client_a.process);
    bench_settle();
    client_heard(&client_a, "connecting connected");
}
END_TEST

START_TEST(a_deletion_that_was_missed_is_told_on_return) {
    clients_and_a_node();
    client_submit(&client_a, 1, PDK__OP_WATCH, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "1=ok\"me\"");
    bench_block(&client_a, true, true, true);
    sim_client_cut(&client_a.process);
    client_submit(&client_b, 3, PDK__OP_DELETE, "/l/x-0000000000");
    bench_settle();
    bench_block(&client_a, true, true, false);
    bench_settle();
    client_heard(&client_a, "connecting connected gone:/l/x-0000000000");
}
END_TEST

static void watch_children(struct bench_client *c, uint64_t tag, const char *path) {
    client_request(c, (struct pdk__request){.kind = PDK__OP_LIST, .tag = tag, .path = path, .watch = true});
}

START_TEST(children_are_watched_until_they_change) {
    clients_and_a_node();
    watch_children(&client_a, 1, "/l");
    watch_children(&client_a, 2, "/m");
    bench_settle();
    client_submit(&client_b, 3, PDK__OP_MKDIR, "/m");
    client_submit(&client_b, 4, PDK__OP_CREATE, "/m/x-");
    client_submit(&client_b, 5, PDK__OP_CREATE, "/l/x-");
    client_submit(&client_b, 6, PDK__OP_CREATE, "/l/x-");
    bench_settle();
    client_heard(&client_a, "1=ok,x-0000000000 2=none children:/l");
}
END_TEST

/* One kind of watch fires without the other. A deletion is for both, and reported once. */
START_TEST(watches_of_data_and_of_children_are_two) {
    client_open(&client_a);
    client_open(&client_b);
    client_submit(&client_b, 1, PDK__OP_MKDIR, "/l");
    bench_settle();
    watch_children(&client_a, 1, "/l");
    client_submit(&client_a, 2, PDK__OP_WATCH, "/l");
    bench_settle();
    client_submit(&client_b, 2, PDK__OP_SET, "/l");
    bench_settle();
    client_heard(&client_a, "1=ok 2=ok changed:/l");
    client_submit(&client_a, 3, PDK__OP_WATCH, "/l");
    bench_settle();
    client_submit(&client_b, 3, PDK__OP_DELETE, "/l");
    client_submit(&client_b, 4, PDK__OP_MKDIR, "/l");
    client_submit(&client_b, 5, PDK__OP_CREATE, "/l/x-");
    client_submit(&client_b, 6, PDK__OP_SET, "/l");
    bench_settle();
    client_heard(&client_a, "3=ok gone:/l");
}
END_TEST

START_TEST(watches_of_children_are_set_again_elsewhere) {
    clients_and_a_node();
    watch_children(&client_a, 1, "/l");
    client_submit(&client_a, 2, PDK__OP_WATCH, "/l/x-0000000000");
    bench_settle();
    int32_t server = sim_client_server(&client_a.process);
    sim_client_cut(&client_a.process);
    bench_settle();
    client_heard(&client_a, "1=ok,x-0000000000 2=ok\"me\" connecting connected");
    ck_assert_int_ne(sim_client_server(&client_a.process), server);
    client_submit(&client_b, 3, PDK__OP_DELETE, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "gone:/l/x-0000000000 children:/l");
    sim_client_cut(&client_a.process);
    bench_settle();
    client_heard(&client_a, "connecting connected");
}
END_TEST

START_TEST(a_change_of_children_that_was_missed_is_told_on_return) {
    clients_and_a_node();
    watch_children(&client_a, 1, "/l");
    watch_children(&client_a, 2, "/");
    bench_settle();
    client_heard(&client_a, "1=ok,x-0000000000 2=ok,l");
    bench_block(&client_a, true, true, true);
    sim_client_cut(&client_a.process);
    client_submit(&client_b, 3, PDK__OP_DELETE, "/l/x-0000000000");
    bench_settle();
    bench_block(&client_a, true, true, false);
    bench_settle();
    client_heard(&client_a, "connecting connected children:/l");
    client_submit(&client_b, 4, PDK__OP_MKDIR, "/m");
    bench_settle();
    client_heard(&client_a, "children:/");
}
END_TEST

/* ---- processes */

static int64_t rang_at, rang;

static void ring(void *subject, void *what) {
    struct bench_client *c = subject;
    (void)what;
    ck_assert_ptr_eq(sim_process_current(), &c->process);
    rang_at = sim_process_clock(&c->process);
    rang++;
}

START_TEST(a_process_has_a_clock_and_late_threads_of_its_own) {
    client_a.process.rate = 0.9375;
    client_a.process.slow_least = 2 * SIM_MS;
    client_a.process.slow_most = 5 * SIM_MS;
    int64_t clock = sim_process_clock(&client_a.process);
    ck_assert_int_gt(clock, 0);
    for (int i = 0; i < 100; i++) {
        int64_t moment = sim_process_clock(&client_a.process) + 40 * SIM_MS + i;
        sim_run_in(&client_a.process, sim_process_when(&client_a.process, moment), true, ring, &client_a, NULL);
        bench_pass(60 * SIM_MS);
        ck_assert_int_ge(rang_at, moment + 2 * SIM_MS * 15 / 16);
        ck_assert_int_le(rang_at, moment + 5 * SIM_MS);
    }
    ck_assert_int_eq(rang, 100);
    ck_assert_int_eq((sim_process_clock(&client_a.process) - clock + 8) * 16 / 15 / SIM_MS, 6000);
    sim_run_in(&client_a.process, bench_agenda.now + SIM_MS, false, ring, &client_a, NULL);
    sim_process_kill(&client_a.process);
    bench_pass(SECOND);
    ck_assert_int_eq(rang, 100);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("sim_client");
    TCase *cases = tcase_create("sim_client");
    tcase_add_checked_fixture(cases, bench_setup, bench_teardown);
    tcase_add_test(cases, a_create_and_its_list_take_one_round_trip);
    tcase_add_test(cases, every_operation_says_what_it_found);
    tcase_add_test(cases, a_server_without_containers_gets_a_plain_directory);
    tcase_add_test(cases, a_code_is_the_servers);
    tcase_add_test(cases, a_name_is_given_once);
    tcase_add_test(cases, data_are_written_and_read);
    tcase_add_test(cases, a_watch_fires_once_and_ahead_of_the_answer_that_shows_it);
    tcase_add_test(cases, watches_are_set_again_elsewhere);
    tcase_add_test(cases, but_not_those_that_have_fired_or_were_refused);
    tcase_add_test(cases, a_deletion_that_was_missed_is_told_on_return);
    tcase_add_test(cases, children_are_watched_until_they_change);
    tcase_add_test(cases, watches_of_data_and_of_children_are_two);
    tcase_add_test(cases, watches_of_children_are_set_again_elsewhere);
    tcase_add_test(cases, a_change_of_children_that_was_missed_is_told_on_return);
    tcase_add_test(cases, a_process_has_a_clock_and_late_threads_of_its_own);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
