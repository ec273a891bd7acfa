/* The number of permits, on which all clients of a path must agree, and the directory that records it. */
#include <glib.h>
#include <string.h>

#include "permits.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SHORT_MS = 2000 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

/* The data of <path>/leases (g_free). */
static char *number_at(const char *path) {
    g_autofree char *leases = permits_leases(path);
    char *number = NULL;

    ck_assert_int_eq(ts_get(server(), leases, &number, NULL, NULL), 0);
    return number;
}

static void assert_number(const char *path, const char *expected) {
    g_autofree char *number = number_at(path);

    ck_assert_str_eq(number, expected);
}

static void write_number(const char *path, const char *number) {
    g_autofree char *leases = permits_leases(path);

    ck_assert_int_eq(ts_exists(server(), leases, NULL) == 0 ? ts_set(server(), leases, number)
                                                            : ts_create(server(), leases, number, TS_PERSISTENT, NULL),
                     0);
}

static pdk_status acquire(pdk_semaphore *semaphore, int32_t count, int64_t timeout_ms) {
    pdk_hold *hold = (pdk_hold *)&a;
    const pdk_status status = pdk_semaphore_acquire(semaphore, count, timeout_ms, &hold);

    ck_assert(status == PDK_OK || hold == (pdk_hold *)&a);
    if (status == PDK_OK) {
        pdk_hold_release(hold);
    }
    return status;
}

/* ---- the number is recorded ---- */

/* In the directory that it makes; or in one that has no number, as Curator makes it, by a claim that waits, and by a try. */
START_TEST(the_first_one_records_it) {
    const char *path = ts_fresh_path();
    pdk_hold *hold = NULL;

    if (_i > 0)
        write_number(path, "");
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 12), 3, _i == 2 ? 0 : 5000, &hold), PDK_OK);
    assert_number(path, "12");
    ck_assert_int_eq(permits_taken(path), 3);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_SET_DATA), _i > 0);
    ck_assert(_i > 0 || ts_proxy_count(a->proxy, TS_OP_CREATE_CONTAINER) == 4); /* /t, /t/N, locks, leases */
    ck_assert_int_eq(acquire(permits_at(b, path, 8), 1, 5000), PDK_MISMATCH);
    ck_assert_int_eq(acquire(permits_at(b, path, 12), 9, 5000), PDK_OK);
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_SET_DATA), 0);
    ck_assert(pdk_hold_is_valid(hold));
    pdk_hold_release(hold);
    permits_assert_none(path);
}
END_TEST

/* ---- another number ---- */

/* Blocking, asynchronous, and a try: MISMATCH, nothing left, and no harm to other clients. */
START_TEST(another_number_is_a_mismatch) {
    static const int32_t wrong[] = {2, 4, PDK_SEMAPHORE_PERMITS_MAX};
    const char *path = ts_fresh_path();
    g_autofree char *leases = permits_leases(path);
    pdk_hold *held = permits_take(permits_at(a, path, 3), 2);

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        pdk_semaphore *semaphore = permits_at(i % 2 ? a : b, path, wrong[i]);

        refused(acquire(semaphore, 1, PDK_FOREVER), PDK_MISMATCH, leases);
        refused(acquire(semaphore, 1, 0), PDK_MISMATCH, "\"3\"");
        permits_await_status(permits_async(semaphore, 1, 5000), PDK_MISMATCH);
        ck_assert(permits_wait_queued(path, 0));
        ck_assert_int_eq(permits_taken(path), 2);
    }
    assert_number(path, "3");
    ck_assert(pdk_hold_is_valid(held));
    ck_assert_int_eq(acquire(permits_at(b, path, 3), 1, 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    permits_assert_none(path);
    ck_assert_int_eq(acquire(permits_at(b, path, 2), 1, 5000), PDK_MISMATCH); /* the number stays recorded */
}
END_TEST

/* The number changes under those that wait: every thread is told. */
START_TEST(the_number_changes) {
    const char *path = ts_fresh_path();
    pdk_semaphore *semaphore = permits_at(b, path, 2);
    pdk_hold *held = permits_take(permits_at(a, path, 2), 2);
    ts_answer *async = permits_async(semaphore, 1, 20000), *blocked;

    permits_await_ahead(async, 0);
    blocked = permits_thread(semaphore, 2, 20000);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, pdk_hold_sequencer(held), 5000),
                     PDK_OK); /* by now the waiter has read the number */
    write_number(path, "3");
    ck_assert(!ts_answer_wait(async, 200)); /* nobody watches the number */
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    permits_await_status(async, PDK_MISMATCH);
    permits_await_status(blocked, PDK_MISMATCH);
    ck_assert_int_eq(acquire(permits_at(b, path, 3), 3, 5000), PDK_OK);
    permits_assert_none(path);
}
END_TEST

/* The number is forgotten when the directory is removed, as the server does with empty containers. */
START_TEST(a_removed_directory_forgets) {
    const char *path = ts_fresh_path();
    g_autofree char *leases = permits_leases(path);
    pdk_semaphore *three = permits_at(a, path, 3), *two = permits_at(b, path, 2);

    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(acquire(i % 2 ? two : three, 1, 5000), PDK_OK);
        ck_assert_int_eq(acquire(i % 2 ? three : two, 1, 5000), PDK_MISMATCH);
        permits_assert_none(path);
        ck_assert_int_eq(ts_delete(server(), leases), 0);
    }
}
END_TEST

/* ---- not a number ---- */

START_TEST(data_that_is_no_number_is_damaged) {
    static const char *const garbage[] = {"02", "\x1b[2J\xff"}; /* the data may come from any client */
    const char *path = ts_fresh_path();

    for (size_t i = 0; i < G_N_ELEMENTS(garbage); i++) {
        write_number(path, garbage[i]);
        refused(acquire(permits_at(a, path, 2), 1, 5000), PDK_DAMAGED, path);
        for (const char *c = pdk_last_error(); *c; c++)
            ck_assert(g_ascii_isprint(*c));
        ck_assert_int_eq(acquire(permits_at(a, path, 2), 1, 0), PDK_DAMAGED);
        permits_assert_none(path);
        assert_number(path, garbage[i]);
    }
    write_number(path, "2");
    ck_assert_int_eq(acquire(permits_at(a, path, 2), 2, 5000), PDK_OK);
}
END_TEST

/* ---- permissions ---- */

static void set_permissions(const char *path, int permissions) {
    ts_observer *o = ts_observer_open(server());

    ck_assert_ptr_nonnull(o);
    const int rc = ts_observer_set_acl(o, path, permissions, "world", "anyone");
    ts_observer_close(o);
    ck_assert_int_eq(rc, 0);
}

/* We may not read the leases, or not add to them, or not create them. It is told at once, and nothing is left. */
START_TEST(permissions_that_are_missing) {
    const char *path = ts_fresh_path();
    g_autofree char *leases = permits_leases(path), *locks = g_strconcat(path, "/locks", NULL);
    pdk_semaphore *semaphore = permits_at(a, path, 2);
    pdk_contenders *list = NULL;
    const char *closed = _i == 2 ? path : leases;

    ck_assert_int_eq(ts_create(server(), locks, "", TS_PERSISTENT, NULL), 0);
    if (_i < 2) {
        write_number(path, "2");
    }
    set_permissions(closed, TS_PERM_ALL & ~(_i == 0 ? TS_PERM_READ : TS_PERM_CREATE));
    refused(acquire(semaphore, 2, 5000), PDK_NO_PERMISSION, path);
    refused(acquire(semaphore, 1, 0), PDK_NO_PERMISSION, path);
    permits_await_status(permits_async(semaphore, 1, 5000), PDK_NO_PERMISSION);
    ck_assert(permits_wait_queued(path, 0));
    if (_i == 0) {
        refused(pdk_semaphore_holders(semaphore, 1000, &list), PDK_NO_PERMISSION, leases);
    }
    set_permissions(closed, TS_PERM_ALL);
    ck_assert_int_eq(acquire(semaphore, 2, 5000), PDK_OK);
    permits_assert_none(path);
}
END_TEST

/* A number that may not be written stops nobody. */
START_TEST(a_number_that_may_not_be_written) {
    const char *path = ts_fresh_path();
    g_autofree char *leases = permits_leases(path);

    write_number(path, "");
    set_permissions(leases, TS_PERM_ALL & ~TS_PERM_WRITE);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(acquire(permits_at(a, path, 2), 2, 5000), PDK_OK);
    assert_number(path, "");
    permits_assert_none(path);
}
END_TEST

/* Reading is forbidden for a moment, and the server holds the event of the release back. The waiter asks again in
 * time. */
START_TEST(an_event_that_is_held_back) {
    const char *path = ts_fresh_path();
    g_autofree char *leases = permits_leases(path);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;

    options.session_timeout_ms = SHORT_MS;
    ts_client *c = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(c);
    pdk_hold *held = permits_take(permits_at(a, path, 2), 2);
    ts_answer *waiter = permits_async(permits_at(c, path, 2), 2, 20000);
    permits_await_ahead(waiter, 0);
    ts_sleep_ms(50);
    set_permissions(leases, TS_PERM_ALL & ~TS_PERM_READ);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    set_permissions(leases, TS_PERM_ALL);
    ck_assert(ts_answer_wait(waiter, SHORT_MS + ts_patience(1000)));
    ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("semaphore_number");
    TCase *tcase = ts_bench_case(suite, "semaphore_number");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_loop_test(tcase, the_first_one_records_it, 0, 3);
    tcase_add_test(tcase, another_number_is_a_mismatch);
    tcase_add_test(tcase, the_number_changes);
    tcase_add_test(tcase, a_removed_directory_forgets);
    tcase_add_test(tcase, data_that_is_no_number_is_damaged);
    tcase_add_loop_test(tcase, permissions_that_are_missing, 0, 3);
    tcase_add_test(tcase, a_number_that_may_not_be_written);
    tcase_add_test(tcase, an_event_that_is_held_back);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
