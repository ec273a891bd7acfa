/* However a claim of a lock with a lock-delay ends, it leaves neither its node nor its pledge: see exits.h. But a session that ends
 * meanwhile may leave a broken pledge, which the next one waits for. */
#include "exits.h"

#include <glib.h>
#include <string.h>

#include "ts_check.h"
#include "ts_support.h"

/* Where nobody waits for it, a whole delay is not over in time. */
enum { SHORT_MS = 100, WHOLE_MS = 60000 };
enum setting { FREE, IN_THE_DELAY, PLEDGES_AHEAD };

#define LOST(op) .opcode = (op), .loss = TS_LOSE_REQUEST
#define UNKNOWN(op) .opcode = (op), .loss = TS_LOSE_REPLY
#define AHEAD .after_poke = true, .behind = true, .setting = PLEDGES_AHEAD

static const exit_state states[] = {
    {"created, unknown to us", UNKNOWN(TS_OP_CREATE2)},
    {"listed, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN)},
    {"record asked for", LOST(TS_OP_GET_DATA), .in_queue = true},
    {"record read, unknown to us", UNKNOWN(TS_OP_GET_DATA), .in_queue = true},
    {"pledge lost", LOST(TS_OP_CREATE), .in_queue = true},
    {"pledged, unknown to us", UNKNOWN(TS_OP_CREATE), .in_queue = true},
    {"pledge ahead lost", LOST(TS_OP_CREATE), AHEAD},
    {"pledged ahead, unknown to us", UNKNOWN(TS_OP_CREATE), AHEAD},
    {"list after the one ahead, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN), AHEAD},
    {"waiting", .behind = true},
    {"waiting for the delay", .behind = true, .setting = IN_THE_DELAY},
    {"granted, not delivered", .granted = true},
};

enum { STATES = G_N_ELEMENTS(states) };

static const char *server(void) { return ts_bench_server(); }

static int32_t delay_of(const exit_case *c) { return c->at->setting == IN_THE_DELAY ? WHOLE_MS : SHORT_MS; }

static pdk_lock *lock_on(const exit_case *c, const ts_client *client) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.lock_delay_ms = delay_of(c);
    return ts_lock_with(client, c->path, &options);
}

static char *broken_of(const exit_case *c) {
    return g_strconcat(c->path, "/pledge-_c_01234567-89ab-8def-0123-456789abcdef-0000000099", NULL);
}

static void set_up(exit_case *c, ts_client *holder) {
    g_autofree char *record = g_strconcat(c->path, "/delay", NULL), *broken = broken_of(c);
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_lock *lock = NULL;

    assert_exit(c, ts_create(server(), c->path, "", TS_PERSISTENT, NULL) == 0);
    assert_exit(c, ts_create(server(), record, delay_of(c) == WHOLE_MS ? "60000" : "100", TS_PERSISTENT, NULL) == 0);
    assert_exit(c, c->at->setting != IN_THE_DELAY || ts_create(server(), broken, "", TS_PERSISTENT, NULL) == 0);
    options.lock_delay_ms = delay_of(c);
    assert_exit(c, pdk_lock_new(c->client->session, c->path, &options, &lock) == PDK_OK);
    c->object = lock;
    if (c->at->behind && c->at->setting != IN_THE_DELAY) {
        c->ahead[0] = ts_bench_acquire(lock_on(c, holder), 5000);
    }
}

static ts_answer *claim(exit_case *c, int64_t timeout_ms) { return ts_acquire_async(c->object, timeout_ms); }

static void poke(exit_case *c) { assert_exit(c, pdk_hold_release(g_steal_pointer(&c->ahead[0])) == PDK_OK); }

static void unref(void *lock) { pdk_lock_unref(lock); }

/* The record, what the holder ahead has, and the broken pledge that was there before; or that of a session that has ended. */
static void check_children(exit_case *c, int64_t until_ms) {
    const int theirs = (c->ahead[0] != NULL) + (c->at->setting == IN_THE_DELAY); /* pledges */
    const int others = 1 + theirs + (c->ahead[0] != NULL);

    for (;;) {
        g_auto(GStrv) names = ts_children(server(), c->path, NULL);
        int count = 0, pledges = 0;
        for (char **name = names; names && *name; name++) {
            count++;
            pledges += g_str_has_prefix(*name, "pledge-");
        }
        if (count == others || (c->failure == EXIT_SILENT_LONG && count == others + 1 && pledges == theirs + 1)) {
            return;
        }
        assert_exit(c, ts_now_ms() < until_ms);
        ts_sleep_ms(10);
    }
}

static void check_clean(exit_case *c, int64_t until_ms) {
    g_autofree char *broken = broken_of(c);
    pdk_hold *hold = NULL;

    check_children(c, until_ms);
    assert_exit(c, c->ahead[0] == NULL || pdk_hold_release(c->ahead[0]) == PDK_OK);
    assert_exit(c, c->at->setting != IN_THE_DELAY || ts_delete(server(), broken) == 0);
    assert_exit(c, pdk_lock_acquire(lock_on(c, c->client), 5000, &hold) == PDK_OK);
    assert_exit(c, pdk_hold_release(hold) == PDK_OK);
    assert_exit(c, ts_wait_children(server(), c->path, 1, EXITS_CLEAN_MS));
}

static const exit_recipe recipe = {set_up, claim, poke, unref, check_clean};

START_TEST(every_exit_from_every_state) {
    for (size_t i = 2 * (size_t)_i; i < STATES && i < 2 * (size_t)_i + 2; i++) {
        for (int failure = 0; failure < EXIT_FAILURES; failure++) {
            exits_add(&states[i], (enum exit_failure)failure);
        }
    }
    exits_run(&recipe);
}
END_TEST

/* The session has ended when the link is up again. Its nodes went with it, and all that follows uses a new session. */
START_TEST(every_exit_into_a_dead_session) {
    for (size_t i = (size_t)_i; i < STATES; i += 2) {
        exits_add(&states[i], EXIT_SILENT_LONG);
    }
    exits_run(&recipe);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("lock_delay_exits");
    TCase *tcase = ts_bench_case(suite, "lock_delay_exits");

    tcase_add_checked_fixture(tcase, NULL, exits_clear);
    tcase_add_loop_test(tcase, every_exit_from_every_state, 0, (STATES + 1) / 2);
    tcase_add_loop_test(tcase, every_exit_into_a_dead_session, 0, 2);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
