/* Directed scenarios of the driver in simulated time: what no schedule of the simulation makes visible. */
#include "grant/hold.h"
#include "platform_bench.h"
#include "session/session.h"
#include "session/watches.h"
#include "sim_server.h"

#include <string.h>
#include <zookeeper/zookeeper.h>

#define SEMAPHORE "/app/sem"

/* ---- watches */

/* What is counted is what is watched. */
static void assert_watched(pdk_session *s) {
    GHashTableIter iter;
    gpointer key;
    size_t bytes = 0;
    g_hash_table_iter_init(&iter, s->watches);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        bytes += strlen(key) + 4;
    ck_assert_uint_eq(s->watched_bytes, bytes);
}

START_TEST(watches_that_fired_make_room) {
    rival_open(first);
    rival_open(second);
    for (int round = 0; round < 10; round++) {
        rival_acquire(first, PDK_FOREVER);
        platform_pass(SECOND);
        rival_acquire(second, PDK_FOREVER);
        platform_pass(SECOND);
        ck_assert_uint_gt(second->session->watched_bytes, 0); /* the predecessor's */
        assert_watched(first->session);
        assert_watched(second->session);
        rival_release(first);
        platform_pass(SECOND);
        rival_release(second);
        platform_pass(SECOND);
    }
    ck_assert_uint_eq(first->session->watched_bytes, 0);
    ck_assert_uint_eq(second->session->watched_bytes, 0);
}
END_TEST

/* ---- the connection */

static int64_t left_of_lease(struct rival *r) {
    struct sim_process *p = &r->process;
    return (r->session->lease.end - sim_process_clock(p)) / SIM_MS;
}

static void left_in(void *subject, void *what) {
    *(int64_t *)what = pdk_hold_remaining_ms(((struct rival *)subject)->hold);
}

static int64_t left_of_hold(struct rival *r) {
    int64_t left;
    sim_call_in(&r->process, left_in, r, &left);
    return left;
}

/* Nothing is heard after the reconnect, so the shorter lease is not renewed. */
START_TEST(a_shorter_timeout_shortens_what_is_held) {
    rival_open(first);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(2 * TIMEOUT);
    int64_t before = left_of_hold(first);
    platform_ensemble->config.session_most = TIMEOUT / 2;
    sim_client_cut(&first->process);
    while (first->session->lease.timeout == TIMEOUT) {
        ck_assert(sim_step(&platform_agenda, INT64_MAX - 1));
        ck_assert_uint_eq(first->losses, 0);
    }
    platform_block(first, true);
    ck_assert_int_lt(left_of_hold(first), before - TIMEOUT_MS / 2 + TIMEOUT_MS / 16);
    ck_assert_int_eq(left_of_hold(first), left_of_lease(first));
    int64_t over = platform_agenda.now + left_of_lease(first) * SIM_MS;
    platform_pass(TIMEOUT);
    ck_assert_uint_eq(first->losses, 1);
    ck_assert_int_eq(first->reason, PDK_REASON_LEASE);
    ck_assert_int_le(first->lost_at, over + 10 * SIM_MS);
}
END_TEST

START_TEST(the_names_of_the_next_session_begin_otherwise) {
    char before[sizeof first->session->uuid_prefix];
    rival_open(first);
    platform_pass(SECOND);
    memcpy(before, first->session->uuid_prefix, sizeof before);
    ck_assert_uint_eq(strlen(before), sizeof before - 1);
    platform_block(first, true);
    platform_pass(2 * TIMEOUT);
    platform_block(first, false);
    platform_pass(TIMEOUT);
    ck_assert_str_eq(first->events->str, "connected suspended expired reopened");
    ck_assert_str_ne(first->session->uuid_prefix, before);
}
END_TEST

/* ---- the number of permits */

static pdk_semaphore *semaphore;

static void make_semaphore(void *subject, void *what) {
    ck_assert_int_eq(pdk_semaphore_new(((struct rival *)subject)->session, "/sem", *(int32_t *)what, NULL, &semaphore),
                     PDK_OK);
}

static void on_permit(pdk_status status, pdk_hold *hold, void *user) {
    struct rival *r = user;
    r->status = status;
    r->answers++;
    pdk_hold_unref(hold);
}

static void take_permit(void *subject, void *what) {
    (void)what;
    ck_assert_int_eq(pdk_semaphore_acquire_async(semaphore, 1, PDK_FOREVER, on_permit, subject, NULL), PDK_OK);
}

static void drop_semaphore(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk_semaphore_unref(g_steal_pointer(&semaphore));
}

static void use_semaphore(struct rival *r, int32_t permits) {
    sim_call_in(&r->process, make_semaphore, r, &permits);
    sim_call_in(&r->process, take_permit, r, NULL);
}

static const char *noted_number(void) {
    const struct sim_node *node = sim_tree_find(sim_truth(platform_ensemble), SEMAPHORE "/leases");
    return node ? node->data : NULL;
}

/* Each of its requests in turn is answered with an error, also the one for the number. */
START_TEST(a_number_that_could_not_be_read_is_not_agreed) {
    uint32_t asked = 0;
    for (int step = 0; step < 40; step++) {
        platform_end();
        platform_begin(3);
        rival_open(first);
        rival_open(second);
        platform_pass(SECOND);
        use_semaphore(first, 3);
        platform_pass(SECOND);
        ck_assert_int_eq(first->status, PDK_OK);
        ck_assert_str_eq(noted_number(), "3");
        sim_call_in(&first->process, drop_semaphore, first, NULL);
        platform_pass(SECOND);
        use_semaphore(second, 2);
        for (int i = 0; i < step; i++)
            sim_step(&platform_agenda, INT64_MAX - 1);
        asked += second->answers == 0;
        sim_answer_next(platform_ensemble, sim_client_session(&second->process), ZOPERATIONTIMEOUT, false);
        platform_pass(TIMEOUT);
        ck_assert_uint_eq(second->answers, 1);
        ck_assert_int_eq(second->status, PDK_MISMATCH);
        ck_assert_str_eq(noted_number(), "3");
        sim_call_in(&second->process, drop_semaphore, second, NULL);
    }
    ck_assert_uint_gt(asked, 20);
}
END_TEST

/* A list that is refused leaves no watch. */
START_TEST(leases_that_may_not_be_listed_are_not_watched) {
    rival_open(first);
    platform_pass(SECOND);
    use_semaphore(first, 3);
    platform_pass(SECOND);
    ck_assert_int_eq(first->status, PDK_OK);
    ck_assert(sim_admin_set(platform_ensemble, SEMAPHORE "/leases", SIM_SET_ACL, SIM_NO_READ));
    platform_pass(SECOND);
    ck_assert_uint_eq(first->session->watched_bytes, 0);
    sim_call_in(&first->process, take_permit, first, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(first->answers, 2);
    ck_assert_int_eq(first->status, PDK_NO_PERMISSION);
    assert_watched(first->session);
    ck_assert_uint_eq(first->session->watched_bytes, 0);
    sim_call_in(&first->process, drop_semaphore, first, NULL);
}
END_TEST

/* Nor does one that could not be sent. */
START_TEST(leases_that_are_not_listed_are_not_watched) {
    rival_open(first);
    platform_pass(SECOND);
    use_semaphore(first, 3);
    platform_pass(SECOND);
    platform_refuse(PDK__OP_GET, INT32_MAX);
    sim_call_in(&first->process, take_permit, first, NULL);
    platform_pass(SECOND);
    ck_assert_int_gt(platform_refused(), 10);
    ck_assert_uint_eq(first->answers, 1);
    assert_watched(first->session);
    ck_assert_ptr_null(g_hash_table_lookup(first->session->watches, SEMAPHORE "/leases/"));
    platform_refuse(PDK__OP_GET, 0);
    platform_pass(SECOND);
    ck_assert_uint_eq(first->answers, 2);
    ck_assert_int_eq(first->status, PDK_OK);
    sim_call_in(&first->process, drop_semaphore, first, NULL);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver");
    TCase *cases = tcase_create("driver");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, watches_that_fired_make_room);
    tcase_add_test(cases, a_shorter_timeout_shortens_what_is_held);
    tcase_add_test(cases, the_names_of_the_next_session_begin_otherwise);
    tcase_add_test(cases, a_number_that_could_not_be_read_is_not_agreed);
    tcase_add_test(cases, leases_that_may_not_be_listed_are_not_watched);
    tcase_add_test(cases, leases_that_are_not_listed_are_not_watched);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
