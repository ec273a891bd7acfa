/* See services.h. */
#include "services.h"

#include "ts_clock.h"
#include "ts_witness.h"

struct servant {
    enum manner manner;
    record *r;
    pdk_service *service;
    void (*act)(servant *s, pdk_term *term);
    pdk_hold *hold;
    int runs, running, ended, let_go; /* ended: the newest run has seen its end */
    const char *complaint;
};

static void complain(servant *s, const char *what) {
    ts_witness_lock();
    s->complaint = what;
    ts_witness_unlock();
}

/* Told to return is what the descriptor, the flag and the hold all say, and the flag no later than the others. */
static void check_term(servant *s, pdk_term *term) {
    const bool readable = ts_fd_readable(pdk_term_fd(term), 0), valid = pdk_hold_valid(pdk_term_hold(term));

    if ((readable || !valid) && !pdk_term_is_ending(term)) {
        complain(s, "a run that was told to return is not ending");
    }
}

static void await_end(servant *s, pdk_term *term) {
    while (!pdk_term_is_ending(term)) {
        ts_fd_readable(pdk_term_fd(term), 5);
        check_term(s, term);
    }
    check_term(s, term);
    if (!ts_fd_readable(pdk_term_fd(term), ts_patience(1000))) {
        complain(s, "a run is ending, and its descriptor is not readable");
    }
}

static void begin_run(servant *s, pdk_hold *hold) {
    const bool valid = pdk_hold_valid(hold);
    const int started = record_count(s->r, STARTED), stopped = record_count(s->r, STOPPED);
    pdk_hold *old;

    ts_witness_lock();
    s->complaint = s->running != 0          ? "two runs at once"
                   : !valid                 ? "a run began with a hold that was not valid"
                   : started != s->runs + 1 ? "a run began before it was started"
                   : stopped != s->runs     ? "a run began before the last was stopped"
                                            : s->complaint;
    old = s->hold;
    s->hold = pdk_hold_ref(hold);
    s->runs++;
    s->ended = 0;
    s->running++;
    ts_witness_unlock();
    pdk_hold_unref(old);
}

static void serve(pdk_term *term, void *user) {
    servant *s = user;

    begin_run(s, pdk_term_hold(term));
    if (s->act != NULL) {
        s->act(s, term);
    }
    if (s->manner != HASTY) {
        await_end(s, term);
        ts_witness_lock();
        s->ended = 1;
        ts_witness_unlock();
    }
    if (s->manner == STUBBORN) {
        ts_witness_reaches(&s->let_go, 1, 8000); /* a test that fails does not let it go */
    }
    ts_witness_lock();
    s->running--;
    ts_witness_unlock();
}

static void on_started(int64_t token, void *user) { record_started(((servant *)user)->r, token); }
static void on_stopped(int64_t token, pdk_reason reason, void *user) {
    record_stopped(((servant *)user)->r, token, reason);
}
static void on_failed(pdk_status status, void *user) { record_failed(status, ((servant *)user)->r); }

static void servant_free(void *what) {
    servant *s = what;

    servant_let_go(s);
    if (s->service != NULL) {
        pdk_service_stop(s->service, 10000);
    }
    servant_unref(s);
    record_wait(s->r, STOPPED, record_count(s->r, STARTED), 10000); /* one that was given back goes on until it is */
    pdk_hold_unref(s->hold);
    g_free(s);
}

servant *servant_run(pdk_election *election, enum manner manner, const pdk_service_options *given,
                     void (*act)(servant *s, pdk_term *term)) {
    pdk_service_options options = PDK_SERVICE_OPTIONS_INIT;
    servant *s = g_new0(servant, 1);

    if (given != NULL) {
        options = *given;
    }
    options.started = on_started;
    options.stopped = on_stopped;
    options.failed = on_failed;
    s->manner = manner;
    s->act = act;
    s->complaint = "";
    ts_paddock_keep(s, servant_free); /* before its record, which it needs to the end */
    s->r = record_new();
    const pdk_status status = pdk_election_run(election, serve, s, &options, &s->service);
    ck_assert_msg(status == PDK_OK, "run: %s: %s", pdk_status_name(status), pdk_error_text());
    return s;
}

void servant_let_go(servant *s) {
    ts_witness_lock();
    s->let_go = 1;
    ts_witness_unlock();
}

pdk_service *servant_service(servant *s) { return s->service; }
record *servant_record(servant *s) { return s->r; }
void servant_unref(servant *s) { pdk_service_unref(g_steal_pointer(&s->service)); }

int servant_runs(servant *s) { return ts_witness_count(&s->runs); }
bool servant_is_running(servant *s) { return ts_witness_count(&s->running) > 0; }
bool servant_sees_end(servant *s) { return ts_witness_count(&s->ended); }
bool servant_wait_end(servant *s, int64_t timeout_ms) { return ts_witness_reaches(&s->ended, 1, timeout_ms); }

bool servant_wait_runs(servant *s, int count, int64_t timeout_ms) {
    return ts_witness_reaches(&s->runs, count, timeout_ms);
}

pdk_hold *servant_hold(servant *s) {
    pdk_hold *hold;

    ts_witness_lock();
    hold = s->hold;
    ts_witness_unlock();
    return hold;
}

const char *servant_complaint(servant *s) {
    const char *complaint;

    ts_witness_lock();
    complaint = s->complaint;
    ts_witness_unlock();
    return complaint;
}
