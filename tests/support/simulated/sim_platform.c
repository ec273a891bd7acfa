#include "sim_platform.h"

#include "session/chores.h"
#include "session/close.h"
#include "session/connect.h"
#include "session/open.h"
#include "session/session.h"
#include "session/supervise.h"
#include "sim_client.h"
#include "sim_thread.h"

#include <string.h>

struct threads {
    struct threads *next; /* of the process's older session */
    struct sim_process *process;
    pdk_session *s;         /* NULL: freed */
    uintptr_t timer, pause; /* which setting counts: of the timer; of the connector's wait */
    bool dispatching, in_callback;
    bool work, connecting;
    bool stopped; /* the connector has ended, and the timer with it */
    bool ended;   /* and the dispatcher */
};

static struct threads *threads_of(const pdk_session *s) { return s->platform_data; }

static void soon(struct threads *t, sim_event_fn fn, uintptr_t which) {
    sim_run_in(t->process, t->process->agenda->now, true, fn, t, (void *)which);
}

static void at_clock(struct threads *t, int64_t clock, sim_event_fn fn, uintptr_t which) {
    sim_run_in(t->process, sim_process_when(t->process, clock), true, fn, t, (void *)which);
}

static void idle(const struct threads *t) { sim_idle(t->process->agenda); }

/* The last act of a thread. */
static void look_for_end(struct threads *t) {
    pdk_session *s = t->s;
    if (!t->stopped || t->dispatching || t->in_callback)
        return;
    pdk__lock(s);
    t->ended = true;
    bool abandoned = atomic_load(&s->refs) == 0;
    pdk__unlock(s);
    if (abandoned)
        pdk__session_free(s);
}

/* ---- the timer */

static void on_timer(void *subject, void *what) {
    struct threads *t = subject;
    if (!t->s || t->stopped || t->timer != (uintptr_t)what)
        idle(t); /* set to another moment since */
    else
        pdk__tick(t->s);
}

static void platform_arm(pdk_session *s, int64_t at) {
    struct threads *t = threads_of(s);
    at_clock(t, at, on_timer, ++t->timer);
}

/* ---- the dispatcher */

static void on_callback(void *subject, void *what);

static void platform_wake(pdk_session *s) {
    struct threads *t = threads_of(s);
    if (t->dispatching || t->in_callback || t->ended)
        return;
    t->dispatching = true;
    soon(t, on_callback, 0);
}

static bool is_due(pdk_session *s) { return !pdk__outbox_is_silent(s) && !pdk__outbox_is_empty(&s->outbox); }

/* The session may lose its last reference in the callback; it is not freed before the threads have ended. */
static void on_callback(void *subject, void *what) {
    struct threads *t = subject;
    (void)what;
    t->dispatching = false;
    if (!t->s)
        return;
    t->in_callback = true;
    pdk__outbox_run_one(t->s);
    t->in_callback = false;
    if (is_due(t->s))
        platform_wake(t->s);
    look_for_end(t);
}

/* ---- the connector */

static void on_connector(void *subject, void *what) {
    struct threads *t = subject;
    if (!t->s || t->stopped || t->pause != (uintptr_t)what) {
        idle(t);
        return;
    }
    int64_t wait_until = 0;
    t->work = false;
    t->connecting = true;
    bool finished = pdk__connector_run(t->s, &wait_until);
    t->connecting = false;
    t->pause++;
    if (finished) {
        t->stopped = true;
        look_for_end(t);
    } else if (t->work || wait_until <= pdk__now(t->s)) {
        soon(t, on_connector, t->pause);
    } else if (wait_until != INT64_MAX) {
        at_clock(t, wait_until, on_connector, t->pause);
    }
}

static void platform_work(pdk_session *s) {
    struct threads *t = threads_of(s);
    if (!t->work && !t->connecting && !t->stopped)
        soon(t, on_connector, ++t->pause);
    t->work = true;
}

/* ---- the rest of the table */

/* Names are addresses already. */
static bool platform_look_up(struct pdk__names *names, unsigned index, const char *name) {
    const char *const addresses[] = {name, NULL};
    pdk__names_found(names, index, addresses, NULL);
    return true;
}

static int64_t platform_now(void) { return sim_process_clock(sim_process_current()); }

/* The schedule's own, so that it can be played again. */
static void platform_random(void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)g_random_int();
}

static pdk_status platform_start(pdk_session *s) {
    struct sim_process *p = sim_process_current();
    struct threads *t = sim_alloc(p->agenda, sizeof *t);
    *t = (struct threads){.next = p->session, .process = p, .s = s};
    p->session = t;
    s->platform_data = t;
    platform_work(s);
    return PDK_OK;
}

static bool platform_ended(const pdk_session *s) { return !s->platform_data || threads_of(s)->ended; }

static void platform_end(pdk_session *s) {
    if (!s->platform_data)
        return;
    threads_of(s)->s = NULL;
    s->platform_data = NULL;
}

const struct pdk__platform sim_platform = {
    0,
    &sim_client_calls,
    platform_look_up,
    platform_now,
    platform_random,
    platform_start,
    platform_arm,
    platform_wake,
    platform_work,
    platform_ended,
    platform_end,
    3,
};

/* ---- from outside */

struct opening {
    const char *hosts;
    const pdk_session_options *options;
    pdk_session *s;
};

static void open_in(void *subject, void *what) {
    struct opening *opening = subject;
    (void)what;
    if (pdk__session_begin(opening->hosts, opening->options, &sim_platform, &opening->s) != PDK_OK)
        opening->s = NULL;
}

pdk_session *sim_session_open(struct sim_process *p, const char *hosts, const pdk_session_options *options) {
    struct opening opening = {hosts, options, NULL};
    sim_call_in(p, open_in, &opening, NULL);
    return opening.s;
}

/* As a close does it: first the decisions of the end, then silence, then the connector's last run. */
static void end_session(void *subject, void *what) {
    struct threads *t = subject;
    pdk_session *s = t->s;
    (void)what;
    pdk__lock(s);
    pdk__session_end(s, PDK_CLOSED, "the process is dead");
    s->finish = true;
    s->flush_until = 1;
    pdk__chores_run_and_unlock(s);
    pdk__outbox_silence(s);
    for (int64_t wait_until; !t->stopped;)
        t->stopped = pdk__connector_run(s, &wait_until);
    t->dispatching = false;
    look_for_end(t);
}

void sim_dispose(struct sim_process *p, sim_event_fn give_back, void *subject, void *what) {
    sim_process_kill(p);
    for (struct threads *t = p->session; t; t = t->next)
        if (t->s)
            sim_call_dead(p, end_session, t, NULL);
    sim_threads_finish(p);
    if (give_back)
        sim_call_dead(p, give_back, subject, what);
}
