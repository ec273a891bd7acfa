#include "sim_thread.h"

#include <glib.h>
#include <paddock/interrupt.h>
#include <pthread.h>

struct sim_thread {
    struct sim_thread *next; /* of all that have not ended */
    struct sim_process *process;
    void (*fn)(void *user);
    void *user;
    pthread_t thread;
    pthread_cond_t turn;
    pdk_interrupt *interrupt;
    uintptr_t sleep; /* which sleep counts */
    bool asleep, woken, over;
};

/* ---- whose turn it is. NULL: the simulation's */

static pthread_mutex_t baton = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t simulations = PTHREAD_COND_INITIALIZER;
static struct sim_thread *running, *all;
static _Thread_local struct sim_thread *self;

static void pass(struct sim_thread *to) {
    running = to;
    pthread_cond_signal(to ? &to->turn : &simulations);
}

static void await(const struct sim_thread *mine, pthread_cond_t *turn) {
    while (running != mine)
        pthread_cond_wait(turn, &baton);
}

/* The simulation's half: the thread goes on, until it sleeps again or has ended. */
static void resume(struct sim_thread *t) {
    pthread_mutex_lock(&baton);
    pass(t);
    await(NULL, &simulations);
    pthread_mutex_unlock(&baton);
    if (!t->over)
        return;
    struct sim_thread **at = &all;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->turn);
}

/* ---- sleeping */

static void go_on(void *subject, void *what) {
    struct sim_thread *t = subject;
    if (t->asleep && t->sleep == (uintptr_t)what)
        resume(t);
    else
        sim_idle(t->process->agenda);
}

static void go_on_at(struct sim_thread *t, int64_t at) { sim_run_in(t->process, at, true, go_on, t, (void *)t->sleep); }

static void sleep_for(struct sim_thread *t, int64_t ns) {
    struct sim_process *p = t->process;
    t->sleep++;
    t->asleep = true;
    if (t->woken)
        go_on_at(t, p->agenda->now);
    else if (ns != INT64_MAX)
        go_on_at(t, sim_process_when(p, sim_process_clock(p) + ns));
    pthread_mutex_lock(&baton);
    pass(NULL);
    await(t, &t->turn);
    pthread_mutex_unlock(&baton);
    t->asleep = t->woken = false;
}

void sim_thread_pause(int64_t ns) {
    g_assert(self);
    if (!self->process->dead)
        sleep_for(self, ns);
}

/* The names that --wrap gives. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
void __real_pdk__interrupt_sleep(pdk_interrupt *interrupt, int64_t ns);
void __real_pdk__interrupt_wake(pdk_interrupt *interrupt);
void __wrap_pdk__interrupt_sleep(pdk_interrupt *interrupt, int64_t ns);
void __wrap_pdk__interrupt_wake(pdk_interrupt *interrupt);

void __wrap_pdk__interrupt_sleep(pdk_interrupt *interrupt, int64_t ns) {
    if (self)
        sleep_for(self, ns);
    else
        __real_pdk__interrupt_sleep(interrupt, ns);
}

void __wrap_pdk__interrupt_wake(pdk_interrupt *interrupt) {
    struct sim_thread *t = all;
    while (t && t->interrupt != interrupt)
        t = t->next;
    if (!t) {
        __real_pdk__interrupt_wake(interrupt);
        return;
    }
    if (t->asleep && !t->woken)
        go_on_at(t, t->process->agenda->now);
    t->woken = true;
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/* ---- its beginning and its end */

static void *run(void *user) {
    struct sim_thread *t = user;
    self = t;
    pthread_mutex_lock(&baton);
    await(t, &t->turn);
    pthread_mutex_unlock(&baton);
    pdk_interrupt_attach(t->interrupt);
    t->fn(t->user);
    pdk_interrupt_detach();
    pdk_interrupt_unref(t->interrupt);
    pthread_mutex_lock(&baton);
    t->over = true;
    pass(NULL);
    pthread_mutex_unlock(&baton);
    return NULL;
}

void sim_thread_start(struct sim_process *p, void (*fn)(void *user), void *user) {
    struct sim_thread *t = sim_alloc(p->agenda, sizeof *t);
    *t = (struct sim_thread){.next = all, .process = p, .fn = fn, .user = user};
    pthread_cond_init(&t->turn, NULL);
    if (pdk_interrupt_new(&t->interrupt) != PDK_OK || pthread_create(&t->thread, NULL, run, t) != 0)
        g_error("a simulated thread could not begin");
    all = t;
    resume(t);
}

static void resume_in(void *subject, void *what) {
    (void)what;
    resume(subject);
}

/* One may wait for another's call, so they may need several turns. */
void sim_threads_finish(struct sim_process *p) {
    for (bool some = true; some;) {
        some = false;
        for (struct sim_thread *t = all, *next; t; t = next) {
            next = t->next;
            if (t->process != p)
                continue;
            some = true;
            sim_call_dead(p, resume_in, t, NULL);
        }
    }
}
