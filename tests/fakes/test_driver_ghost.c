/* A follower that shows nodes which are gone: its clients do not wait for them for ever, since the leader is asked. */
#include "driver_bench.h"
#include "session/ops.h"
#include "session/session.h"
#include "session/unowned.h"

#include <string.h>

static struct driver_user *const one = &driver_users[0], *const two = &driver_users[1];

static struct {
    uint32_t barriers;
} sent;

static bool counts(const struct pdk__request *request) {
    sent.barriers += request->kind == PDK__OP_BARRIER;
    return false;
}

static int32_t server_of_the_waiter(void) { return sim_client_server(&one->rival->process); }

/* It waits at a follower that overlooks so many deletions from now on. Another process has the lock. */
static void wait_at_a_follower_that_keeps(int32_t deletions) {
    driver_begin();
    driver_refuses = counts;
    driver_want_lock(two);
    platform_pass(SECOND / 2);
    driver_want_lock(one);
    platform_pass(SECOND / 2);
    ck_assert_uint_eq(two->granted, 1);
    ck_assert_uint_eq(one->answered, 0);
    sim_server_keep(platform_ensemble, server_of_the_waiter(), deletions);
}

START_TEST(a_predecessor_that_is_gone_is_not_waited_for) {
    wait_at_a_follower_that_keeps(1);
    driver_release_all(two);
    platform_pass(3 * TIMEOUT);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

/* The next contender finds the same node ahead, and asks anew only if its session does not know. */
START_TEST(what_is_gone_stays_gone) {
    wait_at_a_follower_that_keeps(1);
    driver_release_all(two);
    platform_pass(3 * TIMEOUT);
    driver_release_all(one);
    platform_pass(SECOND / 10);
    driver_want_lock(one);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(one->granted, 2);
}
END_TEST

/* The server that shows it shows a stranger's node as well. */
START_TEST(what_is_gone_is_found_among_strangers) {
    const struct sim_packet create = {
        .kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = "/app/locks/lock/stranger", .data = ""};
    wait_at_a_follower_that_keeps(1);
    ck_assert(sim_admin(platform_ensemble, &create));
    driver_release_all(two);
    platform_pass(3 * TIMEOUT);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

static void admin(int32_t op, const char *path) {
    const struct sim_packet packet = {.kind = SIM_REQUEST, .op = op, .path = path, .data = ""};
    ck_assert(sim_admin(platform_ensemble, &packet));
    platform_pass(SECOND / 10);
}

/* ---- names that may be used again */

static const char plain[] = "/app/locks/lock/plain-lock-0000000000";

static void done(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    (void)user;
    (void)reply;
}

static void make_plain_in(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    (void)what;
    pdk__lock(s);
    ck_assert(pdk__send(s, (struct pdk__request){.kind = PDK__OP_CREATE, .path = plain, .data = "", .named = true},
                        done, NULL));
    pdk__unlock(s);
}

/* So the leader is asked each time. */
START_TEST(a_plain_name_that_is_gone_may_come_back) {
    driver_begin();
    driver_want_lock(two);
    platform_pass(SECOND / 2);
    sim_call_in(&two->rival->process, make_plain_in, two, NULL);
    platform_pass(SECOND / 10);
    driver_release_all(two);
    driver_want_lock(one);
    platform_pass(SECOND / 2);
    ck_assert_uint_eq(one->answered, 0);
    sim_server_keep(platform_ensemble, server_of_the_waiter(), 1);
    admin(SIM_OP_DELETE, plain);
    platform_pass(2 * TIMEOUT);
    ck_assert_uint_eq(g_hash_table_size(one->rival->session->predecessors.gone), 0);
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
    admin(SIM_OP_CREATE, plain);
    driver_release_all(two);
    driver_want_lock(one);
    platform_pass(SECOND / 2);
    ck_assert_uint_eq(one->granted, 1);
    driver_release_all(one);
    admin(SIM_OP_DELETE, plain);
    sim_call_in(&two->rival->process, make_plain_in, two, NULL);
    platform_pass(SECOND / 10);
    driver_want_lock(one);
    platform_pass(5 * TIMEOUT);
    ck_assert_uint_eq(one->granted, 1);
    admin(SIM_OP_DELETE, plain);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 2);
}
END_TEST

static struct {
    bool refuses;
    uint32_t lists;
} polls;

static bool refuses_watches(const struct pdk__request *request) {
    polls.lists += request->kind == PDK__OP_LIST;
    return polls.refuses && request->kind == PDK__OP_WATCH;
}

/* Behind a node that may not be read it asks from time to time. Its time comes while it is about to ask anyway, on another connection:
 * what it cannot send it repeats at the pace of that. */
/* ZooKeeper 3.8 answers 0 for a container as well; a server may show what it keeps. */
START_TEST(whose_a_node_is) {
    static const struct {
        enum pdk__result result;
        int64_t owner;
        bool unowned;
    } all[] = {{PDK__OK, 0, true},
               {PDK__OK, INT64_MIN, true},
               {PDK__OK, 72057594037927936, false},
               {PDK__OK, -2, false},
               {PDK__NO_NODE, 0, false}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ck_assert_int_eq(pdk__is_unowned(&(struct pdk__reply){.result = all[i].result, .owner = all[i].owner}),
                         all[i].unowned);
}
END_TEST

START_TEST(a_node_that_may_not_be_read_is_asked_after) {
    driver_begin();
    memset(&polls, 0, sizeof polls);
    driver_refuses = refuses_watches;
    driver_want_lock(two);
    platform_pass(SECOND);
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), "/app/locks/lock", &count);
    ck_assert_uint_eq(count, 1);
    g_autofree char *node = g_strconcat("/app/locks/lock/", names[0], NULL);
    ck_assert(sim_admin_set(platform_ensemble, node, SIM_SET_ACL, SIM_NO_READ));
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_ge(polls.lists, 3);
    sim_client_cut(&one->rival->process);
    polls.lists = 0;
    polls.refuses = true;
    platform_pass(SECOND);
    ck_assert_uint_ge(polls.lists, 3);
    ck_assert_uint_le(polls.lists, 60);
    polls.refuses = false;
    polls.lists = 0;
    platform_pass(SECOND);
    ck_assert_uint_le(polls.lists, 8);
    ck_assert_uint_eq(one->answered, 0);
    driver_release_all(two);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

/* Whoever is there, is waited for, whatever number of times is asked. */
START_TEST(a_predecessor_that_is_there_is_waited_for) {
    wait_at_a_follower_that_keeps(0);
    uint32_t before = sent.barriers;
    platform_pass(5 * TIMEOUT);
    ck_assert_uint_eq(one->answered, 0);
    ck_assert_uint_le(sent.barriers - before, 5 * 12); /* renewals, and a question per timeout */
    driver_release_all(two);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_ghost");
    TCase *cases = tcase_create("driver_ghost");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, a_predecessor_that_is_gone_is_not_waited_for);
    tcase_add_test(cases, what_is_gone_stays_gone);
    tcase_add_test(cases, what_is_gone_is_found_among_strangers);
    tcase_add_test(cases, a_plain_name_that_is_gone_may_come_back);
    tcase_add_test(cases, nobodys_node_is_passed_over);
    tcase_add_test(cases, whose_a_node_is);
    tcase_add_test(cases, a_node_that_may_not_be_read_is_asked_after);
    tcase_add_test(cases, a_predecessor_that_is_there_is_waited_for);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
