/* However a claim ends, of each recipe, it leaves nothing: see exits.h. Here are the states in which a claim can be when its link
 * fails. */
#include "exits.h"

#include <glib.h>

#include "ts_check.h"
#include "ts_support.h"

#define LOST(op) .opcode = (op), .loss = TS_LOSE_REQUEST
#define UNKNOWN(op) .opcode = (op), .loss = TS_LOSE_REPLY
#define RECOVERY(op) UNKNOWN(TS_OP_CREATE2), .second = (op)
#define BEHIND .behind = true
#define POKED .after_poke = true, .behind = true
#define ROW(which, name, prepares, ...) {&recipes[which], name, G_N_ELEMENTS(name), prepares, __VA_ARGS__}

static void make_node(exit_case *c, const char *below, const char *data) {
    g_autofree char *path = g_strconcat(c->p.path, below, NULL);
    assert_exit(c, ts_create(ts_bench_server(), path, data, TS_PERSISTENT, NULL) == 0);
}

static void delete_node(exit_case *c, const char *below) {
    g_autofree char *path = g_strconcat(c->p.path, below, NULL);
    assert_exit(c, ts_delete(ts_bench_server(), path) == 0);
}

/* ---- locks, and the sides of read/write locks */

enum { DIRECTORY, NO_DIRECTORY };

static const exit_state of_locks[] = {
    {"directory requested", LOST(TS_OP_CREATE_CONTAINER), .setting = NO_DIRECTORY},
    {"directory made, unknown to us", UNKNOWN(TS_OP_CREATE_CONTAINER), .setting = NO_DIRECTORY},
    {"create lost", LOST(TS_OP_CREATE2)},
    {"created, unknown to us", UNKNOWN(TS_OP_CREATE2)},
    {"list lost", LOST(TS_OP_GET_CHILDREN)},
    {"listed, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN)},
    {"recovery: barrier unanswered", RECOVERY(TS_OP_MULTI)},
    {"recovery: list unanswered", RECOVERY(TS_OP_GET_CHILDREN)},
    {"recovery: owner unanswered", RECOVERY(TS_OP_EXISTS)},
    {"watch lost", LOST(TS_OP_GET_DATA), BEHIND},
    {"watched, unknown to us", UNKNOWN(TS_OP_GET_DATA), BEHIND},
    {"waiting", BEHIND},
    {"granted, not delivered", .granted = true},
};

static void prepare_directory(exit_case *c) {
    if (c->at->setting == DIRECTORY)
        make_node(c, "", "");
}

/* ---- locks with a lock-delay */

enum { SHORT_DELAY, WHOLE_DELAY };
#define BROKEN_PLEDGE "/pledge-_c_01234567-89ab-8def-0123-456789abcdef-0000000099"

static const exit_state of_delays[] = {
    {"created, unknown to us", UNKNOWN(TS_OP_CREATE2)},
    {"listed, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN)},
    {"record asked for", LOST(TS_OP_GET_DATA), .in_queue = true},
    {"record read, unknown to us", UNKNOWN(TS_OP_GET_DATA), .in_queue = true},
    {"pledge lost", LOST(TS_OP_CREATE), .in_queue = true},
    {"pledged, unknown to us", UNKNOWN(TS_OP_CREATE), .in_queue = true},
    {"pledge ahead lost", LOST(TS_OP_CREATE), POKED},
    {"pledged ahead, unknown to us", UNKNOWN(TS_OP_CREATE), POKED},
    {"list after the one ahead, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN), POKED},
    {"waiting", BEHIND},
    {"granted, not delivered", .granted = true},
};

static void prepare_record(exit_case *c) {
    make_node(c, "", "");
    make_node(c, "/delay", "100");
}

/* A whole delay is not over in time: so the recipe has another object. */
static const exit_state of_whole_delays[] = {
    {"waiting for the delay", BEHIND, .alone = true, .foreign = 1},
};

static void *make_whole(const ts_client *client, const char *path) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_lock *lock = NULL;
    options.lock_delay_ms = 60000;
    ck_assert_int_eq(pdk_lock_new(client->session, path, &options, &lock), PDK_OK);
    return lock;
}

static void prepare_broken_pledge(exit_case *c) {
    make_node(c, "", "");
    make_node(c, "/delay", "60000");
    make_node(c, BROKEN_PLEDGE, "");
}

static void delete_broken_pledge(exit_case *c) { delete_node(c, BROKEN_PLEDGE); }

/* ---- semaphores */

enum { ALL_THERE, NO_LEASES, NO_NUMBER };

static const exit_state of_permits[] = {
    {"queueing lost", LOST(TS_OP_CREATE2)},
    {"queued, unknown to us", UNKNOWN(TS_OP_CREATE2)},
    {"directory of leases requested", LOST(TS_OP_CREATE_CONTAINER), .in_queue = true, .setting = NO_LEASES},
    {"directory of leases made, unknown to us", UNKNOWN(TS_OP_CREATE_CONTAINER), .in_queue = true,
     .setting = NO_LEASES},
    {"number asked for", LOST(TS_OP_GET_DATA), .in_queue = true},
    {"number known, unknown to us", UNKNOWN(TS_OP_GET_DATA), .in_queue = true},
    {"number lost", LOST(TS_OP_SET_DATA), .in_queue = true, .setting = NO_NUMBER},
    {"number written, unknown to us", UNKNOWN(TS_OP_SET_DATA), .in_queue = true, .setting = NO_NUMBER},
    {"looking again, lost", LOST(TS_OP_GET_CHILDREN), POKED, .look_again = true},
    {"looked again, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN), POKED, .look_again = true},
    {"waiting for permits", BEHIND},
    {"taking, lost", LOST(TS_OP_CREATE2), POKED},
    {"taken, unknown to us", UNKNOWN(TS_OP_CREATE2), POKED},
    {"recovery: barrier unanswered", RECOVERY(TS_OP_MULTI), POKED},
    {"recovery: list unanswered", RECOVERY(TS_OP_GET_CHILDREN), POKED},
    {"recovery: owner unanswered", RECOVERY(TS_OP_EXISTS), POKED},
    {"granted, not delivered", .granted = true},
};

static void prepare_permits(exit_case *c) {
    make_node(c, "/locks", "");
    if (c->at->setting != NO_LEASES)
        make_node(c, "/leases", c->at->setting == NO_NUMBER ? "" : "3");
}

/* So the claim looks again. */
static void touch_leases(exit_case *c) {
    make_node(c, "/leases/zzz", "");
    delete_node(c, "/leases/zzz");
}

/* ---- any stripe */

enum { NUMBER, NO_STRIPES };

static const exit_state of_stripes[] = {
    {"number asked for", LOST(TS_OP_GET_DATA)},
    {"number read, unknown to us", UNKNOWN(TS_OP_GET_DATA)},
    {"number lost", LOST(TS_OP_CREATE), .setting = NO_STRIPES},
    {"number written, unknown to us", UNKNOWN(TS_OP_CREATE), .setting = NO_STRIPES},
    {"place lost", LOST(TS_OP_CREATE2)},
    {"placed, unknown to us", UNKNOWN(TS_OP_CREATE2)},
    {"in front, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN)},
    {"in a stripe, lost", LOST(TS_OP_CREATE2), POKED, .in_front = true},
    {"in a stripe, unknown to us", UNKNOWN(TS_OP_CREATE2), POKED, .in_front = true},
    {"recovery in a stripe: list unanswered", RECOVERY(TS_OP_GET_CHILDREN), POKED, .in_front = true},
    {"waiting for its turn", BEHIND, .in_front = true},
    {"waiting in the stripes", BEHIND},
    {"watching in a stripe, lost", LOST(TS_OP_GET_DATA), POKED, .in_front = true},
    {"watched in a stripe, unknown to us", UNKNOWN(TS_OP_GET_DATA), POKED, .in_front = true},
    {"granted, not delivered", .granted = true},
};

static void prepare_stripes(exit_case *c) {
    if (c->at->setting == NUMBER)
        make_node(c, "", "2");
}

/* ---- sets: a lock at /a, a reader at /b, permits at /c, in this order */

enum { THERE, SECOND_MISSING };

static const exit_state of_sets[] = {
    {"the first: queueing lost", LOST(TS_OP_CREATE2)},
    {"the first: queued, unknown to us", UNKNOWN(TS_OP_CREATE2)},
    {"the second: its directory requested", LOST(TS_OP_CREATE_CONTAINER), .setting = SECOND_MISSING},
    {"the second: its directory made, unknown to us", UNKNOWN(TS_OP_CREATE_CONTAINER), .setting = SECOND_MISSING},
    {"waiting for the last", BEHIND},
    {"the last: looking again, lost", LOST(TS_OP_GET_CHILDREN), POKED},
    {"the last: looked again, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN), POKED},
};

static void prepare_set(exit_case *c) {
    make_node(c, "/a", "");
    if (c->at->setting == THERE)
        make_node(c, "/b", "");
    make_node(c, "/c/locks", "");
    make_node(c, "/c/leases", "3");
}

/* ---- the rows */

static recipe whole_delay;

static const exit_row rows[] = {
    ROW(RECIPE_LOCK, of_locks, prepare_directory, NULL, NULL),
    ROW(RECIPE_READ, of_locks, prepare_directory, NULL, NULL),
    ROW(RECIPE_WRITE, of_locks, prepare_directory, NULL, NULL),
    ROW(RECIPE_DELAYED, of_delays, prepare_record, NULL, NULL),
    {&whole_delay, of_whole_delays, G_N_ELEMENTS(of_whole_delays), prepare_broken_pledge, NULL, delete_broken_pledge},
    ROW(RECIPE_PERMITS, of_permits, prepare_permits, touch_leases, NULL),
    ROW(RECIPE_ANY, of_stripes, prepare_stripes, NULL, NULL),
    ROW(RECIPE_SET, of_sets, prepare_set, NULL, NULL),
};

enum { ROWS = G_N_ELEMENTS(rows), STEPS = 16 };

/* Two states at a time. */
START_TEST(every_exit_from_every_state) {
    const exit_row *row = &rows[_i / STEPS];
    for (int i = 2 * (_i % STEPS); i < MIN(2 * (_i % STEPS) + 2, row->count); i++)
        for (int failure = 0; failure < EXIT_FAILURES; failure++)
            exits_add(&row->states[i], (enum exit_failure)failure);
    exits_run(row);
}
END_TEST

/* The session has ended when the link is up again. Its nodes went with it, and all that follows uses a new session. */
START_TEST(every_exit_into_a_dead_session) {
    const exit_row *row = &rows[_i / STEPS];
    for (int i = _i % STEPS; i < row->count; i += 2)
        exits_add(&row->states[i], EXIT_SILENT_LONG);
    exits_run(row);
}
END_TEST

static void make_rows(void) {
    whole_delay = recipes[RECIPE_DELAYED];
    whole_delay.make = make_whole;
    whole_delay.against = &whole_delay;
}

static Suite *make_suite(void) {
    Suite *suite = suite_create("exits");
    make_rows();
    for (int i = 0; i < ROWS; i++) {
        TCase *tcase = ts_bench_case(suite, rows[i].r->name); /* of the delayed ones there are two */
        tcase_add_checked_fixture(tcase, NULL, exits_clear);
        tcase_add_loop_test(tcase, every_exit_from_every_state, i * STEPS, i * STEPS + (rows[i].count + 1) / 2);
        tcase_add_loop_test(tcase, every_exit_into_a_dead_session, i * STEPS, i * STEPS + MIN(rows[i].count, 2));
    }
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
