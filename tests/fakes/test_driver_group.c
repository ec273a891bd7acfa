/* Directed scenarios of a group's watcher in simulated time: requests that cannot be sent, and watches that cannot be had. */
#include "platform_bench.h"
#include "session/session.h"

#include <paddock/group.h>

static struct {
    pdk_group_watcher *watcher;
    pdk_member *member;
    size_t count;
    bool exact;
    int views;
} group;

static void on_view(pdk_group_view *view, void *user) {
    (void)user;
    group.views++;
    group.count = pdk_group_view_count(view);
    group.exact = pdk_group_view_is_exact(view);
}

static void watch(void *subject, void *user) {
    pdk_session *s = ((struct rival *)subject)->session;
    (void)user;
    ck_assert_int_eq(pdk_group_watch(s, "/group", on_view, NULL, NULL, &group.watcher), PDK_OK);
}

static void join(void *subject, void *user) {
    pdk_session *s = ((struct rival *)subject)->session;
    (void)user;
    ck_assert_int_eq(pdk_group_join(s, "/group", "data", 4, NULL, &group.member), PDK_OK);
}

static void spend_watches(void *subject, void *bytes) {
    pdk_session *s = ((struct rival *)subject)->session;
    pdk__lock(s);
    s->watched_bytes += *(const size_t *)bytes;
    pdk__unlock(s);
}

static void end(void *subject, void *user) {
    (void)subject;
    (void)user;
    pdk_group_watcher_close(g_steal_pointer(&group.watcher));
    pdk_member_unref(g_steal_pointer(&group.member));
}

static void begin(void) {
    platform_end();
    platform_begin(7);
    group.views = 0;
    group.count = 0;
    rival_open(first);
    rival_open(second);
    platform_pass(SECOND);
}

static void finish(void) {
    sim_call_in(&first->process, end, first, NULL);
    platform_pass(SECOND);
}

START_TEST(a_watcher_goes_on_when_it_could_not_ask) {
    static const enum pdk__op_kind kinds[] = {PDK__OP_LIST, PDK__OP_WATCH, PDK__OP_BARRIER};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        begin();
        platform_refuse(kinds[i], 3);
        sim_call_in(&first->process, watch, first, NULL);
        sim_call_in(&first->process, join, first, NULL);
        platform_pass(5 * SECOND);
        ck_assert_uint_eq(group.count, 1);
        ck_assert(group.exact);
        finish();
    }
}
END_TEST

/* The session has no room for a watch: members are found by looking, and no view is exact. */
START_TEST(a_watcher_without_watches) {
    size_t bytes = PDK__WATCHED_BYTES_MAX;
    begin();
    sim_call_in(&first->process, spend_watches, first, &bytes);
    sim_call_in(&first->process, watch, first, NULL);
    sim_call_in(&first->process, join, first, NULL);
    platform_pass(30 * SECOND);
    ck_assert_uint_eq(group.count, 1);
    ck_assert(!group.exact);
    bytes = (size_t)-bytes;
    sim_call_in(&first->process, spend_watches, first, &bytes);
    finish();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_group");
    TCase *cases = tcase_create("driver_group");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, a_watcher_goes_on_when_it_could_not_ask);
    tcase_add_test(cases, a_watcher_without_watches);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
