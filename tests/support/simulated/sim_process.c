/* Simulated processes: their clocks, and when their code runs.
 *
 *     sim_run_in ── at, and late ──► runs ──────────► done
 *                                     │ paused            ▲
 *                                     ▼                   │ the pause ends: late again
 *                                   waiting, in order ────┘      a kill drops it all
 */
#include "sim_process.h"

#include "sim_client.h"

#include <glib.h>

struct sim_waiting {
    struct sim_waiting *next;
    struct sim_process *process;
    bool thread;
    sim_event_fn fn;
    void *subject, *what;
};

static struct sim_process *current;

struct sim_process *sim_process_current(void) { return current; }
void sim_process_enter(struct sim_process *p) { current = p; }

/* ---- the clock */

static int64_t shows_at(const struct sim_process *p, int64_t now) {
    int64_t clock = p->offset + (int64_t)((double)now * p->rate);
    return clock > 1 ? clock : 1;
}

int64_t sim_process_clock(const struct sim_process *p) { return shows_at(p, p->agenda->now); }

/* The quotient may be a nanosecond off. A timer must not ring before its time. */
int64_t sim_process_when(const struct sim_process *p, int64_t clock) {
    int64_t now = (int64_t)((double)(clock - p->offset) / p->rate);
    while (shows_at(p, now) < clock)
        now++;
    return MAX(now, p->agenda->now);
}

/* ---- running code */

static void call(struct sim_process *p, sim_event_fn fn, void *subject, void *what) {
    struct sim_process *outer = current;
    current = p;
    fn(subject, what);
    current = outer;
}

static void run(void *subject, void *what) {
    struct sim_waiting *entry = subject;
    struct sim_process *p = entry->process;
    (void)what;
    if (p->dead) {
        sim_idle(p->agenda);
    } else if (!p->paused) {
        call(p, entry->fn, entry->subject, entry->what);
    } else {
        sim_idle(p->agenda);
        entry->next = NULL;
        if (p->waiting)
            p->waiting_last->next = entry;
        else
            p->waiting = entry;
        p->waiting_last = entry;
    }
}

static int64_t lateness(const struct sim_process *p, bool thread) {
    return thread ? sim_random_between(&p->agenda->chance, p->slow_least, p->slow_most) : 0;
}

void sim_run_in(struct sim_process *p, int64_t at, bool thread, sim_event_fn fn, void *subject, void *what) {
    if (p->dead)
        return;
    struct sim_waiting *entry = sim_alloc(p->agenda, sizeof *entry);
    *entry = (struct sim_waiting){NULL, p, thread, fn, subject, what};
    sim_at(p->agenda, MAX(at, p->agenda->now) + lateness(p, thread), run, entry, NULL);
}

void sim_call_in(struct sim_process *p, sim_event_fn fn, void *subject, void *what) {
    g_assert(!p->paused && !p->dead);
    call(p, fn, subject, what);
}

void sim_call_dead(struct sim_process *p, sim_event_fn fn, void *subject, void *what) {
    g_assert(p->dead);
    call(p, fn, subject, what);
}

/* Threads wake up as late as ever, so in no certain order. */
void sim_process_pause(struct sim_process *p, bool paused) {
    p->paused = paused;
    if (paused)
        return;
    for (struct sim_waiting *entry = p->waiting; entry; entry = entry->next)
        sim_at(p->agenda, p->agenda->now + lateness(p, entry->thread), run, entry, NULL);
    p->waiting = p->waiting_last = NULL;
}

void sim_process_kill(struct sim_process *p) {
    if (p->dead)
        return;
    p->dead = true;
    p->paused = false;
    p->waiting = p->waiting_last = NULL;
    sim_client_killed(p);
}
