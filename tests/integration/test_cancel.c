/* Threads of the program that are cancelled while they wait in a call: the session works on, and no node stays behind. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "cancel_bench.h"
#include "ts_check.h"

static atomic_bool waits; /* the thread is about to wait */
static pdk_interrupt *interrupt;

static void wait_lock(void) {
    pdk_hold *hold = NULL;
    pdk_lock_acquire(cancel_ours.busy, PDK_FOREVER, &hold);
}

static void wait_lock_with_interrupt(void) {
    pdk_hold *hold = NULL;
    pdk_interrupt_attach(interrupt);
    pdk_lock_acquire(cancel_ours.busy, PDK_FOREVER, &hold);
}

static void wait_lock_for_a_while(void) {
    pdk_hold *hold = NULL;
    pdk_lock_acquire(cancel_ours.busy, 60000, &hold);
}

static void wait_office(void) {
    pdk_hold *hold = NULL;
    pdk_election_wait(cancel_ours.election, PDK_FOREVER, &hold);
}

static pdk_lock *delayed;

static void wait_delay(void) {
    pdk_hold *hold = NULL;
    pdk_lock_acquire(delayed, PDK_FOREVER, &hold);
}

static void wait_contenders(void) {
    pdk_contenders *list = NULL;
    pdk_lock_list(cancel_ours.busy, 60000, &list);
}

static void wait_flush(void) { pdk_session_flush(cancel_ours.s, PDK_FOREVER); }

static pdk_hold *ensured;
static void wait_ensure(void) { pdk_hold_ensure(ensured, 1500); }

static void wait_check(void) { pdk_session_check_sequencer(cancel_ours.s, pdk_hold_sequencer(ensured), 60000); }

static void wait_open(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    options.connect_timeout_ms = 60000;
    pdk_session_open(ts_ensemble_proxied_hosts(cancel_server), &options, &s);
}

static pdk_session *closing;
static void wait_close(void) { pdk_session_close(closing, PDK_FOREVER); }

static pdk_service *service;
static void wait_stop(void) { pdk_service_close(service, PDK_FOREVER); }

static void *wait_main(void *user) {
    void (*call)(void);
    memcpy(&call, user, sizeof call);
    atomic_store(&waits, true);
    call();
    return NULL;
}

/* Cancel a thread while it is in the call. */
static void cancel_in(void (*call)(void), const char *name) {
    pthread_t thread;
    void *result = NULL;
    atomic_store(&waits, false);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_main, (void *)&call), 0);
    while (!atomic_load(&waits))
        cancel_pause(1);
    cancel_pause(100);
    pthread_cancel(thread);
    bool ended = cancel_join(thread, &result);
    ck_assert_msg(ended, "%s: the thread did not end", name);
    ck_assert_msg(result == PTHREAD_CANCELED, "%s: it came back", name);
}

START_TEST(a_cancelled_claim_is_given_up) {
    cancel_in(wait_lock, "lock");
    cancel_check("lock");
    cancel_in(wait_lock_for_a_while, "lock for a while");
    cancel_check("lock for a while");
    ck_assert_int_eq(pdk_interrupt_new(&interrupt), PDK_OK);
    cancel_in(wait_lock_with_interrupt, "lock, with an interrupt");
    cancel_check("lock, with an interrupt");
    pdk_interrupt_unref(interrupt);
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&cancel_others.hold)), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(cancel_ours.busy, 10000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* It waits for the end of a delay, first in the queue: its node goes, and the pledge that it waits for stays. */
START_TEST(a_cancelled_wait_for_a_delay_is_given_up) {
    const char *hosts = ts_ensemble_hosts(cancel_server);
    static const char pledge[] = "/cancel/delayed/pledge-_c_01234567-89ab-8def-0123-456789abcdef-0000000099";
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_hold *hold = NULL;
    options.lock_delay_ms = 60000;
    ck_assert_int_eq(pdk_lock_new(cancel_ours.s, "/cancel/delayed", &options, &delayed), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(delayed, 10000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(ts_create(hosts, pledge, "", TS_PERSISTENT, NULL), 0);
    cancel_in(wait_delay, "delay");
    cancel_check("delay");
    ck_assert(ts_wait_children(hosts, "/cancel/delayed", 2, 5000));
    ck_assert_int_eq(ts_delete(hosts, pledge), 0);
    ck_assert_int_eq(pdk_lock_acquire(delayed, 10000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(delayed);
}
END_TEST

static atomic_bool leads;

static void lead_until_told(pdk_term *term, void *told) {
    (void)term;
    atomic_store(&leads, true);
    while (!atomic_load((atomic_bool *)told))
        cancel_pause(1);
}

START_TEST(a_cancelled_wait_for_an_office_leaves_the_candidate) {
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_election_join(cancel_ours.election, &callbacks), PDK_OK);
    cancel_in(wait_office, "await");
    ck_assert_int_eq(pdk_election_leave(cancel_others.election), PDK_OK);
    ck_assert_int_eq(pdk_election_wait(cancel_ours.election, 10000, &hold), PDK_OK);
    pdk_hold_unref(hold);
    cancel_check("await");
    ck_assert_int_eq(pdk_election_leave(cancel_ours.election), PDK_OK);
}
END_TEST

START_TEST(a_cancelled_stop_goes_on_alone) {
    atomic_bool told = false;
    ck_assert_int_eq(pdk_election_leave(cancel_others.election), PDK_OK);
    ck_assert_int_eq(pdk_service_start(cancel_ours.election, lead_until_told, &told, NULL, &service), PDK_OK);
    while (!atomic_load(&leads))
        cancel_pause(1);
    cancel_in(wait_stop, "stop");
    atomic_store(&told, true);
    ck_assert_int_eq(pdk_service_close(service, 10000), PDK_OK);
    pdk_service_unref(service);
    cancel_check("stop");
}
END_TEST

START_TEST(a_cancelled_question_harms_nobody) {
    ck_assert_int_eq(pdk_lock_acquire(cancel_ours.lock, 10000, &ensured), PDK_OK);
    ts_proxy_set_mode(cancel_proxy, TS_BLACKHOLE);
    cancel_in(wait_contenders, "contenders");
    cancel_in(wait_check, "check");
    cancel_in(wait_open, "open");
    ts_proxy_heal(cancel_proxy);
    ck_assert_int_eq(pdk_hold_ensure(ensured, 100), PDK_OK);
    ts_proxy_set_mode(cancel_proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(ensured), PDK_OK);
    cancel_in(wait_flush, "flush");
    ts_proxy_heal(cancel_proxy);
    cancel_check("questions");
}
END_TEST

START_TEST(a_cancelled_ensure_harms_nobody) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    pdk_lock *lock = NULL;
    options.session_timeout_ms = 5000;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(cancel_server), &options, &s), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(s, "/cancel/ensured", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 10000, &ensured), PDK_OK);
    ts_proxy_set_mode(cancel_proxy, TS_BLACKHOLE);
    while (pdk_hold_remaining_ms(ensured) > 1400)
        cancel_pause(1);
    cancel_in(wait_ensure, "ensure");
    ts_proxy_heal(cancel_proxy);
    cancel_check("ensure");
    pdk_hold_release(ensured);
    pdk_lock_unref(lock);
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK);
    pdk_session_unref(s);
}
END_TEST

/* The connection is silent: the first wait of a close, for the deletes. */
START_TEST(a_cancelled_close_goes_on_alone) {
    struct cancel_user user;
    pdk_hold *hold = NULL;
    cancel_use(&user, ts_ensemble_proxied_hosts(cancel_server), PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_lock_acquire(user.lock, 10000, &hold), PDK_OK);
    ts_proxy_set_mode(cancel_proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    closing = user.s;
    cancel_in(wait_close, "close");
    ts_proxy_heal(cancel_proxy);
    ck_assert_int_eq(pdk_session_close(user.s, 10000), PDK_OK);
    cancel_drop(&user);
    cancel_check("close");
}
END_TEST

/* A callback is running: the last wait of a close. */
START_TEST(a_close_that_is_cancelled_during_a_callback_goes_on_alone) {
    atomic_bool called = false;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.on_event = cancel_be_slow;
    options.on_event_user = &called;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(cancel_server), &options, &closing), PDK_OK);
    while (!atomic_load(&called))
        cancel_pause(1);
    cancel_in(wait_close, "close");
    ck_assert_int_eq(pdk_session_close(closing, 10000), PDK_OK);
    pdk_session_unref(closing);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("cancel");
    TCase *cases = tcase_create("cancel");
    tcase_add_unchecked_fixture(cases, cancel_begin, cancel_end);
    tcase_add_checked_fixture(cases, cancel_set_up, cancel_tear_down);
    tcase_add_test(cases, a_cancelled_claim_is_given_up);
    tcase_add_test(cases, a_cancelled_wait_for_a_delay_is_given_up);
    tcase_add_test(cases, a_cancelled_wait_for_an_office_leaves_the_candidate);
    tcase_add_test(cases, a_cancelled_stop_goes_on_alone);
    tcase_add_test(cases, a_cancelled_question_harms_nobody);
    tcase_add_test(cases, a_cancelled_ensure_harms_nobody);
    tcase_add_test(cases, a_cancelled_close_goes_on_alone);
    tcase_add_test(cases, a_close_that_is_cancelled_during_a_callback_goes_on_alone);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
