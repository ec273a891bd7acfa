/* The session without claims and holds. This program links src/base, core, zk and session, and nothing above them. A listener
 * stands in for what stands on a session: it hears of the lease, of an expiry and of the end. */
#include "session/listener.h"
#include "session/session.h"
#include "session/supervise.h"
#include "sim_ensemble.h"
#include "sim_platform.h"

#include <ts_check.h>

#define SECOND (1000 * SIM_MS)

enum { TICK_MS = 500, TIMEOUT_MS = 4000 };

static struct sim_agenda agenda;
static struct sim_net net;
static struct sim_ensemble *ensemble;
static struct sim_process process;
static pdk_session *session;

static struct heard {
    struct pdk__listener listener;
    int32_t extended, shortened, over, expired, ended, flushed, freed;
    int64_t until; /* as told last */
    pdk_status status;
} heard;

static void on_extended(struct pdk__listener *l, int64_t end) {
    (void)l;
    pdk__assert_locked(session);
    ck_assert_int_eq(end, session->lease.end);
    ck_assert_int_gt(end, heard.until);
    heard.extended++;
    heard.until = end;
}

static void on_shortened(struct pdk__listener *l, int64_t end) {
    (void)l;
    pdk__assert_locked(session);
    ck_assert_int_eq(end, session->lease.end);
    heard.shortened++;
    heard.until = end;
}

static void on_over(struct pdk__listener *l) {
    (void)l;
    pdk__assert_locked(session);
    heard.over++;
}

static void on_expired(struct pdk__listener *l) {
    (void)l;
    pdk__assert_locked(session);
    heard.expired++;
    heard.until = 0;
}

static void on_ended(struct pdk__listener *l, pdk_status status, const char *why) {
    (void)l;
    pdk__assert_locked(session);
    ck_assert_ptr_nonnull(why);
    heard.ended++;
    heard.status = status;
}

static bool on_flushed(struct pdk__listener *l) {
    (void)l;
    pdk__assert_locked(session);
    return ++heard.flushed == 2;
}

static void on_freed(struct pdk__listener *l) {
    ck_assert_ptr_eq(l, &heard.listener);
    heard.freed++;
}

static const struct pdk__listener_calls calls = {on_extended, on_shortened, on_over, on_expired,
                                                 on_ended,    on_flushed,   on_freed};

static void pass(int64_t ns) {
    int64_t until = agenda.now + ns;
    while (sim_step(&agenda, until))
        ;
}

static void listen(void *subject, void *what) {
    (void)subject;
    (void)what;
    heard = (struct heard){.listener.calls = &calls};
    pdk__lock(session);
    session->listener = &heard.listener;
    pdk__unlock(session);
}

static void setup(void) {
    static const struct sim_ensemble_config config = {
        .servers = 3,
        .tick = TICK_MS * SIM_MS,
        .sync_limit = 20,
        .election_least = 100 * SIM_MS,
        .election_most = 200 * SIM_MS,
        .session_least = 2 * TICK_MS * SIM_MS,
        .session_most = 20 * TICK_MS * SIM_MS,
        .container_interval = 10 * SECOND,
        .containers = true,
    };
    sim_agenda_init(&agenda);
    sim_agenda_begin(&agenda, 1);
    sim_net_begin(&net, &agenda, SIM_MS / 10, SIM_MS);
    ensemble = sim_ensemble_new(&agenda, &net, &config);
    for (int32_t i = 0; i < config.servers; i++)
        sim_server_start(ensemble, i);
    process = (struct sim_process){.agenda = &agenda, .ensemble = ensemble, .rate = 1, .offset = SECOND};
    process.host = SIM_SERVERS;
    process.slow_least = process.slow_most = SIM_MS / 10;
    pass(SECOND);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK_MS;
    session = sim_session_open(&process, "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181", &options);
    ck_assert_ptr_nonnull(session);
    sim_call_in(&process, listen, NULL, NULL);
    pass(SECOND);
}

static void give_back(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk_session_unref(g_steal_pointer(&session));
}

static void teardown(void) {
    sim_dispose(&process, give_back, NULL, NULL);
    sim_agenda_free(&agenda);
}

static void block(bool blocked) {
    for (int32_t i = 0; i < 3; i++) {
        sim_net_block(&net, process.host, i, blocked);
        sim_net_block(&net, i, process.host, blocked);
    }
}

START_TEST(a_lease_that_ends_and_a_session_that_expires) {
    block(true);
    pass(TIMEOUT_MS * SIM_MS);
    ck_assert_int_eq(heard.over, 1);
    ck_assert_int_eq(heard.expired, 0); /* nobody has told us yet */
    pass(2 * TIMEOUT_MS * SIM_MS);
    block(false);
    pass(2 * TIMEOUT_MS * SIM_MS);
    ck_assert_int_eq(heard.expired, 1);
    int32_t before = heard.extended;
    pass(10 * SECOND);
    ck_assert_int_gt(heard.extended, before); /* of the next ZooKeeper session */
    ck_assert_int_eq(heard.ended, 0);
}
END_TEST

static void end_it(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk__lock(session);
    pdk__session_end(session, PDK_AUTH, "as a test wants it");
    pdk__session_end(session, PDK_CLOSED, "once only");
    pdk__unlock(session);
}

START_TEST(the_end_is_told_once_and_the_listener_is_freed_last) {
    sim_call_in(&process, end_it, NULL, NULL);
    ck_assert_int_eq(heard.ended, 1);
    ck_assert_int_eq(heard.status, PDK_AUTH);
    ck_assert_int_eq(heard.freed, 0);
    sim_call_in(&process, give_back, NULL, NULL);
    pass(20 * SECOND);
    ck_assert_int_eq(heard.ended, 1);
    ck_assert_int_eq(heard.freed, 1);
}
END_TEST

static void on_answered(pdk_status status, void *user) { *(pdk_status *)user = status; }

static void flush(void *subject, void *what) {
    (void)subject;
    ck_assert_int_eq(pdk_session_flush_async(session, 100, on_answered, what), PDK_OK);
}

START_TEST(a_flush_is_told_until_nothing_is_left) {
    pdk_status status = PDK_INVALID;
    sim_call_in(&process, flush, NULL, &status);
    ck_assert_int_eq(heard.flushed, 2);
    pass(SECOND);
    ck_assert_int_eq(status, PDK_OK);
}
END_TEST

static void listen_no_more(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk__lock(session);
    session->listener = NULL;
    pdk__unlock(session);
}

START_TEST(a_flush_of_a_session_on_which_nothing_stands) {
    pdk_status status = PDK_INVALID;
    sim_call_in(&process, listen_no_more, NULL, NULL);
    sim_call_in(&process, flush, NULL, &status);
    pass(SECOND);
    ck_assert_int_eq(status, PDK_OK);
    ck_assert_int_eq(heard.flushed, 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("session_alone");
    TCase *cases = tcase_create("session_alone");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, a_lease_that_ends_and_a_session_that_expires);
    tcase_add_test(cases, the_end_is_told_once_and_the_listener_is_freed_last);
    tcase_add_test(cases, a_flush_is_told_until_nothing_is_left);
    tcase_add_test(cases, a_flush_of_a_session_on_which_nothing_stands);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
