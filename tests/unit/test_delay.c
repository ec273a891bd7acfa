/* The lock-delay: the names of its nodes, and what the first in the queue does next. */
#include "core/contender.h"
#include "core/delay.h"
#include "core/view.h"
#include "ts_check.h"

#include <string.h>

#define UUID "01234567-89ab-8def-0123-456789abcdef"
#define HEX "0123456789ab8def0123456789abcdef"

static char pledge[PDK__NAME_SIZE];

START_TEST(a_pledge_is_named_after_one_node) {
    struct pdk__name name;
    ck_assert(pdk__pledge_name("_c_" UUID "-lock-0000000042", pledge));
    ck_assert_str_eq(pledge, "pledge-_c_" UUID "-0000000042");
    ck_assert(pdk__is_pledge(pledge));
    ck_assert(!pdk__name_parse(pledge, &name)); /* it stands in nobody's queue */
    ck_assert(pdk__pledge_name("_c_" UUID "-latch--2000000000", pledge));
    ck_assert_str_eq(pledge, "pledge-_c_" UUID "--2000000000");
    ck_assert(pdk__pledge_name(HEX "__lock__0000000007", pledge));
    ck_assert_str_eq(pledge, "pledge-" HEX "-0000000007");
}
END_TEST

START_TEST(nothing_else_has_a_pledge_or_is_one) {
    static const char *const no_nodes[] = {"delay", "lock-0000000001", "_c_" UUID "-lock-", "zz-lock-0000000001",
                                           "_c_" HEX "lock-0000000042"}; /* its pledge would end as a contender does */
    char longest[2 * PDK__NAME_SIZE];
    for (size_t i = 0; i < sizeof no_nodes / sizeof no_nodes[0]; i++) {
        ck_assert_msg(!pdk__pledge_name(no_nodes[i], pledge), "%s", no_nodes[i]);
        ck_assert_msg(!pdk__is_pledge(no_nodes[i]), "%s", no_nodes[i]);
    }
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "pledge-", 7);
    longest[sizeof longest - 1] = '\0';
    ck_assert(!pdk__is_pledge(longest));
    memcpy(longest, "_c_" UUID, strlen("_c_" UUID));
    strcpy(longest + PDK__NAME_SIZE, "-lock-0000000001");
    ck_assert(!pdk__pledge_name(longest, pledge));
    ck_assert(!pdk__is_pledge("pledge-lock-0000000001")); /* a contender's name, whoever writes it */
}
END_TEST

START_TEST(the_wait_begins_when_it_is_seen) {
    struct pdk__delay d;
    pdk__delay_init(&d, 1600);
    pdk__delay_listed(&d, false, false, 5000);
    ck_assert_int_eq(pdk__delay_next(&d, false, 5000), PDK__DELAY_PLEDGE);
    ck_assert_int_eq(pdk__delay_next(&d, true, 5000), PDK__DELAY_GRANT);
    pdk__delay_listed(&d, true, true, 6000);
    ck_assert_int_eq(pdk__delay_next(&d, true, 7699), PDK__DELAY_WAIT); /* by a clock that is 1/16 too fast */
    pdk__delay_listed(&d, true, false, 7000);                           /* seen before: the wait goes on */
    ck_assert_int_eq(pdk__delay_next(&d, false, 7700), PDK__DELAY_PLEDGE);
    pdk__delay_listed(&d, true, true, 7700);
    ck_assert_int_eq(pdk__delay_next(&d, true, 9399), PDK__DELAY_WAIT);
    pdk__delay_listed(&d, false, false, 8000); /* it was taken back after all, or somebody has waited for it */
    ck_assert_int_eq(pdk__delay_next(&d, true, 8000), PDK__DELAY_GRANT);
}
END_TEST

static struct pdk__contender c;
static struct pdk__view view;

static void told(struct pdk__event event) { pdk__contender_step(&c, &event); }

static void meets_a_delay(bool keeps) {
    pdk__contender_init(&c, "_c_" UUID "-lock-");
    c.delays = keeps;
    memset(&view, 0, sizeof view);
    view.delays = view.listed = true;
    told((struct pdk__event){.type = PDK__LINK_UP});
}

START_TEST(who_does_not_keep_the_delay_is_refused) {
    for (int keeps = 0; keeps < 2; keeps++) {
        meets_a_delay(keeps);
        told((struct pdk__event){.type = PDK__ENTER});
        told((struct pdk__event){.type = PDK__CREATED, .name = "_c_" UUID "-lock-0000000001", .token = 1});
        told((struct pdk__event){.type = PDK__LISTED, .view = &view, .fresh = true});
        ck_assert_int_eq(c.failure, keeps ? PDK_OK : PDK_MISMATCH);
        ck_assert_int_eq(c.phase, keeps ? PDK__HELD : PDK__IN);
        ck_assert_int_eq(c.doing, keeps ? PDK__DO_NOTHING : PDK__DO_DELETE);
        meets_a_delay(keeps);
        c.looks_first = true;
        told((struct pdk__event){.type = PDK__ENTER});
        ck_assert_int_eq(c.doing, PDK__DO_LOOK);
        told((struct pdk__event){.type = PDK__LISTED, .view = &view});
        ck_assert_int_eq(c.failure, keeps ? PDK_OK : PDK_MISMATCH);
        ck_assert_int_eq(c.phase, keeps ? PDK__OUT : PDK__GONE);
    }
}
END_TEST

START_TEST(a_list_shows_the_record) {
    const char *with[] = {"_c_" UUID "-lock-0000000001", "delay"}, *without[] = {"delays", "dela", "pledge-x"};
    struct pdk__viewer viewer = {"_c_" UUID "-lock-", with[0], "", {pdk__blocks_always, 0}};
    struct pdk__child children[3];
    pdk__view_make(&view, with, 2, &viewer);
    ck_assert(view.delays && view.listed);
    pdk__view_make(&view, without, 3, &viewer);
    ck_assert(!view.delays);
    pdk__children_parse(children, with, 2);
    pdk__view_from_behind(&view, children, 2, viewer.mark, viewer.rule);
    ck_assert(view.delays);
    ck_assert_int_eq(view.ahead, 1);
    pdk__children_parse(children, without, 3);
    pdk__view_from_behind(&view, children, 3, viewer.mark, viewer.rule);
    ck_assert(!view.delays);
}
END_TEST

int main(void) {
    return ts_run("delay", NULL, NULL, a_pledge_is_named_after_one_node, nothing_else_has_a_pledge_or_is_one,
                  the_wait_begins_when_it_is_seen, who_does_not_keep_the_delay_is_refused, a_list_shows_the_record,
                  NULL);
}
