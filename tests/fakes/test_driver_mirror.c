/* A session that enqueues again and again in one directory knows who is there without a list, unless something leaves a doubt: each
 * exception of docs/adr/0045. */
#include "core/mirror.h"
#include "driver_bench.h"
#include "session/session.h"

#include <string.h>

#define LOCK "/app/locks/lock"

static uint32_t directory_watches; /* sent by the first process */

static bool is_about_the_directory(const struct pdk__request *request) {
    return request->kind == PDK__OP_WATCH && g_str_equal(request->path, LOCK);
}

static bool count_directory_watches(const struct pdk__request *request) {
    directory_watches += is_about_the_directory(request);
    return false;
}

static void forget_seen(void) {
    driver_forget_seen();
    directory_watches = 0;
}

/* One cycle of the first process, while nobody else wants the lock: the lists that it takes. */
static uint32_t lists_of_a_cycle(void) {
    uint32_t granted = one->granted;
    forget_seen();
    driver_want_lock(one);
    platform_pass(SECOND / 20);
    ck_assert_uint_eq(one->granted, granted + 1);
    driver_release_all(one);
    platform_pass(SECOND / 20);
    return driver_seen[PDK__OP_LIST];
}

/* From its second cycle on it has a mirror. */
static void begin_with_a_mirror(void) {
    driver_begin();
    driver_refuses = count_directory_watches;
    ck_assert_uint_ge(lists_of_a_cycle(), 1);
    ck_assert_uint_eq(directory_watches, 0);
    ck_assert_uint_eq(lists_of_a_cycle(), 1);
    ck_assert_uint_eq(directory_watches, 1);
}

START_TEST(a_lock_that_nobody_else_wants_takes_no_list) {
    begin_with_a_mirror();
    for (int i = 0; i < 5; i++) {
        ck_assert_uint_eq(lists_of_a_cycle(), 0);
        ck_assert_uint_eq(driver_seen[PDK__OP_CREATE] + driver_seen[PDK__OP_DELETE], 2);
        ck_assert_uint_eq(directory_watches, 0);
    }
}
END_TEST

static void create_a_stranger(void) { platform_admin(SIM_OP_CREATE, LOCK "/stranger"); }
static void write_to_the_directory(void) { platform_admin(SIM_OP_SET, LOCK); }

static void create_a_lock_delay(void) {
    platform_admin(SIM_OP_CREATE, LOCK "/delay");
    platform_admin(SIM_OP_DELETE, LOCK "/delay");
}

static void lose_the_connection(void) {
    platform_block(first, true);
    platform_pass(TIMEOUT / 2);
    platform_block(first, false);
    platform_pass(TIMEOUT);
}

/* Of another queue, so that nobody waits for them. */
static void crowd_the_directory(void) {
    for (int i = 0; i < 40; i++) {
        g_autofree char *path = g_strdup_printf(LOCK "/_c_%d-latch-0000000000", i);
        platform_admin(SIM_OP_CREATE, sim_text(&platform_agenda, path));
    }
}

/* The lists of the next three cycles, which are all granted. */
START_TEST(a_doubt_is_a_list) {
    static const struct {
        void (*meanwhile)(void);
        uint32_t lists[3];
    } rows[] = {
        {create_a_stranger, {1, 1, 0}}, /* and one until the numbers are consecutive again */
        {create_a_lock_delay, {1, 1, 0}}, {write_to_the_directory, {1, 0, 0}},
        {lose_the_connection, {1, 0, 0}}, {crowd_the_directory, {1, 1, 1}},
    };
    begin_with_a_mirror();
    ck_assert_uint_eq(lists_of_a_cycle(), 0);
    rows[_i].meanwhile();
    platform_pass(SECOND / 10);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(lists_of_a_cycle(), rows[_i].lists[i]);
    ck_assert_uint_eq(first->session->mirrors.nodes, 16); /* no room is made for a crowd */
}
END_TEST

/* The server names the stranger's node before ours. */
START_TEST(whoever_came_between_is_waited_for) {
    begin_with_a_mirror();
    ck_assert_uint_eq(lists_of_a_cycle(), 0);
    driver_want_lock(two);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(two->granted, 1);
    driver_want_lock(one);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(one->answered, 3);
    driver_release_all(two);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(one->granted, 4);
}
END_TEST

/* In the new directory the second process has the number that was the first one's last, and holds. */
START_TEST(a_directory_that_is_made_anew_counts_anew) {
    begin_with_a_mirror();
    ck_assert_uint_eq(lists_of_a_cycle(), 0);
    ck_assert_uint_eq(platform_children(LOCK), 0);
    platform_admin(SIM_OP_DELETE, LOCK);
    for (int i = 0; i < 3; i++) {
        driver_release_all(two);
        driver_want_lock(two);
        platform_pass(SECOND / 10);
    }
    ck_assert_uint_eq(two->granted, 3);
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->answered, 3);
    driver_release_all(two);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(one->granted, 4);
}
END_TEST

/* A directory whose watch takes no answer has no mirror. */
static bool answer_not_now(const struct pdk__request *request) {
    if (is_about_the_directory(request))
        sim_answer_about(platform_ensemble, sim_client_session(&first->process), request->path, NOT_NOW_CODE, false);
    return false;
}

START_TEST(without_a_watch_there_is_a_list) {
    static const struct {
        bool (*refuses)(const struct pdk__request *request);
        size_t watched;
    } rows[] = {
        {.refuses = is_about_the_directory},
        {.refuses = answer_not_now},
        {.watched = PDK__WATCHED_BYTES_MAX / 4},
    };
    driver_begin();
    driver_refuses = rows[_i].refuses;
    driver_fill_watches(one, rows[_i].watched);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_ge(lists_of_a_cycle(), 1);
    driver_fill_watches(one, -rows[_i].watched);
}
END_TEST

/* A session that looks at access control lists does so with each list. */
START_TEST(a_directory_that_is_looked_at_is_listed) {
    begin_with_a_mirror();
    enum pdk_access *choice = &first->session->access.choice, open = *choice;
    *choice = PDK_ACCESS_LIST;
    forget_seen();
    driver_want_lock(one);
    platform_pass(SECOND / 10);
    ck_assert_uint_ge(driver_seen[PDK__OP_LIST], 1);
    *choice = open;
}
END_TEST

/* ---- several lock objects of one session */

enum { OBJECTS = 4 };

static pdk_lock *locks[OBJECTS];
static struct answer answers[OBJECTS];

static void make_locks(void) {
    memset(answers, 0, sizeof answers);
    for (int i = 0; i < OBJECTS; i++)
        ck_assert_int_eq(pdk_lock_new(first->session, "/locks/lock", NULL, &locks[i]), PDK_OK);
}

static void drop_locks(void) {
    for (int i = 0; i < OBJECTS; i++)
        pdk_lock_unref(locks[i]);
}

static void want(int i) {
    ck_assert_int_eq(pdk_lock_acquire_async(locks[i], PDK_FOREVER, answered, &answers[i], NULL), PDK_OK);
    platform_pass(SECOND / 20);
}

static void want_all(void) {
    for (int i = 0; i < OBJECTS; i++)
        want(i);
}

START_TEST(a_session_that_queues_behind_itself_takes_no_list) {
    begin_with_a_mirror();
    make_locks();
    want_all();
    driver_forget_seen();
    for (int round = 0; round < 3 * OBJECTS; round++) {
        int i = round % OBJECTS;
        ck_assert_uint_eq(answers[i].granted, 1u + (unsigned)round / OBJECTS);
        answer_release(&answers[i]);
        want(i);
    }
    ck_assert_uint_eq(driver_seen[PDK__OP_LIST], 0);
    for (int i = 0; i < OBJECTS; i++)
        answer_release(&answers[i]), platform_pass(SECOND / 20);
    drop_locks();
}
END_TEST

/* Behind a stranger that may have gone a list goes with the create. */
START_TEST(behind_a_stranger_there_is_a_list) {
    begin_with_a_mirror();
    make_locks();
    driver_want_lock(two);
    platform_pass(SECOND / 10);
    want(0);
    want(1);
    drop_locks();
    platform_pass(SECOND / 10);
    forget_seen();
    driver_want_lock(one);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(driver_seen[PDK__OP_LIST], 1);
    ck_assert_uint_eq(one->answered, 2);
    driver_release_all(two);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(one->granted, 3);
}
END_TEST

/* The create that goes alone is answered with something else. */
START_TEST(a_create_that_goes_alone_fails) {
    static const struct {
        int32_t code;
        bool executed;
    } rows[] = {{LOST_CODE, false}, {LOST_CODE, true}, {NO_NODE_CODE, false}, {NOT_NOW_CODE, false}};
    begin_with_a_mirror();
    ck_assert_uint_eq(lists_of_a_cycle(), 0);
    driver_spoil(PDK__OP_CREATE, LOCK, rows[_i].code, rows[_i].executed);
    driver_want_lock(one);
    platform_pass(2 * SECOND);
    ck_assert_uint_eq(one->granted, 4);
    driver_release_all(one);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(platform_children(LOCK), 0);
}
END_TEST

/* The third has a node that nobody watches, and an administrator deletes it. The two ahead go. */
START_TEST(a_node_that_is_not_watched_is_listed) {
    begin_with_a_mirror();
    make_locks();
    for (int i = 0; i < 3; i++)
        want(i);
    const char *last = platform_child(LOCK, 0);
    for (size_t i = 1; i < platform_children(LOCK); i++)
        if (strcmp(platform_child(LOCK, i) + strlen(platform_child(LOCK, i)) - 10, last + strlen(last) - 10) > 0)
            last = platform_child(LOCK, i);
    platform_admin(SIM_OP_DELETE, last);
    driver_forget_seen();
    answer_release(&answers[0]);
    platform_pass(SECOND / 20);
    answer_release(&answers[1]);
    platform_pass(SECOND / 20);
    ck_assert_uint_eq(answers[2].granted, 1);
    ck_assert_uint_ge(driver_seen[PDK__OP_CREATE], 1);
    answer_release(&answers[2]);
    drop_locks();
}
END_TEST

/* The lock waits behind our own writer, which reads from then on under the same number. A third waits, so that its node is watched. */
START_TEST(an_exchange_of_ours_is_seen) {
    struct answer write = {0};
    begin_with_a_mirror();
    make_locks();
    pdk_rwlock *rwlock;
    ck_assert_int_eq(pdk_rwlock_new(first->session, "/locks/lock", NULL, &rwlock), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(rwlock, PDK_FOREVER, answered, &write, NULL), PDK_OK);
    platform_pass(SECOND / 20);
    ck_assert_uint_eq(write.granted, 1);
    want(0);
    want(1);
    ck_assert_int_eq(pdk_hold_downgrade(write.hold), PDK_OK);
    platform_pass(SECOND / 20);
    ck_assert_uint_eq(answers[0].count, 0);
    answer_release(&write);
    platform_pass(SECOND / 20);
    ck_assert_uint_eq(answers[0].granted, 1);
    answer_release(&answers[0]);
    platform_pass(SECOND / 20);
    answer_release(&answers[1]);
    pdk_rwlock_unref(rwlock);
    drop_locks();
}
END_TEST

/* A server may keep the event back from a client that may not read the directory any more. */
START_TEST(a_watch_that_is_old_is_asked_for_again) {
    begin_with_a_mirror();
    platform_pass(2 * TIMEOUT);
    ck_assert_uint_eq(lists_of_a_cycle(), 0);
    ck_assert_uint_eq(directory_watches, 1);
    ck_assert_uint_eq(lists_of_a_cycle(), 0);
    ck_assert_uint_eq(directory_watches, 0);
}
END_TEST

/* Our own node is watched, and the leader's word overtakes the server's. */
START_TEST(what_the_leader_says_is_a_list) {
    begin_with_a_mirror();
    driver_want_lock(two);
    platform_pass(SECOND / 10);
    driver_want_lock(one);
    platform_pass(SECOND / 10);
    sim_server_keep(platform_ensemble, sim_client_server(&first->process), 1);
    driver_forget_seen();
    driver_release_all(two);
    platform_pass(3 * TIMEOUT);
    ck_assert_uint_eq(one->granted, 3);
    ck_assert_uint_ge(driver_seen[PDK__OP_LIST], 1);
}
END_TEST

/* A list that fails does not make the session forget it. */
START_TEST(what_the_leader_says_is_remembered) {
    begin_with_a_mirror();
    driver_want_lock(two);
    platform_pass(SECOND / 10);
    driver_want_lock(one);
    platform_pass(SECOND / 10);
    sim_server_keep(platform_ensemble, sim_client_server(&first->process), 1);
    driver_spoil(PDK__OP_LIST, LOCK, NOT_NOW_CODE, false);
    driver_release_all(two);
    platform_pass(TIMEOUT + SECOND);
    ck_assert_uint_ge(fault.seen, 1);
    ck_assert_uint_eq(one->granted, 3);
}
END_TEST

/* The event comes to a process that was held up until its lease was over. */
START_TEST(a_lease_that_is_over_takes_a_list) {
    begin_with_a_mirror();
    make_locks();
    for (int i = 0; i < 3; i++)
        want(i);
    answer_release(&answers[0]);
    platform_step();
    driver_hold_up(TIMEOUT - TIMEOUT / 32);
    driver_forget_seen();
    platform_pass(SECOND);
    answer_release(&answers[1]);
    platform_pass(SECOND / 20);
    ck_assert_uint_ge(driver_seen[PDK__OP_LIST], 1);
    answer_release(&answers[2]);
    drop_locks();
}
END_TEST

/* ---- a node of ours stands, and a server has said that it does not: no entry has it */

/* The answer to its delete, or to the look of a renewal. The next one of the process finds it. */
START_TEST(an_orphan_is_found_by_whoever_comes) {
    const enum pdk__op_kind kind = _i == 0 ? PDK__OP_DELETE : PDK__OP_BARRIER;
    begin_with_a_mirror();
    ck_assert_uint_eq(lists_of_a_cycle(), 0);
    driver_want_lock(one);
    platform_pass(SECOND / 20);
    driver_spoil(kind, LOCK, NO_NODE_CODE, false);
    if (kind == PDK__OP_BARRIER)
        platform_pass(TIMEOUT);
    driver_release_all(one);
    platform_pass(SECOND / 20);
    ck_assert_uint_eq(fault.seen, 1);
    driver_want_lock(one);
    platform_pass(SECOND / 20);
    ck_assert_uint_eq(one->granted, 5);
    ck_assert_uint_eq(platform_children(LOCK), 1);
}
END_TEST

/* The leader says that it stands. */
START_TEST(an_orphan_is_found_by_whoever_waits) {
    begin_with_a_mirror();
    make_locks();
    want(0);
    want(1);
    driver_spoil(PDK__OP_DELETE, LOCK, NO_NODE_CODE, false);
    answer_release(&answers[0]);
    platform_pass(3 * TIMEOUT);
    ck_assert_uint_eq(answers[1].granted, 1);
    answer_release(&answers[1]);
    drop_locks();
}
END_TEST

START_TEST(an_old_watch_is_asked_for_again_or_not_believed) {
    begin_with_a_mirror();
    ck_assert_uint_eq(lists_of_a_cycle(), 0);
    driver_fill_watches(one, PDK__WATCHED_BYTES_MAX / 4);
    platform_pass(2 * TIMEOUT);
    ck_assert_uint_ge(lists_of_a_cycle(), 1);
    driver_fill_watches(one, -(size_t)(PDK__WATCHED_BYTES_MAX / 4));
}
END_TEST

START_TEST(more_directories_than_are_noted) {
    driver_begin();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 300; i++) {
            g_autofree char *path = g_strdup_printf("/locks/%d", i);
            struct answer answer = {0};
            pdk_lock *lock;
            ck_assert_int_eq(pdk_lock_new(first->session, path, NULL, &lock), PDK_OK);
            ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, answered, &answer, NULL), PDK_OK);
            platform_pass(SECOND / 50);
            ck_assert_uint_eq(answer.granted, 1);
            answer_release(&answer);
            pdk_lock_unref(lock);
        }
    ck_assert_uint_eq(first->session->mirrors.used.length, 256);
    ck_assert_uint_eq(first->session->mirrors.enqueued, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_mirror");
    TCase *cases = tcase_create("driver_mirror");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, a_lock_that_nobody_else_wants_takes_no_list);
    tcase_add_loop_test(cases, a_doubt_is_a_list, 0, 5);
    tcase_add_test(cases, whoever_came_between_is_waited_for);
    tcase_add_test(cases, a_directory_that_is_made_anew_counts_anew);
    tcase_add_loop_test(cases, without_a_watch_there_is_a_list, 0, 3);
    tcase_add_test(cases, a_directory_that_is_looked_at_is_listed);
    tcase_add_test(cases, a_session_that_queues_behind_itself_takes_no_list);
    tcase_add_test(cases, behind_a_stranger_there_is_a_list);
    tcase_add_loop_test(cases, a_create_that_goes_alone_fails, 0, 4);
    tcase_add_test(cases, a_node_that_is_not_watched_is_listed);
    tcase_add_test(cases, an_exchange_of_ours_is_seen);
    tcase_add_test(cases, a_watch_that_is_old_is_asked_for_again);
    tcase_add_test(cases, what_the_leader_says_is_a_list);
    tcase_add_test(cases, a_lease_that_is_over_takes_a_list);
    tcase_add_test(cases, what_the_leader_says_is_remembered);
    tcase_add_loop_test(cases, an_orphan_is_found_by_whoever_comes, 0, 2);
    tcase_add_test(cases, an_orphan_is_found_by_whoever_waits);
    tcase_add_test(cases, an_old_watch_is_asked_for_again_or_not_believed);
    tcase_add_test(cases, more_directories_than_are_noted);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
