/* Who asks after the owner of a node that is in the way, and gets no answer, or a refusal: a try for a lock, a claim for permits. And
 * what is remembered of nodes that no session owns. */
#include "driver_bench.h"
#include "session/ops.h"
#include "session/session.h"
#include "session/unowned.h"
#include "session/watches.h"

#include <string.h>

enum { NEVER = 0 };

static const char lock_dir[] = "/app/locks/lock", name[] = "plain-lock-0000000000",
                  lock_node[] = "/app/locks/lock/plain-lock-0000000000",
                  lease_node[] = "/app/locks/permits/leases/plain-lease-0000000000";

static struct answer tried;

static void try_lock(void) { ck_assert_int_eq(pdk_lock_acquire_async(one->lock, 0, answered, &tried, NULL), PDK_OK); }

static void want_permits(int64_t timeout_ms) {
    ck_assert_int_eq(pdk_semaphore_acquire_async(one->semaphore, 2, timeout_ms, answered, &tried, NULL), PDK_OK);
}

static void try_permits(void) { want_permits(0); }
static void wait_for_permits(void) { want_permits(PDK_FOREVER); }

/* ---- the node in the way */

static void done(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    (void)user;
    ck_assert(!reply || reply->result == PDK__OK);
}

/* Nobody's, or the second session's. Its directory stands while the second one holds. */
static void make(const char *path, bool somebodys) {
    pdk_session *s = second->session;
    if (!somebodys)
        platform_admin(SIM_OP_CREATE, path);
    pdk__lock(s);
    ck_assert(!somebodys ||
              pdk__send(s, (struct pdk__request){.kind = PDK__OP_CREATE, .path = path, .data = "", .named = true}, done,
                        NULL));
    pdk__unlock(s);
    platform_pass(SECOND / 10);
}

static void begin(const char *path, bool somebodys) {
    driver_begin();
    memset(&tried, 0, sizeof tried);
    if (path == lock_node)
        driver_want_lock(two);
    else
        driver_want_permits(two, 2, PDK_FOREVER);
    platform_pass(SECOND);
    make(path, somebodys);
    driver_release_all(two);
    platform_pass(SECOND / 2);
    driver_arm(PDK__OP_WATCH, path);
}

/* ---- what goes wrong with the question */

static const struct wrong {
    int32_t code; /* NEVER: it is answered */
    bool refused; /* it is not sent */
    bool full;    /* the session has no room for its watch */
    bool reopens; /* the handle goes before the answer comes */
    pdk_status nobodys;
} wrongs[] = {
    {NEVER, false, false, false, PDK_OK},        {NEVER, true, false, false, PDK_BUSY}, /* it may be somebody's */
    {NEVER, false, true, false, PDK_BUSY},       {LOST_CODE, false, false, false, PDK_OK},
    {NOT_NOW_CODE, false, false, false, PDK_OK}, {NO_NODE_CODE, false, false, false, PDK_OK},
    {QUOTA_CODE, false, false, false, PDK_OK},   {NOT_ALLOWED_CODE, false, false, false, PDK_BUSY},
    {NEVER, false, false, true, PDK_OK},
};

/* One call, with the fault. */
static void ask(const struct wrong *wrong, void (*call)(void)) {
    fault.code = wrong->code;
    fault.refuse = wrong->refused;
    if (wrong->full)
        driver_fill_watches(one, PDK__WATCHED_BYTES_MAX);
    call();
    if (wrong->reopens) {
        driver_step_until_seen();
        rival_reopen(first);
    }
    platform_pass(wrong->reopens ? 2 * TIMEOUT : SECOND);
    if (wrong->full)
        driver_fill_watches(one, (size_t)-PDK__WATCHED_BYTES_MAX);
    ck_assert(wrong->full == (fault.seen == 0));
}

static void check_answer(pdk_status expected) {
    ck_assert_uint_eq(tried.count, 1);
    ck_assert_str_eq(pdk_status_name(tried.status), pdk_status_name(expected));
    if (tried.hold)
        answer_release(&tried);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 1);
}

/* Whatever happens to the question, somebody's node is not taken for nobody's. */
START_TEST(a_try_behind_a_node) {
    for (int permits = 0; permits < 2; permits++)
        for (int somebodys = 0; somebodys < 2; somebodys++) {
            begin(permits ? lease_node : lock_node, somebodys);
            ask(&wrongs[_i], permits ? try_permits : try_lock);
            check_answer(somebodys ? PDK_BUSY : wrongs[_i].nobodys);
        }
}
END_TEST

/* Meanwhile somebody else in the process wants to wait: its node goes behind the other one. */
START_TEST(a_claim_that_waits_joins_a_try) {
    begin(lock_node, true);
    try_lock();
    driver_step_until_seen();
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_str_eq(pdk_status_name(tried.status), "PDK_BUSY");
    ck_assert_uint_eq(one->answered, 0);
    ck_assert_uint_eq(driver_nodes(), 2);
    platform_admin(SIM_OP_DELETE, lock_node);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

START_TEST(a_try_that_is_cancelled_as_it_asks) {
    begin(lock_node, false);
    try_lock();
    driver_step_until_seen();
    driver_drop_lock(one);
    platform_pass(SECOND);
    check_answer(PDK_CANCELED);
    ck_assert_uint_eq(first->session->entries.length, 0);
}
END_TEST

static void check_that_it_waits(void) {
    ck_assert_uint_eq(tried.count, 0);
    platform_admin(SIM_OP_DELETE, lease_node);
    platform_pass(SECOND);
    ck_assert_uint_eq(tried.granted, 1);
    answer_release(&tried);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}

/* What could not be asked is asked at the next look, once per session timeout. */
START_TEST(who_waits_for_permits_asks_again) {
    begin(lease_node, false);
    ask(&wrongs[_i], wait_for_permits);
    if (wrongs[_i].code == NOT_ALLOWED_CODE) {
        check_that_it_waits();
        return;
    }
    platform_pass(2 * TIMEOUT);
    check_answer(wrongs[_i].full ? PDK_LIMIT : PDK_OK);
}
END_TEST

/* It has the answer, and counts again whenever the leases change. */
START_TEST(who_waits_for_permits_behind_somebody) {
    static const char stranger[] = "/app/locks/permits/leases/stranger";
    begin(lease_node, true);
    ask(&wrongs[0], wait_for_permits);
    make(stranger, false);
    platform_admin(SIM_OP_DELETE, stranger);
    platform_pass(SECOND / 2);
    ck_assert_uint_eq(fault.seen, 1);
    check_that_it_waits();
}
END_TEST

/* ---- what is remembered */

static struct {
    int answers, unowned;
} asked;

static void on_asked(pdk_session *s, void *user, const struct pdk__reply *reply, bool unowned) {
    (void)s;
    (void)user;
    (void)reply;
    asked.answers++;
    asked.unowned += unowned;
}

/* Whether it is sent. */
static bool ask_for_owner(void) {
    pdk_session *s = first->session;
    pdk__lock(s);
    bool sent = pdk__unowned_ask(s, lock_dir, name, on_asked, NULL);
    pdk__unlock(s);
    return sent;
}

/* It is left out of lists. */
static bool is_unowned(const char *dir, const char *node) {
    pdk_session *s = first->session;
    pdk__lock(s);
    bool is = pdk__unowned_is(s, dir, node);
    pdk__unlock(s);
    return is;
}

static bool is_nobodys(void) { return is_unowned(lock_dir, name); }

/* Whether the first of two questions at once is sent, and the second. */
static void ask_twice(bool again) {
    memset(&asked, 0, sizeof asked);
    begin(lock_node, false);
    ck_assert(ask_for_owner());
    fault.refuse = !again;
    ck_assert(ask_for_owner() == again);
}

/* The first answer has set the watch. What the next question comes to does not take it away. _i: none, one that is not sent, or refused. */
START_TEST(nobodys_node_is_remembered_until_it_goes) {
    ask_twice(true);
    platform_pass(SECOND / 2);
    ck_assert_int_eq(asked.unowned, 2);
    ck_assert(is_nobodys());
    if (_i > 0) {
        driver_spoil(PDK__OP_WATCH, lock_node, _i == 1 ? 0 : NOT_ALLOWED_CODE, false);
        ck_assert(ask_for_owner() == (_i == 2));
        platform_pass(SECOND / 2);
        ck_assert_int_eq(asked.unowned, 2);
        ck_assert(is_nobodys());
    }
    platform_admin(SIM_OP_DELETE, lock_node);
    platform_pass(SECOND / 2);
    ck_assert(!is_nobodys());
}
END_TEST

/* Its event may be lost with the connection. */
START_TEST(nobodys_node_is_forgotten_with_the_connection) {
    ask_twice(true);
    platform_pass(SECOND / 2);
    ck_assert(is_nobodys());
    platform_block(first, true);
    platform_pass(TIMEOUT);
    ck_assert(!is_nobodys());
    platform_admin(SIM_OP_DELETE, lock_node);
    make(lock_node, true);
    platform_block(first, false);
    platform_pass(4 * TIMEOUT);
    try_lock();
    platform_pass(SECOND);
    ck_assert_str_eq(pdk_status_name(tried.status), "PDK_BUSY");
}
END_TEST

START_TEST(what_cannot_be_watched_is_not_remembered) {
    begin(lock_node, false);
    pdk_session *s = first->session;
    pdk__lock(s);
    s->watched_bytes += PDK__WATCHED_BYTES_MAX;
    bool before = pdk__unowned_note(s, lock_node);
    s->watched_bytes -= PDK__WATCHED_BYTES_MAX;
    bool after = pdk__unowned_note(s, lock_node) && pdk__unowned_note(s, lock_node);
    pdk__unlock(s);
    ck_assert(!before && after);
    ck_assert(is_nobodys());
}
END_TEST

/* Two ask at once. The second question is not sent, and takes back the watch. Then there is no room for one. */
START_TEST(an_answer_whose_watch_was_taken_back) {
    ask_twice(false);
    driver_fill_watches(one, PDK__WATCHED_BYTES_MAX);
    platform_pass(SECOND / 2);
    ck_assert_int_eq(asked.answers, 1);
    ck_assert_int_eq(asked.unowned, 0);
    ck_assert(!is_nobodys());
    driver_fill_watches(one, (size_t)-PDK__WATCHED_BYTES_MAX);
}
END_TEST

/* Under the monitor: a request is sent. */
static void make_room(void) { first->session->watched_bytes -= PDK__WATCHED_BYTES_MAX; }

/* The answer to who sets a watch says that the node is nobody's. Meanwhile another watch of the session on it has fired, and others have
 * taken all the room. It lists again, as the watch was for it as well. By then there is room. */
static void lose_room_for(const char *path) {
    g_autofree char *dir = g_path_get_dirname(path);
    pdk_session *s = first->session;
    driver_step_until_seen();
    pdk__lock(s);
    pdk__watches_fired(s, path, PDK__ZK_CHANGED);
    s->watched_bytes += PDK__WATCHED_BYTES_MAX;
    pdk__unlock(s);
    driver_arm(PDK__OP_LIST, "/app/locks/");
    fault.act = make_room;
    driver_step_until_seen();
    ck_assert(!is_unowned(dir, path + strlen(dir) + 1));
    platform_pass(2 * TIMEOUT);
}

START_TEST(a_waiters_watch_fires_as_it_is_set) {
    begin(lock_node, false);
    driver_want_lock(one);
    lose_room_for(lock_node);
    ck_assert_uint_eq(one->granted, 1);
}
END_TEST

START_TEST(an_observers_watch_fires_as_it_is_set) {
    static const char latch_node[] = "/app/locks/office/A-latch-0000000000"; /* ahead */
    driver_begin();
    driver_join(two);
    platform_pass(SECOND);
    make(latch_node, false);
    driver_arm(PDK__OP_WATCH, latch_node);
    driver_join(one);
    lose_room_for(latch_node);
    ck_assert_str_eq(one->leader, "second");
}
END_TEST

/* ---- who is there, asked as the handle goes */

static void on_list(pdk_status status, pdk_contenders *list, void *count) {
    ck_assert_int_eq(status, PDK_OK);
    *(size_t *)count += pdk_contenders_count(list);
    pdk_contenders_free(list);
}

START_TEST(contenders_are_asked_for_again) {
    size_t count = 0;
    driver_begin();
    driver_want_lock(two);
    platform_pass(SECOND);
    if (_i & 2)
        driver_arm(PDK__OP_LIST, lock_dir);
    else
        driver_arm(PDK__OP_GET, "/app/locks/lock/");
    ck_assert_int_eq(_i & 1 ? pdk_lock_holder_async(one->lock, 20000, on_list, &count)
                            : pdk_lock_list_async(one->lock, 20000, on_list, &count),
                     PDK_OK);
    driver_step_until_seen();
    rival_reopen(first);
    platform_pass(2 * TIMEOUT);
    ck_assert_uint_eq(count, 1);
}
END_TEST

/* ZooKeeper 3.8 shows the owner of a container as 0, another server as it is kept. */
START_TEST(who_owns_a_node) {
    ck_assert(pdk__is_unowned(&(struct pdk__reply){.result = PDK__OK, .owner = 0}));
    ck_assert(pdk__is_unowned(&(struct pdk__reply){.result = PDK__OK, .owner = INT64_MIN}));
    ck_assert(!pdk__is_unowned(&(struct pdk__reply){.result = PDK__OK, .owner = 1}));
    ck_assert(!pdk__is_unowned(&(struct pdk__reply){.result = PDK__OK, .owner = -2}));
    ck_assert(!pdk__is_unowned(&(struct pdk__reply){.result = PDK__OK, .owner = 72057594037927936}));
    ck_assert(!pdk__is_unowned(&(struct pdk__reply){.result = PDK__NO_NODE, .owner = 0}));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_unowned");
    TCase *cases = tcase_create("driver_unowned");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, a_try_behind_a_node, 0, G_N_ELEMENTS(wrongs));
    tcase_add_test(cases, a_claim_that_waits_joins_a_try);
    tcase_add_test(cases, a_try_that_is_cancelled_as_it_asks);
    tcase_add_loop_test(cases, who_waits_for_permits_asks_again, 0, G_N_ELEMENTS(wrongs));
    tcase_add_test(cases, who_waits_for_permits_behind_somebody);
    tcase_add_loop_test(cases, nobodys_node_is_remembered_until_it_goes, 0, 3);
    tcase_add_test(cases, nobodys_node_is_forgotten_with_the_connection);
    tcase_add_test(cases, what_cannot_be_watched_is_not_remembered);
    tcase_add_test(cases, an_answer_whose_watch_was_taken_back);
    tcase_add_test(cases, a_waiters_watch_fires_as_it_is_set);
    tcase_add_test(cases, an_observers_watch_fires_as_it_is_set);
    tcase_add_test(cases, who_owns_a_node);
    tcase_add_loop_test(cases, contenders_are_asked_for_again, 0, 4);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
