/* What the processes do with elections: they are candidates, resign, leave and come back, in callbacks and outside, and watch. */
#include "deployment.h"

#include "grant/hold.h"

#include <glib.h>

/* One candidate of each object: what others call it. */
int32_t candidate_identity(const struct life *life, int32_t lock) { return life->number * PLAN_LOCKS + lock; }

/* ---- observers */

static void on_leader(const char *identity, int64_t token, void *user) {
    const struct observing *o = user;
    struct history_event *event = note(o->life->player->d, HISTORY_LEADER, o->id, o->life);
    if (event) {
        event->a = token;
        event->b = observe_identity(identity);
    }
}

static void on_freed(void *user) {
    const struct observing *o = user;
    if (!o->life->process->dead)
        note(o->life->player->d, HISTORY_FREED, o->id, o->life);
}

static struct observing *begin_observing(struct life *life, int32_t lock, bool frees) {
    struct deployment *d = life->player->d;
    if (d->observers_count == HISTORY_OBSERVERS)
        return NULL;
    struct observing *o = sim_alloc(&d->agenda, sizeof *o);
    *o = (struct observing){.next = life->observers, .life = life, .id = d->observers_count++};
    life->observers = o;
    struct history_event *event = note(d, HISTORY_OBSERVES, o->id, life);
    if (event) {
        event->path = (int8_t)(lock / 2);
        event->a = frees;
    }
    return o;
}

static void note_stopped(const struct observing *o) {
    if (!o->life->process->dead)
        note(o->life->player->d, HISTORY_STOPPED, o->id, o->life);
}

static void stop_in(void *subject, void *what) {
    struct observing *o = subject;
    (void)what;
    if (!o->observer)
        return;
    note_stopped(o);
    pdk_observer_stop(g_steal_pointer(&o->observer));
}

void candidates_stop_observers(struct life *life) {
    for (struct observing *o = life->observers; o; o = o->next)
        stop_in(o, NULL);
}

static struct life *usable(const struct player *player) {
    struct life *life = player->life;
    return life && life->s && !life->closed ? life : NULL;
}

void candidates_observe(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    struct life *life = player->d->healed ? NULL : usable(player);
    int32_t lock = action->value[PLAN_LOCK], ms = action->value[2];
    struct observing *o = life && workload_object(life, lock) ? begin_observing(life, lock, true) : NULL;
    if (!o)
        return;
    if (pdk_election_observe(life->objects[lock].election, on_leader, o, on_freed, &o->observer) != PDK_OK)
        g_error("cannot observe: %s", pdk_error_text());
    if (ms > 0)
        sim_run_in(life->process, player->d->agenda.now + ms * SIM_MS, true, stop_in, o, NULL);
}

/* ---- out of it */

static void note_left(struct candidate *c, enum history_kind kind, int64_t status) {
    struct life *life = c->life;
    c->left = true;
    if (life->candidates[c->lock] == c)
        life->candidates[c->lock] = NULL;
    if (life->process->dead)
        return;
    struct history_event *event = note(life->player->d, kind, c->id, life);
    if (event)
        event->a = status;
    if (c->watching)
        note_stopped(c->watching);
}

/* Its hold is given back here, unless it is over: then it is lost, and that is told, where anything still is. */
static void note_given_up(struct candidate *c) {
    struct holding *h = c->term;
    bool valid = h && !h->released && !h->hold->ended && pdk_hold_valid(h->hold);
    if (valid || (h && !h->released && !h->hold->ended && c->life->closed))
        holding_note_released(h, valid ? PDK_OK : PDK_LOST, true);
}

static void join_again(void *subject, void *what) { candidates_join(subject, what); }

static void leave(struct candidate *c) {
    struct life *life = c->life;
    struct deployment *d = life->player->d;
    int32_t again = c->action->value[PLAN_AGAIN];
    note_given_up(c);
    if (pdk_election_leave(life->objects[c->lock].election) != PDK_OK)
        g_error("cannot leave: %s", pdk_error_text());
    note_left(c, HISTORY_LEFT, PDK_OK);
    if (again > 0 && !d->healed)
        sim_run_in(life->process, d->agenda.now + again * SIM_MS, true, join_again, life->player, (void *)c->action);
}

static void resign(struct candidate *c) {
    struct life *life = c->life;
    pdk_status status = pdk_election_resign(life->objects[c->lock].election);
    struct history_event *event = note(life->player->d, HISTORY_RESIGNED, c->id, life);
    if (event)
        event->a = status;
    if (status == PDK_OK && c->term)
        holding_note_released(c->term, PDK_OK, false);
}

void candidate_term_over(struct candidate *c) {
    int32_t end = c->action->value[PLAN_END];
    if (c->left || c->life->closed || c->life->player->d->healed)
        return;
    if (end == PLAN_TERM_RESIGN)
        resign(c);
    else if (end == PLAN_TERM_LEAVE)
        leave(c);
}

void candidate_drop(struct life *life, int32_t lock) {
    struct candidate *c = life->candidates[lock];
    if (!c)
        return;
    if (!life->process->dead)
        note_given_up(c);
    note_left(c, HISTORY_LEFT, PDK_OK);
}

static struct candidate *candidate_of(const struct player *player, const struct plan_action *action) {
    const struct life *life = usable(player);
    return life && !player->d->healed ? life->candidates[action->value[PLAN_LOCK]] : NULL;
}

void candidates_leave(void *player, void *action) {
    struct candidate *c = candidate_of(player, action);
    if (c)
        leave(c);
}

void candidates_resign(void *player, void *action) {
    struct candidate *c = candidate_of(player, action);
    if (c)
        resign(c);
}

void candidates_leave_all(void *subject, void *nothing) {
    const struct life *life = usable(subject);
    (void)nothing;
    for (int32_t i = 0; life && i < PLAN_LOCKS; i++)
        if (life->candidates[i])
            leave(life->candidates[i]);
}

/* ---- in it */

static void on_elected(pdk_hold *hold, void *user) {
    struct candidate *c = user;
    struct life *life = c->life;
    struct holding *h = c->term = holding_begin(life, pdk_hold_ref(hold), c->action, c->lock, c);
    struct history_event *event = note(life->player->d, HISTORY_ELECTED, c->id, life);
    if (event) {
        event->a = h->token;
        event->b = h->id;
        event->extra = (h->value[PLAN_LOST] & PLAN_LOST_TOLD) != 0;
    }
    holding_use(h);
    if (h->value[PLAN_HOLD] == 0)
        candidate_term_over(c);
    else
        holding_keep(h);
}

static void on_deposed(pdk_reason reason, void *user) {
    struct candidate *c = user;
    struct history_event *event = note(c->life->player->d, HISTORY_DEPOSED, c->id, c->life);
    if (event)
        event->a = reason;
    if (c->term)
        holding_unref(c->term);
    c->term = NULL;
    if (c->action->value[PLAN_END] == PLAN_TERM_LEAVE_AFTER && !c->left && usable(c->life->player) == c->life &&
        !c->life->player->d->healed)
        leave(c);
}

static void on_heard(const char *identity, int64_t token, void *user) {
    const struct candidate *c = user;
    on_leader(identity, token, c->watching);
}

static void on_failed(pdk_status status, void *user) {
    struct candidate *c = user;
    c->life->player->d->tally.answers[status]++;
    note_left(c, HISTORY_FAILED, status);
}

static struct candidate *begin_candidacy(struct life *life, const struct plan_action *action) {
    struct deployment *d = life->player->d;
    int32_t lock = action->value[PLAN_LOCK];
    if (d->candidates_count == HISTORY_CANDIDACIES)
        return NULL;
    struct candidate *c = sim_alloc(&d->agenda, sizeof *c);
    *c = (struct candidate){.life = life, .action = action, .id = d->candidates_count++, .lock = lock};
    life->candidates[lock] = c;
    struct history_event *event = note(d, HISTORY_JOINED, c->id, life);
    if (event) {
        event->path = (int8_t)(lock / 2);
        event->a = candidate_identity(life, lock);
    }
    if (action->value[PLAN_WATCHES])
        c->watching = begin_observing(life, lock, false);
    return c;
}

void candidates_join(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    struct life *life = player->d->healed ? NULL : usable(player);
    int32_t lock = action->value[PLAN_LOCK];
    if (!life || life->candidates[lock] || !workload_object(life, lock))
        return;
    struct candidate *c = begin_candidacy(life, action);
    if (!c)
        return;
    pdk_election_callbacks calls = PDK_ELECTION_CALLBACKS_INIT;
    calls.elected = on_elected;
    calls.deposed = on_deposed;
    calls.leader = c->watching ? on_heard : NULL;
    calls.failed = on_failed;
    calls.user = c;
    pdk_status status = pdk_election_join(life->objects[lock].election, &calls);
    if (status != PDK_OK)
        on_failed(status, c);
}
