/* Many entries in one session: what all of them need is done once, in simulated time. */
#include "driver_bench.h"
#include "session/session.h"
#include "session/supervise.h"

#include <string.h>

#define CROWD 200

static struct driver_user *const one = &driver_users[0], *const two = &driver_users[1];

static struct {
    uint32_t barriers, lists; /* of the first process */
    uint32_t granted, released;
    pdk_lock *locks[CROWD];
    pdk_lock *theirs[CROWD]; /* of the second process */
    pdk_hold *holds[CROWD];
    uint32_t held;
} crowd;

static bool counts(const struct pdk__request *request) {
    crowd.barriers += request->kind == PDK__OP_BARRIER;
    crowd.lists += request->kind == PDK__OP_LIST;
    return false;
}

static void begin(void) {
    driver_begin();
    memset(&crowd, 0, sizeof crowd);
    driver_refuses = counts;
}

static void on_granted(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    ck_assert_int_eq(status, PDK_OK);
    crowd.granted++;
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}

static void on_written(pdk_status status, pdk_hold *hold, void *user) {
    ck_assert_int_eq(status, PDK_OK);
    *(pdk_hold **)user = hold;
}

static void write_in(void *subject, void *what) {
    struct driver_user *u = subject;
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(u->rwlock, PDK_FOREVER, on_written, what, NULL), PDK_OK);
}

static void release_in(void *subject, void *what) {
    (void)subject;
    ck_assert_int_eq(pdk_hold_release(*(pdk_hold **)what), PDK_OK);
}

static void read_in(void *subject, void *what) {
    struct driver_user *u = subject;
    (void)what;
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(pdk_rwlock_acquire_read_async(u->rwlock, PDK_FOREVER, on_granted, NULL, NULL), PDK_OK);
}

static void lock_all(struct driver_user *u, pdk_lock **locks, pdk_acquired_fn fn) {
    for (int i = 0; i < CROWD; i++) {
        char path[32];
        g_snprintf(path, sizeof path, "/locks/crowd/%d", i);
        ck_assert_int_eq(pdk_lock_new(u->rival->session, path, NULL, &locks[i]), PDK_OK);
        ck_assert_int_eq(pdk_lock_acquire_async(locks[i], PDK_FOREVER, fn, NULL, NULL), PDK_OK);
    }
}

static void lock_in(void *subject, void *what) {
    (void)what;
    lock_all(subject, crowd.locks, on_granted);
}

static void on_held(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    ck_assert_int_eq(status, PDK_OK);
    crowd.holds[crowd.held++] = hold;
}

static void hold_in(void *subject, void *what) {
    (void)what;
    lock_all(subject, crowd.theirs, on_held);
}

static void release_all_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    for (int i = 0; i < CROWD; i++) {
        ck_assert_int_eq(pdk_hold_release(crowd.holds[i]), PDK_OK);
        pdk_lock_unref(crowd.theirs[i]);
    }
}

static void drop_locks_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    for (int i = 0; i < CROWD; i++)
        pdk_lock_unref(g_steal_pointer(&crowd.locks[i]));
}

static bool has_fresh_lease(const struct rival *r) {
    return pdk__lease_fresh(&r->session->lease, sim_process_clock(&r->process));
}

/* The connection is cut until little of the lease is left, and comes back. Counts from there on. */
static void reconnect(void) {
    platform_block(one->rival, true);
    while (one->rival->session->link == PDK__LINK_CONNECTED)
        ck_assert(sim_step(&platform_agenda, INT64_MAX - 1));
    while (has_fresh_lease(one->rival))
        platform_pass(SECOND / 10);
    crowd.barriers = crowd.lists = 0;
    platform_block(one->rival, false);
    while (one->rival->session->link != PDK__LINK_CONNECTED)
        ck_assert(sim_step(&platform_agenda, INT64_MAX - 1));
    platform_pass(TIMEOUT / 16);
}

/* Each waiter lists anew after the reconnect. The barrier that went ahead serves them all. */
START_TEST(one_barrier_serves_all_that_list) {
    pdk_hold *written = NULL;
    begin();
    sim_call_in(&two->rival->process, write_in, two, &written);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(written);
    sim_call_in(&one->rival->process, read_in, one, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->rival->session->entries.length, CROWD);
    reconnect();
    ck_assert_uint_ge(crowd.lists, 1);
    ck_assert_uint_le(crowd.barriers, 3);
    sim_call_in(&two->rival->process, release_in, two, &written);
    platform_pass(2 * SECOND);
    ck_assert_uint_eq(crowd.granted, CROWD);
}
END_TEST

/* In as many directories none of them has the other's list. */
START_TEST(one_barrier_serves_all_directories) {
    begin();
    sim_call_in(&two->rival->process, hold_in, two, NULL);
    platform_pass(2 * SECOND);
    ck_assert_uint_eq(crowd.held, CROWD);
    sim_call_in(&one->rival->process, lock_in, one, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->rival->session->entries.length, CROWD);
    reconnect();
    ck_assert_uint_gt(crowd.lists, CROWD / 4);
    ck_assert_uint_le(crowd.barriers, 3);
    sim_call_in(&two->rival->process, release_all_in, two, NULL);
    platform_pass(2 * SECOND);
    ck_assert_uint_eq(crowd.granted, CROWD);
    sim_call_in(&one->rival->process, drop_locks_in, one, NULL);
}
END_TEST

/* The answers to all creates are lost. One barrier after the reconnect tells for all whether they were executed. */
START_TEST(one_barrier_recovers_all_lost_creates) {
    begin();
    platform_pass(SECOND);
    sim_call_in(&one->rival->process, lock_in, one, NULL);
    reconnect();
    ck_assert_uint_ge(crowd.lists, 1);
    ck_assert_uint_le(crowd.barriers, 3);
    platform_pass(2 * SECOND);
    ck_assert_uint_eq(crowd.granted, CROWD);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->rival->session->entries.length, 0);
    sim_call_in(&one->rival->process, drop_locks_in, one, NULL);
}
END_TEST

static struct {
    pdk_hold *holds[CROWD];
    uint32_t count, losses, cancelled;
} kept;

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)user;
    ck_assert_int_eq(reason, PDK_REASON_EXPIRED);
    ck_assert(!pdk_hold_is_valid(hold));
    for (uint32_t i = 0; i < kept.count; i++) /* those that are not told yet are over, too */
        ck_assert(!pdk_hold_is_valid(kept.holds[i]));
    kept.losses++;
}

static void on_kept(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    kept.cancelled += status == PDK_CANCELED;
    if (status != PDK_OK)
        return;
    ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, NULL, NULL), PDK_OK);
    kept.holds[kept.count++] = hold;
}

static void keep_in(void *subject, void *what) {
    struct driver_user *u = subject;
    (void)what;
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(pdk_rwlock_acquire_read_async(u->rwlock, PDK_FOREVER, on_kept, NULL, NULL), PDK_OK);
}

static void expire_in(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    (void)what;
    pdk__session_sink.state(s, s->zk, PDK__ZK_EXPIRED, 0, 0);
}

static void give_back_kept_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    while (kept.count > 0)
        pdk_hold_unref(kept.holds[--kept.count]);
}

static void drop_rwlock_in(void *subject, void *what) {
    (void)what;
    pdk_rwlock_unref(g_steal_pointer(&((struct driver_user *)subject)->rwlock));
}

/* None is valid from the first one's loss on, and each is told once, slice by slice. */
START_TEST(an_expiry_takes_every_hold_once) {
    memset(&kept, 0, sizeof kept);
    begin();
    sim_call_in(&one->rival->process, keep_in, one, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(kept.count, CROWD);
    sim_call_in(&one->rival->process, expire_in, one, NULL);
    ck_assert(g_queue_is_empty(&one->rival->session->chores));
    platform_pass(SECOND);
    ck_assert_uint_eq(kept.losses, CROWD);
    sim_call_in(&one->rival->process, give_back_kept_in, one, NULL);
}
END_TEST

/* All side queues of a read/write lock that is dropped are cancelled, and their nodes go. */
START_TEST(a_dropped_object_cancels_every_claim_once) {
    pdk_hold *written = NULL;
    memset(&kept, 0, sizeof kept);
    begin();
    sim_call_in(&two->rival->process, write_in, two, &written);
    platform_pass(SECOND);
    sim_call_in(&one->rival->process, keep_in, one, NULL);
    platform_pass(SECOND);
    sim_call_in(&one->rival->process, drop_rwlock_in, one, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(kept.cancelled, CROWD);
    ck_assert_uint_eq(one->rival->session->entries.length, 0);
    sim_call_in(&two->rival->process, release_in, two, &written);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_crowd");
    TCase *cases = tcase_create("driver_crowd");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, one_barrier_serves_all_that_list);
    tcase_add_test(cases, one_barrier_serves_all_directories);
    tcase_add_test(cases, one_barrier_recovers_all_lost_creates);
    tcase_add_test(cases, an_expiry_takes_every_hold_once);
    tcase_add_test(cases, a_dropped_object_cancels_every_claim_once);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
