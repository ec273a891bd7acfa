/* The contender and the answers that the model does not give, or gives rarely: refusals for good, limits, pauses. */
#include "contender_bench.h"

/* And refusals of that are final. */
START_TEST(the_directory_is_made) {
    enter();
    ck_assert_int_eq(answer(PDK__CREATED, PDK__NO_NODE), PDK__DO_NOTHING);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NO_NODE), PDK__DO_MKDIR);
    check_paused(answer(PDK__MADE_DIR, PDK__NO_NODE), PDK__DO_MKDIR);
    check_paused(answer(PDK__MADE_DIR, PDK__NOT_NOW), PDK__DO_MKDIR);
    check_paused(answer(PDK__MADE_DIR, PDK__UNKNOWN), PDK__DO_MKDIR);
    ck_assert_int_eq(answer(PDK__MADE_DIR, PDK__NODE_EXISTS), PDK__DO_ENTER);

    setup();
    enter();
    answer(PDK__CREATED, PDK__NO_NODE);
    answer(PDK__LISTED, PDK__NO_NODE);
    ck_assert_int_eq(answer(PDK__MADE_DIR, PDK__NOT_ALLOWED), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);
    ck_assert_int_eq(c.failure, PDK_NO_PERMISSION);
}
END_TEST

static void check_create_fails(enum pdk__result result, pdk_status why) {
    setup();
    enter();
    ck_assert_int_eq(answer(PDK__CREATED, result), PDK__DO_NOTHING);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NO_NODE), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);
    ck_assert_int_eq(c.failure, why);
}

/* A node of servers that went back: it is deleted, whichever answer tells its token. */
START_TEST(a_token_that_went_back_is_never_granted) {
    struct pdk__event created = {.type = PDK__CREATED, .result = PDK__OK, .name = OWN, .token = 42, .least_token = 43};
    setup();
    enter();
    ck_assert_int_eq(pdk__contender_step(&c, &created), PDK__DO_NOTHING);
    ck_assert_int_eq(c.failure, PDK_REWOUND);
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_DELETE);
    ck_assert_int_eq(answer(PDK__DELETED, PDK__OK), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);

    setup();
    be_candidate();
    struct pdk__event statted = {.type = PDK__STATTED, .result = PDK__OK, .ours = true, .token = 42, .least_token = 43};
    ck_assert_int_eq(pdk__contender_step(&c, &statted), PDK__DO_DELETE);
    ck_assert_int_eq(c.failure, PDK_REWOUND);

    setup();
    enter();
    created.least_token = 42;
    pdk__contender_step(&c, &created);
    ck_assert_int_eq(c.failure, PDK_OK);
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
}
END_TEST

/* A counter that sticks at its end gives the same numbers again. Two contenders with one number would wait for each
 * other, or both be first. */
START_TEST(a_stuck_number_is_nobodys) {
    static const char *const stuck[] = {MARK "2147483647", MARK "-2147483648", MARK "-2146435073"};
    struct pdk__event created = {.type = PDK__CREATED, .result = PDK__OK, .token = 42};
    for (size_t i = 0; i < sizeof stuck / sizeof stuck[0]; i++) {
        setup();
        enter();
        created.name = stuck[i];
        ck_assert_int_eq(pdk__contender_step(&c, &created), PDK__DO_NOTHING);
        ck_assert_int_eq(list(stuck[i], NULL, true), PDK__DO_DELETE);
        ck_assert_int_eq(c.failure, PDK_EXHAUSTED);
        ck_assert_int_eq(answer(PDK__DELETED, PDK__OK), PDK__DO_NOTHING);
        ck_assert_int_eq(c.phase, PDK__GONE);
    }
    setup();
    enter();
    created.name = MARK "-2146435072"; /* a counter that wraps comes past them */
    pdk__contender_step(&c, &created);
    ck_assert_int_eq(c.failure, PDK_OK);

    setup();
    enter();
    created.name = "without a number";
    ck_assert_int_eq(pdk__contender_step(&c, &created), PDK__DO_NOTHING);
    ck_assert_int_eq(c.failure, PDK_OK);
    ck_assert_int_eq(c.phase, PDK__IN);
}
END_TEST

START_TEST(refusals_of_the_create_are_final) {
    check_create_fails(PDK__NODE_EXISTS, PDK_EXHAUSTED);
    check_create_fails(PDK__NOT_ALLOWED, PDK_NO_PERMISSION);
    check_create_fails(PDK__REFUSED, PDK_UNSUPPORTED);
    check_create_fails(PDK__LIMITED, PDK_LIMIT);
}
END_TEST

START_TEST(a_create_not_now_is_repeated_later) {
    enter();
    answer(PDK__CREATED, PDK__NOT_NOW);
    check_paused(answer(PDK__LISTED, PDK__NOT_NOW), PDK__DO_ENTER);
}
END_TEST

START_TEST(answers_to_a_list_in_the_queue) {
    get_in();
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NO_NODE),
                     PDK__DO_ENTER); /* the directory cannot go while our node is there */
    setup();
    get_in();
    check_paused(answer(PDK__LISTED, PDK__NOT_NOW), PDK__DO_LIST);
    check_paused(answer(PDK__LISTED, PDK__UNKNOWN), PDK__DO_LIST);
    ck_assert_int_eq(list("a-lock-0000000001", NULL, true), PDK__DO_ENTER); /* somebody deleted our node */
    ck_assert_str_eq(c.own, "");
    setup();
    get_in();
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NOT_ALLOWED), PDK__DO_DELETE);
    ck_assert_int_eq(c.failure, PDK_NO_PERMISSION);
    setup();
    get_in();
    ck_assert_int_eq(list_beyond_limits(), PDK__DO_DELETE);
    ck_assert_int_eq(c.failure, PDK_LIMIT);
}
END_TEST

START_TEST(answers_to_a_watch) {
    get_in();
    list("a-lock-0000000001", OWN, true);
    check_paused(answer(PDK__WATCHED, PDK__NOT_NOW), PDK__DO_LIST);
    list("a-lock-0000000001", OWN, true);
    check_paused(answer(PDK__WATCHED, PDK__UNKNOWN), PDK__DO_LIST);
    list("a-lock-0000000001", OWN, true);
    ck_assert_int_eq(answer(PDK__WATCHED, PDK__REFUSED), PDK__DO_DELETE);
    ck_assert_int_eq(c.failure, PDK_UNSUPPORTED);
    setup();
    get_in();
    list("a-lock-0000000001", OWN, true);
    ck_assert_int_eq(answer(PDK__WATCHED, PDK__LIMITED), PDK__DO_DELETE);
    ck_assert_int_eq(c.failure, PDK_LIMIT);
}
END_TEST

START_TEST(an_unproven_list_proves_nothing) {
    be_unsure();
    answer(PDK__PROVED, PDK__UNKNOWN);
    check_paused(list("a-lock-0000000001", NULL, true), PDK__DO_PROVE);
    answer(PDK__PROVED, PDK__NOT_NOW);
    check_paused(list("a-lock-0000000001", NULL, true), PDK__DO_PROVE);
    answer(PDK__PROVED, PDK__REFUSED);
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_PROVE);
    answer(PDK__PROVED, PDK__REFUSED);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NO_NODE), PDK__DO_PROVE);
    answer(PDK__PROVED, PDK__OK);
    check_paused(answer(PDK__LISTED, PDK__NOT_NOW), PDK__DO_PROVE);
    answer(PDK__PROVED, PDK__OK);
    check_paused(answer(PDK__LISTED, PDK__UNKNOWN), PDK__DO_PROVE);
    ck_assert_int_eq(c.phase, PDK__UNSURE);
}
END_TEST

START_TEST(who_may_not_look_is_stuck) {
    be_unsure();
    answer(PDK__PROVED, PDK__OK);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NOT_ALLOWED), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__STUCK);
    ck_assert_int_eq(tell(PDK__EXPIRED), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);
    setup();
    be_unsure();
    answer(PDK__PROVED, PDK__OK);
    ck_assert_int_eq(list_beyond_limits(), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__STUCK);
    ck_assert_int_eq(c.failure, PDK_LIMIT);
}
END_TEST

START_TEST(a_candidate_may_be_anothers) {
    be_candidate();
    ck_assert_int_eq(stat_own(PDK__OK, false), PDK__DO_ENTER);
    ck_assert_str_eq(c.own, "");
    setup();
    be_candidate();
    ck_assert_int_eq(stat_own(PDK__NO_NODE, false), PDK__DO_ENTER);
    setup();
    be_candidate();
    check_paused(stat_own(PDK__NOT_NOW, false), PDK__DO_STAT);
    check_paused(stat_own(PDK__UNKNOWN, false), PDK__DO_STAT);
    ck_assert_int_eq(stat_own(PDK__NOT_ALLOWED, false), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__STUCK);
}
END_TEST

START_TEST(a_delete_is_repeated_until_it_is_answered) {
    hold();
    tell(PDK__LEAVE);
    check_paused(answer(PDK__DELETED, PDK__UNKNOWN), PDK__DO_DELETE);
    check_paused(answer(PDK__DELETED, PDK__NOT_NOW), PDK__DO_DELETE);
    tell(PDK__LINK_DOWN);
    ck_assert_int_eq(answer(PDK__DELETED, PDK__UNKNOWN), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_DELETE);
    answer(PDK__DELETED, PDK__NO_NODE);
    ck_assert_int_eq(c.phase, PDK__GONE);
    setup();
    hold();
    tell(PDK__LEAVE);
    answer(PDK__DELETED, PDK__NOT_ALLOWED);
    ck_assert_int_eq(c.phase, PDK__STUCK);
}
END_TEST

/* ---- a try looks before it writes */

static enum pdk__command look(const char *other, bool never_waits) {
    struct pdk__view view;
    struct pdk__child child;
    pdk__children_parse(&child, &other, other ? 1 : 0);
    pdk__view_from_behind(&view, &child, other ? 1 : 0, MARK, (struct pdk__rule){pdk__blocks_always, 0});
    return pdk__contender_step(&c,
                               &(struct pdk__event){.type = PDK__LISTED, .view = &view, .never_waits = never_waits});
}

static void begin_look(void) {
    c.looks_first = true;
    ck_assert_int_eq(tell(PDK__ENTER), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_LOOK);
}

START_TEST(somebody_is_there_and_nothing_is_written) {
    begin_look();
    ck_assert_int_eq(look("a-lock-0000000001", true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);
    ck_assert(c.found_somebody);
    ck_assert_int_eq(c.failure, PDK_OK);
}
END_TEST

START_TEST(nobody_is_there_or_it_waits_by_now) {
    static const char *const others[] = {NULL, "no contender", "a-lock-0000000001"};
    for (size_t i = 0; i < 3; i++) {
        setup();
        begin_look();
        ck_assert_int_eq(look(others[i], i < 2), PDK__DO_ENTER);
        ck_assert_int_eq(c.phase, PDK__OUT);
        ck_assert(!c.looks_first && !c.found_somebody);
    }
}
END_TEST

START_TEST(no_directory_to_look_at) {
    begin_look();
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NO_NODE), PDK__DO_MKDIR);
    ck_assert_int_eq(answer(PDK__MADE_DIR, PDK__OK), PDK__DO_ENTER);
}
END_TEST

START_TEST(a_look_that_was_not_answered_is_repeated) {
    begin_look();
    check_paused(answer(PDK__LISTED, PDK__NOT_NOW), PDK__DO_LOOK);
    check_paused(answer(PDK__LISTED, PDK__UNKNOWN), PDK__DO_LOOK);
    ck_assert_int_eq(tell(PDK__LINK_DOWN), PDK__DO_NOTHING);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__UNKNOWN), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_LOOK);
    ck_assert_int_eq(tell(PDK__LEAVE), PDK__DO_NOTHING);
    ck_assert_int_eq(look(NULL, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);
    ck_assert(!c.found_somebody);
}
END_TEST

START_TEST(a_look_that_is_refused) {
    static const struct {
        enum pdk__result result;
        pdk_status failure;
    } cases_of[] = {{PDK__NOT_ALLOWED, PDK_NO_PERMISSION}, {PDK__REFUSED, PDK_UNSUPPORTED}, {PDK__LIMITED, PDK_LIMIT}};
    for (size_t i = 0; i < 3; i++) {
        setup();
        begin_look();
        ck_assert_int_eq(answer(PDK__LISTED, cases_of[i].result), PDK__DO_NOTHING);
        ck_assert_int_eq(c.failure, cases_of[i].failure);
        ck_assert_int_eq(c.phase, PDK__GONE);
    }
    setup();
    begin_look();
    ck_assert_int_eq(list_beyond_limits(), PDK__DO_NOTHING);
    ck_assert_int_eq(c.failure, PDK_LIMIT);
    ck_assert_int_eq(c.phase, PDK__GONE);
}
END_TEST

/* Strangers may change the directory: nothing is granted there, and nothing of ours stays. */
static enum pdk__command list_unprotected(const char *first) {
    const char *names[] = {first};
    struct pdk__view view;
    pdk__view_make(&view, names, 1, &(struct pdk__viewer){MARK, c.own, "", {pdk__blocks_always, 0}});
    return pdk__contender_step(
        &c, &(struct pdk__event){.type = PDK__LISTED, .view = &view, .fresh = true, .unprotected = true});
}

START_TEST(an_unprotected_directory_grants_nothing) {
    get_in();
    ck_assert_int_eq(list_unprotected(OWN), PDK__DO_DELETE);
    ck_assert_int_eq(c.failure, PDK_UNPROTECTED);
    ck_assert_int_eq(answer(PDK__DELETED, PDK__OK), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);
    setup();
    begin_look();
    ck_assert_int_eq(list_unprotected("a-lock-0000000001"), PDK__DO_NOTHING);
    ck_assert_int_eq(c.failure, PDK_UNPROTECTED);
    ck_assert_int_eq(c.phase, PDK__GONE);
}
END_TEST

/* The create was refused, and then the list is too long as well: the caller hears of the create. */
START_TEST(the_first_failure_is_the_one_reported) {
    enter();
    ck_assert_int_eq(answer(PDK__CREATED, PDK__NOT_ALLOWED), PDK__DO_NOTHING);
    ck_assert_int_eq(c.failure, PDK_NO_PERMISSION);
    ck_assert_int_eq(list_beyond_limits(), PDK__DO_NOTHING);
    ck_assert_int_eq(c.failure, PDK_NO_PERMISSION);
    ck_assert_int_eq(c.phase, PDK__GONE);
}
END_TEST

START_TEST(next_is_who_was_listed_and_stays) {
    get_in();
    ck_assert(!pdk__contender_is_next(&c)); /* no list has shown it yet */
    ck_assert_int_eq(list(OWN, NULL, false), PDK__DO_NOTHING);
    ck_assert(pdk__contender_is_next(&c));
    ck_assert_int_eq(tell(PDK__LEAVE), PDK__DO_DELETE);
    ck_assert(!pdk__contender_is_next(&c));
}
END_TEST

START_TEST(a_fresh_lease_is_no_news_behind_somebody) {
    wait_in_queue();
    ck_assert_int_eq(tell(PDK__FRESH), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__IN);
}
END_TEST

/* The server asked for a moment, and then the connection was lost: the moment passes all the same. */
START_TEST(a_pause_needs_no_connection) {
    get_in();
    tell(PDK__LINK_DOWN);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NOT_NOW), PDK__DO_PAUSE);
    ck_assert_int_eq(tell(PDK__PAUSED), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_LIST);
}
END_TEST

int main(void) {
    return ts_run("contender_answers", setup, NULL, the_directory_is_made, a_token_that_went_back_is_never_granted,
                  a_stuck_number_is_nobodys, refusals_of_the_create_are_final, a_create_not_now_is_repeated_later,
                  answers_to_a_list_in_the_queue, answers_to_a_watch, an_unproven_list_proves_nothing,
                  who_may_not_look_is_stuck, a_candidate_may_be_anothers, a_delete_is_repeated_until_it_is_answered,
                  somebody_is_there_and_nothing_is_written, nobody_is_there_or_it_waits_by_now, no_directory_to_look_at,
                  a_look_that_was_not_answered_is_repeated, a_look_that_is_refused,
                  an_unprotected_directory_grants_nothing, the_first_failure_is_the_one_reported,
                  next_is_who_was_listed_and_stays, a_fresh_lease_is_no_news_behind_somebody,
                  a_pause_needs_no_connection, NULL);
}
