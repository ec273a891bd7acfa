/* The contender, one transition at a time: what the model does not tell apart (tests/model has the ordinary course, recovery and
 * leaving, in every order). */
#include "contender_bench.h"

/* A blocker that no session owns: the list is read again, which does not show it as a contender any more. */
START_TEST(a_blocker_that_nobody_owns) {
    setup();
    get_in();
    ck_assert_int_eq(list("a-lock-0000000001", OWN, true), PDK__DO_WATCH);
    ck_assert_int_eq(pdk__contender_step(&c, &(struct pdk__event){.type = PDK__WATCHED, .unowned = true}),
                     PDK__DO_LIST);
    ck_assert(!c.watching);
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
}
END_TEST

START_TEST(a_try_leaves_when_somebody_is_ahead) {
    struct pdk__view view = {.listed = true, .ahead = 1, .blocker = "a-lock-0000000001"};
    struct pdk__event listed = {.type = PDK__LISTED, .view = &view, .fresh = true, .never_waits = true};
    get_in();
    ck_assert_int_eq(pdk__contender_step(&c, &listed), PDK__DO_DELETE);
    setup();
    get_in();
    view.blocker[0] = '\0';
    ck_assert_int_eq(pdk__contender_step(&c, &listed), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
}
END_TEST

START_TEST(a_lost_create_is_found) {
    be_candidate();
    ck_assert_int_eq(stat_own(PDK__OK, true), PDK__DO_LIST);
    ck_assert_int_eq(c.phase, PDK__IN);
    ck_assert_int_eq(c.token, 43);
}
END_TEST

START_TEST(a_lost_create_was_not_executed) {
    be_unsure();
    answer(PDK__PROVED, PDK__NO_NODE); /* of a multi: committed all the same */
    ck_assert_int_eq(list("a-lock-0000000001", NULL, true), PDK__DO_ENTER);
    setup();
    be_unsure();
    answer(PDK__PROVED, PDK__NOT_ALLOWED);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NO_NODE), PDK__DO_ENTER);
}
END_TEST

/* ---- a turn without a list */

static enum pdk__command watched_with_ours(void) {
    return pdk__contender_step(&c, &(struct pdk__event){.type = PDK__WATCHED, .guarded = true});
}

static enum pdk__command gone(void) {
    return pdk__contender_step(&c, &(struct pdk__event){.type = PDK__POKE, .gone = true, .fresh = true});
}

/* Not while the link is down, nor while it is up again and a list is under way: an event that came late is no proof. */
START_TEST(the_event_grants) {
    enum { AT_REST, DOWN, UP_AGAIN };
    for (int link = AT_REST; link <= UP_AGAIN; link++) {
        setup();
        get_in();
        ck_assert_int_eq(list("a-lock-0000000001", OWN, true), PDK__DO_WATCH);
        ck_assert_int_eq(watched_with_ours(), PDK__DO_NOTHING);
        if (link != AT_REST)
            tell(PDK__LINK_DOWN);
        if (link == UP_AGAIN)
            ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_LIST);
        ck_assert_int_eq(gone(), PDK__DO_NOTHING);
        ck_assert_int_eq(c.phase, link == AT_REST ? PDK__HELD : PDK__IN);
    }
}
END_TEST

START_TEST(the_guard_goes_with_the_node) {
    get_in();
    ck_assert_int_eq(list("a-lock-0000000001", OWN, true), PDK__DO_WATCH);
    ck_assert_int_eq(tell(PDK__NODE_LOST), PDK__DO_NOTHING);
    ck_assert_int_eq(watched_with_ours(), PDK__DO_ENTER);
    ck_assert(!c.guarded);
}
END_TEST

int main(void) {
    return ts_run("contender", setup, NULL, a_blocker_that_nobody_owns, a_try_leaves_when_somebody_is_ahead,
                  a_lost_create_is_found, a_lost_create_was_not_executed, the_event_grants,
                  the_guard_goes_with_the_node, NULL);
}
