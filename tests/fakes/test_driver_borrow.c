/* A handle that is retired while the program has it, in simulated time: it stays, and nothing that it reports is heard. */
#include "driver_bench.h"
#include "session/session.h"
#include "session/supervise.h"

#include <paddock/borrow.h>

static pdk_borrow *borrow;
static uint32_t closed;

/* The borrow is gone with its handle. */
static void on_closed(void *user) {
    *(uint32_t *)user += 1;
    borrow = NULL;
}

static void borrow_in(void *subject, void *what) {
    (void)what;
    ck_assert_int_eq(pdk_session_borrow(((struct rival *)subject)->session, on_closed, &closed, &borrow), PDK_OK);
}

static void return_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk_borrow_release(g_steal_pointer(&borrow));
}

static void reopen_in(void *subject, void *what) {
    pdk_session *s = ((struct rival *)subject)->session;
    (void)what;
    pdk__lock(s);
    pdk__session_reopen(s, "the test says so");
    pdk__unlock(s);
}

/* As while the connector resolves names, which takes long. No check is made under the monitor: it would stay locked. */
static void report_while_opening(void *subject, void *what) {
    pdk_session *s = ((struct rival *)subject)->session;
    pdk__lock(s);
    bool none = !s->zk;
    s->link = PDK__LINK_OPENING;
    pdk__unlock(s);
    pdk__session_sink.state(s, what, PDK__ZK_CONNECTED, 77, TIMEOUT_MS);
    pdk__lock(s);
    bool heard = s->zk || s->link != PDK__LINK_OPENING;
    s->zk = NULL;
    s->link = PDK__LINK_NONE;
    pdk__unlock(s);
    ck_assert(none);
    ck_assert(!heard);
}

static void in_first(void (*act)(void *subject, void *what), void *what) {
    sim_call_in(&first->process, act, first, what);
}

START_TEST(a_retired_handle_is_kept_and_not_heard) {
    driver_begin();
    closed = 0;
    pdk_session *s = first->session;
    in_first(borrow_in, NULL);
    pdk__zk *old = s->zk;
    in_first(reopen_in, NULL);
    ck_assert_uint_eq(s->retired.length, 1);
    in_first(report_while_opening, old);
    platform_pass(3 * SECOND);
    ck_assert_ptr_nonnull(s->zk);
    ck_assert_ptr_ne(s->zk, old);
    ck_assert_uint_eq(s->retired.length, 1);
    ck_assert_uint_eq(closed, 0);
    in_first(return_in, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(s->retired.length, 0);
    ck_assert_uint_eq(s->borrows.length, 0);
    ck_assert_uint_eq(closed, 1);
}
END_TEST

/* A session does not end as long as its handle is borrowed, not even that of a test that has failed. */
static void teardown(void) {
    if (borrow)
        in_first(return_in, NULL);
    driver_teardown();
}

int main(void) {
    Suite *suite = suite_create("driver borrow");
    TCase *retired = tcase_create("retired");
    tcase_add_checked_fixture(retired, platform_setup, teardown);
    tcase_add_test(retired, a_retired_handle_is_kept_and_not_heard);
    suite_add_tcase(suite, retired);
    return ts_run_suite(suite);
}
