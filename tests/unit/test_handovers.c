/* Hand-overs: bounded in count and in time, and only of a grant that is still valid. */
#include "core/handovers.h"
#include "ts_check.h"

static struct pdk__handovers bound;

static void setup(void) {
    pdk__handovers_init(&bound, 3, 1000);
    pdk__handovers_granted(&bound, 50);
}

START_TEST(nobody_waits) {
    ck_assert_int_eq(pdk__handovers_next(&bound, 60, false, true), PDK__HANDOVER_LEAVE);
    ck_assert_int_eq(pdk__handovers_next(&bound, 60, false, false), PDK__HANDOVER_LEAVE);
    ck_assert_uint_eq(bound.handovers, 0);
}
END_TEST

START_TEST(as_many_as_allowed_and_then_the_others) {
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pdk__handovers_next(&bound, 60, true, true), PDK__HANDOVER_HERE);
    ck_assert_int_eq(pdk__handovers_next(&bound, 60, true, true), PDK__HANDOVER_REJOIN);
    ck_assert_int_eq(pdk__handovers_next(&bound, 60, true, true), PDK__HANDOVER_REJOIN);
    pdk__handovers_granted(&bound, 70);
    ck_assert_int_eq(pdk__handovers_next(&bound, 70, true, true), PDK__HANDOVER_HERE);
}
END_TEST

START_TEST(as_long_as_allowed_and_then_the_others) {
    ck_assert_int_eq(pdk__handovers_next(&bound, 1049, true, true), PDK__HANDOVER_HERE);
    ck_assert_int_eq(pdk__handovers_next(&bound, 1050, true, true), PDK__HANDOVER_REJOIN);
    pdk__handovers_granted(&bound, 1050);
    ck_assert_int_eq(pdk__handovers_next(&bound, 1051, true, true), PDK__HANDOVER_HERE);
}
END_TEST

START_TEST(a_right_that_is_gone_is_not_handed_over) {
    ck_assert_int_eq(pdk__handovers_next(&bound, 60, true, false), PDK__HANDOVER_REJOIN);
    ck_assert_uint_eq(bound.handovers, 0);
}
END_TEST

START_TEST(none_at_all) {
    pdk__handovers_init(&bound, 0, 1000);
    pdk__handovers_granted(&bound, 0);
    ck_assert_int_eq(pdk__handovers_next(&bound, 0, true, true), PDK__HANDOVER_REJOIN);
    pdk__handovers_init(&bound, 10, 0);
    pdk__handovers_granted(&bound, 0);
    ck_assert_int_eq(pdk__handovers_next(&bound, 0, true, true), PDK__HANDOVER_REJOIN);
}
END_TEST

/* ---- a node that lingers */

START_TEST(nothing_lingers_unless_it_is_asked_for) { ck_assert_int_eq(pdk__handovers_linger(&bound, 60, true), 0); }
END_TEST

START_TEST(it_lingers_for_so_long) {
    bound.max_linger = 100;
    ck_assert_int_eq(pdk__handovers_linger(&bound, 60, true), 160);
    ck_assert_int_eq(pdk__handovers_linger(&bound, 60, false), 0);
    ck_assert_uint_eq(bound.handovers, 0);
    ck_assert_int_eq(pdk__handovers_next(&bound, 70, true, true), PDK__HANDOVER_HERE);
    ck_assert_int_eq(pdk__handovers_linger(&bound, 80, true), 180);
}
END_TEST

START_TEST(it_lingers_within_the_time_of_handovers) {
    bound.max_linger = 100;
    ck_assert_int_eq(pdk__handovers_linger(&bound, 950, true), 1050);
    ck_assert_int_eq(pdk__handovers_linger(&bound, 1000, true), 1050);
    ck_assert_int_eq(pdk__handovers_linger(&bound, 1049, true), 1050);
    ck_assert_int_eq(pdk__handovers_linger(&bound, 1050, true), 0);
    pdk__handovers_init(&bound, 10, 0);
    bound.max_linger = 100;
    pdk__handovers_granted(&bound, 0);
    ck_assert_int_eq(pdk__handovers_linger(&bound, 0, true), 0);
}
END_TEST

START_TEST(it_lingers_while_a_handover_is_left) {
    bound.max_linger = 100;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pdk__handovers_linger(&bound, 60, true), 160);
        ck_assert_int_eq(pdk__handovers_next(&bound, 60, true, true), PDK__HANDOVER_HERE);
    }
    ck_assert_int_eq(pdk__handovers_linger(&bound, 60, true), 0);
    pdk__handovers_granted(&bound, 70);
    ck_assert_int_eq(pdk__handovers_linger(&bound, 70, true), 170);
}
END_TEST

/* The longest times of the options, and a clock that has run for a thousand years. */
START_TEST(no_time_is_too_long) {
    int64_t longest = INT64_C(2147483647) * 1000000, now = INT64_C(31557600000) * 100000000;
    pdk__handovers_init(&bound, UINT32_MAX, longest);
    bound.max_linger = longest;
    pdk__handovers_granted(&bound, now);
    ck_assert_int_eq(pdk__handovers_linger(&bound, now + 1, true), now + longest);
}
END_TEST

int main(void) {
    return ts_run("handovers", setup, NULL, nobody_waits, as_many_as_allowed_and_then_the_others,
                  as_long_as_allowed_and_then_the_others, a_right_that_is_gone_is_not_handed_over, none_at_all,
                  nothing_lingers_unless_it_is_asked_for, it_lingers_for_so_long,
                  it_lingers_within_the_time_of_handovers, it_lingers_while_a_handover_is_left, no_time_is_too_long,
                  NULL);
}
