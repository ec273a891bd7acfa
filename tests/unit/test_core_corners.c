/* Corners of the core that the other unit tests do not come to. With them the unit tests alone take every branch of src/core:
 * `./run coverage`. */
#include "contender_bench.h"
#include "core/lease.h"
#include "core/names.h"
#include "core/view.h"

#include <stdio.h>

/* The create was refused, and then the list is too long as well: the caller hears of the create. */
START_TEST(the_first_failure_is_the_one_reported) {
    setup();
    enter();
    ck_assert_int_eq(answer(PDK__CREATED, PDK__NOT_ALLOWED), PDK__DO_NOTHING);
    ck_assert_int_eq(c.failure, PDK_NO_PERMISSION);
    ck_assert_int_eq(list_beyond_limits(), PDK__DO_NOTHING);
    ck_assert_int_eq(c.failure, PDK_NO_PERMISSION);
    ck_assert_int_eq(c.phase, PDK__GONE);
}
END_TEST

START_TEST(next_is_who_was_listed_and_stays) {
    setup();
    get_in();
    ck_assert(!pdk__contender_is_next(&c)); /* no list has shown it yet */
    ck_assert_int_eq(list(OWN, NULL, false), PDK__DO_NOTHING);
    ck_assert(pdk__contender_is_next(&c));
    ck_assert_int_eq(tell(PDK__LEAVE), PDK__DO_DELETE);
    ck_assert(!pdk__contender_is_next(&c));
}
END_TEST

START_TEST(a_fresh_lease_is_no_news_behind_somebody) {
    setup();
    wait_in_queue();
    ck_assert_int_eq(tell(PDK__FRESH), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__IN);
}
END_TEST

START_TEST(a_directory_that_was_made_is_entered) {
    setup();
    enter();
    answer(PDK__CREATED, PDK__NO_NODE);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NO_NODE), PDK__DO_MKDIR);
    ck_assert_int_eq(answer(PDK__MADE_DIR, PDK__OK), PDK__DO_ENTER);
}
END_TEST

/* The server asked for a moment, and then the connection was lost: the moment passes all the same. */
START_TEST(a_pause_needs_no_connection) {
    setup();
    get_in();
    tell(PDK__LINK_DOWN);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NOT_NOW), PDK__DO_PAUSE);
    ck_assert_int_eq(tell(PDK__PAUSED), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_LIST);
}
END_TEST

/* More samples than there is room for: the oldest go. The lease is never longer than with all of them. */
START_TEST(old_samples_make_room) {
    const int64_t T = 16000 * PDK__MS, step = T / 64, margin = T / 16 + 50 * PDK__MS;
    const int64_t delay = T / 4 + T / 64 + 50 * PDK__MS;
    struct pdk__lease l;
    pdk__lease_init(&l, 0, 1);
    pdk__lease_begin(&l, 0);
    pdk__lease_negotiated(&l, T);
    for (int64_t i = 1; i <= 3 * PDK__LEASE_SAMPLES; i++) {
        pdk__lease_answered(&l, i * step, i * step, true);
        /* The write before this one, and the newest answer before the delay, not at it. */
        int64_t heard = ((i - 1) * step - delay - 1) / step * step;
        ck_assert_int_eq(l.end, (heard > 0 ? heard : 0) + T - margin);
        ck_assert_int_eq(l.samples, i < PDK__LEASE_SAMPLES ? i : PDK__LEASE_SAMPLES);
    }
}
END_TEST

/* Reports take so long that a sample is forgotten before it counts: only the birth is left. */
START_TEST(forgotten_samples_prove_nothing) {
    const int64_t T = 16000 * PDK__MS, step = T / 64, margin = T / 16 + 50 * PDK__MS;
    struct pdk__lease l;
    pdk__lease_init(&l, 2 * T, 2 * PDK__LEASE_SAMPLES / 64);
    pdk__lease_begin(&l, 7);
    pdk__lease_negotiated(&l, T);
    for (int64_t i = 1; i <= 6 * PDK__LEASE_SAMPLES; i++)
        pdk__lease_answered(&l, i * step, i * step, true);
    ck_assert_int_eq(l.end, 7 + T - margin);
}
END_TEST

/* "%010d" has one spelling for each number. */
START_TEST(a_sequence_has_one_spelling) {
    static const char *const foreign[] = {"lock--0000000001",      "lock--0999999999",     "lock--000000000",
                                          "lock--0000000000",      "a__lock__-0000000001", "a__rlock__-000000000",
                                          "_c_a-latch--0999999999"};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        struct pdk__name name = {PDK__WRITER, 77};
        ck_assert_msg(!pdk__name_parse(foreign[i], &name), "\"%s\" was accepted", foreign[i]);
        ck_assert_int_eq(name.kind, PDK__FOREIGN);
        ck_assert_int_eq(name.sequence, 0);
    }
}
END_TEST

/* 36 characters without a dash: a kazoo mark has room for 32, and still ends in its token. */
START_TEST(a_mark_has_room_for_32_digits) {
    char mark[PDK__MARK_SIZE];
    pdk__mark_make(PDK__KAZOO, PDK__LABEL_LOCK, "0123456789abcdef0123456789abcdefFFFF", mark);
    ck_assert_str_eq(mark, "0123456789abcdef0123456789abcdef__lock__");
    pdk__mark_make(PDK__KAZOO, PDK__LABEL_LOCK, "", mark);
    ck_assert_str_eq(mark, "__lock__");
}
END_TEST

/* A contender without a valid own name has nobody ahead, and is not listed: never a reason to grant. */
START_TEST(an_own_name_that_is_no_contenders_is_not_in_the_queue) {
    const char *names[] = {"a-lock-0000000001", "own", MARK "0000000002"};
    struct pdk__view view;
    pdk__view_make(&view, names, 3, &(struct pdk__viewer){MARK, "own", "", {pdk__blocks_always, 0}});
    ck_assert(!view.listed);
    ck_assert_int_eq(view.ahead, 0);
    ck_assert_str_eq(view.blocker, "");
    ck_assert_str_eq(view.marked, MARK "0000000002");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("core_corners");
    TCase *cases = tcase_create("core_corners");
    tcase_add_test(cases, the_first_failure_is_the_one_reported);
    tcase_add_test(cases, next_is_who_was_listed_and_stays);
    tcase_add_test(cases, a_fresh_lease_is_no_news_behind_somebody);
    tcase_add_test(cases, a_directory_that_was_made_is_entered);
    tcase_add_test(cases, a_pause_needs_no_connection);
    tcase_add_test(cases, old_samples_make_room);
    tcase_add_test(cases, forgotten_samples_prove_nothing);
    tcase_add_test(cases, a_sequence_has_one_spelling);
    tcase_add_test(cases, a_mark_has_room_for_32_digits);
    tcase_add_test(cases, an_own_name_that_is_no_contenders_is_not_in_the_queue);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
