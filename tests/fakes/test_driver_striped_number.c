/* The number of stripes in simulated time: who lost the connection, and had it agreed before, asks anew. */
#include "platform_bench.h"
#include "session/session.h"
#include "striped_agreement.h"

#include <paddock/striped.h>
#include <string.h>

enum { OURS = 8, THEIRS = 4 };
#define PATH "/app/striped"

static struct {
    pdk_striped *striped, *theirs;
    pdk_status status;
    int answers;
    pdk_hold *hold;
} it;

/* ---- in a process */

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    it.status = status;
    it.hold = hold;
    it.answers++;
}

static void make_in(void *subject, void *user) {
    (void)user;
    ck_assert_int_eq(pdk_striped_new(((struct rival *)subject)->session, "/striped", OURS, NULL, &it.striped), PDK_OK);
}

static void make_theirs_in(void *subject, void *user) {
    (void)user;
    ck_assert_int_eq(pdk_striped_new(((struct rival *)subject)->session, "/striped", THEIRS, NULL, &it.theirs), PDK_OK);
}

static void ask_in(void *subject, void *striped) {
    (void)subject;
    ck_assert_int_eq(pdk_striped_acquire_any_async(striped, 20000, on_answer, NULL, NULL), PDK_OK);
}

static void release_in(void *subject, void *user) {
    (void)subject;
    (void)user;
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), PDK_OK);
}

static void give_back(void *subject, void *striped) {
    pdk_striped_unref(striped);
    rival_gives_back(subject, NULL);
}

/* ---- from outside */

static void ask(struct rival *r, pdk_striped *striped) { sim_call_in(&r->process, ask_in, r, striped); }

static void await(int answers) {
    for (int64_t until = platform_agenda.now + 10 * SECOND; it.answers < answers; platform_pass(SIM_MS))
        ck_assert_int_lt(platform_agenda.now, until);
}

/* All of it, from the leaves on, as an admin does. */
static void delete_below(const char *path) {
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), path, &count);
    for (size_t i = 0; i < count; i++) {
        g_autofree char *child = g_strconcat(path, "/", names[i], NULL);
        delete_below(child);
    }
    const struct sim_packet packet = {.kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = path};
    ck_assert(sim_admin(platform_ensemble, &packet));
    platform_pass(SECOND / 10);
}

static const char *number(void) { return sim_tree_find(sim_truth(platform_ensemble), PATH)->data; }

static void begin(void) {
    it.answers = 0;
    it.hold = NULL;
    rival_open(first);
    rival_open(second);
    platform_pass(SECOND);
    sim_call_in(&first->process, make_in, first, NULL);
    sim_call_in(&second->process, make_theirs_in, second, NULL);
    ask(first, it.striped);
    await(1);
    ck_assert_int_eq(it.status, PDK_OK);
    sim_call_in(&first->process, release_in, first, NULL);
    platform_pass(SECOND);
    ck_assert_str_eq(number(), "8");
}

static void finish(void) {
    sim_dispose(&first->process, give_back, first, it.striped);
    sim_dispose(&second->process, give_back, second, it.theirs);
}

/* The first one hears that its connection is lost, and reaches no server. */
static void lose_link(void) {
    int32_t server = sim_client_server(&first->process);
    platform_block(first, true);
    sim_net_block(&platform_net, server, first->process.host, false);
    sim_client_cut(&first->process);
    platform_pass(SECOND / 10);
    platform_block(first, true);
    ck_assert_str_eq(first->events->str, "connected suspended");
}

/* Its link is cut for less than its session lasts. Meanwhile the node is replaced, with another number, by one that holds a stripe. */
START_TEST(a_claim_while_the_link_is_down_reads_it_anew) {
    begin();
    lose_link();
    delete_below(PATH);
    ask(second, it.theirs);
    await(2);
    ck_assert_int_eq(it.status, PDK_OK);
    pdk_hold *theirs = g_steal_pointer(&it.hold);
    ck_assert_str_eq(number(), "4");
    ask(first, it.striped);
    platform_pass(SECOND / 10);
    platform_block(first, false);
    await(3);
    ck_assert_str_eq(first->events->str, "connected suspended restored");
    ck_assert_str_eq(pdk_status_name(it.status), "PDK_MISMATCH");
    it.hold = theirs;
    sim_call_in(&second->process, release_in, second, NULL);
    finish();
}
END_TEST

/* Nothing has changed meanwhile: it is admitted as soon as the number has been read again. */
START_TEST(a_claim_while_the_link_is_down_is_granted_after_it) {
    begin();
    lose_link();
    ask(first, it.striped);
    platform_pass(SECOND / 10);
    ck_assert_int_eq(it.answers, 1);
    platform_block(first, false);
    await(2);
    ck_assert_int_eq(it.status, PDK_OK);
    sim_call_in(&first->process, release_in, first, NULL);
    finish();
}
END_TEST

/* A lock below the path has made it as a container, which servers remove when it is empty. All is released, and another one comes. */
START_TEST(a_number_outlives_a_container) {
    const struct sim_packet above = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = "/app", .data = ""},
                            packet = {.kind = SIM_REQUEST,
                                      .op = SIM_OP_CREATE,
                                      .path = PATH,
                                      .data = "",
                                      .mode = SIM_CONTAINER};
    ck_assert(sim_admin(platform_ensemble, &above) && sim_admin(platform_ensemble, &packet));
    platform_pass(SECOND);
    begin();
    sim_dispose(&first->process, give_back, first, it.striped);
    platform_pass(120 * SECOND);
    ask(second, it.theirs);
    await(2);
    ck_assert_str_eq(pdk_status_name(it.status), "PDK_MISMATCH");
    ck_assert_str_eq(number(), "8");
    sim_dispose(&second->process, give_back, second, it.theirs);
}
END_TEST

/* ---- a queue that goes while it waits for the number */

static pdk_lock *stripe;

static void make_another_in(void *subject, void *user) {
    (void)user;
    ck_assert_int_eq(pdk_striped_new(((struct rival *)subject)->session, "/another", OURS, NULL, &it.striped), PDK_OK);
    ck_assert_int_eq(pdk_striped_lock(it.striped, 0, &stripe), PDK_OK);
}

static void ask_stripe_in(void *subject, void *user) {
    (void)subject;
    (void)user;
    ck_assert_int_eq(pdk_lock_acquire_async(stripe, 20000, on_answer, NULL, NULL), PDK_OK);
}

static void drop_striped_in(void *subject, void *user) {
    (void)subject;
    (void)user;
    pdk_striped_unref(g_steal_pointer(&it.striped));
}

static void drop_stripe_in(void *subject, void *user) {
    release_in(subject, user);
    pdk_lock_unref(g_steal_pointer(&stripe));
}

/* The lock of a stripe outlives the striped lock. Of those that wait for the number none is left but its queue. */
START_TEST(a_queue_that_goes_waits_no_more) {
    memset(&it, 0, sizeof it);
    rival_open(first);
    platform_pass(SECOND);
    sim_call_in(&first->process, make_another_in, first, NULL);
    const struct pdk__agreement *agreement = g_queue_peek_tail(&first->session->live_queries);
    platform_block(first, true);
    ask(first, it.striped);
    sim_call_in(&first->process, ask_stripe_in, first, NULL);
    ck_assert_uint_eq(agreement->waiting.length, 2);
    sim_call_in(&first->process, drop_striped_in, first, NULL);
    await(1);
    ck_assert_str_eq(pdk_status_name(it.status), "PDK_CANCELED");
    platform_pass(SIM_MS); /* its queue goes with the callback */
    ck_assert_uint_eq(agreement->waiting.length, 1);
    platform_block(first, false);
    await(2);
    ck_assert_str_eq(pdk_status_name(it.status), "PDK_OK");
    sim_call_in(&first->process, drop_stripe_in, first, NULL);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_striped_number");
    TCase *cases = tcase_create("driver_striped_number");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, a_claim_while_the_link_is_down_reads_it_anew);
    tcase_add_test(cases, a_claim_while_the_link_is_down_is_granted_after_it);
    tcase_add_test(cases, a_number_outlives_a_container);
    tcase_add_test(cases, a_queue_that_goes_waits_no_more);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
