/* core/majority: which right comes next, and until when enough of them are held. */
#include "core/majority.h"
#include "ts_check.h"

#include <glib.h>
#include <stdlib.h>

#define MS INT64_C(1000000)

static struct pdk__majority it;

static void begin(uint32_t count, uint32_t need) { pdk__majority_init(&it, count, need, false); }

static void expect(enum pdk__majority_step step, uint32_t which) {
    uint32_t found = 99;
    ck_assert_int_eq(pdk__majority_next(&it, &found), step);
    if (step == PDK__MAJORITY_ASK)
        ck_assert_uint_eq(found, which);
}

static void ask_and(uint32_t which, enum pdk__taken taken) {
    expect(PDK__MAJORITY_ASK, which);
    expect(PDK__MAJORITY_WAIT, 0);
    pdk__majority_answered(&it, which, taken);
}

START_TEST(what_meets) {
    static const struct {
        uint32_t count, need;
        bool meets;
    } cases[] = {{1, 1, true},  {2, 1, false}, {2, 2, true},  {3, 1, false}, {3, 2, true},
                 {4, 2, false}, {4, 3, true},  {5, 2, false}, {5, 3, true},  {5, 6, false}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_int_eq(pdk__majority_meets(cases[i].count, cases[i].need), cases[i].meets);
}
END_TEST

START_TEST(in_order_until_there_are_enough) {
    begin(5, 3);
    ask_and(0, PDK__TAKEN_GRANTED);
    ask_and(1, PDK__TAKEN_GRANTED);
    ask_and(2, PDK__TAKEN_GRANTED);
    expect(PDK__MAJORITY_COMPLETE, 0);
}
END_TEST

START_TEST(who_does_not_answer_is_passed_over) {
    begin(5, 3);
    expect(PDK__MAJORITY_ASK, 0);
    pdk__majority_pass(&it, 0);
    ask_and(1, PDK__TAKEN_GRANTED);
    ask_and(2, PDK__TAKEN_REFUSED);
    ask_and(3, PDK__TAKEN_GRANTED);
    expect(PDK__MAJORITY_ASK, 4);
    pdk__majority_pass(&it, 4);
    expect(PDK__MAJORITY_ANEW, 0);
    pdk__majority_anew(&it);
    expect(PDK__MAJORITY_WAIT, 0);
    pdk__majority_resume(&it, true);
    ask_and(0, PDK__TAKEN_GRANTED);
    ask_and(1, PDK__TAKEN_GRANTED);
    ask_and(3, PDK__TAKEN_GRANTED); /* not the one that was refused */
    expect(PDK__MAJORITY_COMPLETE, 0);
}
END_TEST

/* As soon as it can have too few it gives back what it has. */
START_TEST(a_round_falls_short_early) {
    begin(5, 4);
    expect(PDK__MAJORITY_ASK, 0);
    pdk__majority_pass(&it, 0);
    ask_and(1, PDK__TAKEN_GRANTED);
    expect(PDK__MAJORITY_ASK, 2);
    pdk__majority_lost(&it, 1);
    expect(PDK__MAJORITY_ANEW, 0);
}
END_TEST

START_TEST(too_many_are_refused) {
    begin(3, 2);
    ask_and(0, PDK__TAKEN_REFUSED);
    ask_and(1, PDK__TAKEN_GRANTED);
    ask_and(2, PDK__TAKEN_REFUSED);
    expect(PDK__MAJORITY_FAIL, 0);
}
END_TEST

START_TEST(all_are_needed) {
    begin(2, 2);
    ask_and(0, PDK__TAKEN_GRANTED);
    expect(PDK__MAJORITY_ASK, 1);
    pdk__majority_lost(&it, 0);
    expect(PDK__MAJORITY_ANEW, 0);
    pdk__majority_anew(&it); /* at once */
    ask_and(0, PDK__TAKEN_GRANTED);
    ask_and(1, PDK__TAKEN_REFUSED);
    expect(PDK__MAJORITY_FAIL, 0);
}
END_TEST

START_TEST(the_deadline) {
    begin(3, 2);
    ask_and(0, PDK__TAKEN_LATE);
    expect(PDK__MAJORITY_FAIL, 0);
    begin(3, 2);
    expect(PDK__MAJORITY_ASK, 0);
    pdk__majority_pass(&it, 0);
    expect(PDK__MAJORITY_ASK, 1);
    pdk__majority_pass(&it, 1);
    expect(PDK__MAJORITY_ANEW, 0);
    pdk__majority_anew(&it);
    pdk__majority_resume(&it, false);
    expect(PDK__MAJORITY_FAIL, 0);
}
END_TEST

START_TEST(tries) {
    pdk__majority_init(&it, 3, 2, true);
    ask_and(0, PDK__TAKEN_BUSY);
    ask_and(1, PDK__TAKEN_GRANTED);
    ask_and(2, PDK__TAKEN_BUSY);
    expect(PDK__MAJORITY_FAIL, 0);
    pdk__majority_init(&it, 2, 2, true);
    ask_and(0, PDK__TAKEN_GRANTED);
    expect(PDK__MAJORITY_ASK, 1);
    pdk__majority_lost(&it, 0);
    expect(PDK__MAJORITY_ANEW, 0); /* nobody was ahead */
}
END_TEST

static void try_and(uint32_t which, enum pdk__taken taken) {
    uint32_t found = 99;
    ck_assert_int_eq(pdk__majority_next(&it, &found), PDK__MAJORITY_TRY);
    ck_assert_uint_eq(found, which);
    expect(PDK__MAJORITY_WAIT, 0);
    pdk__majority_answered(&it, which, taken);
}

static void expect_back(uint32_t waits_for) {
    expect(PDK__MAJORITY_BACK, 0);
    ck_assert_uint_eq(it.waits_for, waits_for);
    pdk__majority_looked(&it);
}

/* The first never comes free. */
START_TEST(looking_around) {
    begin(5, 3);
    pdk__majority_look_around(&it); /* from nowhere */
    expect(PDK__MAJORITY_ASK, 0);
    pdk__majority_look_around(&it);
    pdk__majority_look_around(&it); /* it does so already */
    try_and(1, PDK__TAKEN_GRANTED);
    try_and(2, PDK__TAKEN_BUSY);
    try_and(3, PDK__TAKEN_GRANTED);
    try_and(4, PDK__TAKEN_GRANTED);
    expect(PDK__MAJORITY_COMPLETE, 0);
    ck_assert_uint_eq(it.looks, 1);
}
END_TEST

START_TEST(looking_around_for_nothing) {
    begin(5, 3);
    ask_and(0, PDK__TAKEN_GRANTED);
    expect(PDK__MAJORITY_ASK, 1);
    pdk__majority_look_around(&it);
    try_and(2, PDK__TAKEN_GRANTED);
    try_and(3, PDK__TAKEN_BUSY);
    try_and(4, PDK__TAKEN_BUSY);
    expect_back(1);
    expect(PDK__MAJORITY_WAIT, 0); /* it waits on */
    pdk__majority_look_around(&it);
    try_and(2, PDK__TAKEN_BUSY);
    try_and(3, PDK__TAKEN_BUSY); /* too few are left */
    expect_back(1);
    pdk__majority_answered(&it, 1, PDK__TAKEN_GRANTED);
    ask_and(2, PDK__TAKEN_GRANTED);
    expect(PDK__MAJORITY_COMPLETE, 0);
}
END_TEST

/* What it waited for is granted, or silent: what it got behind is given back, and it goes on in the order. */
START_TEST(looking_around_is_over) {
    uint32_t which;
    begin(5, 3);
    expect(PDK__MAJORITY_ASK, 0);
    pdk__majority_look_around(&it);
    try_and(1, PDK__TAKEN_BUSY);
    try_and(2, PDK__TAKEN_GRANTED);
    ck_assert_int_eq(pdk__majority_next(&it, &which), PDK__MAJORITY_TRY);
    pdk__majority_answered(&it, 0, PDK__TAKEN_GRANTED);
    expect_back(0);
    expect(PDK__MAJORITY_ASK, 1);
    pdk__majority_look_around(&it);
    try_and(2, PDK__TAKEN_GRANTED);
    pdk__majority_pass(&it, 1);
    expect(PDK__MAJORITY_BACK, 0); /* it is not held in the order */
}
END_TEST

/* They are tried again with each look, and not waited for. */
START_TEST(looking_around_while_some_are_silent) {
    begin(5, 3);
    expect(PDK__MAJORITY_ASK, 0);
    pdk__majority_pass(&it, 0);
    expect(PDK__MAJORITY_ASK, 1);
    pdk__majority_look_around(&it);
    try_and(0, PDK__TAKEN_GRANTED);
    ck_assert(pdk__majority_holds(&it, 0) && !pdk__majority_holds(&it, 1) && pdk__majority_claims(&it, 1));
    pdk__majority_lost(&it, 0);
    try_and(2, PDK__TAKEN_GRANTED);
    try_and(3, PDK__TAKEN_REFUSED);
    expect_back(1);
    expect(PDK__MAJORITY_WAIT, 0);
    pdk__majority_look_around(&it);
    try_and(0, PDK__TAKEN_BUSY);
    expect_back(1);
    pdk__majority_answered(&it, 1, PDK__TAKEN_GRANTED);
    expect(PDK__MAJORITY_ASK, 2); /* the first is behind it in the order of this round */
    pdk__majority_tire(&it);
    expect(PDK__MAJORITY_ANEW, 0);
    pdk__majority_anew(&it);
    pdk__majority_resume(&it, true);
    ask_and(0, PDK__TAKEN_GRANTED);
    ask_and(1, PDK__TAKEN_GRANTED);
    ask_and(2, PDK__TAKEN_GRANTED);
    expect(PDK__MAJORITY_COMPLETE, 0);
}
END_TEST

START_TEST(glances) {
    begin(3, 2);
    ck_assert_int_eq(pdk__majority_glance(&it, 0), 250 * MS);
    ck_assert_int_eq(pdk__majority_glance(&it, (uint64_t)(250 * MS) - 1), 500 * MS - 1);
    for (int times = 0; times < 40; times++) {
        expect(times ? PDK__MAJORITY_WAIT : PDK__MAJORITY_ASK, 0);
        pdk__majority_look_around(&it);
        try_and(1, PDK__TAKEN_BUSY);
        expect_back(0);
        ck_assert_int_eq(pdk__majority_glance(&it, 0), 500 * MS);
        ck_assert_int_eq(pdk__majority_glance(&it, (uint64_t)(500 * MS) - 1), 1000 * MS - 1);
    }
}
END_TEST

START_TEST(pauses) {
    int64_t most = 20 * MS;
    begin(3, 2);
    for (int round = 1; round < 40; round++) {
        pdk__majority_anew(&it);
        for (uint64_t random = 0; random < 1000; random++) {
            int64_t pause = pdk__majority_pause(&it, random * UINT64_C(0x9e3779b97f4a7c15));
            ck_assert_int_ge(pause, most / 2);
            ck_assert_int_lt(pause, most);
        }
        ck_assert_int_eq(pdk__majority_pause(&it, 0), most / 2);
        ck_assert_int_eq(pdk__majority_pause(&it, (uint64_t)most / 2 - 1), most - 1);
        most = MIN(2 * most, 2000 * MS);
    }
}
END_TEST

START_TEST(limits) {
    int64_t most = 1000 * MS;
    begin(3, 2);
    ck_assert_int_eq(pdk__majority_limit(&it, 7), INT64_MAX);
    for (int round = 1; round < 40; round++) {
        ask_and(0, PDK__TAKEN_GRANTED);
        ck_assert_int_eq(pdk__majority_limit(&it, 0), most / 2);
        ck_assert_int_eq(pdk__majority_limit(&it, (uint64_t)most / 2 - 1), most - 1);
        expect(PDK__MAJORITY_ASK, 1);
        pdk__majority_tire(&it);
        expect(PDK__MAJORITY_ANEW, 0);
        pdk__majority_anew(&it);
        pdk__majority_resume(&it, true);
        ck_assert_int_eq(pdk__majority_limit(&it, 7), INT64_MAX);
        most = MIN(2 * most, 64000 * MS);
    }
}
END_TEST

START_TEST(patience) {
    ck_assert(!pdk__majority_impatient(100, 50, 149));
    ck_assert(pdk__majority_impatient(100, 50, 150));
}
END_TEST

static int falling(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

START_TEST(the_need_th_largest) {
    g_autoptr(GRand) dice = g_rand_new_with_seed(1);
    for (int times = 0; times < 20000; times++) {
        int64_t moments[PDK__MAJORITY_MOST], sorted[PDK__MAJORITY_MOST];
        uint32_t count = (uint32_t)g_rand_int_range(dice, 1, times % 10 ? 8 : PDK__MAJORITY_MOST + 1);
        uint32_t need = (uint32_t)g_rand_int_range(dice, 1, (int)count + 1);
        for (uint32_t i = 0; i < count; i++)
            moments[i] = sorted[i] = g_rand_int_range(dice, -1, 10);
        qsort(sorted, count, sizeof sorted[0], falling);
        ck_assert_int_eq(pdk__majority_until(moments, count, need), sorted[need - 1]);
    }
}
END_TEST

int main(void) {
    return ts_run("majority", NULL, NULL, what_meets, in_order_until_there_are_enough,
                  who_does_not_answer_is_passed_over, a_round_falls_short_early, too_many_are_refused, all_are_needed,
                  the_deadline, tries, looking_around, looking_around_for_nothing, looking_around_is_over,
                  looking_around_while_some_are_silent, glances, pauses, limits, patience, the_need_th_largest, NULL);
}
