/* See services.h. */
#include "services.h"

#include "ts_clock.h"
#include "ts_record.h"

struct test_service {
    enum behaviour behaviour;
    record *r;
    pdk_service *service;
    void (*act)(test_service *s, pdk_term *term);
    pdk_hold *hold;
    int runs, running, ended, may_return; /* ended: the newest run has seen its end */
    const char *problem;
};

static void set_problem(test_service *s, const char *what) {
    ts_record_lock();
    s->problem = what;
    ts_record_unlock();
}

/* The descriptor, the flag and the hold must all say that the term ends, and the flag no later than the others. */
static void check_term(test_service *s, pdk_term *term) {
    const bool readable = ts_fd_readable(pdk_term_fd(term), 0), valid = pdk_hold_is_valid(pdk_term_hold(term));
    if ((readable || !valid) && !pdk_term_is_ending(term))
        set_problem(s, "a run that was told to return is not ending");
}

static void await_end(test_service *s, pdk_term *term) {
    while (!pdk_term_is_ending(term)) {
        ts_fd_readable(pdk_term_fd(term), 5);
        check_term(s, term);
    }
    check_term(s, term);
    if (!ts_fd_readable(pdk_term_fd(term), ts_patience(1000)))
        set_problem(s, "a run is ending, and its descriptor is not readable");
}

static void begin_run(test_service *s, pdk_hold *hold) {
    const bool valid = pdk_hold_is_valid(hold);
    const int started = record_count(s->r, STARTED), stopped = record_count(s->r, STOPPED);
    pdk_hold *old;
    ts_record_lock();
    s->problem = s->running != 0          ? "two runs at once"
                 : !valid                 ? "a run began with a hold that was not valid"
                 : started != s->runs + 1 ? "a run began before it was started"
                 : stopped != s->runs     ? "a run began before the last was stopped"
                                          : s->problem;
    old = s->hold;
    s->hold = pdk_hold_ref(hold);
    s->runs++;
    s->ended = 0;
    s->running++;
    ts_record_unlock();
    pdk_hold_unref(old);
}

static void serve(pdk_term *term, void *user) {
    test_service *s = user;
    begin_run(s, pdk_term_hold(term));
    if (s->act != NULL)
        s->act(s, term);
    if (s->behaviour != RETURNS_AT_ONCE) {
        await_end(s, term);
        ts_record_lock();
        s->ended = 1;
        ts_record_unlock();
    }
    if (s->behaviour == RETURNS_WHEN_ALLOWED)
        ts_record_reaches(&s->may_return, 1, 8000); /* a failed test does not set it */
    ts_record_lock();
    s->running--;
    ts_record_unlock();
}

static void on_started(int64_t token, void *user) { record_started(((test_service *)user)->r, token); }
static void on_stopped(int64_t token, pdk_reason reason, void *user) {
    record_stopped(((test_service *)user)->r, token, reason);
}
static void on_failed(pdk_status status, void *user) { record_failed(status, ((test_service *)user)->r); }

static void test_service_free(void *what) {
    test_service *s = what;
    test_service_allow_return(s);
    if (s->service != NULL)
        pdk_service_close(s->service, 10000);
    test_service_unref(s);
    record_wait(s->r, STOPPED, record_count(s->r, STARTED),
                10000); /* a service that was unreferenced goes on until it is stopped */
    pdk_hold_unref(s->hold);
    g_free(s);
}

test_service *test_service_run(pdk_election *election, enum behaviour behaviour, const pdk_service_options *given,
                               void (*act)(test_service *s, pdk_term *term)) {
    pdk_service_options options = PDK_SERVICE_OPTIONS_INIT;
    test_service *s = g_new0(test_service, 1);

    if (given != NULL)
        options = *given;
    options.started = on_started;
    options.stopped = on_stopped;
    options.failed = on_failed;
    s->behaviour = behaviour;
    s->act = act;
    s->problem = "";
    ts_paddock_keep(s, test_service_free); /* before its record, which it uses to the end */
    s->r = record_new();
    const pdk_status status = pdk_service_start(election, serve, s, &options, &s->service);
    ck_assert_msg(status == PDK_OK, "run: %s: %s", pdk_status_name(status), pdk_last_error());
    return s;
}

void test_service_allow_return(test_service *s) {
    ts_record_lock();
    s->may_return = 1;
    ts_record_unlock();
}

pdk_service *test_service_handle(test_service *s) { return s->service; }
record *test_service_record(test_service *s) { return s->r; }
void test_service_unref(test_service *s) { pdk_service_unref(g_steal_pointer(&s->service)); }

int test_service_runs(test_service *s) { return ts_record_count(&s->runs); }
bool test_service_is_running(test_service *s) { return ts_record_count(&s->running) > 0; }
bool test_service_wait_end(test_service *s, int64_t timeout_ms) { return ts_record_reaches(&s->ended, 1, timeout_ms); }

bool test_service_wait_runs(test_service *s, int count, int64_t timeout_ms) {
    return ts_record_reaches(&s->runs, count, timeout_ms);
}

pdk_hold *test_service_hold(test_service *s) {
    pdk_hold *hold;
    ts_record_lock();
    hold = s->hold;
    ts_record_unlock();
    return hold;
}

const char *test_service_problem(test_service *s) {
    const char *problem;
    ts_record_lock();
    problem = s->problem;
    ts_record_unlock();
    return problem;
}
