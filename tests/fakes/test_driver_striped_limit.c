/* A striped lock whose session may have no more nodes, while very many wait for any stripe: the place in front of the stripes is handed
 * from each of them to the next. */
#include "driver_bench.h"
#include "session/session.h"

#include <paddock/striped.h>
#include <string.h>

enum { CLAIMS = 30000 };

static struct driver_user *const one = &driver_users[0];

static struct {
    pdk_striped *striped;
    int answers, limited, granted;
} it;

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    it.answers++;
    it.limited += status == PDK_LIMIT;
    it.granted += status == PDK_OK;
    pdk_hold_unref(hold);
}

static void make_in(void *rival, void *user) {
    pdk_striped_options striped = PDK_STRIPED_OPTIONS_INIT;
    pdk_session *s = ((struct rival *)rival)->session;
    (void)user;
    striped.max_handovers = INT32_MAX;
    striped.max_handover_ms = INT32_MAX;
    ck_assert_int_eq(pdk_striped_new(s, "/stripes", 4, &striped, &it.striped), PDK_OK);
}

static void ask_in(void *rival, void *user) {
    (void)rival;
    (void)user;
    ck_assert_int_eq(pdk_striped_acquire_any_async(it.striped, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
}

static void limit_in(void *rival, void *reached) {
    pdk_session *s = ((struct rival *)rival)->session;
    pdk__lock(s);
    s->ephemeral_bytes = *(bool *)reached ? s->ephemeral_bytes + 1000 * 1024 : s->ephemeral_bytes - 1000 * 1024;
    pdk__unlock(s);
}

static void drop_in(void *rival, void *user) {
    (void)rival;
    (void)user;
    pdk_striped_unref(g_steal_pointer(&it.striped));
}

static void call(sim_event_fn fn, void *what) { sim_call_in(&one->rival->process, fn, one->rival, what); }

START_TEST(all_that_wait_are_refused) {
    bool reached = true, left = false;
    driver_begin();
    memset(&it, 0, sizeof it);
    call(make_in, NULL);
    call(ask_in, NULL); /* the directories, and the number */
    platform_pass(SECOND);
    ck_assert_int_eq(it.granted, 1);
    for (int i = 0; i < CLAIMS; i++)
        call(ask_in, NULL);
    call(limit_in, &reached); /* their place in the queue has been asked for already */
    for (int64_t until = platform_agenda.now + 600 * SECOND; it.limited < CLAIMS; platform_pass(SECOND))
        ck_assert_int_lt(platform_agenda.now, until);
    call(limit_in, &left);
    call(ask_in, NULL);
    platform_pass(SECOND);
    ck_assert_int_eq(it.granted, 2);
    call(drop_in, NULL);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_striped_limit");
    TCase *cases = tcase_create("driver_striped_limit");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, all_that_wait_are_refused);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
