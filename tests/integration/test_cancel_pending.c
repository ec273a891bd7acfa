/* Calls of the library by a thread whose cancellation is pending: the session works on, and no node stays behind. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "cancel_bench.h"
#include "ts_check.h"

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    if (status == PDK_OK)
        pdk_hold_release(hold);
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
}

static void on_leader(const char *identity, int64_t token, void *user) {
    (void)identity;
    (void)token;
    (void)user;
}

static pdk_hold *given;   /* for the call to use up, or from it: a call that need not wait succeeds */
static pdk_session *more; /* likewise */

static void do_lock_new(void) {
    pdk_lock *lock = NULL;
    pdk_lock_new(cancel_ours.s, "/cancel/lock", NULL, &lock);
    pdk_lock_unref(lock);
}
static void do_try(void) { pdk_lock_acquire(cancel_ours.lock, 0, &given); }
static void do_acquire(void) { pdk_lock_acquire(cancel_ours.lock, PDK_FOREVER, &given); }
static void do_async(void) { pdk_lock_acquire_async(cancel_ours.lock, 5000, on_acquired, NULL, NULL); }
static void do_async_cancel(void) {
    pdk_claim *claim = NULL;
    int32_t ahead = 0;
    pdk_lock_acquire_async(cancel_ours.busy, PDK_FOREVER, on_acquired, NULL, &claim);
    pdk_claim_position(claim, &ahead);
    pdk_claim_cancel(claim);
    pdk_claim_unref(claim);
}
static void do_hold(void) {
    pdk_hold_is_valid(given);
    pdk_hold_remaining_ms(given);
    pdk_hold_fd(given);
    pdk_hold_sequencer(given);
    pdk_hold_on_lost(given, on_lost, NULL, NULL);
    pdk_hold_detach_thread(given);
}
static void do_ensure(void) { pdk_hold_ensure(given, 0); }
static void do_release(void) { pdk_hold_release(g_steal_pointer(&given)); }
static void do_unref(void) { pdk_hold_unref(g_steal_pointer(&given)); }
static void do_flush(void) { pdk_session_flush(cancel_ours.s, 5000); }
static void do_ids(void) {
    pdk_session_id(cancel_ours.s);
    pdk_session_timeout_ms(cancel_ours.s);
    pdk_session_identity(cancel_ours.s);
    pdk_session_unref(pdk_session_ref(cancel_ours.s));
}
static void do_contenders(void) {
    pdk_contenders *list = NULL;
    pdk_lock_list(cancel_ours.busy, 5000, &list);
    pdk_contenders_free(list);
}
static void do_observe(void) {
    pdk_observer *observer = NULL;
    pdk_election_observe(cancel_ours.election, on_leader, NULL, NULL, &observer);
    pdk_observer_close(observer);
}
static void do_join(void) {
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    pdk_election_join(cancel_ours.election, &callbacks);
    pdk_election_resign(cancel_ours.election);
    pdk_election_leave(cancel_ours.election);
}
static void do_open(void) {
    pdk_session *s = NULL;
    pdk_session_open(ts_ensemble_hosts(cancel_server), NULL, &s);
}
static void do_dispatch(void) { pdk_session_dispatch(more, NULL); }
static void do_close(void) { pdk_session_close(more, 5000); }
static void do_drop(void) { pdk_session_unref(g_steal_pointer(&more)); }

static void *pending_main(void *user) {
    void (*call)(void);
    int ignored;
    memcpy(&call, user, sizeof call);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ignored);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &ignored);
    call();
    pthread_testcancel();
    return NULL;
}

static void with_pending(void (*call)(void), const char *name) {
    pthread_t thread;
    void *result = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, pending_main, (void *)&call), 0);
    ck_assert_msg(cancel_join(thread, &result), "%s: the thread did not end", name);
    ck_assert_msg(result == PTHREAD_CANCELED, "%s: it came back", name);
    cancel_check(name);
}

START_TEST(a_pending_cancellation_harms_no_call) {
    const struct {
        const char *name;
        void (*call)(void);
        bool takes_hold;
    } calls[] = {
        {"lock_new", do_lock_new, false},
        {"try", do_try, false},
        {"acquire", do_acquire, false},
        {"async", do_async, false},
        {"cancel", do_async_cancel, false},
        {"hold", do_hold, true},
        {"ensure", do_ensure, true},
        {"release", do_release, true},
        {"unref", do_unref, true},
        {"flush", do_flush, false},
        {"ids", do_ids, false},
        {"contenders", do_contenders, false},
        {"observe", do_observe, false},
        {"join", do_join, false},
        {"open", do_open, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        if (calls[i].takes_hold) {
            ck_assert_int_eq(pdk_lock_acquire(cancel_ours.lock, 10000, &given), PDK_OK);
            ck_assert_int_ge(pdk_hold_fd(given), 0);
            pdk_hold_detach_thread(given);
            if (calls[i].call != do_release && calls[i].call != do_unref)
                pdk_hold_on_lost(given, on_lost, NULL, NULL);
        }
        pthread_t thread;
        void *result = NULL;
        void (*call)(void) = calls[i].call;
        ck_assert_int_eq(pthread_create(&thread, NULL, pending_main, (void *)&call), 0);
        ck_assert_msg(cancel_join(thread, &result), "%s: the thread did not end", calls[i].name);
        ck_assert_msg(result == PTHREAD_CANCELED, "%s: it came back", calls[i].name);
        if (given)
            pdk_hold_release(g_steal_pointer(&given));
        cancel_check(calls[i].name);
    }
}
END_TEST

START_TEST(a_pending_cancellation_harms_no_end) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.dispatch = PDK_DISPATCH_MANUAL;
    options.on_event = cancel_be_slow;
    atomic_bool called = false;
    options.on_event_user = &called;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(cancel_server), &options, &more), PDK_OK);
    with_pending(do_dispatch, "dispatch");
    ck_assert(atomic_load(&called));
    ck_assert_int_eq(pdk_session_dispatch(more, NULL), PDK_OK);
    with_pending(do_close, "close");
    ck_assert_int_eq(pdk_session_close(more, 10000), PDK_OK);
    pdk_session_unref(more);
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(cancel_server), NULL, &more), PDK_OK);
    with_pending(do_drop, "unref");
}
END_TEST

/* ---- at any moment of the calls that take time, again and again */

enum { CANCELLATIONS = 1000 };

static pdk_rwlock *rwlock;
static pdk_semaphore *semaphore;
static pdk_striped *striped;

static void give_back(pdk_hold *hold) {
    if (hold)
        pdk_hold_release(hold);
}
static void any_try(void) {
    pdk_hold *hold = NULL;
    pdk_lock_acquire(cancel_ours.lock, 0, &hold);
    give_back(hold);
}
static void any_acquire(void) {
    pdk_hold *hold = NULL;
    pdk_lock_acquire(cancel_ours.lock, 5000, &hold);
    give_back(hold);
}
static void any_busy(void) {
    pdk_hold *hold = NULL;
    pdk_lock_acquire(cancel_ours.busy, 2, &hold);
    give_back(hold);
}
static void any_read(void) {
    pdk_hold *hold = NULL;
    pdk_rwlock_acquire_read(rwlock, 5000, &hold);
    give_back(hold);
}
static void any_write(void) {
    pdk_hold *hold = NULL;
    pdk_rwlock_acquire_write(rwlock, 5000, &hold);
    give_back(hold);
}
static void any_permit(void) {
    pdk_hold *hold = NULL;
    pdk_semaphore_acquire(semaphore, 1, 5000, &hold);
    give_back(hold);
}
static void any_key(void) {
    pdk_hold *hold = NULL;
    pdk_striped_acquire(striped, "key", 5000, &hold);
    give_back(hold);
}
static void any_stripe(void) {
    pdk_hold *hold = NULL;
    pdk_striped_acquire_any(striped, 5000, &hold);
    give_back(hold);
}
static void any_objects(void) {
    pdk_lock *lock = NULL;
    pdk_interrupt *interrupt = NULL;
    if (pdk_lock_new(cancel_ours.s, "/cancel/lock", NULL, &lock) == PDK_OK && pdk_interrupt_new(&interrupt) == PDK_OK) {
        pdk_interrupt_raise(interrupt);
        pdk_interrupt_unref(interrupt);
    }
    pdk_lock_unref(lock);
}
static void any_stats(void) {
    pdk_stats stats = {.size = sizeof stats};
    pdk_session_stats(cancel_ours.s, &stats);
}

static void *act_until_cancelled(void *user) {
    void (*act)(void);
    memcpy(&act, user, sizeof act);
    for (;;) {
        act();
        pthread_testcancel(); /* between two calls, where a hold is given back */
    }
    return NULL;
}

START_TEST(a_cancellation_at_any_moment_harms_no_call) {
    const struct {
        const char *name;
        void (*act)(void);
    } acts[] = {{"try", any_try},     {"acquire", any_acquire},      {"busy", any_busy},
                {"read", any_read},   {"write", any_write},          {"permit", any_permit},
                {"key", any_key},     {"stripe", any_stripe},        {"objects", any_objects},
                {"stats", any_stats}, {"contenders", do_contenders}, {"flush", do_flush},
                {"ids", do_ids}};
    const int times = CANCELLATIONS / (int)G_N_ELEMENTS(acts) + 1;
    ck_assert_int_eq(pdk_rwlock_new(cancel_ours.s, "/cancel/any/rwlock", NULL, &rwlock), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_new(cancel_ours.s, "/cancel/any/semaphore", 2, NULL, &semaphore), PDK_OK);
    ck_assert_int_eq(pdk_striped_new(cancel_ours.s, "/cancel/any/striped", 2, NULL, &striped), PDK_OK);
    for (size_t i = 0; i < G_N_ELEMENTS(acts); i++) {
        for (int n = 0; n < times; n++) {
            pthread_t thread;
            void *result = NULL;
            void (*act)(void) = acts[i].act;
            ck_assert_int_eq(pthread_create(&thread, NULL, act_until_cancelled, (void *)&act), 0);
            g_usleep((gulong)g_random_int_range(0, 3000));
            pthread_cancel(thread);
            ck_assert_msg(cancel_join(thread, &result), "%s: the thread did not end", acts[i].name);
        }
        cancel_check(acts[i].name);
    }
    ck_assert(ts_wait_children(ts_ensemble_hosts(cancel_server), "/cancel/any/rwlock", 0, 5000));
    ck_assert(ts_wait_children(ts_ensemble_hosts(cancel_server), "/cancel/lock", 0, 5000));
    pdk_striped_unref(striped);
    pdk_semaphore_unref(semaphore);
    pdk_rwlock_unref(rwlock);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("cancel_pending");
    TCase *cases = tcase_create("cancel_pending");
    tcase_add_unchecked_fixture(cases, cancel_begin, cancel_end);
    tcase_add_checked_fixture(cases, cancel_set_up, cancel_tear_down);
    tcase_add_test(cases, a_pending_cancellation_harms_no_call);
    tcase_add_test(cases, a_pending_cancellation_harms_no_end);
    tcase_add_test(cases, a_cancellation_at_any_moment_harms_no_call);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
