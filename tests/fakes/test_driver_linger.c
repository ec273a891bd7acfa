/* A node that lingers: the next claim of its process takes it without a request, and everything in the table of docs/adr/0046 makes it go. The
 * first process has such nodes, and the second comes. */
#include "driver_bench.h"
#include "grant/grant.h"
#include "grant/queue.h"
#include "grant/registry.h"
#include "session/session.h"

#include <string.h>

#define LOCK "/app/locks/lock"
#define MS SIM_MS
#define SOON (20 * MS)

static struct answer tried;

static struct pdk__queue *queue_of(const struct driver_user *u) {
    struct pdk__queue *found = NULL;
    pdk__lock(u->rival->session);
    for (const GList *link = pdk__registry_of(u->rival->session)->queues.head; link; link = link->next)
        found = strcmp(((struct pdk__queue *)link->data)->dir, LOCK) == 0 ? link->data : found;
    pdk__unlock(u->rival->session);
    ck_assert_ptr_nonnull(found);
    return found;
}

static bool lingers(void) { return queue_of(one)->lingers_until != 0; }

static void begin(int64_t linger, int64_t handover_time) {
    driver_begin();
    memset(&tried, 0, sizeof tried);
    struct pdk__queue *queue = queue_of(one);
    queue->handovers.max_linger = linger;
    queue->handovers.max_time = handover_time;
}

static void hold(void) {
    uint32_t before = one->granted;
    driver_want_lock(one);
    for (int i = 0; i < 100000 && one->granted == before; i++)
        platform_step();
    ck_assert_uint_eq(one->granted, before + 1);
}

/* Its list is answered, and its watch stands. */
static void linger_for_long(void) {
    begin(10 * SECOND, 20 * SECOND);
    hold();
    platform_pass(SOON); /* it watches its own node */
    driver_release_all(one);
    platform_pass(SOON);
    ck_assert(lingers());
    ck_assert_uint_eq(driver_nodes(), 1);
    driver_forget_seen();
}

static uint32_t requests(void) {
    uint32_t all = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(driver_seen); i++)
        all += driver_seen[i];
    return all;
}

static uint32_t handover(void) { return pdk_hold_handover(one->holds[0]); }
static int64_t token(void) { return pdk_hold_token(one->holds[0]); }

/* ---- it is taken */

START_TEST(nothing_lingers_unless_it_is_asked_for) {
    begin(0, SECOND);
    hold();
    driver_forget_seen();
    driver_release_all(one);
    platform_pass(SOON);
    ck_assert_uint_eq(driver_nodes(), 0);
    ck_assert_uint_eq(driver_seen[PDK__OP_LIST], 0);
}
END_TEST

START_TEST(the_next_acquisition_sends_nothing) {
    linger_for_long();
    hold();
    ck_assert_uint_eq(requests(), 0);
    ck_assert_uint_eq(handover(), 1);
    ck_assert_int_eq(token(), platform_node(platform_child(LOCK, 0))->stat.czxid);
    ck_assert(pdk_hold_is_valid(one->holds[0]));
    driver_release_all(one);
    hold();
    ck_assert_uint_eq(requests(), 0);
    ck_assert_uint_eq(handover(), 2);
}
END_TEST

/* Also while that list is under way. */
START_TEST(one_list_serves_all_holds_of_a_node) {
    begin(10 * SECOND, 20 * SECOND);
    hold();
    driver_forget_seen();
    for (uint32_t i = 1; i <= 10; i++) {
        driver_release_all(one);
        hold();
        ck_assert_uint_eq(handover(), i);
    }
    ck_assert_uint_eq(driver_seen[PDK__OP_LIST], 1);
    ck_assert_uint_eq(driver_seen[PDK__OP_CREATE] + driver_seen[PDK__OP_DELETE], 0);
}
END_TEST

/* A try of the process takes it, and a try of another one finds somebody. Whoever may wait gets it. */
START_TEST(a_try_takes_its_own_and_is_busy_with_others) {
    linger_for_long();
    ck_assert_int_eq(pdk_lock_acquire_async(two->lock, 0, answered, &tried, NULL), PDK_OK);
    platform_pass(SOON);
    ck_assert_int_eq(tried.status, PDK_BUSY);
    ck_assert(lingers());
    ck_assert_int_eq(pdk_lock_acquire_async(one->lock, 0, answered, &tried, NULL), PDK_OK);
    platform_pass(MS);
    ck_assert_int_eq(tried.status, PDK_OK);
    ck_assert_uint_eq(pdk_hold_handover(tried.hold), 1);
    answer_release(&tried);
    ck_assert(lingers());
    ck_assert_int_eq(pdk_lock_acquire_async(two->lock, 50, answered, &tried, NULL), PDK_OK);
    platform_pass(SOON);
    ck_assert_int_eq(tried.status, PDK_OK);
    answer_release(&tried);
}
END_TEST

/* ---- it goes: when its time is over */

START_TEST(it_stays_for_its_time_and_no_longer) {
    begin(50 * MS, SECOND);
    hold();
    driver_release_all(one);
    platform_pass(40 * MS);
    ck_assert_uint_eq(driver_nodes(), 1);
    hold(); /* another time begins */
    driver_release_all(one);
    platform_pass(40 * MS);
    ck_assert_uint_eq(driver_nodes(), 1);
    platform_pass(10 * MS + SOON);
    ck_assert_uint_eq(driver_nodes(), 0);
    ck_assert(!lingers());
    hold();
    ck_assert_uint_eq(handover(), 0);
    driver_release_all(one);
    platform_pass(SOON);
    ck_assert(lingers()); /* by a look of its own */
}
END_TEST

START_TEST(it_stays_within_the_time_of_handovers) {
    begin(80 * MS, 100 * MS);
    hold();
    platform_pass(60 * MS);
    driver_release_all(one);
    platform_pass(SOON);
    ck_assert_uint_eq(driver_nodes(), 1);
    platform_pass(20 * MS + SOON);
    ck_assert_uint_eq(driver_nodes(), 0);
    hold();
    platform_pass(100 * MS);
    driver_forget_seen();
    driver_release_all(one);
    ck_assert(!lingers());
    ck_assert_uint_eq(driver_seen[PDK__OP_LIST], 0);
}
END_TEST

START_TEST(it_stays_while_a_handover_is_left) {
    begin(10 * SECOND, 20 * SECOND);
    queue_of(one)->handovers.max_handovers = 2;
    hold();
    for (int i = 0; i < 2; i++) {
        driver_release_all(one);
        ck_assert(lingers());
        hold();
    }
    driver_release_all(one);
    ck_assert(!lingers());
    platform_pass(SOON);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

/* The process is held up, and is asked before any alarm has rung. */
START_TEST(a_claim_that_comes_after_its_time_queues) {
    begin(50 * MS, 20 * SECOND);
    hold();
    int64_t before = token();
    driver_release_all(one);
    platform_pass(SOON);
    ck_assert(lingers());
    driver_hold_up(100 * MS);
    hold();
    ck_assert_uint_eq(handover(), 0);
    ck_assert_int_gt(token(), before);
    platform_pass(SOON);
    ck_assert_uint_eq(driver_nodes(), 1);
}
END_TEST

START_TEST(a_claim_without_a_fresh_lease_queues) {
    linger_for_long();
    int64_t before = platform_node(platform_child(LOCK, 0))->stat.czxid;
    pdk_session *s = one->rival->session;
    pdk__lock(s);
    int64_t left = s->lease.end - pdk__now(s);
    pdk__unlock(s);
    driver_hold_up(left + MS);
    ck_assert(lingers());
    hold();
    ck_assert_uint_eq(s->stats.counts.grants_lapsed, 0); /* it was not granted in vain first */
    ck_assert_uint_eq(handover(), 0);
    ck_assert_int_gt(token(), before);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 1);
}
END_TEST

/* ---- it goes: when somebody comes, or might */

static void another_comes(void) { driver_want_lock(two); }
static void a_stranger_comes(void) { platform_admin(SIM_OP_CREATE, LOCK "/stranger"); }
static void somebody_writes(void) { platform_admin(SIM_OP_SET, platform_child(LOCK, 0)); }
static void somebody_deletes(void) { platform_admin(SIM_OP_DELETE, platform_child(LOCK, 0)); }

/* A hold that was released, and that the program still knows. */
static pdk_hold *known;

static void the_lock_is_dropped(void) {
    hold();
    known = pdk_hold_ref(one->holds[0]);
    driver_release_all(one);
    ck_assert(lingers());
    driver_drop_lock(one);
}
static void the_session_ends(void) { driver_give_back(one); }

START_TEST(it_goes_at_once) {
    static void (*const rows[])(void) = {another_comes,    a_stranger_comes,    somebody_writes,
                                         somebody_deletes, the_lock_is_dropped, the_session_ends};
    linger_for_long();
    const char *node = platform_child(LOCK, 0);
    rows[_i]();
    platform_pass(SOON);
    ck_assert_ptr_null(platform_node(node));
    ck_assert_uint_eq(two->granted, rows[_i] == another_comes);
    pdk_hold_unref(g_steal_pointer(&known));
}
END_TEST

static pdk_status flushed;

static void on_flushed(pdk_status status, void *user) {
    (void)user;
    flushed = status;
    ck_assert_uint_eq(driver_nodes(), 0);
}

START_TEST(a_flush_waits_for_it) {
    linger_for_long();
    flushed = PDK_INVALID;
    ck_assert_int_eq(pdk_session_flush_async(one->rival->session, 100, on_flushed, NULL), PDK_OK);
    platform_pass(SOON);
    ck_assert_int_eq(flushed, PDK_OK);
}
END_TEST

static guint lingering(pdk_session *s) {
    pdk__lock(s);
    const guint count = pdk__registry_of(s)->lingering.length;
    pdk__unlock(s);
    return count;
}

/* More of them than one slice lets go. */
START_TEST(a_flush_waits_for_many) {
    enum { MANY = 25 };
    static struct answer held[MANY];
    pdk_lock *locks[MANY];
    begin(10 * SECOND, 20 * SECOND);
    pdk_session *s = one->rival->session;
    for (int i = 0; i < MANY; i++) {
        g_autofree char *path = g_strdup_printf("/locks/many/%d", i);
        ck_assert_int_eq(pdk_lock_new(s, path, NULL, &locks[i]), PDK_OK);
        ck_assert_int_eq(pdk_lock_acquire_async(locks[i], PDK_FOREVER, answered, &held[i], NULL), PDK_OK);
    }
    const struct pdk__handovers handovers = queue_of(one)->handovers;
    pdk__lock(s);
    for (const GList *link = pdk__registry_of(s)->queues.head; link; link = link->next)
        ((struct pdk__queue *)link->data)->handovers = handovers;
    pdk__unlock(s);
    platform_pass(SECOND);
    for (int i = 0; i < MANY; i++)
        answer_release(&held[i]);
    platform_pass(SOON);
    ck_assert_uint_eq(lingering(s), MANY);
    flushed = PDK_INVALID;
    ck_assert_int_eq(pdk_session_flush_async(s, 500, on_flushed, NULL), PDK_OK);
    ck_assert_uint_eq(lingering(s), 0);
    platform_pass(SECOND);
    ck_assert_int_eq(flushed, PDK_OK);
    for (int i = 0; i < MANY; i++) {
        g_autofree char *path = g_strdup_printf("/app/locks/many/%d", i);
        ck_assert_uint_eq(platform_children(path), 0);
        pdk_lock_unref(locks[i]);
    }
}
END_TEST

/* Its node goes at the release of the hold. */
START_TEST(who_comes_during_the_hold_is_heard) {
    linger_for_long();
    hold();
    driver_want_lock(two);
    platform_pass(SOON);
    ck_assert_uint_eq(two->granted, 0);
    driver_forget_seen();
    driver_release_all(one);
    ck_assert(!lingers());
    platform_pass(SOON);
    ck_assert_uint_eq(two->granted, 1);
    ck_assert_uint_eq(driver_seen[PDK__OP_LIST], 0);
}
END_TEST

START_TEST(who_was_there_before_the_list_is_heard) {
    begin(10 * SECOND, 20 * SECOND);
    hold();
    driver_want_lock(two);
    platform_pass(SOON);
    driver_release_all(one);
    platform_pass(SOON);
    ck_assert_uint_eq(two->granted, 1);
    ck_assert(!lingers());
}
END_TEST

/* Nobody wants to hear the answer any more. */
START_TEST(the_lock_is_dropped_before_the_list_comes) {
    begin(10 * SECOND, 20 * SECOND);
    hold();
    driver_want_lock(two);
    platform_pass(SOON);
    driver_release_all(one);
    ck_assert(lingers());
    driver_drop_lock(one);
    platform_pass(SOON);
    ck_assert_uint_eq(two->granted, 1);
}
END_TEST

/* The alarm that was set first rings while it is held again. */
START_TEST(its_alarm_may_ring_during_the_next_hold) {
    begin(50 * MS, SECOND);
    hold();
    driver_release_all(one);
    hold();
    platform_pass(100 * MS);
    ck_assert(pdk_hold_is_valid(one->holds[0]));
    driver_release_all(one);
    platform_pass(SOON);
    ck_assert(lingers());
}
END_TEST

/* The process was held up for longer than its lease, and its session is there all the same. */
START_TEST(it_stays_when_the_lease_is_fresh_again) {
    begin(10 * SECOND, 20 * SECOND);
    hold();
    driver_release_all(one);
    platform_pass(SOON);
    pdk_session *s = one->rival->session;
    pdk__lock(s);
    s->lease.end = 1; /* long over */
    pdk__unlock(s);
    platform_pass(TIMEOUT / 2);
    ck_assert_str_eq(first->events->str, "connected");
    ck_assert(lingers());
    hold();
    ck_assert_uint_eq(handover(), 1);
}
END_TEST

/* A child that is no contender keeps nobody from anything. */
START_TEST(a_stranger_that_was_there_is_nobody) {
    begin(10 * SECOND, 20 * SECOND);
    hold();
    a_stranger_comes();
    driver_release_all(one);
    platform_pass(SOON);
    ck_assert(lingers());
}
END_TEST

static void answer_not_now(void) { driver_spoil(PDK__OP_LIST, LOCK, NOT_NOW_CODE, false); }
static void refuse_it(void) { driver_spoil(PDK__OP_LIST, LOCK, 0, false); }
static void leave_no_room(void) { driver_fill_watches(one, PDK__WATCHED_BYTES_MAX); }

START_TEST(without_a_watch_it_goes) {
    static void (*const rows[])(void) = {answer_not_now, refuse_it, leave_no_room};
    begin(10 * SECOND, 20 * SECOND);
    hold();
    size_t watched = one->rival->session->watched_bytes;
    rows[_i]();
    driver_release_all(one);
    ck_assert(lingers() == (rows[_i] == answer_not_now));
    platform_pass(SOON);
    ck_assert_uint_eq(driver_nodes(), 0);
    if (rows[_i] == leave_no_room)
        driver_fill_watches(one, -PDK__WATCHED_BYTES_MAX);
    ck_assert_uint_eq(one->rival->session->watched_bytes, watched);
}
END_TEST

static void lose_the_connection(void) {
    sim_client_cut(&first->process);
    platform_pass(MS);
    platform_block(first, true);
    platform_pass(SOON);
    ck_assert_str_eq(first->events->str, "connected suspended");
}

/* On its next connection the process deletes it. */
START_TEST(without_a_connection_it_goes) {
    linger_for_long();
    const char *node = platform_child(LOCK, 0);
    lose_the_connection();
    ck_assert(!lingers());
    platform_block(first, false);
    platform_pass(TIMEOUT);
    ck_assert_ptr_null(platform_node(node));
}
END_TEST

START_TEST(a_watch_of_an_older_connection_does_not_count) {
    linger_for_long();
    hold();
    sim_client_cut(&first->process);
    platform_pass(TIMEOUT / 4);
    ck_assert_str_eq(first->events->str, "connected suspended restored");
    ck_assert(pdk_hold_is_valid(one->holds[0]));
    driver_release_all(one);
    ck_assert(!lingers());
    platform_pass(SOON);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

START_TEST(a_hold_that_is_released_without_a_connection_goes) {
    begin(10 * SECOND, 20 * SECOND);
    hold();
    lose_the_connection();
    ck_assert(pdk_hold_is_valid(one->holds[0]));
    driver_forget_seen();
    driver_release_all(one);
    ck_assert(!lingers());
    ck_assert_uint_eq(driver_seen[PDK__OP_LIST], 0);
    platform_block(first, false);
    platform_pass(TIMEOUT);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

/* Others wait for a process that is stopped as they do while it holds: for the session timeout. */
START_TEST(others_wait_for_a_process_that_is_stopped) {
    linger_for_long();
    sim_process_pause(&first->process, true);
    driver_want_lock(two);
    platform_pass(TIMEOUT / 2);
    ck_assert_uint_eq(two->granted, 0);
    platform_pass(TIMEOUT / 2 + 2 * TICK);
    ck_assert_uint_eq(two->granted, 1);
    sim_process_pause(&first->process, false);
    platform_pass(SECOND);
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1); /* still the first of them */
    ck_assert(!lingers());
}
END_TEST

/* ---- it goes: with its session, or its lock */

/* Also before its list was answered. */
START_TEST(it_goes_with_its_session) {
    linger_for_long();
    if (_i) {
        hold();
        driver_want_lock(two);
        platform_pass(SOON);
        driver_release_all(one);
        platform_pass(SOON);
        driver_release_all(two);
        hold();
        driver_release_all(one);
        ck_assert(lingers());
    }
    rival_reopen(first);
    ck_assert(!lingers());
    platform_pass(SECOND);
    hold();
    ck_assert_uint_eq(handover(), 0);
}
END_TEST

START_TEST(the_hold_of_a_dropped_lock_leaves_nothing) {
    linger_for_long();
    hold();
    known = pdk_hold_ref(one->holds[0]);
    driver_drop_lock(one);
    driver_release_all(one);
    platform_pass(SOON);
    ck_assert_uint_eq(driver_nodes(), 0);
    pdk_hold_unref(g_steal_pointer(&known));
}
END_TEST

START_TEST(a_hold_that_is_lost_leaves_nothing) {
    linger_for_long();
    hold();
    pdk_hold *lost = one->holds[0];
    somebody_deletes();
    platform_pass(SOON);
    ck_assert(!pdk_hold_is_valid(lost));
    ck_assert(!lingers());
    driver_release_all(one);
    ck_assert(!lingers());
    hold();
    ck_assert_uint_eq(handover(), 0);
}
END_TEST

static void on_asked(pdk_status status, void *user) {
    (void)user;
    ck_assert_int_eq(status, PDK_OK);
}

static void ask_to_let_go(void) {
    ck_assert_int_eq(
        pdk_session_request_release_async(two->rival->session, "/locks/lock", NULL, "second", 0, 100, on_asked, NULL),
        PDK_OK);
}

START_TEST(a_node_that_was_asked_for_does_not_linger) {
    linger_for_long();
    hold();
    ask_to_let_go();
    platform_pass(SOON);
    ck_assert_uint_eq(queue_of(one)->grant->wish.number, 1);
    driver_release_all(one);
    ck_assert(!lingers());
}
END_TEST

/* The node is read again meanwhile. */
START_TEST(a_wish_on_its_way_reaches_the_next_hold) {
    linger_for_long();
    driver_arm(PDK__OP_WATCH, LOCK);
    ask_to_let_go();
    driver_step_until_seen();
    ck_assert(lingers());
    hold();
    platform_pass(SOON);
    ck_assert_uint_eq(handover(), 1);
    ck_assert_uint_eq(queue_of(one)->grant->wish.number, 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_linger");
    TCase *cases = tcase_create("driver_linger");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, nothing_lingers_unless_it_is_asked_for);
    tcase_add_test(cases, the_next_acquisition_sends_nothing);
    tcase_add_test(cases, one_list_serves_all_holds_of_a_node);
    tcase_add_test(cases, a_try_takes_its_own_and_is_busy_with_others);
    tcase_add_test(cases, it_stays_for_its_time_and_no_longer);
    tcase_add_test(cases, it_stays_within_the_time_of_handovers);
    tcase_add_test(cases, it_stays_while_a_handover_is_left);
    tcase_add_test(cases, a_claim_that_comes_after_its_time_queues);
    tcase_add_test(cases, a_claim_without_a_fresh_lease_queues);
    tcase_add_loop_test(cases, it_goes_at_once, 0, 6);
    tcase_add_test(cases, a_flush_waits_for_it);
    tcase_add_test(cases, a_flush_waits_for_many);
    tcase_add_test(cases, who_comes_during_the_hold_is_heard);
    tcase_add_test(cases, who_was_there_before_the_list_is_heard);
    tcase_add_test(cases, the_lock_is_dropped_before_the_list_comes);
    tcase_add_test(cases, its_alarm_may_ring_during_the_next_hold);
    tcase_add_test(cases, it_stays_when_the_lease_is_fresh_again);
    tcase_add_test(cases, a_stranger_that_was_there_is_nobody);
    tcase_add_loop_test(cases, without_a_watch_it_goes, 0, 3);
    tcase_add_test(cases, without_a_connection_it_goes);
    tcase_add_test(cases, a_watch_of_an_older_connection_does_not_count);
    tcase_add_test(cases, a_hold_that_is_released_without_a_connection_goes);
    tcase_add_test(cases, others_wait_for_a_process_that_is_stopped);
    tcase_add_loop_test(cases, it_goes_with_its_session, 0, 2);
    tcase_add_test(cases, the_hold_of_a_dropped_lock_leaves_nothing);
    tcase_add_test(cases, a_hold_that_is_lost_leaves_nothing);
    tcase_add_test(cases, a_node_that_was_asked_for_does_not_linger);
    tcase_add_test(cases, a_wish_on_its_way_reaches_the_next_hold);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
