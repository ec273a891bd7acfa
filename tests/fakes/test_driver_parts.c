/* The parts of a majority in simulated time, with nobody else: they are completed, taken again and again, and what was replaced is freed,
 * but for what its owner has seen. */
#include "ensembles_bench.h"
#include "grant/parts.h"

#include <string.h>

static struct {
    pdk_hold *hold;
    pdk_status status;
    unsigned answers, losses;
    const pdk_hold *seen;
    int64_t token;
} it;

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    it.losses++;
}

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    it.status = status;
    it.hold = hold;
    it.answers++;
    if (hold)
        ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, NULL, NULL), PDK_OK);
}

static void ask_in(void *subject, void *what) {
    const struct place *p = subject;
    pdk_right rights[ENSEMBLES];
    pdk_all_options options = PDK_ALL_OPTIONS_INIT;
    (void)what;
    options.need = 3;
    for (int i = 0; i < ENSEMBLES; i++)
        rights[i] = pdk_right_lock(p->lock[i]);
    ck_assert_int_eq(pdk_acquire_all_async(rights, ENSEMBLES, PDK_FOREVER, &options, on_answer, NULL, NULL), PDK_OK);
}

static int held(void) {
    int count = 0;
    for (guint i = 0; i < ENSEMBLES; i++)
        count += pdk_hold_valid(atomic_load(&it.hold->parts->part[i].hold)); /* not shown */
    return count;
}

static void expect_all_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    ck_assert(pdk_hold_valid(it.hold));
    ck_assert_int_eq(held(), ENSEMBLES);
}

static void see_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    it.seen = pdk_hold_part(it.hold, 2);
    it.token = pdk_hold_token(it.seen);
}

static void expect_few_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    for (guint i = 0; i < ENSEMBLES; i++)
        ck_assert_uint_le(g_slist_length(it.hold->parts->part[i].before), i == 2 ? 1 : 0);
    ck_assert(!pdk_hold_valid(it.seen));
    ck_assert_int_eq(pdk_hold_token(it.seen), it.token);
    ck_assert_int_gt(pdk_hold_token(pdk_hold_part(it.hold, 2)), it.token);
}

static void release_in(void *subject, void *what) {
    (void)subject;
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), *(const pdk_status *)what);
}

static void begin(void) {
    memset(&it, 0, sizeof it);
    ensembles_begin(1);
}

START_TEST(taken_again_and_again) {
    pdk_status ok = PDK_OK;
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
    sim_call_in(process, release_in, NULL, &ok);
    ensembles_pass(SECOND);
    ck_assert_uint_eq(ensembles_nodes(), 0);
    ck_assert_uint_eq(it.losses, 0);
    ensembles_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_parts");
    TCase *cases = tcase_create("driver_parts");
    tcase_add_test(cases, taken_again_and_again);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
