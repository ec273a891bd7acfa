/* Majorities in simulated time: three processes have a session to each of five ensembles, and two callers each, who take three of five
 * locks while links are cut and slow, nodes are deleted, requests are refused and processes are paused.
 *
 * The judge looks every 5 ms, from outside: no two wholes are valid at one moment, none is valid after it was not, and a whole is valid
 * exactly while three of its parts are. The parts are taken again. After the faults everybody who waits for ever is served, and
 * nothing is left. */
#include "ensembles_bench.h"

#include <stdio.h>
#include <string.h>

enum { NEED = 3, WORKERS = 2, STEP_MS = 5 };

struct member;

struct worker {
    struct member *member;
    pdk_set *set;
    pdk_set_claim *claim;
    bool asking, cancelled;
    int64_t asked_at, limit; /* ns; 0: it waits for ever */
    int64_t invalid_since;   /* 0: it was valid when the judge last looked */
    int64_t tokens[ENSEMBLES];
    unsigned losses;
};

static struct member {
    struct place *place;
    struct worker workers[WORKERS];
    int blocked[ENSEMBLES]; /* steps */
    int paused;             /* steps */
} members[RIVALS];

static unsigned again_ever, lost_ever;
static unsigned granted, refused, busy, lost, again, went_on;

static bool one_in(int times) { return g_rand_int_range(dice, 0, times) == 0; }

/* ---- in its process */

static void on_lost(pdk_set *set, pdk_reason reason, void *user) {
    struct worker *w = user;
    ck_assert_ptr_eq(set, w->set);
    ck_assert(!pdk_set_is_valid(set));
    ck_assert_int_ne(reason, PDK_REASON_NONE);
    ck_assert_uint_eq(++w->losses, 1);
    lost++;
}

static void on_answer(pdk_status status, pdk_set *set, void *user) {
    struct worker *w = user;
    ck_assert(w->asking);
    w->asking = false;
    pdk_set_claim_unref(g_steal_pointer(&w->claim));
    ck_assert_int_eq(set != NULL, status == PDK_OK);
    ck_assert(status != PDK_TIMEOUT || w->limit);
    ck_assert(!w->cancelled || status == PDK_CANCELED);
    if (!set) {
        refused++;
        busy += status == PDK_BUSY;
        return;
    }
    granted++;
    w->set = set;
    w->losses = 0;
    w->invalid_since = 0;
    ck_assert(pdk_set_is_valid(set));
    ck_assert_int_eq(pdk_set_count(set), ENSEMBLES);
    for (int i = 0; i < ENSEMBLES; i++)
        w->tokens[i] = pdk_hold_token(pdk_set_part(set, i));
    ck_assert_int_eq(pdk_set_on_lost(set, on_lost, w, NULL), PDK_OK);
}

/* Named in any order. */
static void ask_in(void *subject, void *what) {
    struct worker *w = subject;
    pdk_right rights[ENSEMBLES];
    pdk_set_options options = PDK_SET_OPTIONS_INIT;
    (void)what;
    for (int i = 0; i < ENSEMBLES; i++)
        rights[i] = pdk_right_lock(w->member->place->lock[i]);
    for (int i = 0; i < ENSEMBLES; i++) {
        int other = g_rand_int_range(dice, i, ENSEMBLES);
        pdk_right kept = rights[i];
        rights[i] = rights[other];
        rights[other] = kept;
    }
    options.need = NEED;
    int64_t ms = one_in(4) ? 0 : one_in(4) ? 1500 : PDK_FOREVER;
    w->limit = ms == PDK_FOREVER ? 0 : (ms == 0 ? 5000 : ms) * SIM_MS; /* a try has request_timeout_ms */
    w->asked_at = agenda.now;
    w->cancelled = false;
    w->asking = true;
    ck_assert_int_eq(pdk_set_acquire_async(rights, ENSEMBLES, ms, &options, on_answer, w, &w->claim), PDK_OK);
}

static void cancel_in(void *subject, void *what) {
    struct worker *w = subject;
    (void)what;
    w->cancelled = pdk_set_claim_cancel(w->claim) == PDK_OK;
}

static void release_in(void *subject, void *what) {
    struct worker *w = subject;
    pdk_set *set = g_steal_pointer(&w->set);
    (void)what;
    bool valid = pdk_set_is_valid(set);
    ck_assert_int_eq(pdk_set_release(set), valid ? PDK_OK : PDK_LOST);
}

static int parts_of(struct worker *w) {
    int held = 0;
    for (int i = 0; i < ENSEMBLES; i++) {
        const pdk_hold *part = pdk_set_part(w->set, i);
        held += pdk_hold_is_valid(part);
        again += w->tokens[i] > 0 && pdk_hold_token(part) > w->tokens[i];
        w->tokens[i] = pdk_hold_token(part);
    }
    return held;
}

static void judge_in(void *subject, void *what) {
    struct member *m = subject;
    int *valid = what;
    for (int k = 0; k < WORKERS; k++) {
        struct worker *w = &m->workers[k];
        if (!w->set)
            continue;
        int held = parts_of(w);
        bool is_valid = pdk_set_is_valid(w->set);
        ck_assert_int_eq(is_valid, held >= NEED && w->invalid_since == 0);
        ck_assert(is_valid || pdk_set_remaining_ms(w->set) == 0);
        *valid += is_valid;
        went_on += is_valid && held < ENSEMBLES;
        if (!is_valid && w->invalid_since == 0)
            w->invalid_since = agenda.now;
        ck_assert(is_valid || held == 0 || agenda.now < w->invalid_since + SECOND / 2); /* what is left is released */
        ck_assert(is_valid || w->losses == 1 || agenda.now < w->invalid_since + SECOND / 2); /* it is told */
    }
}

/* ---- a run */

static void judge(void) {
    int valid = 0;
    for (int i = 0; i < RIVALS; i++)
        if (members[i].paused == 0)
            sim_call_in(&members[i].place->process, judge_in, &members[i], &valid);
    ck_assert_int_le(valid, 1);
}

static void pass(void) {
    ensembles_pass(STEP_MS * SIM_MS);
    judge();
}

static void do_something(struct worker *w, bool goes_on) {
    struct sim_process *process = &w->member->place->process;
    if (w->member->paused > 0)
        return;
    if (w->set && one_in(w->invalid_since ? 200 : 300)) /* it takes its time after a loss */
        sim_call_in(process, release_in, w, NULL);
    else if (w->asking && one_in(goes_on ? 400 : 1000000))
        sim_call_in(process, cancel_in, w, NULL);
    else if (goes_on && !w->set && !w->asking && one_in(8))
        sim_call_in(process, ask_in, w, NULL);
}

static void everybody_does_something(bool goes_on) {
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++)
            do_something(&members[i].workers[k], goes_on);
}

/* The holder believes for a moment longer, so nobody judges meanwhile: the word of it takes less than 20 ms. */
static void delete_one(int ensemble) {
    if (ensembles_delete_one(ensemble))
        ensembles_pass(20 * SIM_MS);
}

static void set_pause(struct member *m, int steps) {
    m->paused = steps;
    sim_process_pause(&m->place->process, steps > 0);
}

static void something_goes_wrong(bool pauses) {
    int ensemble = g_rand_int_range(dice, 0, ENSEMBLES);
    bool cut_off = false; /* a node whose owner is cut off is not deleted: it would believe for long */
    for (int i = 0; i < RIVALS; i++)
        cut_off = cut_off || members[i].blocked[ensemble] > 0 || members[i].paused > 0;
    if (one_in(100) && !cut_off)
        delete_one(ensemble);
    if (one_in(60))
        nets[ensemble].latency_most = one_in(3) ? 200 * SIM_MS : SIM_MS;
    for (int i = 0; i < RIVALS; i++) {
        struct member *m = &members[i];
        for (int k = 0; k < ENSEMBLES; k++)
            if (m->blocked[k] == 0 && one_in(800)) {
                m->blocked[k] = g_rand_int_range(dice, 10, 900);
                ensembles_block(m->place, k, true);
            } else if (m->blocked[k] > 0 && --m->blocked[k] == 0) {
                ensembles_block(m->place, k, false);
            }
        if (m->paused > 0 && --m->paused == 0)
            set_pause(m, 0);
        else if (m->paused == 0 && pauses && one_in(1000))
            set_pause(m, g_rand_int_range(dice, 10, 900));
    }
}

static bool somebody_is_busy(void) {
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++)
            if (members[i].workers[k].set || members[i].workers[k].asking)
                return true;
    return false;
}

static void begin(guint seed) {
    granted = refused = busy = lost = again = went_on = 0;
    memset(members, 0, sizeof members);
    ensembles_begin(seed);
    for (int i = 0; i < RIVALS; i++) {
        members[i].place = &places[i];
        for (int k = 0; k < WORKERS; k++)
            members[i].workers[k].member = &members[i];
    }
}

/* Everybody is served, and nothing is left. */
static void come_to_rest(void) {
    for (int i = 0; i < RIVALS; i++) {
        set_pause(&members[i], 0);
        for (int k = 0; k < ENSEMBLES; k++)
            ensembles_block(members[i].place, k, false);
    }
    for (int64_t until = agenda.now + 60 * SECOND; somebody_is_busy();) {
        ck_assert_msg(agenda.now < until, "somebody waits for ever");
        everybody_does_something(false);
        pass();
    }
    for (int64_t until = agenda.now + 10 * SECOND; ensembles_nodes() > 0; pass())
        ck_assert_msg(agenda.now < until, "a node is left");
}

static void run(guint seed, bool faults) {
    begin(seed);
    for (int i = 0; i < 90000 / STEP_MS; i++) {
        everybody_does_something(true);
        if (faults)
            something_goes_wrong(seed % 2 == 0);
        pass();
    }
    come_to_rest();
    printf("seed %u: granted %u, refused %u, busy %u, lost %u, taken again %u, looks at fewer than five %u\n", seed,
           granted, refused, busy, lost, again, went_on);
    ck_assert_uint_gt(granted, 10);
    ck_assert_uint_gt(refused, 10);
    ck_assert_uint_gt(busy, 5);
    ck_assert(faults ? went_on > 0 : lost == 0 && again == 0);
    again_ever += again;
    lost_ever += lost;
    ensembles_end();
}

START_TEST(in_any_order) { run((guint)_i + 1, false); }
END_TEST

START_TEST(while_everything_fails) { run((guint)_i + 100, true); }
END_TEST

START_TEST(the_runs_had_all_of_it) { ck_assert(again_ever > 20 && lost_ever > 20); }
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_majority");
    TCase *cases = tcase_create("driver_majority");
    tcase_add_loop_test(cases, in_any_order, 0, 2);
    tcase_add_loop_test(cases, while_everything_fails, 0, 12);
    tcase_add_test(cases, the_runs_had_all_of_it);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
