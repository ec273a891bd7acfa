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

int main(void) {
    return ts_run("handovers", setup, NULL, nobody_waits, as_many_as_allowed_and_then_the_others,
                  as_long_as_allowed_and_then_the_others, a_right_that_is_gone_is_not_handed_over, none_at_all, NULL);
}
