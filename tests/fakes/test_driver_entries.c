/* Directed scenarios of the driver in simulated time: entries, claims, and what is counted of them. */
#include "core/contender.h"
#include "grant/claim.h"
#include "grant/queue.h"
#include "platform_bench.h"
#include "session/entries.h"
#include "session/session.h"
#include "session/supervise.h"

#include <string.h>

/* ---- bytes */

static void assert_bytes(const pdk_session *s) {
    size_t bytes = 0;
    for (const GList *link = s->entries.head; link; link = link->next)
        bytes += ((const struct pdk__entry *)link->data)->bytes;
    ck_assert_uint_eq(s->ephemeral_bytes, bytes);
}

/* After each event: what is counted is what there is. */
START_TEST(the_paths_of_the_nodes_are_counted) {
    rival_open(first);
    platform_pass(SECOND);
    for (int round = 0; round < 3; round++) {
        rival_acquire(first, PDK_FOREVER);
        while (!first->hold) {
            ck_assert(sim_step(&platform_agenda, INT64_MAX - 1));
            assert_bytes(first->session);
        }
        ck_assert_uint_gt(first->session->ephemeral_bytes, strlen("/app/locks/one"));
        rival_release(first);
        while (first->session->entries.length > 0) {
            ck_assert(sim_step(&platform_agenda, INT64_MAX - 1));
            assert_bytes(first->session);
        }
        ck_assert_uint_eq(first->session->ephemeral_bytes, 0);
    }
}
END_TEST

/* ---- the way in */

/* The create and the list go out together. */
START_TEST(a_free_lock_takes_one_round_trip) {
    rival_open(first);
    for (int i = 0; i < 5; i++) {
        platform_pass(SECOND);
        int64_t began = platform_agenda.now;
        rival_acquire(first, PDK_FOREVER);
        platform_pass(SECOND);
        ck_assert_ptr_nonnull(first->hold);
        if (i > 0) /* the directory is there */
            ck_assert_int_le(first->granted_at - began, 10 * SIM_MS);
        rival_release(first);
    }
}
END_TEST

/* ---- tries */

/* At any moment after the session was begun, and at any after its own release: its node on its way out is nobody. */
START_TEST(a_try_where_nobody_is_ahead_is_granted) {
    for (int step = 0; step < 60; step++) {
        platform_end();
        platform_begin(5);
        rival_open(first);
        for (int i = 0; i < step * 3; i++)
            sim_step(&platform_agenda, INT64_MAX - 1);
        rival_acquire(first, 0);
        platform_pass(TIMEOUT);
        ck_assert_uint_eq(first->answers, 1);
        ck_assert_int_eq(first->status, PDK_OK);
        rival_release(first);
        for (int i = 0; i < step; i++)
            sim_step(&platform_agenda, INT64_MAX - 1);
        rival_acquire(first, 0);
        platform_pass(SECOND);
        ck_assert_uint_eq(first->answers, 2);
        ck_assert_int_eq(first->status, PDK_OK);
        rival_release(first);
        platform_pass(SECOND);
    }
}
END_TEST

/* Its delete cannot be sent at once, so its own node stands ahead. */
START_TEST(a_try_behind_a_node_of_its_own_that_goes_is_granted) {
    rival_open(first);
    rival_open(second);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    platform_refuse(PDK__OP_DELETE, 3);
    rival_release(first);
    rival_acquire(first, 0);
    platform_pass(SECOND);
    ck_assert_int_eq(platform_refused(), 3);
    ck_assert_uint_eq(first->answers, 2);
    ck_assert_int_eq(first->status, PDK_OK);
    rival_acquire(second, 0);
    platform_pass(SECOND);
    ck_assert_int_eq(second->status, PDK_BUSY);
}
END_TEST

static void look_for_leaving(void *subject, void *what) {
    pdk_session *s = ((struct rival *)subject)->session;
    pdk__lock(s);
    *(bool *)what = pdk__entries_leaving(s, s->leaving_serial);
    pdk__unlock(s);
}

static bool is_leaving(struct rival *r) {
    bool leaving;
    sim_call_in(&r->process, look_for_leaving, r, &leaving);
    return leaving;
}

START_TEST(a_release_is_awaited_until_it_is_confirmed) {
    rival_open(first);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert(!is_leaving(first));
    rival_release(first);
    ck_assert(is_leaving(first));
    ck_assert_uint_eq(first->session->leaving_serial, 1);
    platform_pass(SECOND);
    ck_assert(!is_leaving(first));
}
END_TEST

/* ---- claims of one object */

static struct {
    pdk_claim *claims[3];
    int order[3], granted;
} threads;

static void on_claim(pdk_status status, pdk_hold *hold, void *user) {
    ck_assert_int_eq(status, PDK_OK);
    ck_assert_int_lt(threads.granted, 3);
    threads.order[threads.granted++] = GPOINTER_TO_INT(user);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}

static void claim_in(void *subject, void *what) {
    (void)what;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pdk_lock_acquire_async(((struct rival *)subject)->lock, PDK_FOREVER, on_claim,
                                                GINT_TO_POINTER(i), &threads.claims[i]),
                         PDK_OK);
}

static void drop_claims(void *subject, void *what) {
    (void)subject;
    (void)what;
    for (int i = 0; i < 3; i++)
        pdk_claim_unref(g_steal_pointer(&threads.claims[i]));
}

/* The process sleeps between the grant and the callback. The claim queues again, ahead of those behind it. */
START_TEST(a_claim_whose_grant_lapsed_keeps_its_position) {
    memset(&threads, 0, sizeof threads);
    rival_open(first);
    platform_pass(SECOND);
    sim_call_in(&first->process, claim_in, first, NULL);
    while (threads.claims[0]->state != PDK__CLAIM_DECIDED)
        ck_assert(sim_step(&platform_agenda, INT64_MAX - 1));
    ck_assert_uint_lt(threads.claims[0]->number, threads.claims[1]->number);
    ck_assert_uint_lt(threads.claims[1]->number, threads.claims[2]->number);
    sim_process_pause(&first->process, true);
    platform_pass(2 * TIMEOUT);
    sim_process_pause(&first->process, false);
    platform_pass(2 * TIMEOUT);
    ck_assert_int_eq(threads.granted, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(threads.order[i], i);
    sim_call_in(&first->process, drop_claims, first, NULL);
}
END_TEST

/* ---- the end of a session */

static void refuse_credentials(void *subject, void *what) {
    pdk_session *s = ((struct rival *)subject)->session;
    (void)what;
    pdk__session_sink.state(s, s->zk, PDK__ZK_AUTH_FAILED, 0, 0);
}

static void claim_too_late(void *subject, void *what) {
    struct rival *r = subject;
    *(pdk_status *)what = pdk_lock_acquire_async(r->lock, PDK_FOREVER, on_claim, NULL, NULL);
}

START_TEST(refused_credentials_end_it_all) {
    pdk_status status;
    rival_open(first);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    uint32_t answers = first->answers;
    rival_acquire(first, PDK_FOREVER);
    sim_call_in(&first->process, refuse_credentials, first, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(first->losses, 1);
    ck_assert_int_eq(first->reason, PDK_REASON_CLOSED);
    ck_assert_uint_eq(first->answers, answers + 1);
    ck_assert_int_eq(first->status, PDK_AUTH);
    ck_assert_str_eq(first->events->str, "connected closed");
    sim_call_in(&first->process, claim_too_late, first, &status);
    ck_assert_int_eq(status, PDK_AUTH);
}
END_TEST

/* ---- nodes with our names */

static void make_node(const char *name) {
    const size_t size = sizeof "/app/locks/one/" + strlen(name);
    char *path = sim_alloc(&platform_agenda, size);
    g_snprintf(path, size, "/app/locks/one/%s", name);
    const struct sim_packet create = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = path, .data = ""};
    ck_assert(sim_admin(platform_ensemble, &create));
    platform_pass(SECOND / 10);
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(platform_ensemble), path));
}

/* Somebody has made nodes whose names begin as ours do, with the longest part ahead of the number that fits, and longer.
 * The first is looked at, and is not ours. */
START_TEST(long_names_that_begin_as_ours_are_left_alone) {
    rival_open(first);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    for (int length = PDK__MARK_SIZE - 2; length <= PDK__MARK_SIZE + 1; length++) {
        char *name = g_strdup_printf("_c_%s%0*d-lock-%010d", first->session->uuid_prefix,
                                     length - 3 - (int)strlen(first->session->uuid_prefix) - 6, 0, 900 + length);
        make_node(name);
        g_free(name);
    }
    rival_release(first);
    platform_pass(SECOND);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_uint_eq(platform_contenders(), 4 + 1);
    ck_assert_uint_eq(first->session->entries.length, 1);
    assert_bytes(first->session);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_entries");
    TCase *cases = tcase_create("driver_entries");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, the_paths_of_the_nodes_are_counted);
    tcase_add_test(cases, a_free_lock_takes_one_round_trip);
    tcase_add_test(cases, a_try_where_nobody_is_ahead_is_granted);
    tcase_add_test(cases, a_try_behind_a_node_of_its_own_that_goes_is_granted);
    tcase_add_test(cases, a_release_is_awaited_until_it_is_confirmed);
    tcase_add_test(cases, a_claim_whose_grant_lapsed_keeps_its_position);
    tcase_add_test(cases, refused_credentials_end_it_all);
    tcase_add_test(cases, long_names_that_begin_as_ours_are_left_alone);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
