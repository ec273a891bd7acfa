/* Ensuring a set in two sessions, when one of them ends, is cut off, or is dispatched by nobody: there is one answer,
 * and one that the header lists. */
#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "refused.h"
#include "set_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* Much of the lease is left when less than WANTED_MS is. */
enum { SESSION_MS = 6000, SHORT_MS = 2000, WANTED_MS = 3000, LITTLE_MS = 10, REQUEST_MS = 20000, PATIENCE_MS = 10000 };

/* "a" is first in the order, so its session tells of the whole. Part 0 is the right that was named first. */
static struct {
    const char *path[2];
    pdk_session *session[2];
    ts_proxy *proxy[2];
    pdk_set *held;
    atomic_int count, status;
} it;

static void on_ensured(pdk_status status, void *user) {
    (void)user;
    atomic_store(&it.status, (int)status);
    atomic_fetch_add(&it.count, 1);
}

static bool is_there(void *user) {
    (void)user;
    return atomic_load(&it.count) > 0;
}

static void assert_answered(pdk_status status) {
    ck_assert_msg(ts_wait_until(is_there, NULL, ts_patience(PATIENCE_MS)), "no answer");
    ck_assert_str_eq(pdk_status_name((pdk_status)atomic_load(&it.status)), pdk_status_name(status));
}

static pdk_session_options options_of(int session_ms, int request_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = session_ms;
    options.request_timeout_ms = request_ms;
    options.server_tick_ms = 200; /* with T/2 a renewal gives less */
    return options;
}

static void begin(void) {
    const char *path = ts_fresh_path();
    memset(&it, 0, sizeof it);
    for (int i = 0; i < 2; i++) {
        char *below = g_strdup_printf("%s/%c", path, 'a' + i);
        ts_paddock_keep(below, g_free);
        it.path[i] = below;
    }
}

static void open_one(int i, const pdk_session_options *options) {
    ts_client *client = ts_client_open_with(ts_bench_server(), NULL, options);
    ck_assert_ptr_nonnull(client);
    it.session[i] = client->session;
    it.proxy[i] = client->proxy;
}

static void take(bool backwards) {
    pdk_lock *lock[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pdk_lock_new(it.session[i], it.path[i], NULL, &lock[i]), PDK_OK);
    struct set *set = set_of(pdk_right_lock(lock[0]), pdk_right_lock(lock[1]));
    it.held = set_take(backwards ? set_backwards(set) : set);
    for (int i = 0; i < 2; i++)
        pdk_lock_unref(lock[i]);
}

static void take_both(const pdk_session_options *first, const pdk_session_options *second, bool backwards) {
    begin();
    open_one(0, first);
    open_one(1, second);
    take(backwards);
}

/* The session of the second right is dispatched by nobody. */
static void take_undispatched(void) {
    pdk_session_options first = options_of(SESSION_MS, REQUEST_MS), second = first;
    second.dispatch = PDK_DISPATCH_MANUAL;
    begin();
    open_one(0, &first);
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), &second, &it.session[1]), PDK_OK);
    take(false);
}

static pdk_status ensure(int64_t ms) { return pdk_set_ensure_async(it.held, ms, on_ensured, NULL); }

/* The second session is cut off, and less than WANTED_MS is left in it. */
static void cut_off(int part) {
    ts_proxy_set_mode(it.proxy[1], TS_BLACKHOLE);
    while (pdk_hold_remaining_ms(pdk_set_part(it.held, part)) >= WANTED_MS)
        ts_sleep_ms(5);
    ck_assert(pdk_set_is_valid(it.held));
}

/* ---- a session ends */

START_TEST(the_session_that_tells_is_closed) {
    pdk_session_options options = options_of(SESSION_MS, REQUEST_MS);
    take_both(&options, &options, false);
    cut_off(1);
    ck_assert_int_eq(ensure(WANTED_MS), PDK_OK);
    ts_sleep_ms(100); /* the second part is being ensured */
    ck_assert_int_eq(atomic_load(&it.count), 0);
    if (_i)
        ck_assert_int_eq(pdk_set_release(pdk_set_ref(it.held)), PDK_OK);
    ck_assert_int_eq(pdk_session_close(it.session[0], ts_patience(PATIENCE_MS)), PDK_OK);
    ck_assert_int_eq(atomic_load(&it.count), 1); /* nothing can be told afterwards */
    ck_assert_int_eq(atomic_load(&it.status), _i ? PDK_NOT_HELD : PDK_LOST);
    refused(ensure(WANTED_MS), PDK_CLOSED, "pdk_set_ensure_async");
    ts_proxy_heal(it.proxy[1]);
    ck_assert_int_eq(pdk_session_close(it.session[1], ts_patience(PATIENCE_MS)), PDK_OK);
    ck_assert_int_eq(atomic_load(&it.count), 1);
    pdk_set_unref(it.held);
}
END_TEST

static void close_the_other(pdk_status status, pdk_contenders *list, void *closed) {
    (void)status;
    pdk_contenders_free(list);
    ck_assert_int_eq(pdk_session_close(it.session[1], 0), PDK_OK);
    atomic_store((atomic_bool *)closed, true);
}

static bool is_closed(void *closed) { return atomic_load((atomic_bool *)closed); }

/* The answer of its part is due there, and is dropped. _i: in a callback, or without time. */
START_TEST(the_other_session_is_closed_and_tells_nothing) {
    atomic_bool closed = false;
    pdk_lock *lock = NULL;
    take_undispatched();
    ck_assert_int_eq(ensure(LITTLE_MS), PDK_OK);
    ts_sleep_ms(200);
    ck_assert_int_eq(atomic_load(&it.count), 0);
    if (_i == 0) {
        ck_assert_int_eq(pdk_lock_new(it.session[0], it.path[0], NULL, &lock), PDK_OK);
        ck_assert_int_eq(pdk_lock_holder_async(lock, PATIENCE_MS, close_the_other, &closed), PDK_OK);
        ck_assert(ts_wait_until(is_closed, &closed, ts_patience(PATIENCE_MS)));
        pdk_lock_unref(lock);
    } else {
        pdk_session_close(it.session[1], 0);
    }
    assert_answered(PDK_LOST);
    ck_assert_int_eq(pdk_set_release(it.held), PDK_LOST);
    pdk_session_close(it.session[1], ts_patience(PATIENCE_MS));
    pdk_session_unref(it.session[1]);
    ck_assert_int_eq(pdk_session_close(it.session[0], ts_patience(PATIENCE_MS)), PDK_OK);
    ck_assert_int_eq(atomic_load(&it.count), 1);
}
END_TEST

/* Its owner has given it back, and nobody can dispatch it any more. The hold stands. */
START_TEST(the_other_session_is_given_back) {
    take_undispatched();
    ck_assert_int_eq(ensure(LITTLE_MS), PDK_OK);
    ts_sleep_ms(200);
    ck_assert_int_eq(atomic_load(&it.count), 0);
    pdk_session_unref(it.session[1]);
    assert_answered(PDK_OK);
    ck_assert_int_eq(pdk_set_release(it.held), PDK_OK);
    set_children(it.path[1], 0);
    ck_assert_int_eq(atomic_load(&it.count), 1);
}
END_TEST

/* ---- no session ends */

/* _i: which part has the short session. */
START_TEST(one_of_them_can_never_have_so_much) {
    pdk_session_options longer = options_of(SESSION_MS, REQUEST_MS), shorter = options_of(SHORT_MS, REQUEST_MS);
    take_both(&longer, &shorter, _i == 0);
    refused(ensure(WANTED_MS), PDK_INVALID, "pdk_set_ensure_async: ms is 3000; from 0 to");
    refused(pdk_set_ensure(it.held, WANTED_MS), PDK_INVALID, "pdk_set_ensure: ms is 3000; from 0 to");
    ts_sleep_ms(100);
    ck_assert_int_eq(atomic_load(&it.count), 0);
    ck_assert_int_eq(pdk_set_release(it.held), PDK_OK);
}
END_TEST

/* The part that is ensured first gets no renewal, while the other one is lost. */
START_TEST(no_renewal_comes_in_time) {
    pdk_session_options options = options_of(SESSION_MS, 300);
    take_both(&options, &options, true);
    cut_off(0);
    ck_assert_int_eq(ensure(WANTED_MS), PDK_OK);
    assert_answered(PDK_UNAVAILABLE);
    ck_assert_int_eq(pdk_session_close(it.session[0], ts_patience(PATIENCE_MS)), PDK_OK);
    ck_assert_int_eq(pdk_set_ensure(it.held, WANTED_MS), PDK_LOST);
    ts_proxy_heal(it.proxy[1]);
    ck_assert_int_eq(pdk_set_release(it.held), PDK_LOST);
    ck_assert_int_eq(atomic_load(&it.count), 1);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("set_ensure");
    TCase *all = ts_bench_case(suite, "set_ensure");
    tcase_add_loop_test(all, the_session_that_tells_is_closed, 0, 2);
    tcase_add_loop_test(all, the_other_session_is_closed_and_tells_nothing, 0, 2);
    tcase_add_test(all, the_other_session_is_given_back);
    tcase_add_loop_test(all, one_of_them_can_never_have_so_much, 0, 2);
    tcase_add_test(all, no_renewal_comes_in_time);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
