/* However a read or a write ends, it leaves nothing: see exits.h. */
#include "exits.h"

#include <glib.h>

#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

#define LOST(op) .opcode = (op), .loss = TS_LOSE_REQUEST
#define UNKNOWN(op) .opcode = (op), .loss = TS_LOSE_REPLY

static const exit_state states[] = {
    /* states of a claim, for reads and writes */
    {"create lost", LOST(TS_OP_CREATE2)},
    {"created, unknown to us", UNKNOWN(TS_OP_CREATE2)},
    {"list lost", LOST(TS_OP_GET_CHILDREN)},
    {"listed, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN)},
    {"recovery: barrier unanswered", UNKNOWN(TS_OP_CREATE2), .second = TS_OP_MULTI},
    {"recovery: list unanswered", UNKNOWN(TS_OP_CREATE2), .second = TS_OP_GET_CHILDREN},
    {"recovery: owner unanswered", UNKNOWN(TS_OP_CREATE2), .second = TS_OP_EXISTS},
    {"watch lost", LOST(TS_OP_GET_DATA), .behind = true},
    {"watched, unknown to us", UNKNOWN(TS_OP_GET_DATA), .behind = true},
    {"waiting", .behind = true},
    {"granted, not delivered", .granted = true},
};

enum { STATES = G_N_ELEMENTS(states) };

static const char *server(void) { return ts_bench_server(); }

enum setting { READS, WRITES };

static exit_state both[2][STATES]; /* each state, for reads and for writes */

static void make_both(void) {
    for (int setting = READS; setting <= WRITES; setting++) {
        for (int i = 0; i < STATES; i++) {
            both[setting][i] = states[i];
            both[setting][i].setting = setting;
        }
    }
}

/* A reader waits for a writer, a writer for two readers. */
static void set_up(exit_case *c, ts_client *holder) {
    pdk_rwlock *lock = NULL, *theirs = ts_rwlock(holder, c->path);

    assert_exit(c, ts_create(server(), c->path, "", TS_PERSISTENT, NULL) == 0);
    assert_exit(c, pdk_rwlock_new(c->client->session, c->path, NULL, &lock) == PDK_OK);
    c->object = lock;
    if (c->at->behind && c->at->setting == READS) {
        c->ahead[0] = ts_bench_write(theirs, 5000);
    } else if (c->at->behind) {
        c->ahead[0] = ts_bench_read(theirs, 5000);
        c->ahead[1] = ts_bench_read(ts_rwlock(holder, c->path), 5000);
    }
}

static ts_answer *claim(exit_case *c, int64_t timeout_ms) {
    return (c->at->setting == READS ? ts_read_async : ts_write_async)(c->object, timeout_ms);
}

static void unref(void *lock) { pdk_rwlock_unref(lock); }

static void check_clean(exit_case *c, int64_t until_ms) {
    const int held = (c->ahead[0] != NULL) + (c->ahead[1] != NULL);
    pdk_rwlock *lock = ts_rwlock(c->client, c->path);
    pdk_hold *hold = NULL;

    assert_exit(c, ts_wait_children(server(), c->path, held, MAX(until_ms - ts_now_ms(), 1)));
    for (int i = 0; i < 2; i++) {
        assert_exit(c, c->ahead[i] == NULL || pdk_hold_release(c->ahead[i]) == PDK_OK);
    }
    assert_exit(c, pdk_rwlock_acquire_read(lock, 5000, &hold) == PDK_OK);
    assert_exit(c, pdk_hold_release(hold) == PDK_OK);
    assert_exit(c, pdk_rwlock_acquire_write(lock, 5000, &hold) == PDK_OK);
    assert_exit(c, pdk_hold_release(hold) == PDK_OK);
    assert_exit(c, ts_wait_children(server(), c->path, 0, EXITS_CLEAN_MS));
}

static const exit_recipe recipe = {set_up, claim, NULL, unref, check_clean};

/* Two states at a time. Reads meet every failure, writes one of them each, since only the rule differs. */
START_TEST(every_exit_from_every_state) {
    for (int i = 2 * _i; i < MIN(2 * _i + 2, STATES); i++) {
        for (int failure = 0; failure < EXIT_FAILURES; failure++) {
            exits_add(&both[READS][i], (enum exit_failure)failure);
        }
        exits_add(&both[WRITES][i], (enum exit_failure)(i % EXIT_FAILURES));
    }
    exits_run(&recipe);
}
END_TEST

/* The session has ended when the link is up again: half of the states for reads, half for writes. */
START_TEST(every_exit_into_a_dead_session) {
    for (int i = _i; i < STATES; i += 2) {
        exits_add(&both[i % 4 < 2 ? READS : WRITES][i], EXIT_SILENT_LONG);
    }
    exits_run(&recipe);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock_exits");
    TCase *tcase = ts_bench_case(suite, "rwlock_exits");

    tcase_add_checked_fixture(tcase, make_both, exits_clear);
    tcase_add_loop_test(tcase, every_exit_from_every_state, 0, (STATES + 1) / 2);
    tcase_add_loop_test(tcase, every_exit_into_a_dead_session, 0, 2);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
