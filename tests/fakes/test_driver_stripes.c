/* A striped lock in simulated time. Who lost the connection, and had the number of stripes agreed before, asks anew. And very many may wait for
 * any stripe in a session that may have no more nodes. */
#include "platform_bench.h"
#include "session/session.h"
#include "striped_agreement.h"

#include <paddock/striped.h>
#include <string.h>

enum { OURS = 8, THEIRS = 4, CLAIMS = 30000 };
#define PATH "/app/striped"

static struct {
    pdk_striped *striped, *theirs;
    pdk_status status;
    int answers, granted, limited;
    pdk_hold *hold;
} it;

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    it.status = status;
    it.hold = hold;
    it.answers++;
    it.granted += status == PDK_OK;
    it.limited += status == PDK_LIMIT;
}

static void ask(pdk_striped *striped) {
    ck_assert_int_eq(pdk_striped_acquire_any_async(striped, 20000, on_answer, NULL, NULL), PDK_OK);
}

static void await(int answers, const char *status) {
    for (int64_t until = platform_agenda.now + 10 * SECOND; it.answers < answers; platform_pass(SIM_MS))
        ck_assert_int_lt(platform_agenda.now, until);
    ck_assert_str_eq(pdk_status_name(it.status), status);
}

static void release(void) { ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), PDK_OK); }

/* All of it, from the leaves on, as an admin does. */
static void delete_below(const char *path) {
    while (platform_children(path) > 0)
        delete_below(platform_child(path, 0));
    platform_admin(SIM_OP_DELETE, path);
    platform_pass(SECOND / 10);
}

static void assert_number(const char *number) { ck_assert_str_eq(platform_node(PATH)->data, number); }

static void begin(void) {
    memset(&it, 0, sizeof it);
    rival_open(first);
    rival_open(second);
    platform_pass(SECOND);
    ck_assert_int_eq(pdk_striped_new(first->session, "/striped", OURS, NULL, &it.striped), PDK_OK);
    ck_assert_int_eq(pdk_striped_new(second->session, "/striped", THEIRS, NULL, &it.theirs), PDK_OK);
    ask(it.striped);
    await(1, "PDK_OK");
    release();
    platform_pass(SECOND);
    assert_number("8");
}

static void give_back(void *subject, void *striped) {
    pdk_striped_unref(striped);
    rival_gives_back(subject, NULL);
}

static void finish(void) {
    if (it.hold)
        release();
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

/* Its link is cut for less than its session lasts. Meanwhile the node is replaced, with another number, by one that holds a stripe. Or
 * nothing has changed: it is admitted as soon as the number has been read again. */
START_TEST(a_claim_while_the_link_is_down) {
    pdk_hold *theirs = NULL;
    begin();
    lose_link();
    if (_i) {
        delete_below(PATH);
        ask(it.theirs);
        await(2, "PDK_OK");
        theirs = g_steal_pointer(&it.hold);
        assert_number("4");
    }
    const int answers = it.answers;
    ask(it.striped);
    platform_pass(SECOND / 10);
    ck_assert_int_eq(it.answers, answers);
    platform_block(first, false);
    await(answers + 1, _i ? "PDK_MISMATCH" : "PDK_OK");
    ck_assert_str_eq(first->events->str, "connected suspended restored");
    if (theirs)
        ck_assert_int_eq(pdk_hold_release(theirs), PDK_OK);
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
    pdk_striped_unref(g_steal_pointer(&it.striped));
    sim_dispose(&first->process, rival_gives_back, first, NULL);
    platform_pass(120 * SECOND);
    ask(it.theirs);
    await(2, "PDK_MISMATCH");
    assert_number("8");
    finish();
}
END_TEST

/* The lock of a stripe outlives the striped lock. Of those that wait for the number none is left but its queue. */
START_TEST(a_queue_that_goes_waits_no_more) {
    pdk_lock *stripe;
    memset(&it, 0, sizeof it);
    rival_open(first);
    platform_pass(SECOND);
    ck_assert_int_eq(pdk_striped_new(first->session, "/another", OURS, NULL, &it.striped), PDK_OK);
    ck_assert_int_eq(pdk_striped_lock(it.striped, 0, &stripe), PDK_OK);
    const struct pdk__agreement *agreement = g_queue_peek_tail(&first->session->live_queries);
    platform_block(first, true);
    ask(it.striped);
    ck_assert_int_eq(pdk_lock_acquire_async(stripe, 20000, on_answer, NULL, NULL), PDK_OK);
    ck_assert_uint_eq(agreement->waiting.length, 2);
    pdk_striped_unref(g_steal_pointer(&it.striped));
    await(1, "PDK_CANCELED");
    platform_pass(SIM_MS); /* its queue goes with the callback */
    ck_assert_uint_eq(agreement->waiting.length, 1);
    platform_block(first, false);
    await(2, "PDK_OK");
    release();
    pdk_lock_unref(stripe);
}
END_TEST

/* ---- no more nodes: the place in front of the stripes is handed from each of those that wait to the next */

static void ask_for_ever(void) {
    ck_assert_int_eq(pdk_striped_acquire_any_async(it.striped, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
}

static void spend(int64_t bytes) {
    pdk__lock(first->session);
    first->session->ephemeral_bytes += (size_t)bytes;
    pdk__unlock(first->session);
}

START_TEST(all_that_wait_are_refused) {
    pdk_striped_options options = PDK_STRIPED_OPTIONS_INIT;
    options.max_handovers = options.max_handover_ms = INT32_MAX;
    memset(&it, 0, sizeof it);
    rival_open(first);
    platform_pass(SECOND);
    ck_assert_int_eq(pdk_striped_new(first->session, "/stripes", 4, &options, &it.striped), PDK_OK);
    ask_for_ever(); /* the directories, and the number */
    await(1, "PDK_OK");
    release();
    for (int i = 0; i < CLAIMS; i++)
        ask_for_ever();
    spend(1000 * 1024); /* their place in the queue has been asked for already */
    for (int64_t until = platform_agenda.now + 600 * SECOND; it.limited < CLAIMS; platform_pass(SECOND))
        ck_assert_int_lt(platform_agenda.now, until);
    spend(-1000 * 1024);
    ask_for_ever();
    platform_pass(SECOND);
    ck_assert_int_eq(it.granted, 2);
    release();
    pdk_striped_unref(it.striped);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_stripes");
    TCase *cases = tcase_create("driver_stripes");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_loop_test(cases, a_claim_while_the_link_is_down, 0, 2);
    tcase_add_test(cases, a_number_outlives_a_container);
    tcase_add_test(cases, a_queue_that_goes_waits_no_more);
    tcase_add_test(cases, all_that_wait_are_refused);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
