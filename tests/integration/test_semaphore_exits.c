/* However a claim of the semaphore ends, it leaves nothing in the queue and among the leases: see exits.h. */
#include "exits.h"

#include <glib.h>

#include "permits.h"
#include "ts_check.h"
#include "ts_support.h"

enum { PERMITS = 3, COUNT = 2 };

/* FREE: enough permits for the claim. Otherwise two are taken. after_poke: `poke` gives one of them back, or only makes
 * the claim look again. */
enum setting { FREE, NO_LEASES, NO_NUMBER, LOOKS_AGAIN, TAKES };

#define LOST(op) .opcode = (op), .loss = TS_LOSE_REQUEST
#define UNKNOWN(op) .opcode = (op), .loss = TS_LOSE_REPLY
#define AFTER_POKE(what) .after_poke = true, .behind = true, .setting = (what)

static const exit_state states[] = {
    {"queueing lost", LOST(TS_OP_CREATE2)},
    {"queued, unknown to us", UNKNOWN(TS_OP_CREATE2)},
    {"directory of leases requested", LOST(TS_OP_CREATE_CONTAINER), .in_queue = true, .setting = NO_LEASES},
    {"directory of leases made, unknown to us", UNKNOWN(TS_OP_CREATE_CONTAINER), .in_queue = true,
     .setting = NO_LEASES},
    {"number asked for", LOST(TS_OP_GET_DATA), .in_queue = true},
    {"number known, unknown to us", UNKNOWN(TS_OP_GET_DATA), .in_queue = true},
    {"number lost", LOST(TS_OP_SET_DATA), .in_queue = true, .setting = NO_NUMBER},
    {"number written, unknown to us", UNKNOWN(TS_OP_SET_DATA), .in_queue = true, .setting = NO_NUMBER},
    {"looking again, lost", LOST(TS_OP_GET_CHILDREN), AFTER_POKE(LOOKS_AGAIN)},
    {"looked again, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN), AFTER_POKE(LOOKS_AGAIN)},
    {"waiting for permits", .behind = true, .setting = LOOKS_AGAIN},
    {"taking, lost", LOST(TS_OP_CREATE2), AFTER_POKE(TAKES)},
    {"taken, unknown to us", UNKNOWN(TS_OP_CREATE2), AFTER_POKE(TAKES)},
    {"recovery: barrier unanswered", UNKNOWN(TS_OP_CREATE2), .second = TS_OP_MULTI, AFTER_POKE(TAKES)},
    {"recovery: list unanswered", UNKNOWN(TS_OP_CREATE2), .second = TS_OP_GET_CHILDREN, AFTER_POKE(TAKES)},
    {"recovery: owner unanswered", UNKNOWN(TS_OP_CREATE2), .second = TS_OP_EXISTS, AFTER_POKE(TAKES)},
    {"granted, not delivered", .granted = true},
};

enum { STATES = G_N_ELEMENTS(states) };

static const char *server(void) { return ts_bench_server(); }

static void set_up(exit_case *c, ts_client *holder) {
    g_autofree char *locks = g_strconcat(c->path, "/locks", NULL), *leases = permits_leases(c->path);
    const char *number = c->at->setting == NO_NUMBER ? "" : "3";
    pdk_semaphore *semaphore = NULL;

    assert_exit(c, ts_create(server(), locks, "", TS_PERSISTENT, NULL) == 0);
    assert_exit(c, c->at->setting == NO_LEASES || ts_create(server(), leases, number, TS_PERSISTENT, NULL) == 0);
    assert_exit(c, pdk_semaphore_new(c->client->session, c->path, PERMITS, NULL, &semaphore) == PDK_OK);
    c->object = semaphore;
    for (int i = 0; i < 2 && c->at->behind; i++) {
        c->ahead[i] = permits_take(permits_at(holder, c->path, PERMITS), 1);
    }
}

static ts_answer *claim(exit_case *c, int64_t timeout_ms) { return permits_async(c->object, COUNT, timeout_ms); }

static void poke(exit_case *c) {
    g_autofree char *foreign = g_strconcat(c->path, "/leases/zzz", NULL);

    if (c->at->setting == TAKES) {
        assert_exit(c, pdk_hold_release(g_steal_pointer(&c->ahead[0])) == PDK_OK);
    } else {
        assert_exit(c, ts_create(server(), foreign, "", TS_PERSISTENT, NULL) == 0);
        assert_exit(c, ts_delete(server(), foreign) == 0);
    }
}

static void unref(void *semaphore) { pdk_semaphore_unref(semaphore); }

/* Nothing is left but the permits of others. The same session gets them all after these are released. */
static void check_clean(exit_case *c, int64_t until_ms) {
    g_autofree char *locks = g_strconcat(c->path, "/locks", NULL), *leases = permits_leases(c->path);
    const int held = (c->ahead[0] != NULL) + (c->ahead[1] != NULL);
    pdk_hold *hold = NULL;

    assert_exit(c, ts_wait_children(server(), locks, 0, MAX(until_ms - ts_now_ms(), 1)));
    assert_exit(c, ts_wait_children(server(), leases, held, MAX(until_ms - ts_now_ms(), 1)));
    for (int i = 0; i < 2; i++) {
        assert_exit(c, c->ahead[i] == NULL || pdk_hold_release(c->ahead[i]) == PDK_OK);
    }
    assert_exit(c, pdk_semaphore_acquire(permits_at(c->client, c->path, PERMITS), PERMITS, 5000, &hold) == PDK_OK);
    assert_exit(c, permits_taken(c->path) == PERMITS);
    assert_exit(c, pdk_hold_release(hold) == PDK_OK);
    permits_assert_none(c->path);
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
    Suite *suite = suite_create("semaphore_exits");
    TCase *tcase = ts_bench_case(suite, "semaphore_exits");

    tcase_add_checked_fixture(tcase, NULL, exits_clear);
    tcase_add_loop_test(tcase, every_exit_from_every_state, 0, (STATES + 1) / 2);
    tcase_add_loop_test(tcase, every_exit_into_a_dead_session, 0, 2);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
