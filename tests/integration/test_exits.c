/* However a claim of the lock ends, it leaves nothing: see exits.h. */
#include "exits.h"

#include <glib.h>

#include "ts_check.h"
#include "ts_support.h"

enum setting { DIRECTORY, NO_DIRECTORY };

static const exit_state states[] = {
    {"directory requested", .opcode = TS_OP_CREATE_CONTAINER, .loss = TS_LOSE_REQUEST, .setting = NO_DIRECTORY},
    {"directory made, unknown to us", .opcode = TS_OP_CREATE_CONTAINER, .loss = TS_LOSE_REPLY, .setting = NO_DIRECTORY},
    {"create lost", .opcode = TS_OP_CREATE2, .loss = TS_LOSE_REQUEST},
    {"created, unknown to us", .opcode = TS_OP_CREATE2, .loss = TS_LOSE_REPLY},
    {"list lost", .opcode = TS_OP_GET_CHILDREN, .loss = TS_LOSE_REQUEST},
    {"listed, unknown to us", .opcode = TS_OP_GET_CHILDREN, .loss = TS_LOSE_REPLY},
    {"recovery: barrier unanswered", .opcode = TS_OP_CREATE2, .loss = TS_LOSE_REPLY, .second = TS_OP_MULTI},
    {"recovery: list unanswered", .opcode = TS_OP_CREATE2, .loss = TS_LOSE_REPLY, .second = TS_OP_GET_CHILDREN},
    {"recovery: owner unanswered", .opcode = TS_OP_CREATE2, .loss = TS_LOSE_REPLY, .second = TS_OP_EXISTS},
    {"watch lost", .opcode = TS_OP_GET_DATA, .loss = TS_LOSE_REQUEST, .behind = true},
    {"watched, unknown to us", .opcode = TS_OP_GET_DATA, .loss = TS_LOSE_REPLY, .behind = true},
    {"waiting", .behind = true},
    {"granted, not delivered", .granted = true},
};

enum { STATES = G_N_ELEMENTS(states) };

static const char *server(void) { return ts_bench_server(); }

static void set_up(exit_case *c, ts_client *holder) {
    pdk_lock *lock = NULL;

    assert_exit(c, c->at->setting == NO_DIRECTORY || ts_create(server(), c->path, "", TS_PERSISTENT, NULL) == 0);
    assert_exit(c, pdk_lock_new(c->client->session, c->path, NULL, &lock) == PDK_OK);
    c->object = lock;
    if (c->at->behind) {
        c->ahead[0] = ts_bench_acquire(ts_lock(holder, c->path), 5000);
    }
}

static ts_answer *claim(exit_case *c, int64_t timeout_ms) { return ts_acquire_async(c->object, timeout_ms); }

static void unref(void *lock) { pdk_lock_unref(lock); }

/* Nothing is left, and the same session gets the lock: at once, or after the holder ahead has released it. */
static void check_clean(exit_case *c, int64_t until_ms) {
    pdk_hold *hold = NULL;
    pdk_lock *lock = ts_lock(c->client, c->path);

    assert_exit(c, ts_wait_children(server(), c->path, c->ahead[0] != NULL, MAX(until_ms - ts_now_ms(), 1)));
    assert_exit(c, c->ahead[0] == NULL || pdk_hold_release(c->ahead[0]) == PDK_OK);
    assert_exit(c, pdk_lock_acquire(lock, 5000, &hold) == PDK_OK);
    assert_exit(c, pdk_hold_release(hold) == PDK_OK);
    assert_exit(c, ts_wait_children(server(), c->path, 0, EXITS_CLEAN_MS));
}

static const exit_recipe recipe = {set_up, claim, NULL, unref, check_clean};

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
    Suite *suite = suite_create("exits");
    TCase *tcase = ts_bench_case(suite, "exits");

    tcase_add_checked_fixture(tcase, NULL, exits_clear);
    tcase_add_loop_test(tcase, every_exit_from_every_state, 0, (STATES + 1) / 2);
    tcase_add_loop_test(tcase, every_exit_into_a_dead_session, 0, 2);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
