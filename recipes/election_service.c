/* A function that runs only while we lead.
 *
 *     candidate ──granted──► [started] fn [stopped] ──► release ──► candidate …        stop: the end, from either
 *                               │   ▲
 *                               ▼   │ signalled: lost, resigned, stopped; drain_ms later: keep waiting, or abort
 *
 * There are two threads. The runner queues with a blocking claim. It waits for the function to return, and only then
 * releases the hold. Each term has a thread of its own, which runs the function.
 */
#include "base/fork.h"
#include "base/signals.h"
#include "base/standard.h"
#include "base/text.h"
#include "base/thread.h"
#include "election.h"
#include "election_observer.h"
#include "grant/claim.h"
#include "grant/hold.h"
#include "session/blocking.h"
#include "session/options.h"
#include "session/threads.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_service_options, failed) + sizeof(void (*)(void)))
/* The pause before another try to begin a thread. */
#define NO_THREAD_MS 100

pdk_status pdk_service_options_init(pdk_service_options *options, size_t size) {
    static const pdk_service_options defaults = PDK_SERVICE_OPTIONS_INIT;
    return pdk__options_init("pdk_service_options_init", options, size, &defaults, sizeof defaults, OPTIONS_FIRST_SIZE);
}

struct pdk_term {
    struct pdk__grant_listener listener;
    pdk_service *service;
    pdk_hold *hold;
    atomic_bool ending;
    int fd;
    /* under the monitor */
    int64_t bound; /* the function must have returned by then; INT64_MAX: not signalled yet */
    bool returned, warned;
    uint64_t thread;
};

struct pdk_service {
    atomic_uint refs;       /* the user's, and the runner's */
    pdk_election *election; /* a reference */
    pdk_service_fn fn;
    void *user;
    pdk_service_options options;
    sigset_t signals; /* the mask of the thread that started it */
    /* under the monitor */
    struct pdk__waiters waiters; /* the runner, and pdk_service_close */
    struct pdk_term *term;       /* NULL between terms */
    uint64_t runner;             /* the number of its thread */
    bool stopping, done;
};

static pdk_session *service_session_of(const pdk_service *service) { return service->election->queue->s; }

static void service_unref(pdk_service *service) {
    if (atomic_fetch_sub(&service->refs, 1) != 1)
        return;
    pdk_election_unref(service->election);
    g_free(service);
}

/* ---- a term */

/* Tell the function that it must return. Under the monitor. */
static void service_signal_end(pdk_service *service) {
    pdk__assert_locked(service_session_of(service));
    struct pdk_term *term = service->term;
    pdk__wake(&service->waiters);
    if (!term || atomic_exchange(&term->ending, true))
        return;
    term->bound = pdk__now(service_session_of(service)) + service->options.drain_ms * PDK__MS;
    if (term->fd >= 0)
        eventfd_write(term->fd, 1);
}

/* The grant has ended. The function may still run, and still has its hold. */
static void term_on_ended(struct pdk__grant_listener *l, pdk_reason reason) {
    const struct pdk_term *term = (struct pdk_term *)l;
    (void)reason;
    service_signal_end(term->service);
}

static void *term_main(void *user) {
    struct pdk_term *term = user;
    pdk_service *service = term->service;
    pdk_session *s = service_session_of(service);
    const pdk_service_options *o = &service->options;
    int64_t token = pdk_hold_token(term->hold);
    pdk__signals_set(&service->signals);
    pdk__lock(s);
    term->thread = pdk__this_thread();
    pdk__unlock(s);
    if (o->started)
        o->started(token, service->user);
    service->fn(term, service->user);
    if (pdk__is_forked(s)) /* a child that the function forked comes back from it */
        return NULL;
    pdk_reason reason = pdk_hold_reason(term->hold);
    if (o->stopped)
        o->stopped(token, reason, service->user);
    pdk__lock(s);
    term->returned = true;
    pdk__wake(&service->waiters);
    pdk__unlock(s);
    return NULL;
}

/* Wait for the function to return. The hold is not released meanwhile, though it may be lost. Under the monitor. */
static void service_await_return(pdk_service *service, struct pdk_term *term) {
    pdk__assert_locked(service_session_of(service));
    pdk_session *s = service_session_of(service);
    while (!term->returned) {
        if (pdk__wait(s, &service->waiters, term->warned ? INT64_MAX : term->bound) || term->returned)
            continue;
        if (service->options.drain == PDK_DRAIN_ABORT)
            abort();
        term->warned = true;
        pdk__log(s, PDK_LOG_ERROR, "%s: the leader's function has not returned within drain_ms (%d): waiting on",
                 service->election->queue->dir, service->options.drain_ms);
    }
}

static void service_serve(pdk_service *service, pdk_hold *hold) {
    sigset_t own;
    pdk_session *s = service_session_of(service);
    struct pdk_term *term = g_new0(struct pdk_term, 1);
    *term = (struct pdk_term){.listener.ended = term_on_ended, .service = service, .hold = hold, .bound = INT64_MAX};
    term->fd = pdk__above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    pdk_hold_detach_thread(hold);
    pdk__lock(s);
    bool wanted = !service->stopping && pdk_hold_is_valid(hold); /* both may have changed since the grant */
    if (wanted) {
        service->term = term;
        pdk__grant_listen(hold->grant, &term->listener);
    }
    if (wanted && pdk__thread_begin(term_main, term))
        service_await_return(service, term);
    else if (wanted)
        pdk__wait(s, &service->waiters, pdk__deadline(s, NO_THREAD_MS));
    service->term = NULL;
    pdk__unlock(s);
    pdk__signals_set(&service->signals); /* the release may call the user's user_free */
    pdk_hold_release(hold);
    pdk__signals_block(&own);
    if (term->fd >= 0)
        close(term->fd);
    g_free(term);
}

/* ---- the runner */

static void *runner_main(void *user) {
    pdk_service *service = user;
    pdk_session *s = service_session_of(service);
    struct pdk__queue *queue = service->election->queue;
    pdk_status status = PDK_OK;
    bool stopping = false;
    pdk__lock(s);
    service->runner = pdk__this_thread();
    pdk__unlock(s);
    while (status == PDK_OK && !stopping) {
        pdk_hold *hold = NULL;
        status = pdk__claim_wait(queue, 1, PDK_FOREVER, "pdk_service_start", &hold);
        if (status == PDK_OK) {
            pdk__lock(s);
            pdk__observers_elected(queue);
            pdk__unlock(s);
            service_serve(service, hold);
        }
        pdk__lock(s);
        stopping = service->stopping;
        pdk__unlock(s);
    }
    pdk__signals_set(&service->signals);
    if (!stopping && service->options.failed)
        service->options.failed(status, service->user);
    if (service->options.user_free)
        service->options.user_free(service->user);
    pdk__lock(s);
    service->done = true;
    service->election->service = NULL;
    queue->shut = false; /* for the next candidate */
    pdk__wake(&service->waiters);
    pdk__unlock(s);
    service_unref(service);
    return NULL;
}

/* ---- the calls */

static pdk_status service_read_options(const pdk_service_options *given, pdk_service_options *o) {
    pdk_status status = pdk__options_read("options", given, o, sizeof *o, OPTIONS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    if (o->drain_ms < 1 || (o->drain != PDK_DRAIN_KEEP && o->drain != PDK_DRAIN_ABORT))
        return pdk__fail(PDK_INVALID, "options: drain_ms is %d, drain is %d; 1 or more, and a pdk_drain", o->drain_ms,
                         o->drain);
    return PDK_OK;
}

/* Under the monitor, which its runner waits for. */
static pdk_status service_begin(pdk_service *service, const char *call, pdk_service **out) {
    pdk_status status = pdk__election_may_join(service->election, call);
    if (status != PDK_OK)
        return status;
    if (!pdk__thread_begin(runner_main, service))
        return pdk__fail(PDK_SYSTEM, "%s: pthread_create: no thread to be had", call);
    atomic_fetch_add(&service->refs, 1); /* the runner's */
    service->election->service = service;
    *out = service; /* the function may want it before the call returns */
    return PDK_OK;
}

pdk_status pdk_service_start(pdk_election *election, pdk_service_fn fn, void *user, const pdk_service_options *options,
                             pdk_service **out) {
    static const char call[] = "pdk_service_start";
    pdk_service_options o = PDK_SERVICE_OPTIONS_INIT;
    if (!election || !fn || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", call, !election ? "election" : !fn ? "fn" : "out");
    pdk_status status = pdk__check_call(election->queue->s, call, 0);
    if (status != PDK_OK)
        return status;
    status = service_read_options(options, &o);
    if (status != PDK_OK)
        return status;
    pdk_session *s = election->queue->s;
    pdk_service *service = g_new0(pdk_service, 1);
    atomic_init(&service->refs, 1);
    service->election = pdk_election_ref(election);
    service->fn = fn;
    service->user = user;
    service->options = o;
    pdk__signals_of_thread(&service->signals);
    pdk__lock(s);
    status = service_begin(service, call, out);
    pdk__unlock(s);
    if (status != PDK_OK)
        service_unref(service);
    return status;
}

pdk_hold *pdk_term_hold(const pdk_term *term) { return term ? term->hold : NULL; }

bool pdk_term_is_ending(const pdk_term *term) {
    return !term || atomic_load(&term->ending) || !pdk_hold_is_valid(term->hold);
}

int pdk_term_fd(const pdk_term *term) {
    if (!term)
        pdk__fail(PDK_INVALID, "pdk_term_fd: term: NULL");
    else if (term->fd < 0)
        pdk__fail(PDK_SYSTEM, "pdk_term_fd: eventfd: no descriptor was to be had");
    return term ? term->fd : -1;
}

static pdk_status service_check(const pdk_service *service, const char *call) {
    if (!service)
        return pdk__fail(PDK_INVALID, "%s: service: NULL", call);
    return pdk__check_call(service_session_of(service), call, 0);
}

pdk_status pdk_service_resign(pdk_service *service) {
    pdk_status status = service_check(service, "pdk_service_resign");
    if (status != PDK_OK)
        return status;
    pdk__lock(service_session_of(service));
    if (service->term && !service->term->returned)
        service_signal_end(service);
    else
        status = pdk__fail(PDK_NOT_HELD, "pdk_service_resign: the function does not run");
    pdk__unlock(service_session_of(service));
    return status;
}

/* End the service: its term, and its claim. Under the monitor. */
static void service_stop(pdk_service *service) {
    pdk__assert_locked(service_session_of(service));
    service->stopping = true;
    if (service->term)
        service_signal_end(service);
    if (!service->done)
        pdk__queue_cancel(service->election->queue, "the service was stopped");
}

pdk_status pdk_service_close(pdk_service *service, int64_t timeout_ms) {
    static const char call[] = "pdk_service_close";
    pdk_status status = service_check(service, call);
    if (status != PDK_OK)
        return status;
    status = pdk__may_block(service_session_of(service), call, timeout_ms);
    if (status != PDK_OK)
        return status;
    pdk_session *s = service_session_of(service);
    int64_t deadline = pdk__deadline(s, timeout_ms);
    pdk__lock(s);
    uint64_t self = pdk__this_thread();
    if (service->runner == self || (service->term && service->term->thread == self)) {
        status = pdk__fail(PDK_WRONG_THREAD, "%s: this is the function that would have to return: return", call);
    } else {
        struct pdk__leave leave = {0};
        pdk__leave_push(&leave);
        service_stop(service);
        while (!service->done && pdk__wait(s, &service->waiters, deadline))
            ;
        pdk__leave_pop();
        if (!service->done)
            status = pdk__fail(PDK_TIMEOUT, "%s: the function has not returned within timeout_ms (%lld)", call,
                               (long long)timeout_ms);
    }
    pdk__unlock(s);
    return status;
}

void pdk_service_unref(pdk_service *service) {
    if (!service || service_session_of(service)->forks != pdk__forks())
        return;
    pdk__lock(service_session_of(service));
    service_stop(service);
    pdk__unlock(service_session_of(service));
    service_unref(service);
}
