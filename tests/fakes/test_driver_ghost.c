/* A follower that shows nodes which are gone: its clients do not wait for them for ever, since the leader is asked. */
#include "driver_bench.h"
#include "session/ops.h"
#include "session/session.h"
#include "sim_client.h"

static void keep_deletions(int32_t deletions) {
    sim_server_keep(platform_ensemble, sim_client_server(&first->process), deletions);
}

/* It waits at a follower that overlooks so many deletions from now on. Another process has the lock. */
static void wait_at_a_follower_that_keeps(int32_t deletions) {
    driver_begin();
    driver_want_lock(two);
    platform_pass(SECOND / 2);
    driver_want_lock(one);
    platform_pass(SECOND / 2);
    ck_assert_uint_eq(two->granted, 1);
    ck_assert_uint_eq(one->answered, 0);
    keep_deletions(deletions);
}

/* The next contender finds the same node ahead, and asks anew only if its session does not know. _i: the server shows a stranger's node
 * as well. */
START_TEST(a_predecessor_that_is_gone_is_not_waited_for) {
    wait_at_a_follower_that_keeps(1);
    if (_i)
        platform_admin(SIM_OP_CREATE, "/app/locks/lock/stranger");
    driver_release_all(two);
    platform_pass(3 * TIMEOUT);
    ck_assert_uint_eq(one->granted, 1);
    driver_release_all(one);
    platform_pass(SECOND / 10);
    driver_want_lock(one);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(one->granted, 2);
}
END_TEST

/* Another server does not show the node. Then nothing is remembered of it. */
START_TEST(a_node_that_is_shown_no_more_is_forgotten) {
    wait_at_a_follower_that_keeps(1);
    driver_release_all(two);
    platform_pass(3 * TIMEOUT);
    ck_assert_uint_eq(one->granted, 1);
    ck_assert_uint_eq(first->session->predecessors.gone_count, 1);
    sim_server_kill(platform_ensemble, sim_client_server(&first->process));
    platform_pass(TIMEOUT);
    driver_release_all(one);
    driver_want_lock(one);
    platform_pass(SECOND / 2);
    ck_assert_uint_eq(one->granted, 2);
    ck_assert_uint_eq(first->session->predecessors.gone_count, 0);
    ck_assert_uint_eq(g_hash_table_size(first->session->predecessors.gone), 0);
}
END_TEST

/* ---- nodes of a session's name that no entry has */

/* It comes after a cycle of the first process, whose list was searched. It is of another queue, so that nobody waits for it. */
static void begin_with_an_orphan(void) {
    driver_begin();
    g_autofree char *path =
        g_strdup_printf("/app/locks/lock/_c_%sffffffffffff-latch-0000000000", first->session->uuid_prefix);
    driver_want_lock(one);
    platform_pass(SECOND / 10);
    driver_release_all(one);
    platform_pass(SECOND / 10);
    platform_admin(SIM_OP_CREATE, sim_text(&platform_agenda, path));
}

/* The directory is searched for them once, and again after each reconnect: each time it asks whose the node is. */
START_TEST(orphans_are_looked_for_once_a_connection) {
    begin_with_an_orphan();
    for (int round = 0; round < 4; round++) {
        if (round == 2) {
            sim_client_cut(&first->process);
            platform_pass(SECOND);
        }
        driver_forget_seen();
        driver_want_lock(one);
        platform_pass(SECOND / 10);
        driver_release_all(one);
        platform_pass(SECOND / 10);
        ck_assert_uint_eq(driver_seen[PDK__OP_STAT], round == 2);
    }
    ck_assert_uint_eq(one->granted, 5);
}
END_TEST

/* So is the next list after a create whose answer is lost. */
START_TEST(orphans_are_looked_for_after_a_lost_create) {
    begin_with_an_orphan();
    driver_forget_seen();
    driver_spoil(PDK__OP_CREATE, "/app/locks/lock", LOST_CODE, false);
    driver_want_lock(one);
    platform_pass(2 * SECOND);
    ck_assert_uint_eq(one->granted, 2);
    ck_assert_uint_ge(driver_seen[PDK__OP_STAT], 1);
}
END_TEST

/* A server says that our node is not there, when we delete it. It stands, and we would wait for it. */
START_TEST(a_node_of_ours_that_stands_all_the_same_is_found) {
    driver_begin();
    driver_want_lock(one);
    platform_pass(SECOND / 10);
    driver_spoil(PDK__OP_DELETE, "/app/locks/lock", NO_NODE_CODE, false);
    driver_release_all(one);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(platform_children("/app/locks/lock"), 1);
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 2);
    ck_assert_uint_eq(platform_children("/app/locks/lock"), 1);
}
END_TEST

/* Whoever is there, is waited for, whatever number of times is asked. */
START_TEST(a_predecessor_that_is_there_is_waited_for) {
    wait_at_a_follower_that_keeps(0);
    driver_forget_seen();
    platform_pass(5 * TIMEOUT);
    ck_assert_uint_eq(one->answered, 0);
    ck_assert_uint_le(driver_seen[PDK__OP_BARRIER], 5 * 12); /* renewals, and a question per timeout */
    driver_release_all(two);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

/* ---- names that may be used again */

static const char plain[] = "/app/locks/lock/plain-lock-0000000000";

static void done(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    (void)user;
    (void)reply;
}

static void make_plain(void) {
    const struct pdk__request request = {.kind = PDK__OP_CREATE, .path = plain, .data = "", .named = true};
    pdk__lock(second->session);
    ck_assert(pdk__send(second->session, request, done, NULL));
    pdk__unlock(second->session);
    platform_pass(SECOND / 10);
}

/* So the leader is asked each time. */
START_TEST(a_plain_name_that_is_gone_may_come_back) {
    driver_begin();
    driver_want_lock(two);
    platform_pass(SECOND / 2);
    make_plain();
    driver_release_all(two);
    driver_want_lock(one);
    platform_pass(SECOND / 2);
    ck_assert_uint_eq(one->answered, 0);
    keep_deletions(1);
    platform_admin(SIM_OP_DELETE, plain);
    platform_pass(2 * TIMEOUT);
    ck_assert_uint_eq(g_hash_table_size(first->session->predecessors.gone), 0);
    driver_drop_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->failed, 1);
}
END_TEST

/* No session owns it: it is nobody's place in the queue. When it is gone, somebody may have one under its name. */
START_TEST(nobodys_node_is_passed_over) {
    driver_begin();
    driver_want_lock(two);
    platform_pass(SECOND / 2);
    platform_admin(SIM_OP_CREATE, plain);
    platform_pass(SECOND / 10);
    driver_release_all(two);
    driver_want_lock(one);
    platform_pass(SECOND / 2);
    ck_assert_uint_eq(one->granted, 1);
    driver_release_all(one);
    platform_admin(SIM_OP_DELETE, plain);
    platform_pass(SECOND / 10);
    make_plain();
    driver_want_lock(one);
    platform_pass(5 * TIMEOUT);
    ck_assert_uint_eq(one->granted, 1);
    platform_admin(SIM_OP_DELETE, plain);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 2);
}
END_TEST

static bool refuses_watches(const struct pdk__request *request) { return request->kind == PDK__OP_WATCH; }

/* Behind a node that may not be read it asks from time to time. Its time comes while it is about to ask anyway, on another connection:
 * what it cannot send it repeats at the pace of that. */
START_TEST(a_node_that_may_not_be_read_is_asked_after) {
    driver_begin();
    driver_want_lock(two);
    platform_pass(SECOND);
    ck_assert(sim_admin_set(platform_ensemble, platform_child("/app/locks/lock", 0), SIM_SET_ACL, SIM_NO_READ));
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_ge(driver_seen[PDK__OP_LIST], 3);
    sim_client_cut(&first->process);
    driver_forget_seen();
    driver_refuses = refuses_watches;
    platform_pass(SECOND);
    ck_assert_uint_ge(driver_seen[PDK__OP_LIST], 3);
    ck_assert_uint_le(driver_seen[PDK__OP_LIST], 60);
    driver_refuses = NULL;
    driver_forget_seen();
    platform_pass(SECOND);
    ck_assert_uint_le(driver_seen[PDK__OP_LIST], 8);
    ck_assert_uint_eq(one->answered, 0);
    driver_release_all(two);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_ghost");
    TCase *cases = tcase_create("driver_ghost");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, a_predecessor_that_is_gone_is_not_waited_for, 0, 2);
    tcase_add_test(cases, a_node_that_is_shown_no_more_is_forgotten);
    tcase_add_test(cases, orphans_are_looked_for_once_a_connection);
    tcase_add_test(cases, orphans_are_looked_for_after_a_lost_create);
    tcase_add_test(cases, a_node_of_ours_that_stands_all_the_same_is_found);
    tcase_add_test(cases, a_predecessor_that_is_there_is_waited_for);
    tcase_add_test(cases, a_plain_name_that_is_gone_may_come_back);
    tcase_add_test(cases, nobodys_node_is_passed_over);
    tcase_add_test(cases, a_node_that_may_not_be_read_is_asked_after);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
