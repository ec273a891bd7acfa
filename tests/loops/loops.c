#include "loops.h"

#include "ts_check.h"
#include "ts_clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { PATIENCE_MS = 20000 };

static const struct loop *loop;

/* What the callbacks of a case have seen. */
static struct {
    pdk_session *session;
    pdk_lock *lock;
    void *attached;
    int calls;
    bool detaches, closes; /* what the callback does */
} seen;
static atomic_int sessions_freed; /* in the case; a thread of the library may tell */

static void freed(void *user) {
    (void)user;
    atomic_fetch_add(&sessions_freed, 1);
}

static void event(pdk_session_event what, int64_t left, void *user) {
    (void)what;
    (void)left;
    (void)user;
}

static pdk_session *open_session(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session = NULL;
    options.dispatch = (int32_t)dispatch;
    options.open_in_background = 1;
    options.on_event = event;
    options.on_event_user_free = freed;
    ck_assert_int_eq(pdk_session_open("127.0.0.1:1", &options, &session), PDK_OK);
    return session;
}

static void begin(void) {
    memset(&seen, 0, sizeof seen);
    atomic_store(&sessions_freed, 0);
    seen.session = open_session(PDK_DISPATCH_MANUAL);
    ck_assert_int_eq(pdk_lock_new(seen.session, "/loops", NULL, &seen.lock), PDK_OK);
    seen.attached = loop->attach(seen.session);
    ck_assert_ptr_nonnull(seen.attached);
}

static bool is_freed(void *user) {
    (void)user;
    loop->turn(5);
    return atomic_load(&sessions_freed) == 1;
}

/* Gives back all that is left, and waits until the session has gone. */
static void finish(void) {
    if (seen.attached)
        loop->detach(seen.attached);
    pdk_lock_unref(seen.lock);
    pdk_session_close(seen.session, PDK_FOREVER);
    pdk_session_unref(seen.session);
    ck_assert(ts_wait_until(is_freed, NULL, PATIENCE_MS));
    loop->end();
}

static void called(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    ck_assert_int_eq(status, PDK_CANCELED);
    ck_assert_ptr_null(hold);
    seen.calls++;
    if (seen.detaches) {
        loop->detach(seen.attached);
        seen.attached = NULL;
    }
    if (seen.closes)
        ck_assert_int_eq(pdk_session_close(seen.session, 0), PDK_OK);
}

/* Makes callbacks due. */
static void make_due(int count) {
    for (int i = 0; i < count; i++) {
        pdk_claim *claim = NULL;
        ck_assert_int_eq(pdk_lock_acquire_async(seen.lock, PDK_FOREVER, called, NULL, &claim), PDK_OK);
        ck_assert_int_eq(pdk_claim_cancel(claim), PDK_OK);
        pdk_claim_unref(claim);
    }
}

static bool was_called(void *user) {
    loop->turn(5);
    return seen.calls >= *(int *)user;
}

START_TEST(callbacks_run_on_the_loop) {
    int wanted = 3;
    begin();
    make_due(3);
    ck_assert_int_eq(seen.calls, 0);
    ck_assert(ts_wait_until(was_called, &wanted, PATIENCE_MS));
    wanted = 5;
    make_due(2);
    ck_assert(ts_wait_until(was_called, &wanted, PATIENCE_MS));
    ck_assert_int_eq(seen.calls, 5);
    finish();
}
END_TEST

/* The callbacks that are due when it is taken away run: they were taken with it. Later ones do not. */
START_TEST(taken_away_by_a_callback) {
    int wanted = 1;
    begin();
    seen.detaches = true;
    make_due(1);
    ck_assert(ts_wait_until(was_called, &wanted, PATIENCE_MS));
    ck_assert_ptr_null(seen.attached);
    seen.detaches = false;
    make_due(1);
    for (int i = 0; i < 5; i++)
        loop->turn(5);
    ck_assert_int_eq(seen.calls, 1);
    wanted = 2; /* and it can be attached anew */
    seen.attached = loop->attach(seen.session);
    ck_assert(ts_wait_until(was_called, &wanted, PATIENCE_MS));
    finish();
}
END_TEST

/* A loop that went on with a descriptor that nobody reads would turn without a pause. */
static void assert_at_rest(void) {
    for (int i = 0; i < 5; i++)
        loop->turn(5);
    int64_t begun = ts_now_ms();
    loop->turn(100);
    ck_assert_int_ge(ts_now_ms() - begun, 90);
}

static bool is_over(void *user) {
    (void)user;
    loop->turn(5);
    return loop->is_over(seen.attached);
}

/* The session is closed: the adapter hears of it by the loop alone. */
static void assert_stops(void) {
    ck_assert(ts_wait_until(is_over, NULL, PATIENCE_MS));
    if (loop->run)
        loop->run();
    assert_at_rest();
}

START_TEST(closed_by_a_callback) {
    int wanted = 1;
    begin();
    seen.closes = true;
    make_due(1);
    ck_assert(ts_wait_until(was_called, &wanted, PATIENCE_MS));
    assert_stops();
    finish();
}
END_TEST

/* The close runs what is due itself, so nothing is left for the loop. */
START_TEST(closed_in_time) {
    begin();
    make_due(1);
    ck_assert_int_eq(pdk_session_close(seen.session, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(seen.calls, 1);
    assert_stops();
    ck_assert_int_eq(seen.calls, 1);
    finish();
}
END_TEST

static void *close_in_time(void *status) {
    *(pdk_status *)status = pdk_session_close(seen.session, PATIENCE_MS);
    return NULL;
}

/* The loop may sleep while another thread closes the session. */
START_TEST(closed_by_another_thread) {
    pthread_t closer;
    pdk_status status = PDK_SYSTEM;
    begin();
    for (int i = 0; i < 5; i++)
        loop->turn(5);
    ck_assert_int_eq(pthread_create(&closer, NULL, close_in_time, &status), 0);
    assert_stops();
    pthread_join(closer, NULL);
    ck_assert_int_eq(status, PDK_OK);
    finish();
}
END_TEST

/* The close has no time: what is due is dropped. */
START_TEST(closed_while_callbacks_are_due) {
    begin();
    make_due(1);
    pdk_session_close(seen.session, 0);
    ck_assert(ts_fd_readable(pdk_session_fd(seen.session), 0));
    assert_stops();
    ck_assert_int_eq(seen.calls, 0);
    finish();
}
END_TEST

/* Whatever is attached has a reference of its own. Without it the library would drop what is due. */
START_TEST(keeps_the_session) {
    int wanted = 1;
    begin();
    pdk_session_unref(seen.session);
    make_due(1);
    ck_assert(ts_wait_until(was_called, &wanted, PATIENCE_MS));
    ck_assert_int_eq(atomic_load(&sessions_freed), 0);
    pdk_session_ref(seen.session);
    finish();
}
END_TEST

/* The last reference goes in the callback that the adapter is in. */
START_TEST(last_reference_in_a_callback) {
    begin();
    seen.detaches = true;
    make_due(1);
    pdk_session_unref(seen.session);
    int wanted = 1;
    ck_assert(ts_wait_until(was_called, &wanted, PATIENCE_MS));
    pdk_lock_unref(seen.lock);
    ck_assert(ts_wait_until(is_freed, NULL, PATIENCE_MS));
    loop->end();
}
END_TEST

START_TEST(a_session_with_a_thread_is_refused) {
    memset(&seen, 0, sizeof seen);
    atomic_store(&sessions_freed, 0);
    pdk_session *session = open_session(PDK_DISPATCH_THREAD);
    ck_assert_ptr_null(loop->attach(session));
    ck_assert_ptr_null(loop->attach(NULL));
    ck_assert_int_eq(pdk_session_close(session, PDK_FOREVER), PDK_OK);
    pdk_session_unref(session);
    loop->end();
}
END_TEST

int loops_play(const struct loop *adapter) {
    Suite *suite = suite_create(adapter->name);
    TCase *cases = tcase_create("adapter");
    loop = adapter;
    tcase_add_test(cases, callbacks_run_on_the_loop);
    tcase_add_test(cases, taken_away_by_a_callback);
    tcase_add_test(cases, closed_by_a_callback);
    tcase_add_test(cases, closed_in_time);
    tcase_add_test(cases, closed_by_another_thread);
    tcase_add_test(cases, closed_while_callbacks_are_due);
    tcase_add_test(cases, keeps_the_session);
    tcase_add_test(cases, last_reference_in_a_callback);
    tcase_add_test(cases, a_session_with_a_thread_is_refused);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
