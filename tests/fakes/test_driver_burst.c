/* Bursts: the production driver in simulated time, hundreds of claims in one session at one moment. What all of them need is done once. */
#include "driver_bench.h"
#include "session/lists.h"
#include "session/ops.h"
#include "session/renew.h"
#include "session/session.h"
#include "session/supervise.h"

#include <string.h>

enum { MANY = 600, AT_FIRST = PDK__WINDOW_LEAST };

static struct {
    pdk_rwlock *lock;
    uint32_t claims; /* how many there are to be */
    pdk_hold *holds[MANY];
    uint32_t granted, answered, losses;
    pdk_status status;                     /* of the newest that was not granted */
    pdk_lock *wide[2][MANY];               /* a lock of each of many directories; the second process's */
    enum pdk__op_kind last;                /* request */
    uint32_t refuse_creates, refuse_lists; /* so many from now on */
} burst;

static bool refuses(const struct pdk__request *request) {
    burst.last = request->kind;
    if (request->kind == PDK__OP_CREATE && burst.refuse_creates > 0)
        return burst.refuse_creates-- > 0;
    return request->kind == PDK__OP_LIST && burst.refuse_lists > 0 && burst.refuse_lists-- > 0;
}

static void setup(void) {
    platform_setup();
    driver_begin();
    memset(&burst, 0, sizeof burst);
    driver_refuses = refuses;
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)user;
    ck_assert_int_eq(reason, PDK_REASON_EXPIRED);
    for (uint32_t i = 0; i < burst.granted; i++) /* those that are not told yet are over, too */
        ck_assert(!pdk_hold_is_valid(burst.holds[i]));
    burst.losses++;
}

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    burst.answered++;
    if (status != PDK_OK) {
        burst.status = status;
        return;
    }
    ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, NULL, NULL), PDK_OK);
    burst.holds[burst.granted++] = hold;
}

static void claim(const char *path) {
    ck_assert_int_eq(pdk_rwlock_new(first->session, path, NULL, &burst.lock), PDK_OK);
    for (uint32_t i = 0; i < burst.claims; i++)
        ck_assert_int_eq(pdk_rwlock_acquire_read_async(burst.lock, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
}

static void claim_many(void) {
    burst.claims = MANY;
    claim("/locks/burst");
}

static void release_all(void) {
    while (burst.granted > 0)
        ck_assert_int_eq(pdk_hold_release(burst.holds[--burst.granted]), PDK_OK);
}

static void drop(void) { pdk_rwlock_unref(g_steal_pointer(&burst.lock)); }

/* All are granted, all leave, and nothing is left. */
static void check_all_are_served(void) {
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(burst.answered, MANY);
    ck_assert_uint_eq(burst.granted, MANY);
    release_all();
    drop();
    driver_pass_and_release(3 * SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
    ck_assert_uint_eq(first->session->entries.length, 0);
    ck_assert_uint_eq(g_hash_table_size(first->session->lists.directories), 0);
    ck_assert_uint_eq(first->session->window.in_flight[PDK__LANE_OTHERS], 0);
}

/* The first claims make the directory. */
static void begin(void) {
    claim_many();
    check_all_are_served();
    memset(&burst, 0, sizeof burst);
    driver_forget_seen();
}

/* The list after a create shows its node, and those of all that were created before. */
START_TEST(a_burst_is_sent_bit_by_bit) {
    begin();
    claim_many();
    ck_assert_uint_eq(driver_seen[PDK__OP_CREATE] + driver_seen[PDK__OP_LIST], AT_FIRST);
    for (int i = 0; i < 40 && burst.answered < MANY; i++) {
        platform_pass(5 * SIM_MS);
        ck_assert_uint_le(first->session->window.in_flight[PDK__LANE_OTHERS], MANY);
    }
    check_all_are_served();
    ck_assert_uint_eq(driver_seen[PDK__OP_CREATE], MANY);
    ck_assert_uint_le(driver_seen[PDK__OP_LIST], MANY / 10);
}
END_TEST

START_TEST(a_renewal_and_a_release_go_ahead_of_a_burst) {
    pdk_session *s = first->session;
    begin();
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->holds_count, 1);
    claim_many();
    pdk__lock(s);
    ck_assert_uint_gt(s->window.waiting[PDK__LANE_OTHERS].length, 0);
    uint32_t before = driver_seen[PDK__OP_BARRIER];
    pdk__renew_prove(s, s->requests);
    ck_assert_uint_eq(driver_seen[PDK__OP_BARRIER], before + 1);
    pdk__unlock(s);
    ck_assert_int_eq(burst.last, PDK__OP_BARRIER);
    driver_release_all(one);
    ck_assert_int_eq(burst.last, PDK__OP_DELETE);
    check_all_are_served();
}
END_TEST

START_TEST(what_cannot_be_sent_in_its_turn_is_sent_later) {
    begin();
    burst.refuse_creates = AT_FIRST / 2;
    burst.refuse_lists = 3;
    claim_many();
    burst.refuse_creates = 2 * AT_FIRST; /* of those that wait */
    check_all_are_served();
    ck_assert_uint_eq(burst.refuse_creates + burst.refuse_lists, 0);
}
END_TEST

/* Their creates are waiting: none goes out any more. */
START_TEST(a_claim_that_is_cancelled_meanwhile_is_not_sent) {
    begin();
    claim_many();
    drop();
    platform_pass(SECOND);
    ck_assert_uint_eq(burst.answered, MANY);
    ck_assert_uint_eq(burst.granted, 0);
    ck_assert_uint_le(driver_seen[PDK__OP_CREATE], AT_FIRST);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

START_TEST(a_burst_begins_anew_in_the_next_session) {
    begin();
    claim_many();
    rival_reopen(first);
    ck_assert_uint_eq(first->session->window.waiting[PDK__LANE_OTHERS].length, 0);
    ck_assert_uint_eq(g_hash_table_size(first->session->lists.directories), 0);
    check_all_are_served();
}
END_TEST

/* ---- in as many directories */

static void claim_wide(struct driver_user *u) {
    for (int i = 0; i < MANY; i++) {
        char path[40];
        pdk_lock **lock = &burst.wide[u == two][i];
        g_snprintf(path, sizeof path, "/locks/%d", i);
        ck_assert_int_eq(pdk_lock_new(u->rival->session, path, NULL, lock), PDK_OK);
        ck_assert_int_eq(pdk_lock_acquire_async(*lock, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
    }
}

static void release_wide(uint32_t answers) {
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(burst.answered, answers);
    ck_assert_uint_eq(burst.granted, MANY);
    release_all();
}

static void drop_wide(struct driver_user *u) {
    for (int i = 0; i < MANY; i++)
        pdk_lock_unref(burst.wide[u == two][i]);
}

static bool has_fresh_lease(void) {
    return pdk__lease_fresh(&first->session->lease, sim_process_clock(&first->process));
}

/* The connection is cut until little of the lease is left, and comes back. Counts from there on: one barrier serves all. */
static void reconnect(uint32_t lists) {
    platform_block(first, true);
    while (first->session->link == PDK__LINK_CONNECTED)
        platform_step();
    while (has_fresh_lease())
        platform_pass(SECOND / 10);
    driver_forget_seen();
    platform_block(first, false);
    while (first->session->link != PDK__LINK_CONNECTED)
        platform_step();
    platform_pass(TIMEOUT / 16);
    ck_assert_uint_ge(driver_seen[PDK__OP_LIST], lists);
    ck_assert_uint_le(driver_seen[PDK__OP_BARRIER], 3);
}

/* All want a list after a reconnect, each another one. None of them has the other's. */
START_TEST(one_barrier_serves_all_directories) {
    claim_wide(two);
    platform_pass(10 * SECOND);
    claim_wide(one);
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(first->session->entries.length, MANY);
    reconnect(MANY / 12);
    platform_pass(10 * SECOND);
    ck_assert_uint_ge(driver_seen[PDK__OP_LIST], MANY);
    release_wide(MANY);
    release_wide(2 * MANY);
    drop_wide(one);
    drop_wide(two);
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

/* The answers to all creates are lost. It tells for all whether they were executed. */
START_TEST(one_barrier_recovers_all_lost_creates) {
    claim_wide(one);
    reconnect(1);
    release_wide(MANY);
    platform_pass(SECOND);
    ck_assert_uint_eq(first->session->entries.length, 0);
    drop_wide(one);
}
END_TEST

/* ---- all readers, behind a writer */

static struct answer writer;

static void wait_behind_a_writer(void) {
    memset(&writer, 0, sizeof writer);
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(two->rwlock, PDK_FOREVER, answered, &writer, NULL), PDK_OK);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(writer.hold);
    burst.claims = MANY;
    claim("/locks/rwlock");
    platform_pass(SECOND);
    ck_assert_uint_eq(first->session->entries.length, MANY);
}

START_TEST(one_barrier_serves_all_that_list) {
    wait_behind_a_writer();
    reconnect(1);
    answer_release(&writer);
    check_all_are_served();
}
END_TEST

/* All side queues of a read/write lock that is dropped are cancelled, and their nodes go. */
START_TEST(a_dropped_object_cancels_every_claim_once) {
    wait_behind_a_writer();
    pdk_rwlock_unref(g_steal_pointer(&one->rwlock));
    drop();
    platform_pass(SECOND);
    ck_assert_uint_eq(burst.answered, MANY);
    ck_assert_int_eq(burst.status, PDK_CANCELED);
    ck_assert_uint_eq(first->session->entries.length, 0);
    answer_release(&writer);
}
END_TEST

/* None is valid from the first one's loss on, and each is told once, slice by slice. */
START_TEST(an_expiry_takes_every_hold_once) {
    burst.claims = MANY / 3;
    claim("/locks/burst");
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(burst.granted, MANY / 3);
    pdk__session_sink.state(first->session, first->session->zk, PDK__ZK_EXPIRED, 0, 0);
    ck_assert(g_queue_is_empty(&first->session->chores));
    platform_pass(SECOND);
    ck_assert_uint_eq(burst.losses, MANY / 3);
    while (burst.granted > 0)
        pdk_hold_unref(burst.holds[--burst.granted]);
    drop();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_burst");
    TCase *cases = tcase_create("driver_burst");
    tcase_add_checked_fixture(cases, setup, driver_teardown);
    tcase_add_test(cases, a_burst_is_sent_bit_by_bit);
    tcase_add_test(cases, a_renewal_and_a_release_go_ahead_of_a_burst);
    tcase_add_test(cases, what_cannot_be_sent_in_its_turn_is_sent_later);
    tcase_add_test(cases, a_claim_that_is_cancelled_meanwhile_is_not_sent);
    tcase_add_test(cases, a_burst_begins_anew_in_the_next_session);
    tcase_add_test(cases, one_barrier_serves_all_directories);
    tcase_add_test(cases, one_barrier_recovers_all_lost_creates);
    tcase_add_test(cases, one_barrier_serves_all_that_list);
    tcase_add_test(cases, a_dropped_object_cancels_every_claim_once);
    tcase_add_test(cases, an_expiry_takes_every_hold_once);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
