/* Bursts: the production driver in simulated time, hundreds of claims in one session at one moment. */
#include "driver_bench.h"
#include "session/lists.h"
#include "session/ops.h"
#include "session/renew.h"
#include "session/session.h"
#include "session/supervise.h"
#include "sim_client.h"

#include <string.h>

enum { MANY = 600, AT_FIRST = PDK__WINDOW_LEAST };

static struct driver_user *const one = &driver_users[0];

/* The requests that the first process made, refused or not. */
static struct {
    uint32_t creates, lists, barriers, deletes;
    enum pdk__op_kind last;
    uint32_t refuse_creates, refuse_lists; /* so many from now on */
} made;

static struct {
    pdk_rwlock *lock;
    uint32_t claims; /* how many there are to be */
    pdk_hold *holds[3000];
    uint32_t granted, answered;
    pdk_status status; /* of the newest that was not granted */
} burst;

static bool refuses(const struct pdk__request *request) {
    bool create = request->kind == PDK__OP_CREATE, list = request->kind == PDK__OP_LIST;
    made.creates += create;
    made.lists += list;
    made.barriers += request->kind == PDK__OP_BARRIER;
    made.deletes += request->kind == PDK__OP_DELETE;
    made.last = request->kind;
    if (create && made.refuse_creates > 0)
        return made.refuse_creates-- > 0;
    return list && made.refuse_lists > 0 && made.refuse_lists-- > 0;
}

static void begin(void) {
    platform_setup();
    driver_begin();
    memset(&made, 0, sizeof made);
    memset(&burst, 0, sizeof burst);
    driver_refuses = refuses;
}

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    burst.answered++;
    if (status != PDK_OK)
        burst.status = status;
    else
        burst.holds[burst.granted++] = hold;
}

static void claim_in(void *subject, void *what) {
    struct driver_user *u = subject;
    const char *path = what;
    ck_assert_int_eq(pdk_rwlock_new(u->rival->session, path, NULL, &burst.lock), PDK_OK);
    for (uint32_t i = 0; i < burst.claims; i++)
        ck_assert_int_eq(pdk_rwlock_acquire_read_async(burst.lock, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
}

static void claim_many(void) {
    static char path[] = "/locks/burst";
    burst.claims = MANY;
    sim_call_in(&one->rival->process, claim_in, one, path);
}

static void release_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    while (burst.granted > 0)
        ck_assert_int_eq(pdk_hold_release(burst.holds[--burst.granted]), PDK_OK);
}

static void drop_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk_rwlock_unref(g_steal_pointer(&burst.lock));
}

/* All are granted, all leave, and nothing is left. */
static void check_all_are_served(void) {
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(burst.answered, MANY);
    ck_assert_uint_eq(burst.granted, MANY);
    sim_call_in(&one->rival->process, release_in, one, NULL);
    sim_call_in(&one->rival->process, drop_in, one, NULL);
    driver_pass_and_release(3 * SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
    ck_assert_uint_eq(g_hash_table_size(one->rival->session->lists.directories), 0);
    ck_assert_uint_eq(one->rival->session->window.in_flight[PDK__LANE_OTHERS], 0);
}

/* The first claim makes the directory. */
static void make_directory(void) {
    claim_many();
    check_all_are_served();
    memset(&made, 0, sizeof made);
    memset(&burst, 0, sizeof burst);
}

START_TEST(a_burst_is_sent_bit_by_bit) {
    make_directory();
    claim_many();
    ck_assert_uint_eq(made.creates + made.lists, AT_FIRST);
    for (int i = 0; i < 40 && burst.answered < MANY; i++) {
        platform_pass(5 * SIM_MS);
        ck_assert_uint_le(one->rival->session->window.in_flight[PDK__LANE_OTHERS], MANY);
    }
    check_all_are_served();
}
END_TEST

/* The list after a create shows its node, and those of all that were created before. */
START_TEST(few_lists_serve_many_claims) {
    make_directory();
    claim_many();
    check_all_are_served();
    ck_assert_uint_eq(made.creates, MANY);
    ck_assert_uint_le(made.lists, MANY / 10);
}
END_TEST

static void renew_in(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    uint32_t before = made.barriers;
    (void)what;
    pdk__lock(s);
    ck_assert_uint_gt(s->window.waiting[PDK__LANE_OTHERS].length, 0);
    pdk__renew_prove(s, s->requests);
    pdk__unlock(s);
    ck_assert_uint_eq(made.barriers, before + 1);
    ck_assert_int_eq(made.last, PDK__OP_BARRIER);
}

START_TEST(a_renewal_goes_ahead_of_a_burst) {
    make_directory();
    claim_many();
    sim_call_in(&one->rival->process, renew_in, one, NULL);
    check_all_are_served();
}
END_TEST

START_TEST(a_release_goes_ahead_of_a_burst) {
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->holds_count, 1);
    claim_many();
    driver_release_all(one);
    ck_assert_int_eq(made.last, PDK__OP_DELETE);
    check_all_are_served();
}
END_TEST

START_TEST(what_cannot_be_sent_in_its_turn_is_sent_later) {
    make_directory();
    made.refuse_creates = AT_FIRST / 2;
    made.refuse_lists = 3;
    claim_many();
    made.refuse_creates = 2 * AT_FIRST; /* of those that wait */
    check_all_are_served();
    ck_assert_uint_eq(made.refuse_creates + made.refuse_lists, 0);
}
END_TEST

/* Their creates are waiting: none goes out any more. */
START_TEST(a_claim_that_is_cancelled_meanwhile_is_not_sent) {
    make_directory();
    claim_many();
    sim_call_in(&one->rival->process, drop_in, one, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(burst.answered, MANY);
    ck_assert_uint_eq(burst.granted, 0);
    ck_assert_uint_le(made.creates, AT_FIRST);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

START_TEST(a_burst_goes_on_after_a_reconnect) {
    make_directory();
    claim_many();
    platform_pass(2 * SIM_MS);
    sim_client_cut(&one->rival->process);
    check_all_are_served();
}
END_TEST

/* Creates are lost, and a server forbids a request: before the reconnect, the first one after it, and later ones.
 * Each time in a simulation of its own; the first one has begun. */
START_TEST(a_list_may_end_the_session) {
    for (int64_t after = 0; after < 8; after++) {
        if (after > 0) {
            driver_teardown();
            begin();
        }
        make_directory();
        claim_many();
        platform_pass(SIM_MS / 2);
        sim_client_cut(&one->rival->process);
        platform_pass(after * 50 * SIM_MS);
        sim_answer_next(platform_ensemble, sim_client_session(&one->rival->process), -102, false);
        platform_pass(10 * SECOND);
        ck_assert_uint_eq(burst.answered, MANY);
        sim_call_in(&one->rival->process, release_in, one, NULL);
        sim_call_in(&one->rival->process, drop_in, one, NULL);
        platform_pass(10 * SECOND);
        ck_assert_uint_eq(driver_nodes(), 0);
    }
}
END_TEST

/* A lock of each of many directories. */
static struct {
    pdk_lock *locks[2][MANY];
    pdk_hold *holds[MANY];
    uint32_t granted;
} wide;

static void on_wide(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    ck_assert_int_eq(status, PDK_OK);
    wide.holds[wide.granted++] = hold;
}

static void claim_wide_in(void *subject, void *what) {
    struct driver_user *u = subject;
    (void)what;
    for (int i = 0; i < MANY; i++) {
        char path[40];
        pdk_lock **lock = &wide.locks[u - driver_users][i];
        g_snprintf(path, sizeof path, "/locks/%d", i);
        ck_assert_int_eq(pdk_lock_new(u->rival->session, path, NULL, lock), PDK_OK);
        ck_assert_int_eq(pdk_lock_acquire_async(*lock, PDK_FOREVER, on_wide, NULL, NULL), PDK_OK);
    }
}

static void release_wide_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    while (wide.granted > 0)
        ck_assert_int_eq(pdk_hold_release(wide.holds[--wide.granted]), PDK_OK);
}

static void drop_wide_in(void *subject, void *what) {
    struct driver_user *u = subject;
    (void)what;
    for (int i = 0; i < MANY; i++)
        pdk_lock_unref(wide.locks[u - driver_users][i]);
}

/* All want a list after a reconnect, each another one. */
START_TEST(lists_of_many_directories_wait_as_well) {
    struct driver_user *two = &driver_users[1];
    memset(&wide, 0, sizeof wide);
    sim_call_in(&two->rival->process, claim_wide_in, two, NULL);
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(wide.granted, MANY);
    sim_call_in(&one->rival->process, claim_wide_in, one, NULL);
    platform_pass(10 * SECOND);
    sim_client_cut(&one->rival->process);
    made.lists = 0;
    platform_pass(10 * SECOND);
    ck_assert_uint_ge(made.lists, MANY);
    sim_call_in(&two->rival->process, release_wide_in, two, NULL);
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(wide.granted, MANY);
    sim_call_in(&one->rival->process, release_wide_in, one, NULL);
    sim_call_in(&one->rival->process, drop_wide_in, one, NULL);
    sim_call_in(&two->rival->process, drop_wide_in, two, NULL);
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

static void reopen_in(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    (void)what;
    pdk__lock(s);
    pdk__session_reopen(s, "as a test wants it");
    ck_assert_uint_eq(s->window.waiting[PDK__LANE_OTHERS].length, 0);
    ck_assert_uint_eq(g_hash_table_size(s->lists.directories), 0);
    pdk__unlock(s);
}

START_TEST(a_burst_begins_anew_in_the_next_session) {
    make_directory();
    claim_many();
    sim_call_in(&one->rival->process, reopen_in, one, NULL);
    check_all_are_served();
}
END_TEST

/* Each node counts for its path and a little more: 512 bytes here, of 1000 KiB. */
START_TEST(nodes_of_2000_paths_of_half_a_kilobyte_are_the_most) {
    enum { MOST = 2000, COUNTED = 512 - 52 - 16 };
    char *path = g_strnfill(COUNTED, 'p');
    path[0] = '/';
    burst.claims = MOST + 1;
    sim_call_in(&one->rival->process, claim_in, one, path);
    platform_pass(20 * SECOND);
    ck_assert_uint_eq(burst.answered, MOST + 1);
    ck_assert_uint_eq(burst.granted, MOST);
    ck_assert_int_eq(burst.status, PDK_LIMIT);
    ck_assert_uint_eq(one->rival->session->ephemeral_bytes, 1000 * 1024);
    sim_call_in(&one->rival->process, release_in, one, NULL);
    sim_call_in(&one->rival->process, drop_in, one, NULL);
    platform_pass(20 * SECOND);
    ck_assert_uint_eq(one->rival->session->ephemeral_bytes, 0);
    g_free(path);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_burst");
    TCase *cases = tcase_create("driver_burst");
    tcase_add_checked_fixture(cases, begin, driver_teardown);
    tcase_add_test(cases, a_burst_is_sent_bit_by_bit);
    tcase_add_test(cases, few_lists_serve_many_claims);
    tcase_add_test(cases, a_renewal_goes_ahead_of_a_burst);
    tcase_add_test(cases, a_release_goes_ahead_of_a_burst);
    tcase_add_test(cases, what_cannot_be_sent_in_its_turn_is_sent_later);
    tcase_add_test(cases, a_claim_that_is_cancelled_meanwhile_is_not_sent);
    tcase_add_test(cases, a_burst_goes_on_after_a_reconnect);
    tcase_add_test(cases, nodes_of_2000_paths_of_half_a_kilobyte_are_the_most);
    tcase_add_test(cases, a_list_may_end_the_session);
    tcase_add_test(cases, lists_of_many_directories_wait_as_well);
    tcase_add_test(cases, a_burst_begins_anew_in_the_next_session);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
