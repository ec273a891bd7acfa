/* Threads of the program that are cancelled: while they wait in a call, before a call, and at any moment of it. The session works on, and no
 * node stays behind. The claims of the recipes are in test_recipes_waiting.c. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "ts_check.h"
#include "ts_support.h"

static ts_ensemble *server;
static ts_proxy *proxy; /* in front of ours */

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
    proxy = ts_ensemble_proxy(server, 0);
}

static void end(void) { ts_ensemble_stop(server); }

/* Two sessions, of which the others' has what ours waits for. */
static struct user {
    pdk_session *s;
    pdk_lock *lock, *busy;
    pdk_election *election;
    pdk_hold *hold; /* the others', so ours waits; NULL: the test has released it */
} ours, others;

static void use(struct user *user, const char *hosts) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    memset(user, 0, sizeof *user);
    options.session_timeout_ms = 30000;
    ck_assert_int_eq(pdk_session_open(hosts, &options, &user->s), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(user->s, "/cancel/lock", NULL, &user->lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(user->s, "/cancel/busy", NULL, &user->busy), PDK_OK);
    ck_assert_int_eq(pdk_election_new(user->s, "/cancel/election", NULL, &user->election), PDK_OK);
}

static void give_back(pdk_hold *hold) {
    if (hold)
        pdk_hold_release(hold);
}

static void drop(struct user *user) {
    give_back(user->hold);
    pdk_lock_unref(user->lock);
    pdk_lock_unref(user->busy);
    pdk_election_unref(user->election);
    pdk_session_close(user->s, 10000);
    pdk_session_unref(user->s);
}

static void set_up(void) {
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    pdk_hold *leading = NULL;
    ts_proxy_heal(proxy);
    use(&others, ts_ensemble_hosts(server));
    use(&ours, ts_ensemble_proxied_hosts(server));
    ck_assert_int_eq(pdk_lock_acquire(others.busy, 10000, &others.hold), PDK_OK);
    ck_assert_int_eq(pdk_election_join(others.election, &callbacks), PDK_OK);
    ck_assert_int_eq(pdk_election_wait(others.election, 10000, &leading), PDK_OK);
    pdk_hold_unref(leading);
}

static void tear_down(void) {
    ts_proxy_heal(proxy);
    drop(&ours);
    drop(&others);
}

/* false: it has not ended within ten seconds. */
static bool join(pthread_t thread, void **result) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    return pthread_timedjoin_np(thread, result, &until) == 0;
}

/* Our session works, and no node of ours is left. */
static void check(const char *name) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_lock_acquire(ours.lock, 10000, &hold);
    ck_assert_msg(status == PDK_OK, "after %s: %s", name, pdk_last_error());
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(ours.s, 10000), PDK_OK);
    ck_assert_msg(ts_wait_children(ts_ensemble_hosts(server), "/cancel/busy", 1, 5000), "after %s: a node", name);
}

/* A callback of a session that takes 1.5 s. user: an atomic_bool, which becomes true. */
static void be_slow(pdk_session_event event, int64_t time_left_ms, void *user) {
    (void)event;
    (void)time_left_ms;
    atomic_store((atomic_bool *)user, true);
    ts_sleep_ms(1500);
}

static void *run(void *user) {
    void (*call)(void);
    memcpy(&call, user, sizeof call);
    call();
    return NULL;
}

/* Takes an answer that does not matter: the thread ends meanwhile. */
static void whatever(pdk_status status) { (void)status; }

/* ---- in a call that waits */

static pdk_interrupt *interrupt;

static void wait_lock_with_interrupt(void) {
    pdk_hold *hold = NULL;
    pdk_interrupt_attach(interrupt);
    whatever(pdk_lock_acquire(ours.busy, PDK_FOREVER, &hold));
}

static void wait_lock_for_a_while(void) {
    pdk_hold *hold = NULL;
    whatever(pdk_lock_acquire(ours.busy, 60000, &hold));
}

static void wait_office(void) {
    pdk_hold *hold = NULL;
    whatever(pdk_election_wait(ours.election, PDK_FOREVER, &hold));
}

static void wait_contenders(void) {
    pdk_contenders *list = NULL;
    pdk_lock_list(ours.busy, 60000, &list);
}

static void wait_flush(void) { pdk_session_flush(ours.s, PDK_FOREVER); }

static pdk_hold *ensured;
static void wait_ensure(void) { pdk_hold_ensure(ensured, 1500); }

static void wait_check(void) { pdk_session_check_sequencer(ours.s, pdk_hold_sequencer(ensured), 60000); }

static void wait_open(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    options.connect_timeout_ms = 60000;
    whatever(pdk_session_open(ts_ensemble_proxied_hosts(server), &options, &s));
}

static pdk_session *closing;
static void wait_close(void) { pdk_session_close(closing, PDK_FOREVER); }

static pdk_service *service;
static void wait_stop(void) { pdk_service_close(service, PDK_FOREVER); }

/* Cancel a thread while it is in the call. */
static void cancel_in(void (*call)(void), const char *name) {
    pthread_t thread;
    void *result = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, run, (void *)&call), 0);
    ts_sleep_ms(100);
    pthread_cancel(thread);
    bool ended = join(thread, &result);
    ck_assert_msg(ended, "%s: the thread did not end", name);
    ck_assert_msg(result == PTHREAD_CANCELED, "%s: it came back", name);
}

START_TEST(a_cancelled_claim_is_given_up) {
    cancel_in(wait_lock_for_a_while, "lock for a while");
    check("lock for a while");
    ck_assert_int_eq(pdk_interrupt_new(&interrupt), PDK_OK);
    cancel_in(wait_lock_with_interrupt, "lock, with an interrupt");
    check("lock, with an interrupt");
    pdk_interrupt_unref(interrupt);
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&others.hold)), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(ours.busy, 10000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

static atomic_bool leads;

static void lead_until_told(pdk_term *term, void *told) {
    (void)term;
    atomic_store(&leads, true);
    while (!atomic_load((atomic_bool *)told))
        ts_sleep_ms(1);
}

START_TEST(a_cancelled_wait_for_an_office_leaves_the_candidate) {
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_election_join(ours.election, &callbacks), PDK_OK);
    cancel_in(wait_office, "await");
    ck_assert_int_eq(pdk_election_leave(others.election), PDK_OK);
    ck_assert_int_eq(pdk_election_wait(ours.election, 10000, &hold), PDK_OK);
    pdk_hold_unref(hold);
    check("await");
    ck_assert_int_eq(pdk_election_leave(ours.election), PDK_OK);
}
END_TEST

START_TEST(a_cancelled_stop_goes_on_alone) {
    atomic_bool told = false;
    ck_assert_int_eq(pdk_election_leave(others.election), PDK_OK);
    ck_assert_int_eq(pdk_service_start(ours.election, lead_until_told, &told, NULL, &service), PDK_OK);
    while (!atomic_load(&leads))
        ts_sleep_ms(1);
    cancel_in(wait_stop, "stop");
    atomic_store(&told, true);
    ck_assert_int_eq(pdk_service_close(service, 10000), PDK_OK);
    pdk_service_unref(service);
    check("stop");
}
END_TEST

START_TEST(a_cancelled_question_harms_nobody) {
    ck_assert_int_eq(pdk_lock_acquire(ours.lock, 10000, &ensured), PDK_OK);
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    cancel_in(wait_contenders, "contenders");
    cancel_in(wait_check, "check");
    cancel_in(wait_open, "open");
    ts_proxy_heal(proxy);
    ck_assert_int_eq(pdk_hold_ensure(ensured, 100), PDK_OK);
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(ensured), PDK_OK);
    cancel_in(wait_flush, "flush");
    ts_proxy_heal(proxy);
    check("questions");
}
END_TEST

START_TEST(a_cancelled_ensure_harms_nobody) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    pdk_lock *lock = NULL;
    options.session_timeout_ms = 5000;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(server), &options, &s), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(s, "/cancel/ensured", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 10000, &ensured), PDK_OK);
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    while (pdk_hold_remaining_ms(ensured) > 1400)
        ts_sleep_ms(1);
    cancel_in(wait_ensure, "ensure");
    ts_proxy_heal(proxy);
    check("ensure");
    pdk_hold_release(ensured);
    pdk_lock_unref(lock);
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK);
    pdk_session_unref(s);
}
END_TEST

/* The connection is silent: the first wait of a close, for the deletes. */
START_TEST(a_cancelled_close_goes_on_alone) {
    struct user user;
    pdk_hold *hold = NULL;
    use(&user, ts_ensemble_proxied_hosts(server));
    ck_assert_int_eq(pdk_lock_acquire(user.lock, 10000, &hold), PDK_OK);
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    closing = user.s;
    cancel_in(wait_close, "close");
    ts_proxy_heal(proxy);
    ck_assert_int_eq(pdk_session_close(user.s, 10000), PDK_OK);
    drop(&user);
    check("close");
}
END_TEST

/* A callback is running: the last wait of a close. */
START_TEST(a_close_that_is_cancelled_during_a_callback_goes_on_alone) {
    atomic_bool called = false;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.on_event = be_slow;
    options.on_event_user = &called;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), &options, &closing), PDK_OK);
    while (!atomic_load(&called))
        ts_sleep_ms(1);
    cancel_in(wait_close, "close");
    ck_assert_int_eq(pdk_session_close(closing, 10000), PDK_OK);
    pdk_session_unref(closing);
}
END_TEST

/* ---- before a call, and at any moment of it */

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

static void any_objects(void) {
    pdk_lock *lock = NULL;
    pdk_interrupt *raised = NULL;
    if (pdk_lock_new(ours.s, "/cancel/lock", NULL, &lock) == PDK_OK && pdk_interrupt_new(&raised) == PDK_OK) {
        pdk_interrupt_raise(raised);
        pdk_interrupt_unref(raised);
    }
    pdk_lock_unref(lock);
}
static void any_stats(void) {
    pdk_stats stats = {.size = sizeof stats};
    pdk_session_stats(ours.s, &stats);
}
static void any_flush(void) { pdk_session_flush(ours.s, 5000); }
static void any_ids(void) {
    pdk_session_id(ours.s);
    pdk_session_timeout_ms(ours.s);
    pdk_session_identity(ours.s);
    pdk_session_unref(pdk_session_ref(ours.s));
}
static void any_contenders(void) {
    pdk_contenders *list = NULL;
    pdk_lock_list(ours.busy, 5000, &list);
    pdk_contenders_free(list);
}
static void any_async(void) { whatever(pdk_lock_acquire_async(ours.lock, 5000, on_acquired, NULL, NULL)); }
static void any_async_cancel(void) {
    pdk_claim *claim = NULL;
    int32_t ahead = 0;
    whatever(pdk_lock_acquire_async(ours.busy, PDK_FOREVER, on_acquired, NULL, &claim));
    pdk_claim_position(claim, &ahead);
    pdk_claim_cancel(claim);
    pdk_claim_unref(claim);
}
static void any_observe(void) {
    pdk_observer *observer = NULL;
    pdk_election_observe(ours.election, on_leader, NULL, NULL, &observer);
    pdk_observer_close(observer);
}
static void any_join(void) {
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    whatever(pdk_election_join(ours.election, &callbacks));
    pdk_election_resign(ours.election);
    pdk_election_leave(ours.election);
}
static void any_open(void) {
    pdk_session *s = NULL;
    whatever(pdk_session_open(ts_ensemble_hosts(server), NULL, &s));
}

/* `leaves`: what it makes stays, so it is called once. */
static const struct act {
    const char *name;
    void (*act)(void);
    bool leaves;
} acts[] = {
    {"objects", any_objects, false},    {"stats", any_stats, false},    {"contenders", any_contenders, false},
    {"flush", any_flush, false},        {"ids", any_ids, false},        {"async", any_async, true},
    {"cancel", any_async_cancel, true}, {"observe", any_observe, true}, {"join", any_join, true},
    {"open", any_open, true},
};

static pdk_hold *given; /* for a call to use up; otherwise it is given back after it */

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
    ck_assert_msg(join(thread, &result), "%s: the thread did not end", name);
    ck_assert_msg(result == PTHREAD_CANCELED, "%s: it came back", name);
    give_back(g_steal_pointer(&given));
    check(name);
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

static void at_any_moment(const struct act *act, int times) {
    for (int n = 0; n < times; n++) {
        pthread_t thread;
        void *result = NULL;
        void (*call)(void) = act->act;
        ck_assert_int_eq(pthread_create(&thread, NULL, act_until_cancelled, (void *)&call), 0);
        g_usleep((gulong)g_random_int_range(0, 3000));
        pthread_cancel(thread);
        ck_assert_msg(join(thread, &result), "%s: the thread did not end", act->name);
    }
    check(act->name);
}

START_TEST(a_cancellation_at_any_moment_harms_no_call) {
    enum { TIMES = 75 };
    for (size_t i = 0; i < G_N_ELEMENTS(acts); i++) {
        with_pending(acts[i].act, acts[i].name);
        at_any_moment(&acts[i], acts[i].leaves ? 0 : TIMES);
    }
    ck_assert(ts_wait_children(ts_ensemble_hosts(server), "/cancel/lock", 0, 5000));
}
END_TEST

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

START_TEST(a_pending_cancellation_harms_no_hold) {
    static const struct {
        const char *name;
        void (*call)(void);
    } calls[] = {{"hold", do_hold}, {"ensure", do_ensure}, {"release", do_release}, {"unref", do_unref}};
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        ck_assert_int_eq(pdk_lock_acquire(ours.lock, 10000, &given), PDK_OK);
        ck_assert_int_ge(pdk_hold_fd(given), 0);
        pdk_hold_detach_thread(given);
        with_pending(calls[i].call, calls[i].name);
    }
}
END_TEST

static pdk_session *more; /* for the call to use up */

static void do_dispatch(void) { pdk_session_dispatch(more, NULL); }
static void do_close(void) { pdk_session_close(more, 5000); }
static void do_drop(void) { pdk_session_unref(g_steal_pointer(&more)); }

START_TEST(a_pending_cancellation_harms_no_end) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.dispatch = PDK_DISPATCH_MANUAL;
    options.on_event = be_slow;
    atomic_bool called = false;
    options.on_event_user = &called;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), &options, &more), PDK_OK);
    with_pending(do_dispatch, "dispatch");
    ck_assert(atomic_load(&called));
    ck_assert_int_eq(pdk_session_dispatch(more, NULL), PDK_OK);
    with_pending(do_close, "close");
    ck_assert_int_eq(pdk_session_close(more, 10000), PDK_OK);
    pdk_session_unref(more);
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), NULL, &more), PDK_OK);
    with_pending(do_drop, "unref");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("cancel");
    TCase *cases = tcase_create("cancel");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, a_cancelled_claim_is_given_up);
    tcase_add_test(cases, a_cancelled_wait_for_an_office_leaves_the_candidate);
    tcase_add_test(cases, a_cancelled_stop_goes_on_alone);
    tcase_add_test(cases, a_cancelled_question_harms_nobody);
    tcase_add_test(cases, a_cancelled_ensure_harms_nobody);
    tcase_add_test(cases, a_cancelled_close_goes_on_alone);
    tcase_add_test(cases, a_close_that_is_cancelled_during_a_callback_goes_on_alone);
    tcase_add_test(cases, a_cancellation_at_any_moment_harms_no_call);
    tcase_add_test(cases, a_pending_cancellation_harms_no_hold);
    tcase_add_test(cases, a_pending_cancellation_harms_no_end);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
