/* However a claim of any stripe ends, it leaves nothing in `any` and in the stripes: see exits.h. */
#include "exits.h"

#include <glib.h>

#include "stripes.h"
#include "ts_check.h"
#include "ts_support.h"

/* FREE: all stripes. TAKEN: the holder has both. COMES_NEXT: so it has, and its own claim of any stripe stands in front. `poke` gives a
 * stripe back, or ends that claim. */
enum setting { FREE, NO_NUMBER, TAKEN, COMES_NEXT };
enum { STRIPES = 2 };

#define LOST(op) .opcode = (op), .loss = TS_LOSE_REQUEST
#define UNKNOWN(op) .opcode = (op), .loss = TS_LOSE_REPLY
#define AFTER_POKE(what) .after_poke = true, .behind = true, .setting = (what)

static const exit_state states[] = {
    {"number asked for", LOST(TS_OP_GET_DATA)},
    {"number read, unknown to us", UNKNOWN(TS_OP_GET_DATA)},
    {"number lost", LOST(TS_OP_CREATE), .setting = NO_NUMBER},
    {"number written, unknown to us", UNKNOWN(TS_OP_CREATE), .setting = NO_NUMBER},
    {"place lost", LOST(TS_OP_CREATE2)},
    {"placed, unknown to us", UNKNOWN(TS_OP_CREATE2)},
    {"in front, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN)},
    {"in a stripe, lost", LOST(TS_OP_CREATE2), AFTER_POKE(COMES_NEXT)},
    {"in a stripe, unknown to us", UNKNOWN(TS_OP_CREATE2), AFTER_POKE(COMES_NEXT)},
    {"recovery in a stripe: list unanswered", UNKNOWN(TS_OP_CREATE2), .second = TS_OP_GET_CHILDREN,
     AFTER_POKE(COMES_NEXT)},
    {"waiting for its turn", .behind = true, .setting = COMES_NEXT},
    {"waiting in the stripes", .behind = true, .setting = TAKEN},
    {"a stripe is free, asking", LOST(TS_OP_GET_CHILDREN), AFTER_POKE(TAKEN)},
    {"a stripe is ours, unknown to us", UNKNOWN(TS_OP_GET_CHILDREN), AFTER_POKE(TAKEN)},
    {"granted, not delivered", .granted = true},
};

enum { STATES = G_N_ELEMENTS(states) };

static const char *server(void) { return ts_bench_server(); }

static pdk_striped *on(const exit_case *c, const ts_client *client) {
    pdk_striped *striped = NULL;
    assert_exit(c, pdk_striped_new(client->session, c->path, STRIPES, NULL, &striped) == PDK_OK);
    return striped;
}

static void unref(void *striped) { pdk_striped_unref(striped); }

/* The holder's claim that stands in front. */
static GHashTable *in_front;

static void set_up(exit_case *c, ts_client *holder) {
    pdk_striped *theirs = on(c, holder);

    assert_exit(c, c->at->setting == NO_NUMBER || ts_create(server(), c->path, "2", TS_PERSISTENT, NULL) == 0);
    c->object = on(c, c->client);
    for (int i = 0; i < STRIPES && c->at->behind; i++) {
        assert_exit(c, pdk_striped_acquire_any(theirs, 5000, &c->ahead[i]) == PDK_OK);
        pdk_hold_detach_thread(c->ahead[i]);
    }
    if (c->at->setting == COMES_NEXT) {
        g_autofree char *front = g_strconcat(c->path, "/any", NULL);
        ts_paddock_keep(pdk_striped_ref(theirs), unref); /* its last unref would end the claim */
        g_hash_table_insert(in_front, c, any_async(theirs, 120000));
        assert_exit(c, ts_wait_children(server(), front, 1, ts_patience(5000)));
    }
    pdk_striped_unref(theirs);
}

static ts_answer *claim(exit_case *c, int64_t timeout_ms) { return any_async(c->object, timeout_ms); }

/* True: it was there. */
static bool leave_front(const exit_case *c) {
    ts_answer *answer = g_hash_table_lookup(in_front, c);
    if (answer && g_hash_table_remove(in_front, c)) {
        assert_exit(c, pdk_claim_cancel(ts_answer_claim(answer)) == PDK_OK);
        return true;
    }
    return false;
}

static void poke(exit_case *c) {
    if (c->at->setting == COMES_NEXT) {
        leave_front(c);
    } else {
        assert_exit(c, pdk_hold_release(g_steal_pointer(&c->ahead[0])) == PDK_OK);
    }
}

static int standing(const exit_case *c) {
    int count = 0;
    for (int i = 0; i < STRIPES; i++) {
        count += stripes_queued(c->path, i);
    }
    return count;
}

/* All stripes, one after the other. False: a hold was lost meanwhile. After a silence the first is granted, rightly, with T/16 of the
 * lease left, and a busy machine may be slower than that with the others. */
static bool take_all(const exit_case *c, pdk_striped *striped) {
    pdk_hold *holds[STRIPES];
    bool kept = true;

    for (int i = 0; i < STRIPES; i++) {
        assert_exit(c, pdk_striped_acquire_any(striped, 5000, &holds[i]) == PDK_OK);
    }
    for (int i = 0; i < STRIPES; i++) {
        pdk_hold *hold = pdk_hold_ref(holds[i]);
        const pdk_status released = pdk_hold_release(holds[i]);
        assert_exit(c, released == PDK_OK || (released == PDK_LOST && pdk_hold_reason(hold) == PDK_REASON_LEASE));
        pdk_hold_unref(hold);
        kept = kept && released == PDK_OK;
    }
    return kept;
}

/* Nothing is left but the holds of others. The same session gets each stripe after these are released. */
static void check_clean(exit_case *c, int64_t until_ms) {
    g_autofree char *front = g_strconcat(c->path, "/any", NULL);
    const int held = (c->ahead[0] != NULL) + (c->ahead[1] != NULL);
    pdk_striped *striped = on(c, c->client);

    if (leave_front(c)) {
        until_ms = MAX(until_ms, ts_now_ms() + EXITS_CLEAN_MS); /* its node goes only now */
    }
    while (standing(c) != held || ts_child_count(server(), front) > 0) {
        assert_exit(c, ts_now_ms() < until_ms);
        ts_sleep_ms(10);
    }
    for (int i = 0; i < STRIPES; i++) {
        assert_exit(c, c->ahead[i] == NULL || pdk_hold_release(c->ahead[i]) == PDK_OK);
    }
    for (const int64_t end = ts_now_ms() + ts_patience(5000); !take_all(c, striped);) {
        assert_exit(c, ts_now_ms() < end);
    }
    pdk_striped_unref(striped);
}

static const exit_recipe recipe = {set_up, claim, poke, unref, check_clean};

static void begin(void) { in_front = g_hash_table_new(NULL, NULL); }

static void end(void) {
    exits_clear();
    g_hash_table_destroy(in_front);
}

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
    Suite *suite = suite_create("striped_exits");
    TCase *tcase = ts_bench_case(suite, "striped_exits");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_loop_test(tcase, every_exit_from_every_state, 0, (STATES + 1) / 2);
    tcase_add_loop_test(tcase, every_exit_into_a_dead_session, 0, 2);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
