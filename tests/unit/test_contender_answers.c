/* The contender and the answers that the model does not give, or gives rarely: refusals for good, limits, pauses. */
#include "contender_bench.h"

/* ---- one answer each */

static void make_the_directory(void) {
    enter();
    ck_assert_int_eq(answer(PDK__CREATED, PDK__NO_NODE), PDK__DO_NOTHING);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NO_NODE), PDK__DO_MKDIR);
}

static void watch(void) {
    get_in();
    ck_assert_int_eq(list("a-lock-0000000001", OWN, true), PDK__DO_WATCH);
}

static void prove(void) {
    be_unsure();
    ck_assert_int_eq(answer(PDK__PROVED, PDK__OK), PDK__DO_NOTHING);
}

static void leave(void) {
    hold();
    ck_assert_int_eq(tell(PDK__LEAVE), PDK__DO_DELETE);
}

static void begin_look(void) {
    c.looks_first = true;
    ck_assert_int_eq(tell(PDK__ENTER), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_LOOK);
}

static void enter_by_name(void) {
    c.named = true;
    enter();
}

/* What comes of an answer at a point. The create's own fate is told when the list behind it is answered. */
static const struct row {
    void (*be)(void);
    enum pdk__event_type type;
    enum pdk__result create, result;
    enum pdk__command command; /* DO_PAUSE: and then the same again */
    enum pdk__phase phase;
    pdk_status failure;
} rows[] = {
    {make_the_directory, PDK__MADE_DIR, 0, PDK__OK, PDK__DO_ENTER, PDK__OUT, PDK_OK},
    {make_the_directory, PDK__MADE_DIR, 0, PDK__NODE_EXISTS, PDK__DO_ENTER, PDK__OUT, PDK_OK},
    {make_the_directory, PDK__MADE_DIR, 0, PDK__NO_NODE, PDK__DO_PAUSE, PDK__OUT, PDK_OK},
    {make_the_directory, PDK__MADE_DIR, 0, PDK__NOT_NOW, PDK__DO_PAUSE, PDK__OUT, PDK_OK},
    {make_the_directory, PDK__MADE_DIR, 0, PDK__UNKNOWN, PDK__DO_PAUSE, PDK__OUT, PDK_OK},
    {make_the_directory, PDK__MADE_DIR, 0, PDK__NOT_ALLOWED, PDK__DO_NOTHING, PDK__GONE, PDK_NO_PERMISSION},
    /* refusals of the create are final */
    {enter, PDK__LISTED, PDK__NODE_EXISTS, PDK__NO_NODE, PDK__DO_NOTHING, PDK__GONE, PDK_EXHAUSTED},
    /* whose the name is shows behind a barrier, in a while */
    {enter_by_name, PDK__LISTED, PDK__NODE_EXISTS, PDK__NO_NODE, PDK__DO_PAUSE, PDK__UNSURE, PDK_OK},
    {enter, PDK__LISTED, PDK__NOT_ALLOWED, PDK__NO_NODE, PDK__DO_NOTHING, PDK__GONE, PDK_NO_PERMISSION},
    {enter, PDK__LISTED, PDK__REFUSED, PDK__NO_NODE, PDK__DO_NOTHING, PDK__GONE, PDK_UNSUPPORTED},
    {enter, PDK__LISTED, PDK__LIMITED, PDK__NO_NODE, PDK__DO_NOTHING, PDK__GONE, PDK_LIMIT},
    {get_in, PDK__LISTED, 0, PDK__NO_NODE, PDK__DO_ENTER, PDK__OUT, PDK_OK}, /* then our node has gone, too */
    {get_in, PDK__LISTED, 0, PDK__NOT_NOW, PDK__DO_PAUSE, PDK__IN, PDK_OK},
    {get_in, PDK__LISTED, 0, PDK__UNKNOWN, PDK__DO_PAUSE, PDK__IN, PDK_OK},
    {get_in, PDK__LISTED, 0, PDK__NOT_ALLOWED, PDK__DO_DELETE, PDK__IN, PDK_NO_PERMISSION},
    {watch, PDK__WATCHED, 0, PDK__NOT_NOW, PDK__DO_PAUSE, PDK__IN, PDK_OK},
    {watch, PDK__WATCHED, 0, PDK__UNKNOWN, PDK__DO_PAUSE, PDK__IN, PDK_OK},
    {watch, PDK__WATCHED, 0, PDK__REFUSED, PDK__DO_DELETE, PDK__IN, PDK_UNSUPPORTED},
    {watch, PDK__WATCHED, 0, PDK__LIMITED, PDK__DO_DELETE, PDK__IN, PDK_LIMIT},
    {prove, PDK__LISTED, 0, PDK__NOT_NOW, PDK__DO_PAUSE, PDK__UNSURE, PDK_OK},
    {prove, PDK__LISTED, 0, PDK__UNKNOWN, PDK__DO_PAUSE, PDK__UNSURE, PDK_OK},
    {prove, PDK__LISTED, 0, PDK__NOT_ALLOWED, PDK__DO_NOTHING, PDK__STUCK, PDK_OK},
    {be_candidate, PDK__STATTED, 0, PDK__OK, PDK__DO_ENTER, PDK__OUT, PDK_OK}, /* another session's */
    {be_candidate, PDK__STATTED, 0, PDK__NO_NODE, PDK__DO_ENTER, PDK__OUT, PDK_OK},
    {be_candidate, PDK__STATTED, 0, PDK__NOT_NOW, PDK__DO_PAUSE, PDK__CANDIDATE, PDK_OK},
    {be_candidate, PDK__STATTED, 0, PDK__UNKNOWN, PDK__DO_PAUSE, PDK__CANDIDATE, PDK_OK},
    {be_candidate, PDK__STATTED, 0, PDK__NOT_ALLOWED, PDK__DO_NOTHING, PDK__STUCK, PDK_OK},
    {leave, PDK__DELETED, 0, PDK__NO_NODE, PDK__DO_NOTHING, PDK__GONE, PDK_OK},
    {leave, PDK__DELETED, 0, PDK__NOT_NOW, PDK__DO_PAUSE, PDK__IN, PDK_OK},
    {leave, PDK__DELETED, 0, PDK__UNKNOWN, PDK__DO_PAUSE, PDK__IN, PDK_OK},
    {leave, PDK__DELETED, 0, PDK__NOT_ALLOWED, PDK__DO_NOTHING, PDK__STUCK, PDK_OK},
    {begin_look, PDK__LISTED, 0, PDK__NO_NODE, PDK__DO_MKDIR, PDK__OUT, PDK_OK},
    {begin_look, PDK__LISTED, 0, PDK__NOT_NOW, PDK__DO_PAUSE, PDK__OUT, PDK_OK},
    {begin_look, PDK__LISTED, 0, PDK__UNKNOWN, PDK__DO_PAUSE, PDK__OUT, PDK_OK},
    {begin_look, PDK__LISTED, 0, PDK__NOT_ALLOWED, PDK__DO_NOTHING, PDK__GONE, PDK_NO_PERMISSION},
    {begin_look, PDK__LISTED, 0, PDK__REFUSED, PDK__DO_NOTHING, PDK__GONE, PDK_UNSUPPORTED},
    {begin_look, PDK__LISTED, 0, PDK__LIMITED, PDK__DO_NOTHING, PDK__GONE, PDK_LIMIT},
};

START_TEST(one_answer) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        setup();
        row->be();
        enum pdk__command asked = c.doing;
        if (row->be == enter || row->be == enter_by_name)
            ck_assert_int_eq(answer(PDK__CREATED, row->create), PDK__DO_NOTHING);
        enum pdk__command command = answer(row->type, row->result);
        ck_assert_msg(command == row->command && c.phase == row->phase && c.failure == row->failure,
                      "row %zu: %d, %s, %s", i, (int)command, pdk__phase_name(c.phase), pdk_status_name(c.failure));
        ck_assert(row->phase != PDK__OUT || c.own[0] == '\0');
        if (command == PDK__DO_PAUSE)
            check_paused(command, row->phase == PDK__UNSURE             ? PDK__DO_PROVE
                                  : row->phase == PDK__IN && !c.leaving ? PDK__DO_LIST
                                                                        : asked);
    }
}
END_TEST

START_TEST(a_list_beyond_limits) {
    static const struct {
        void (*be)(void);
        enum pdk__command command;
        enum pdk__phase phase;
    } all[] = {{get_in, PDK__DO_DELETE, PDK__IN},
               {prove, PDK__DO_NOTHING, PDK__STUCK},
               {begin_look, PDK__DO_NOTHING, PDK__GONE}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        setup();
        all[i].be();
        ck_assert_int_eq(list_beyond_limits(), all[i].command);
        ck_assert_int_eq(c.phase, all[i].phase);
        ck_assert_int_eq(c.failure, PDK_LIMIT);
    }
}
END_TEST

/* Without a connection it is deleted when there is one again. */
START_TEST(a_delete_waits_for_a_connection) {
    leave();
    tell(PDK__LINK_DOWN);
    ck_assert_int_eq(answer(PDK__DELETED, PDK__UNKNOWN), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_DELETE);
}
END_TEST

/* Somebody deleted it. */
START_TEST(a_list_without_our_node) {
    get_in();
    ck_assert_int_eq(list("a-lock-0000000001", NULL, true), PDK__DO_ENTER);
    ck_assert_str_eq(c.own, "");
}
END_TEST

START_TEST(who_is_stuck_waits_for_the_end_of_the_session) {
    prove();
    answer(PDK__LISTED, PDK__NOT_ALLOWED);
    ck_assert_int_eq(tell(PDK__EXPIRED), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);
}
END_TEST

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

START_TEST(a_create_not_now_is_repeated_later) {
    enter();
    answer(PDK__CREATED, PDK__NOT_NOW);
    check_paused(answer(PDK__LISTED, PDK__NOT_NOW), PDK__DO_ENTER);
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

/* ---- a try looks before it writes */

static enum pdk__command look(const char *other, bool never_waits) {
    struct pdk__view view;
    struct pdk__child child;
    pdk__children_parse(&child, &other, other ? 1 : 0);
    pdk__view_from_behind(&view, &child, other ? 1 : 0, MARK, (struct pdk__rule){pdk__blocks_always, 0});
    return pdk__contender_step(&c,
                               &(struct pdk__event){.type = PDK__LISTED, .view = &view, .never_waits = never_waits});
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
    return ts_run("contender_answers", setup, NULL, one_answer, a_list_beyond_limits, a_delete_waits_for_a_connection,
                  a_list_without_our_node, who_is_stuck_waits_for_the_end_of_the_session,
                  a_token_that_went_back_is_never_granted, a_stuck_number_is_nobodys,
                  a_create_not_now_is_repeated_later, an_unproven_list_proves_nothing,
                  somebody_is_there_and_nothing_is_written, nobody_is_there_or_it_waits_by_now,
                  a_look_that_was_not_answered_is_repeated, an_unprotected_directory_grants_nothing,
                  the_first_failure_is_the_one_reported, next_is_who_was_listed_and_stays,
                  a_fresh_lease_is_no_news_behind_somebody, a_pause_needs_no_connection, NULL);
}
