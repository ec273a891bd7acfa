/* The parts of a majority in simulated time, with nobody else: they are completed, taken again and again, and what was replaced is freed,
 * but for what its owner has seen. Ensembles that are silent are passed over in time, and those that are busy are not.
 * Claims that wait keep back nobody's answer. */
#include "ensembles_bench.h"
#include "set.h"

#include <string.h>

static struct {
    pdk_set *set;
    pdk_status status;
    unsigned answers, losses;
    const pdk_hold *seen;
    int64_t token;
} it;

static void on_lost(pdk_set *set, pdk_reason reason, void *user) {
    (void)set;
    (void)reason;
    (void)user;
    it.losses++;
}

static void on_answer(pdk_status status, pdk_set *set, void *user) {
    (void)user;
    it.status = status;
    it.set = set;
    it.answers++;
    if (set)
        ck_assert_int_eq(pdk_set_on_lost(set, on_lost, NULL, NULL), PDK_OK);
}

static void ask_in(void *subject, void *what) {
    const struct place *p = subject;
    pdk_right rights[ENSEMBLES];
    pdk_set_options options = PDK_SET_OPTIONS_INIT;
    (void)what;
    options.need = 3;
    for (int i = 0; i < ENSEMBLES; i++)
        rights[i] = pdk_right_lock(p->lock[i]);
    ck_assert_int_eq(pdk_set_acquire_async(rights, ENSEMBLES, PDK_FOREVER, &options, on_answer, NULL, NULL), PDK_OK);
}

static int held(void) {
    int count = 0;
    for (guint i = 0; i < ENSEMBLES; i++)
        count += pdk_hold_is_valid(atomic_load(&it.set->part[i].hold)); /* not shown */
    return count;
}

static void expect_all_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    ck_assert(pdk_set_is_valid(it.set));
    ck_assert_int_eq(held(), ENSEMBLES);
}

static void see_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    it.seen = pdk_set_part(it.set, 2);
    it.token = pdk_hold_token(it.seen);
}

static void expect_few_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    for (guint i = 0; i < ENSEMBLES; i++)
        ck_assert_uint_le(g_slist_length(it.set->part[i].before), i == 2 ? 1 : 0);
    ck_assert_ptr_nonnull(g_slist_find(it.set->part[2].before, it.seen)); /* before anybody reads it */
    ck_assert(!pdk_hold_is_valid(it.seen));
    ck_assert_int_eq(pdk_hold_token(it.seen), it.token);
    ck_assert_int_gt(pdk_hold_token(pdk_set_part(it.set, 2)), it.token);
}

static void release_in(void *subject, void *what) {
    (void)subject;
    ck_assert_int_eq(pdk_set_release(g_steal_pointer(&it.set)), *(const pdk_status *)what);
}

static void begin(void) {
    memset(&it, 0, sizeof it);
    ensembles_begin(1);
}

/* Nothing was lost, and nothing is left. */
static void release_unlost(void) {
    pdk_status ok = PDK_OK;
    sim_call_in(&places[0].process, release_in, NULL, &ok);
    ensembles_pass(SECOND);
    ck_assert_uint_eq(ensembles_nodes(), 0);
    ck_assert_uint_eq(it.losses, 0);
    ensembles_end();
}

START_TEST(taken_again_and_again) {
    struct sim_process *process = &places[0].process;
    begin();
    sim_call_in(process, ask_in, &places[0], NULL);
    ensembles_pass(SECOND / 10);
    ck_assert_int_eq(it.status, PDK_OK);
    ensembles_pass(SECOND / 10);
    sim_call_in(process, expect_all_in, NULL, NULL); /* in the background */
    sim_call_in(process, see_in, NULL, NULL);
    for (int times = 0; times < 200; times++) {
        ck_assert(ensembles_delete_one(times % ENSEMBLES));
        ensembles_pass(SECOND / 10);
        sim_call_in(process, expect_all_in, NULL, NULL);
    }
    sim_call_in(process, expect_few_in, NULL, NULL);
    release_unlost();
}
END_TEST

/* ---- a look at it */

static struct {
    const struct pdk__platform *real;
    struct pdk__platform stepped;
    int64_t begun;
    unsigned readings;
    pdk_hold *first, *second;
} clocks;

/* The first two of five are gone when it begins, and the lease of the third ends at the first reading. Then the third is renewed; the first
 * is taken again; and the third lapses at the second reading. */
static int64_t stepped_clock(void) {
    struct pdk__part *part = it.set->part;
    if (++clocks.readings == 1) {
        atomic_store(&atomic_load(&part[2].hold)->until, clocks.begun + SIM_MS);
        return clocks.begun;
    }
    if (clocks.readings == 2)
        atomic_store(&part[0].hold, clocks.first);
    return clocks.begun + 2 * SIM_MS;
}

static void set_clocks(const struct place *p, const struct pdk__platform *platform) {
    for (int i = 0; i < ENSEMBLES; i++)
        p->session[i]->platform = platform;
}

static void look_in(void *subject, void *what) {
    const struct place *p = subject;
    struct pdk__part *part = it.set->part;
    (void)what;
    clocks.real = p->session[0]->platform;
    clocks.stepped = *clocks.real;
    clocks.stepped.now = stepped_clock;
    clocks.begun = clocks.real->now();
    clocks.readings = 0;
    clocks.first = atomic_exchange(&part[0].hold, NULL);
    clocks.second = atomic_exchange(&part[1].hold, NULL);
    atomic_store(&atomic_load(&part[2].hold)->until, clocks.begun);
    set_clocks(p, &clocks.stepped);
    ck_assert(pdk_set_is_valid(it.set)); /* at each moment three of them were held */
    ck_assert_uint_ge(clocks.readings, 3);
    set_clocks(p, clocks.real);
    atomic_store(&part[1].hold, clocks.second);
    ck_assert_int_eq(held(), ENSEMBLES - 1);
}

/* What is lost at different moments is not added up. */
START_TEST(lost_one_after_the_other) {
    struct sim_process *process = &places[0].process;
    begin();
    sim_call_in(process, ask_in, &places[0], NULL);
    ensembles_pass(SECOND / 5);
    sim_call_in(process, expect_all_in, NULL, NULL);
    sim_call_in(process, look_in, &places[0], NULL);
    ensembles_pass(SECOND);
    sim_call_in(process, expect_all_in, NULL, NULL); /* the third is taken again */
    release_unlost();
}
END_TEST

/* ---- how it is taken */

static void ask(void) { sim_call_in(&places[0].process, ask_in, &places[0], NULL); }

static void expect_answers_within(int64_t ns) {
    for (int64_t until = agenda.now + ns; it.answers == 0 && agenda.now < until;)
        ensembles_pass(SECOND / 100);
    ck_assert_uint_eq(it.answers, 1);
    ck_assert_int_eq(it.status, PDK_OK);
}

static void block(int count, bool blocked) {
    for (int i = 0; i < count; i++)
        ensembles_block(&places[0], i, blocked);
}

static void finish(void) {
    pdk_status ok = PDK_OK;
    sim_call_in(&places[0].process, expect_all_in, NULL, NULL);
    sim_call_in(&places[0].process, release_in, NULL, &ok);
    ensembles_pass(SECOND);
    ck_assert_uint_eq(ensembles_nodes(), 0);
    ensembles_end();
}

/* It knows nothing of the silence before it asks: two patiences, of 250 ms each, and a little. */
START_TEST(the_silent_are_passed_over) {
    begin();
    block(2, true);
    ask();
    expect_answers_within(SECOND);
    ensembles_pass(5 * SECOND);
    block(2, false);
    ensembles_pass(5 * SECOND);
    finish();
}
END_TEST

/* Their sessions have had no lease for long, and are not given up yet. */
START_TEST(the_long_silent_cost_nothing) {
    begin();
    block(2, true);
    ensembles_pass(7 * SECOND);
    ask();
    expect_answers_within(SECOND / 10);
    block(2, false);
    ensembles_pass(5 * SECOND);
    finish();
}
END_TEST

START_TEST(too_many_are_silent) {
    begin();
    block(3, true);
    ask();
    ensembles_pass(10 * SECOND);
    ck_assert_uint_eq(it.answers, 0);
    block(3, false);
    expect_answers_within(6 * SECOND);
    ensembles_pass(5 * SECOND);
    finish();
}
END_TEST

static void give_up_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk_set_unref(g_steal_pointer(&it.set)); /* it may be lost by now */
}

/* They were silent when it asked before, and have spoken since. The sessions are so short that nobody who does not use one has a lease
 * all the time. */
START_TEST(a_silence_that_is_over_does_not_count) {
    memset(&it, 0, sizeof it);
    ensembles_timeout_ms = 500;
    ensembles_begin((guint)_i);
    block(ENSEMBLES, true);
    ask();
    ensembles_pass(10 * SECOND);
    ck_assert_uint_eq(it.answers, 0);
    block(ENSEMBLES, false);
    expect_answers_within(6 * SECOND);
    sim_call_in(&places[0].process, give_up_in, NULL, NULL);
    ensembles_pass(SECOND);
    ck_assert_uint_eq(ensembles_nodes(), 0);
    ensembles_end();
}
END_TEST

static pdk_hold *theirs[ENSEMBLES];

static void on_theirs(pdk_status status, pdk_hold *hold, void *user) {
    ck_assert_int_eq(status, PDK_OK);
    *(pdk_hold **)user = hold;
}

static void take_in(void *subject, void *what) {
    const struct place *p = subject;
    int i = *(const int *)what;
    ck_assert_int_eq(pdk_lock_acquire_async(p->lock[i], PDK_FOREVER, on_theirs, &theirs[i], NULL), PDK_OK);
}

static void release_theirs_in(void *subject, void *what) {
    (void)subject;
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&theirs[*(const int *)what])), PDK_OK);
}

/* A bit for each ensemble. */
static void take_theirs(unsigned which) {
    for (int i = 0; i < ENSEMBLES; i++)
        if (which >> i & 1)
            sim_call_in(&places[1].process, take_in, &places[1], &i);
    ensembles_pass(SECOND);
    for (int i = 0; i < ENSEMBLES; i++)
        ck_assert_int_eq(theirs[i] != NULL, which >> i & 1);
}

static void release_theirs(int i) { sim_call_in(&places[1].process, release_theirs_in, NULL, &i); }

/* Contention is no silence: it keeps its place in the queue. */
START_TEST(the_busy_are_waited_for) {
    begin();
    take_theirs(1 << 0 | 1 << 2 | 1 << 3);
    ask();
    ensembles_pass(60 * SECOND);
    ck_assert_uint_eq(it.answers, 0);
    ck_assert_uint_eq(ensembles_nodes_in(0, NULL), 2);
    for (int times = 0; times < 100 && ensembles_nodes() > 4;
         times++) /* what looking around had brought is given back */
        ensembles_pass(SECOND / 1000);
    ck_assert_uint_eq(ensembles_nodes(), 4);
    release_theirs(0); /* two are left that never come free */
    expect_answers_within(2 * SECOND);
    release_theirs(2);
    release_theirs(3);
    ensembles_pass(SECOND);
    finish();
}
END_TEST

/* Wherever the busy ones are: no more of them than can be done without. _i: a bit for each ensemble. */
START_TEST(no_lock_stops_it_that_never_comes_free) {
    if (__builtin_popcount((unsigned)_i) > 2)
        return;
    begin();
    take_theirs((unsigned)_i);
    ask();
    expect_answers_within(2 * SECOND);
    for (int i = 0; i < ENSEMBLES; i++)
        if (theirs[i])
            release_theirs(i);
    ensembles_pass(SECOND);
    finish();
}
END_TEST

/* It is granted with the others, and goes on waiting for the first; the release ends that, too. */
START_TEST(released_while_a_part_is_waited_for) {
    pdk_status ok = PDK_OK;
    begin();
    block(1, true);
    ask();
    expect_answers_within(SECOND);
    take_theirs(1);
    block(1, false);
    ensembles_pass(5 * SECOND);
    ck_assert_uint_eq(ensembles_nodes_in(0, NULL), 2);
    sim_call_in(&places[0].process, release_in, NULL, &ok);
    ensembles_pass(SECOND);
    ck_assert_uint_eq(ensembles_nodes(), 1);
    release_theirs(0);
    ensembles_pass(SECOND);
    ck_assert_uint_eq(ensembles_nodes(), 0);
    ensembles_end();
}
END_TEST

/* ---- many claims beside an answer that is due */

enum { CROWD = 40 };

static struct {
    pdk_set_claim *claims[CROWD];
    unsigned answers;
    pdk_status status; /* of the one that has a deadline */
    int64_t answered_at;
} crowd;

static void on_crowd_answer(pdk_status status, pdk_set *set, void *user) {
    (void)status;
    (void)user;
    pdk_set_unref(set);
    crowd.answers++;
}

static void on_due_answer(pdk_status status, pdk_set *set, void *user) {
    (void)user;
    ck_assert_ptr_null(set);
    crowd.status = status;
    crowd.answered_at = agenda.now;
}

/* From now on each callback takes that long. */
static void crowd_in(void *subject, void *what) {
    struct place *p = subject;
    pdk_right rights[ENSEMBLES];
    pdk_set_options options = PDK_SET_OPTIONS_INIT;
    options.need = 3;
    for (int i = 0; i < ENSEMBLES; i++)
        rights[i] = pdk_right_lock(p->lock[i]);
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(
            pdk_set_acquire_async(rights, ENSEMBLES, PDK_FOREVER, &options, on_crowd_answer, NULL, &crowd.claims[i]),
            PDK_OK);
    p->process.slow_least = p->process.slow_most = *(const int64_t *)what;
}

static void ask_one_in(void *subject, void *what) {
    const struct place *p = subject;
    pdk_right right = pdk_right_lock(p->lock[0]);
    ck_assert_int_eq(pdk_set_acquire_async(&right, 1, *(const int64_t *)what, NULL, on_due_answer, NULL, NULL), PDK_OK);
}

/* No claim has two steps in one outbox. */
static void expect_one_step_each_in(void *subject, void *what) {
    const struct place *p = subject;
    pdk_stats stats = PDK_STATS_INIT;
    (void)what;
    for (int i = 0; i < ENSEMBLES; i++) {
        ck_assert_int_eq(pdk_session_stats(p->session[i], &stats), PDK_OK);
        ck_assert_uint_le(stats.callbacks_queued, CROWD);
    }
}

static void disperse_in(void *subject, void *what) {
    (void)what;
    ((struct place *)subject)->process.slow_least = ((struct place *)subject)->process.slow_most = SIM_MS / 10;
    for (int i = 0; i < CROWD; i++) {
        pdk_set_claim_cancel(crowd.claims[i]);
        pdk_set_claim_unref(crowd.claims[i]);
    }
}

/* Each of them looks at its ensembles several times a second, and the callbacks take longer than that: an answer waits for a look of each
 * at most. */
START_TEST(claims_that_wait_keep_no_answer_back) {
    int64_t slow = 30 * SIM_MS, timeout_ms = 500;
    memset(&crowd, 0, sizeof crowd);
    begin();
    take_theirs((1 << ENSEMBLES) - 1);
    sim_call_in(&places[0].process, crowd_in, &places[0], &slow);
    ensembles_pass(5 * SECOND);
    sim_call_in(&places[0].process, expect_one_step_each_in, &places[0], NULL);
    int64_t begun = agenda.now;
    sim_call_in(&places[0].process, ask_one_in, &places[0], &timeout_ms);
    ensembles_pass(5 * SECOND);
    ck_assert_str_eq(pdk_status_name(crowd.status), "PDK_TIMEOUT");
    ck_assert_int_le(crowd.answered_at - begun, timeout_ms * SIM_MS + 2 * CROWD * slow);
    ck_assert_uint_eq(crowd.answers, 0);
    sim_call_in(&places[0].process, disperse_in, &places[0], NULL);
    for (int i = 0; i < ENSEMBLES; i++)
        release_theirs(i);
    ensembles_pass(SECOND);
    ck_assert_uint_eq(crowd.answers, CROWD);
    ck_assert_uint_eq(ensembles_nodes(), 0);
    ensembles_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_parts");
    TCase *cases = tcase_create("driver_parts");
    tcase_add_test(cases, taken_again_and_again);
    tcase_add_test(cases, lost_one_after_the_other);
    tcase_add_test(cases, the_silent_are_passed_over);
    tcase_add_test(cases, the_long_silent_cost_nothing);
    tcase_add_test(cases, too_many_are_silent);
    tcase_add_loop_test(cases, a_silence_that_is_over_does_not_count, 1, 21);
    tcase_add_test(cases, the_busy_are_waited_for);
    tcase_add_loop_test(cases, no_lock_stops_it_that_never_comes_free, 0, 1 << ENSEMBLES);
    tcase_add_test(cases, released_while_a_part_is_waited_for);
    tcase_add_test(cases, claims_that_wait_keep_no_answer_back);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
