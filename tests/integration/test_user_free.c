/* Who frees what a callback uses: user_free runs once, after the last callback, in every way a session can end. One
 * program with a callback of each type ends in each of these ways. */
#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "elections.h"
#include "self.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 2000, PATIENCE_MS = 10000 };

/* A user of callbacks, and what must not happen to it: a callback after the end, or an end while one runs. */
struct user {
    atomic_int calls, running, freed, wrong;
};

enum type { EVENT, LOG, CANDIDATE, OBSERVER, SERVICE, LOST, ACQUIRED, TYPES };
static const char *const names[TYPES] = {"event", "log", "candidate", "observer", "service", "lost", "acquired"};

static struct {
    struct user users[TYPES];
    ts_proxy *proxy;
    pdk_session *session;
    pdk_lock *lock, *other;
    pdk_hold *hold;
    pdk_election *candidates, *services;
    pdk_observer *observer;
    pdk_service *service;
    bool manual;
    int threads;
} it;

static void enter(struct user *u) {
    atomic_fetch_add(&u->wrong, atomic_load(&u->freed));
    atomic_fetch_add(&u->running, 1);
    atomic_fetch_add(&u->calls, 1);
    g_usleep(200); /* time for the end to come meanwhile */
    atomic_fetch_sub(&u->running, 1);
    atomic_fetch_add(&u->wrong, atomic_load(&u->freed));
}

static void user_free(void *user) {
    struct user *u = user;
    atomic_fetch_add(&u->wrong, atomic_load(&u->running));
    atomic_fetch_add(&u->freed, 1);
}

static void on_event(pdk_session_event event, int64_t time_left_ms, void *user) {
    (void)event;
    (void)time_left_ms;
    enter(user);
}

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)level;
    (void)text;
    enter(user);
}

static void on_elected(pdk_hold *hold, void *user) {
    (void)hold;
    enter(user);
}

static void on_deposed(pdk_reason reason, void *user) {
    (void)reason;
    enter(user);
}

static void on_leader(const char *identity, int64_t token, void *user) {
    (void)identity;
    (void)token;
    enter(user);
}

static void on_failed(pdk_status status, void *user) {
    (void)status;
    enter(user);
}

static void on_started(int64_t token, void *user) {
    (void)token;
    enter(user);
}

static void serve(pdk_term *term, void *user) {
    enter(user);
    while (!pdk_term_is_ending(term))
        ts_sleep_ms(2);
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    enter(user);
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    enter(user);
    pdk_hold_release(hold);
}

static bool all_have_begun(void *unused) {
    (void)unused;
    if (it.manual)
        pdk_session_dispatch(it.session, NULL);
    for (int i = 0; i < LOST; i++)
        if (atomic_load(&it.users[i].calls) == 0)
            return false;
    return true;
}

static void fill(pdk_session_options *options, pdk_dispatch dispatch) {
    options->session_timeout_ms = SESSION_MS;
    options->dispatch = dispatch;
    options->log_level = PDK_LOG_DEBUG;
    options->on_event = on_event;
    options->on_event_user = &it.users[EVENT];
    options->on_event_user_free = user_free;
    options->on_log = on_log;
    options->on_log_user = &it.users[LOG];
    options->on_log_user_free = user_free;
}

static void begin_election(void) {
    pdk_election_callbacks calls = PDK_ELECTION_CALLBACKS_INIT;
    pdk_service_options options = PDK_SERVICE_OPTIONS_INIT;
    calls.elected = on_elected;
    calls.deposed = on_deposed;
    calls.leader = on_leader;
    calls.failed = on_failed;
    calls.user = &it.users[CANDIDATE];
    calls.user_free = user_free;
    options.started = on_started;
    options.failed = on_failed;
    options.user_free = user_free;
    ck_assert_int_eq(pdk_election_new(it.session, ts_fresh_path(), NULL, &it.candidates), PDK_OK);
    ck_assert_int_eq(pdk_election_join(it.candidates, &calls), PDK_OK);
    ck_assert_int_eq(pdk_election_join(it.candidates, &calls), PDK_INVALID); /* and frees nothing */
    ck_assert_int_eq(pdk_election_observe(it.candidates, on_leader, &it.users[OBSERVER], user_free, &it.observer),
                     PDK_OK);
    ck_assert_int_eq(pdk_election_new(it.session, ts_fresh_path(), NULL, &it.services), PDK_OK);
    ck_assert_int_eq(pdk_service_start(it.services, serve, &it.users[SERVICE], &options, &it.service), PDK_OK);
    pdk_service *none = NULL;
    ck_assert_int_eq(pdk_service_start(it.services, serve, &it.users[SERVICE], &options, &none), PDK_INVALID);
}

static void begin(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    memset(&it, 0, sizeof it);
    it.proxy = ts_proxy_start(ts_bench_server());
    ck_assert_ptr_nonnull(it.proxy);
    it.threads = self_thread_count();
    it.manual = dispatch == PDK_DISPATCH_MANUAL;
    fill(&options, dispatch);
    ck_assert_int_eq(pdk_session_open(ts_proxy_address(it.proxy), &options, &it.session), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(it.session, ts_fresh_path(), NULL, &it.lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(it.session, ts_fresh_path(), NULL, &it.other), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(it.lock, ts_patience(PATIENCE_MS), &it.hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_on_lost(it.hold, on_lost, &it.users[LOST], user_free), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(it.lock, PDK_FOREVER, on_acquired, &it.users[ACQUIRED], NULL), PDK_OK);
    begin_election();
    ck_assert(ts_wait_until(all_have_begun, NULL, ts_patience(PATIENCE_MS)));
}

static bool all_are_freed(void *unused) {
    (void)unused;
    for (int i = 0; i < ACQUIRED; i++)
        if (atomic_load(&it.users[i].freed) == 0)
            return false;
    return true;
}

static void check_users(int answers_least, int answers_most) {
    for (int i = 0; i < TYPES; i++) {
        ck_assert_msg(atomic_load(&it.users[i].freed) == (i != ACQUIRED), "%s: freed %d times", names[i],
                      atomic_load(&it.users[i].freed));
        ck_assert_msg(atomic_load(&it.users[i].wrong) == 0, "%s: called after its end", names[i]);
    }
    const int answers = atomic_load(&it.users[ACQUIRED].calls);
    ck_assert_msg(answers >= answers_least && answers <= answers_most, "%d answers", answers);
}

/* Gives everything back, the session last. */
static void drop_all(bool stop) {
    pdk_observer_close(it.observer);
    if (stop) {
        ck_assert_int_eq(pdk_service_close(it.service, PDK_FOREVER), PDK_OK);
        ck_assert_int_eq(atomic_load(&it.users[SERVICE].freed), 1);
    }
    pdk_service_unref(it.service);
    pdk_election_unref(it.services);
    pdk_election_unref(it.candidates);
    pdk_hold_release(it.hold);
    pdk_lock_unref(it.lock);
    pdk_lock_unref(it.other);
    pdk_session_unref(it.session);
}

static void end_with(bool stop, int answers_least, int answers_most) {
    drop_all(stop);
    ck_assert(ts_wait_until(all_are_freed, NULL, ts_patience(PATIENCE_MS)));
    ck_assert(self_wait_threads(it.threads, ts_patience(PATIENCE_MS)));
    check_users(answers_least, answers_most);
    ts_proxy_stop(it.proxy);
}

/* ---- the ways in which a session ends; all but the last reference are followed by a close that waits */

static void in_too_little_time(void) { pdk_session_close(it.session, 0); }

static void close_it(pdk_status status, pdk_hold *hold, void *flag) {
    (void)status;
    pdk_session_close(it.session, 0);
    pdk_hold_release(hold);
    atomic_store((atomic_bool *)flag, true);
}

static bool is_closed(void *flag) {
    if (it.manual)
        pdk_session_dispatch(it.session, NULL);
    return atomic_load((atomic_bool *)flag);
}

static void from_a_callback(void) {
    static atomic_bool done;
    atomic_store(&done, false);
    ck_assert_int_eq(pdk_lock_acquire_async(it.other, PDK_FOREVER, close_it, &done, NULL), PDK_OK);
    ck_assert(ts_wait_until(is_closed, &done, ts_patience(PATIENCE_MS)));
}

/* The claim gets the lock in the next ZooKeeper session; the close comes after. */
static bool is_answered(void *unused) {
    (void)unused;
    if (it.manual)
        pdk_session_dispatch(it.session, NULL);
    return atomic_load(&it.users[ACQUIRED].calls) > 0;
}

static void expired(void) {
    ck_assert_int_eq(ts_expire(it.proxy, ts_bench_server()), 0);
    ck_assert(ts_wait_until(is_answered, NULL, ts_patience(PATIENCE_MS)));
}

/* No server takes the session back for four timeouts, and it is closed while it looks for one. */
static void given_up(void) {
    ts_proxy_set_mode(it.proxy, TS_CUT);
    ts_sleep_ms(5 * SESSION_MS);
    pdk_session_close(it.session, ts_patience(PATIENCE_MS));
}

static const struct {
    void (*end)(void);
    int answers_least;
    bool loses; /* the hold, before the close */
} ways[] = {{NULL, 1, false},
            {in_too_little_time, 0, false},
            {from_a_callback, 0, false},
            {expired, 1, true},
            {given_up, 1, true}};

/* Both kinds of dispatch; the last way takes five session timeouts, and has one. */
START_TEST(closed) {
    const int way = _i / 2;
    begin(_i % 2 ? PDK_DISPATCH_MANUAL : PDK_DISPATCH_THREAD);
    if (ways[way].end)
        ways[way].end();
    ck_assert_int_eq(pdk_session_close(it.session, PDK_FOREVER), PDK_OK);
    ck_assert_int_ge(atomic_load(&it.users[ACQUIRED].calls), ways[way].answers_least);
    ck_assert(!ways[way].loses || atomic_load(&it.users[LOST].calls) == 1);
    end_with(true, ways[way].answers_least, 1);
}
END_TEST

/* With manual dispatch nobody runs what is due at the end. The service is not stopped either. */
START_TEST(dropped) {
    begin(_i ? PDK_DISPATCH_MANUAL : PDK_DISPATCH_THREAD);
    end_with(false, it.manual ? 0 : 1, it.manual ? 0 : 1);
}
END_TEST

static atomic_bool inside, may_go;

static bool is_set(void *flag) { return atomic_load((atomic_bool *)flag); }

static void stay(const char *identity, int64_t token, void *user) {
    struct user *u = user;
    (void)identity;
    (void)token;
    atomic_fetch_add(&u->running, 1);
    atomic_store(&inside, true);
    ts_wait_until(is_set, &may_go, 20000);
    atomic_fetch_sub(&u->running, 1);
}

/* A candidate that does not lead hears of the leader, and leaves on another thread meanwhile. */
START_TEST(left_during_a_callback) {
    struct user second = {0};
    ts_client *client = ts_bench_client(SESSION_MS);
    const char *path = ts_fresh_path();
    pdk_election_callbacks calls = PDK_ELECTION_CALLBACKS_INIT;
    candidate_elected(election_on(client, path, NULL));
    pdk_election *election = election_on(client, path, NULL);
    calls.leader = stay;
    calls.user = &second;
    calls.user_free = user_free;
    ck_assert_int_eq(pdk_election_join(election, &calls), PDK_OK);
    ck_assert(ts_wait_until(is_set, &inside, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(pdk_election_leave(election), PDK_OK);
    ts_sleep_ms(20);
    ck_assert_int_eq(atomic_load(&second.freed), 0);
    atomic_store(&may_go, true);
    ck_assert_int_eq(pdk_session_close(client->session, PDK_FOREVER), PDK_OK);
    ck_assert_int_eq(atomic_load(&second.freed), 1);
    ck_assert_int_eq(atomic_load(&second.wrong), 0);
}
END_TEST

/* ---- a session that is never opened */

static bool two_are_freed(void *unused) {
    (void)unused;
    return atomic_load(&it.users[EVENT].freed) > 0 && atomic_load(&it.users[LOG].freed) > 0;
}

static void check_failed_open(const char *hosts, pdk_session_options *options, pdk_status status, int freed) {
    pdk_session *none = NULL;
    memset(&it, 0, sizeof it);
    it.threads = self_thread_count();
    fill(options, PDK_DISPATCH_THREAD);
    options->connect_timeout_ms = 300;
    ck_assert_int_eq(pdk_session_open(hosts, options, &none), status);
    if (freed)
        ck_assert(ts_wait_until(two_are_freed, NULL, ts_patience(PATIENCE_MS)));
    ck_assert(self_wait_threads(it.threads, ts_patience(PATIENCE_MS)));
    for (int i = EVENT; i <= LOG; i++) {
        ck_assert_int_eq(atomic_load(&it.users[i].freed), freed);
        ck_assert_int_eq(atomic_load(&it.users[i].wrong), 0);
    }
}

START_TEST(never_opened) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    check_failed_open("127.0.0.1:1", &options, PDK_UNAVAILABLE, 1);
    check_failed_open("no-such-host.invalid:1", &options, PDK_RESOLVE, 1);
    check_failed_open("127.0.0.1:not-a-port", &options, PDK_INVALID, 0);
    options.tls = "ca.pem,client.pem,client.key,secret";
    check_failed_open("127.0.0.1:1", &options, PDK_UNSUPPORTED, 1);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("user_free");
    TCase *tcase = ts_bench_case(suite, "user_free");
    tcase_add_loop_test(tcase, closed, 0, 2 * (int)G_N_ELEMENTS(ways) - 1);
    tcase_add_loop_test(tcase, dropped, 0, 2);
    tcase_add_test(tcase, left_during_a_callback);
    tcase_add_test(tcase, never_opened);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
