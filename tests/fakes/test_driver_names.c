/* A session that follows the names of its servers: how often it looks them up, and what it does when the handle has gone meanwhile. */
#include "platform_bench.h"
#include "session/open.h"
#include "session/session.h"

#include <string.h>

static struct pdk__platform platform;
static struct pdk__zk_calls calls;

static struct {
    const char *address; /* of the one name */
    int looks, given;
    bool reopens_at_look, reopens_as_given; /* the handle is replaced meanwhile */
} it;

static bool look_up(struct pdk__names *names, unsigned index, const char *name) {
    const char *const addresses[] = {it.address, NULL};
    (void)name;
    it.looks++;
    if (it.reopens_at_look)
        rival_reopen(first);
    it.reopens_at_look = false;
    pdk__names_found(names, index, addresses, NULL);
    return true;
}

static bool give(pdk__zk *zk, const char *servers) {
    bool taken = sim_client_calls.servers(zk, servers);
    it.given += taken;
    if (taken && it.reopens_as_given)
        rival_reopen(first);
    it.reopens_as_given = it.reopens_as_given && !taken;
    return taken;
}

static void on_event(pdk_session_event event, int64_t time_left_ms, void *user) {
    static const char *const words[] = {"", "connected", "suspended", "restored", "expired", "reopened", "closed"};
    (void)time_left_ms;
    (void)user;
    g_string_append_printf(first->events, " %s", words[event]);
}

static void begin(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK / SIM_MS;
    options.on_event = on_event;
    memset(&it, 0, sizeof it);
    it.address = "10.0.0.1";
    calls = sim_client_calls;
    calls.servers = give;
    platform = sim_platform;
    platform.zk = &calls;
    platform.look_up = look_up;
    ck_assert_int_eq(pdk__session_begin("zk:2181/app", &options, &platform, &first->session), PDK_OK);
    platform_pass(SECOND);
    ck_assert_str_eq(first->events->str, " connected");
}

static int looks_in(int64_t ns) {
    int before = it.looks;
    platform_pass(ns);
    return it.looks - before;
}

/* Every T/10 for a timeout. Servers that have not moved by then are looked for with less haste. */
START_TEST(names_are_looked_up_at_a_pace) {
    begin();
    ck_assert_int_le(looks_in(20 * SECOND), 5); /* connected */
    platform_block(first, true);
    platform_pass(TIMEOUT);
    ck_assert(g_str_has_suffix(first->events->str, "suspended"));
    ck_assert_int_ge(looks_in(TIMEOUT / 2), 4);
    platform_pass(TIMEOUT);
    ck_assert_int_le(looks_in(TIMEOUT), 1);
    platform_block(first, false);
    platform_pass(3 * TIMEOUT);
    ck_assert(!g_str_has_suffix(first->events->str, "suspended"));
}
END_TEST

START_TEST(the_handle_goes_while_names_are_looked_up) {
    begin();
    it.reopens_at_look = true;
    platform_pass(20 * SECOND);
    ck_assert(!it.reopens_at_look);
    ck_assert_str_eq(first->events->str, " connected expired reopened");
    ck_assert_int_eq(it.given, 0);
}
END_TEST

/* The server is gone from its old address. _i: the handle goes as it is given the new one. What was given to it counts for nothing then, and
 * the next one begins with the names as they are. */
START_TEST(the_handle_is_given_the_new_address) {
    begin();
    it.address = "10.0.0.2";
    it.reopens_as_given = _i;
    sim_net_block(&platform_net, first->process.host, 0, true);
    sim_net_block(&platform_net, 0, first->process.host, true);
    platform_pass(5 * TIMEOUT);
    ck_assert_int_eq(it.given, 1);
    ck_assert_str_eq(first->events->str,
                     _i ? " connected suspended expired reopened" : " connected suspended restored");
    ck_assert_int_eq(sim_client_server(&first->process), 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_names");
    TCase *cases = tcase_create("driver_names");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, names_are_looked_up_at_a_pace);
    tcase_add_test(cases, the_handle_goes_while_names_are_looked_up);
    tcase_add_loop_test(cases, the_handle_is_given_the_new_address, 0, 2);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
