/* However a claim of a set ends while the link fails, it leaves nothing on any path: see exits.h. */
#include "exits.h"

#include <glib.h>

#include "set_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* Two locks below the path of the case; "a" is taken first. behind: somebody else has "b". */
enum setting { BOTH_THERE, SECOND_MISSING };

struct locks {
    pdk_lock *a, *b;
};

#define LOST(op) .opcode = (op), .loss = TS_LOSE_REQUEST
#define UNKNOWN(op) .opcode = (op), .loss = TS_LOSE_REPLY

static const exit_state states[] = {
    {"the first: queueing lost", LOST(TS_OP_CREATE2)},
    {"the first: queued, unknown to us", UNKNOWN(TS_OP_CREATE2)},
    {"the second: its directory requested", LOST(TS_OP_CREATE_CONTAINER), .setting = SECOND_MISSING},
    {"the second: its directory made, unknown to us", UNKNOWN(TS_OP_CREATE_CONTAINER), .setting = SECOND_MISSING},
    {"waiting for the second", .behind = true},
    {"the second: looking again, lost", LOST(TS_OP_GET_CHILDREN), .after_poke = true, .behind = true},
    {"the second: looked again, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN), .after_poke = true, .behind = true},
};

enum { STATES = G_N_ELEMENTS(states) };

static const char *server(void) { return ts_bench_server(); }
static char *below(const exit_case *c, const char *name) { return g_strconcat(c->path, name, NULL); }

static struct locks locks_at(const exit_case *c) {
    g_autofree char *a = below(c, "/a"), *b = below(c, "/b");
    struct locks locks = {NULL, NULL};
    assert_exit(c, pdk_lock_new(c->client->session, a, NULL, &locks.a) == PDK_OK);
    assert_exit(c, pdk_lock_new(c->client->session, b, NULL, &locks.b) == PDK_OK);
    return locks;
}

static void set_up(exit_case *c, ts_client *holder) {
    g_autofree char *a = below(c, "/a"), *b = below(c, "/b");
    assert_exit(c, ts_create(server(), a, "", TS_PERSISTENT, NULL) == 0);
    assert_exit(c, c->at->setting == SECOND_MISSING || ts_create(server(), b, "", TS_PERSISTENT, NULL) == 0);
    c->object = g_new(struct locks, 1);
    *(struct locks *)c->object = locks_at(c);
    if (c->at->behind)
        c->ahead[0] = ts_bench_acquire(ts_lock(holder, b), 5000);
}

static ts_answer *claim(exit_case *c, int64_t timeout_ms) {
    const struct locks *locks = c->object;
    g_autofree char *b = below(c, "/b");
    ts_answer *answer = set_async(set_of(pdk_right_lock(locks->b), pdk_right_lock(locks->a)), timeout_ms);
    if (c->at->behind)
        set_children(b, 2); /* the first is held by now */
    return answer;
}

/* The node ahead changes, and the claim looks again. */
static void poke(exit_case *c) { assert_exit(c, pdk_hold_release(g_steal_pointer(&c->ahead[0])) == PDK_OK); }

static void unref(void *object) {
    struct locks *locks = object;
    pdk_lock_unref(locks->a);
    pdk_lock_unref(locks->b);
    g_free(locks);
}

/* Nothing is left but the hold of the other one. The same session gets both when that is released. */
static void check_clean(exit_case *c, int64_t until_ms) {
    g_autofree char *a = below(c, "/a"), *b = below(c, "/b");
    pdk_set *held = NULL;
    assert_exit(c, ts_wait_children(server(), a, 0, MAX(until_ms - ts_now_ms(), 1)));
    assert_exit(c, ts_wait_children(server(), b, c->ahead[0] != NULL, MAX(until_ms - ts_now_ms(), 1)));
    assert_exit(c, c->ahead[0] == NULL || pdk_hold_release(c->ahead[0]) == PDK_OK);
    struct locks locks = locks_at(c);
    const pdk_right both[] = {pdk_right_lock(locks.a), pdk_right_lock(locks.b)};
    assert_exit(c, pdk_set_acquire(both, 2, 5000, NULL, &held) == PDK_OK);
    assert_exit(c, pdk_set_release(held) == PDK_OK);
    set_children(a, 0);
    set_children(b, 0);
    pdk_lock_unref(locks.a);
    pdk_lock_unref(locks.b);
}

static const exit_recipe recipe = {set_up, claim, poke, unref, check_clean};

START_TEST(every_exit_from_every_state) {
    for (size_t i = 2 * (size_t)_i; i < STATES && i < 2 * (size_t)_i + 2; i++)
        for (int failure = 0; failure < EXIT_FAILURES; failure++)
            exits_add(&states[i], (enum exit_failure)failure);
    exits_run(&recipe);
}
END_TEST

/* The session has ended when the link is up again. */
START_TEST(every_exit_into_a_dead_session) {
    for (size_t i = 0; i < STATES; i++)
        exits_add(&states[i], EXIT_SILENT_LONG);
    exits_run(&recipe);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("set_faults");
    TCase *tcase = ts_bench_case(suite, "set_faults");
    tcase_add_checked_fixture(tcase, NULL, exits_clear);
    tcase_add_loop_test(tcase, every_exit_from_every_state, 0, (STATES + 1) / 2);
    tcase_add_test(tcase, every_exit_into_a_dead_session);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
