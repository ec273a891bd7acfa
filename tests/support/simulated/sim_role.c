/* The roles of a server: what ends with a role, and what a pause puts off.
 *
 *     DOWN ──start──► LOOKING ◄──────────► FOLLOWING | LEADING        each arrow begins a new incarnation
 *       ▲                └──────── kill ───────┘
 *       └────────────────────────────┘
 */
#include "sim_server.h"

#include <glib.h>
#include <string.h>

void *sim_room(struct sim_agenda *agenda, void *items, size_t count, size_t *room, size_t size) {
    if (count < *room)
        return items;
    *room = MAX(2 * *room, 16);
    void *more = sim_alloc(agenda, *room * size);
    if (count > 0)
        memcpy(more, items, count * size);
    return more;
}

bool sim_serves(const struct sim_server *s) { return s->role == SIM_FOLLOWING || s->role == SIM_LEADING; }

bool sim_reaches(const struct sim_server *a, const struct sim_server *b) {
    const struct sim_net *net = a->ensemble->net;
    return a->role != SIM_DOWN && b->role != SIM_DOWN && !a->paused && !b->paused &&
           !net->blocked[a->number][b->number] && !net->blocked[b->number][a->number];
}

void sim_kept_time(struct sim_ensemble *e) {
    if (!e->catching_up)
        sim_idle(e->agenda);
}

/* ---- pauses */

bool sim_put_off(struct sim_server *s, sim_event_fn fn, void *subject, void *what) {
    if (!s->paused)
        return false;
    struct sim_put_off *later = sim_alloc(s->ensemble->agenda, sizeof *later);
    *later = (struct sim_put_off){NULL, fn, subject, what};
    if (s->put_off_last)
        s->put_off_last->next = later;
    else
        s->put_off = later;
    s->put_off_last = later;
    return true;
}

/* In the order in which it came. Only the clock of sessions has a thread of its own. A leader that wakes up looks at
 * that clock first, or after all that came meanwhile: a race. */
static void catch_up(struct sim_server *s) {
    s->paused = false;
    s->ensemble->catching_up = true;
    if (s->role == SIM_LEADING && sim_random_one_in(&s->ensemble->agenda->chance, 2))
        sim_sessions_end_due(s);
    while (s->put_off) {
        struct sim_put_off *next = s->put_off;
        s->put_off = next->next;
        if (!s->put_off)
            s->put_off_last = NULL;
        next->fn(next->subject, next->what);
    }
    s->ensemble->catching_up = false;
}

void sim_server_pause(struct sim_ensemble *e, int32_t server, bool paused) {
    struct sim_server *s = &e->servers[server];
    if (s->role == SIM_DOWN || s->paused == paused)
        return;
    if (paused)
        s->paused = true;
    else
        catch_up(s);
}

/* ---- timers */

struct timer {
    struct sim_server *server;
    sim_timer_fn fn;
    int64_t at;
    uint32_t incarnation;
};

static void ring(void *subject, void *what) {
    struct timer *timer = subject;
    struct sim_server *s = timer->server;
    (void)what;
    if (s->incarnation != timer->incarnation)
        sim_kept_time(s->ensemble);
    else if (!sim_put_off(s, ring, timer, NULL))
        timer->fn(s, s->ensemble->agenda->now > timer->at);
}

void sim_timer(struct sim_server *s, int64_t at, sim_timer_fn fn) {
    struct timer *timer = sim_alloc(s->ensemble->agenda, sizeof *timer);
    *timer = (struct timer){s, fn, at, s->incarnation};
    sim_at(s->ensemble->agenda, at, ring, timer, NULL);
}

/* ---- the end of a role */

/* A process that dies leaves its sent packets to the kernel. If it had not read all that came, the kernel throws them
 * away. */
static void end_pipe(struct sim_pipe *pipe, bool killed) {
    if (killed && sim_random_one_in(&pipe->net->agenda->chance, 2))
        sim_break(pipe);
    else
        sim_hang_up(pipe);
}

static void end_links(struct sim_server *s, bool killed) {
    if (s->link) {
        end_pipe(s->link->up, killed);
        sim_ignore(s->link->down);
        s->link = NULL;
    }
    for (int32_t i = 0; i < SIM_SERVERS; i++) {
        struct sim_link *link = s->lead.links[i];
        if (!link)
            continue;
        end_pipe(link->down, killed);
        sim_ignore(link->up);
        s->lead.links[i] = NULL;
    }
}

void sim_end_role(struct sim_server *s, enum sim_role next, bool killed) {
    end_links(s, killed);
    while (s->connections) {
        struct sim_pipe *down = s->connections->down;
        if (killed)
            end_pipe(down, true);
        sim_connection_close(s->connections);
    }
    s->queues = NULL;
    s->touches_count = 0;
    s->syncs = s->syncs_last = NULL;
    s->role = next;
    s->incarnation++;
}

void sim_server_kill(struct sim_ensemble *e, int32_t server) {
    struct sim_server *s = &e->servers[server];
    if (s->role == SIM_DOWN)
        return;
    sim_end_role(s, SIM_DOWN, true);
    catch_up(s); /* a client that had just dialled hears that nobody is there */
}

void sim_server_start(struct sim_ensemble *e, int32_t server) {
    struct sim_server *s = &e->servers[server];
    if (s->role == SIM_DOWN && server < e->config.servers)
        sim_look(s);
}
