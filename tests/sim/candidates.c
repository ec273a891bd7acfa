/* What the processes do with elections. They are candidates, resign, leave and come back, in callbacks and outside.
 * They watch. */
#include "deployment.h"

#include "grant/hold.h"

#include <glib.h>

/* One candidate of each object: its name for the others. */
int32_t candidate_identity(const struct client *client, int32_t lock) { return client->number * PLAN_LOCKS + lock; }

/* ---- observers */

static void on_leader(const char *identity, int64_t token, void *user) {
    const struct observing *o = user;
    struct history_event *event = note(o->client->player->d, HISTORY_LEADER, o->id, o->client);
    if (event) {
        event->a = token;
        event->b = observe_identity(identity);
    }
}

static void on_freed(void *user) {
    const struct observing *o = user;
    if (!o->client->process->dead)
        note(o->client->player->d, HISTORY_FREED, o->id, o->client);
}

static struct observing *begin_observing(struct client *client, int32_t lock, bool frees) {
    struct deployment *d = client->player->d;
    if (d->observers_count == HISTORY_OBSERVERS)
        return NULL;
    struct observing *o = sim_alloc(&d->agenda, sizeof *o);
    *o = (struct observing){.next = client->observers, .client = client, .id = d->observers_count++};
    client->observers = o;
    struct history_event *event = note(d, HISTORY_OBSERVES, o->id, client);
    if (event) {
        event->path = (int8_t)(lock / 2);
        event->a = frees;
    }
    return o;
}

static void note_stopped(const struct observing *o) {
    if (!o->client->process->dead)
        note(o->client->player->d, HISTORY_STOPPED, o->id, o->client);
}

static void stop_in(void *subject, void *what) {
    struct observing *o = subject;
    (void)what;
    if (!o->observer && !o->watcher)
        return;
    note_stopped(o);
    pdk_observer_close(g_steal_pointer(&o->observer));
    pdk_group_watcher_close(g_steal_pointer(&o->watcher));
}

void candidates_stop_observers(struct client *client) {
    for (struct observing *o = client->observers; o; o = o->next)
        stop_in(o, NULL);
}

static struct client *usable(const struct player *player) {
    struct client *client = player->client;
    return client && client->s && !client->closed ? client : NULL;
}

void candidates_observe(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    struct client *client = player->d->healed ? NULL : usable(player);
    int32_t lock = action->value[PLAN_LOCK], ms = action->value[2];
    struct observing *o = client && workload_object(client, lock) ? begin_observing(client, lock, true) : NULL;
    if (!o)
        return;
    pdk_status status =
        plan_recipe(player->d->plan, lock / 2) == PLAN_RECIPE_GROUP
            ? members_watch(o, lock, on_freed)
            : pdk_election_observe(client->objects[lock].election, on_leader, o, on_freed, &o->observer);
    if (status != PDK_OK)
        g_error("cannot observe: %s", pdk_last_error());
    if (ms > 0)
        sim_run_in(client->process, player->d->agenda.now + ms * SIM_MS, true, stop_in, o, NULL);
}

/* ---- out of office */

static void note_left(struct candidate *c, enum history_kind kind, int64_t status) {
    struct client *client = c->client;
    c->left = true;
    if (client->candidates[c->lock] == c)
        client->candidates[c->lock] = NULL;
    if (client->process->dead)
        return;
    struct history_event *event = note(client->player->d, kind, c->id, client);
    if (event)
        event->a = status;
    if (c->watching)
        note_stopped(c->watching);
}

/* Its hold is given back here, unless it is over. A hold that is over is lost, and that is reported as long as anything
 * still is. */
static void note_given_up(struct candidate *c) {
    struct holding *h = c->term;
    bool valid = h && !h->released && !h->hold->ended && pdk_hold_is_valid(h->hold);
    if (valid || (h && !h->released && !h->hold->ended && c->client->closed))
        holding_note_released(h, valid ? PDK_OK : PDK_LOST, true);
}

static void join_again(void *subject, void *what) { candidates_join(subject, what); }

static void leave(struct candidate *c) {
    struct client *client = c->client;
    struct deployment *d = client->player->d;
    int32_t again = c->action->value[PLAN_AGAIN];
    note_given_up(c);
    if (plan_recipe(d->plan, c->lock / 2) == PLAN_RECIPE_GROUP)
        members_leave(c);
    else if (pdk_election_leave(client->objects[c->lock].election) != PDK_OK)
        g_error("cannot leave: %s", pdk_last_error());
    note_left(c, HISTORY_LEFT, PDK_OK);
    if (again > 0 && !d->healed)
        sim_run_in(client->process, d->agenda.now + again * SIM_MS, true, join_again, client->player,
                   (void *)c->action);
}

static void resign(struct candidate *c) {
    struct client *client = c->client;
    pdk_status status = pdk_election_resign(client->objects[c->lock].election);
    struct history_event *event = note(client->player->d, HISTORY_RESIGNED, c->id, client);
    if (event)
        event->a = status;
    if (status == PDK_OK && c->term)
        holding_note_released(c->term, PDK_OK, false);
}

void candidate_term_over(struct candidate *c) {
    int32_t end = c->action->value[PLAN_END];
    if (c->left || c->client->closed || c->client->player->d->healed)
        return;
    if (end == PLAN_TERM_RESIGN)
        resign(c);
    else if (end == PLAN_TERM_LEAVE)
        leave(c);
}

void candidate_drop(struct client *client, int32_t lock) {
    struct candidate *c = client->candidates[lock];
    if (!c)
        return;
    if (!client->process->dead)
        note_given_up(c);
    note_left(c, HISTORY_LEFT, PDK_OK);
}

static struct candidate *candidate_of(const struct player *player, const struct plan_action *action) {
    const struct client *client = usable(player);
    return client && !player->d->healed ? client->candidates[action->value[PLAN_LOCK]] : NULL;
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
    const struct client *client = usable(subject);
    (void)nothing;
    for (int32_t i = 0; client && i < PLAN_LOCKS; i++)
        if (client->candidates[i])
            leave(client->candidates[i]);
}

/* ---- in office */

static void on_elected(pdk_hold *hold, void *user) {
    struct candidate *c = user;
    struct client *client = c->client;
    struct holding *h = c->term = holding_begin(client, pdk_hold_ref(hold), c->action, c->lock, c);
    struct history_event *event = note(client->player->d, HISTORY_ELECTED, c->id, client);
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
    struct history_event *event = note(c->client->player->d, HISTORY_DEPOSED, c->id, c->client);
    if (event)
        event->a = reason;
    if (c->term)
        holding_unref(c->term);
    c->term = NULL;
    if (c->action->value[PLAN_END] == PLAN_TERM_LEAVE_AFTER && !c->left && usable(c->client->player) == c->client &&
        !c->client->player->d->healed)
        leave(c);
}

static void on_heard(const char *identity, int64_t token, void *user) {
    const struct candidate *c = user;
    on_leader(identity, token, c->watching);
}

static void on_failed(pdk_status status, void *user) {
    struct candidate *c = user;
    c->client->player->d->tally.answers[status]++;
    note_left(c, HISTORY_FAILED, status);
}

static struct candidate *begin_candidacy(struct client *client, const struct plan_action *action) {
    struct deployment *d = client->player->d;
    int32_t lock = action->value[PLAN_LOCK];
    if (d->candidates_count == HISTORY_CANDIDACIES)
        return NULL;
    struct candidate *c = sim_alloc(&d->agenda, sizeof *c);
    *c = (struct candidate){.client = client, .action = action, .id = d->candidates_count++, .lock = lock};
    client->candidates[lock] = c;
    struct history_event *event = note(d, HISTORY_JOINED, c->id, client);
    if (event) {
        event->path = (int8_t)(lock / 2);
        event->a = candidate_identity(client, lock);
    }
    if (action->value[PLAN_WATCHES])
        c->watching = begin_observing(client, lock, false);
    return c;
}

void candidates_join(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    struct client *client = player->d->healed ? NULL : usable(player);
    int32_t lock = action->value[PLAN_LOCK];
    if (!client || client->candidates[lock] || !workload_object(client, lock))
        return;
    struct candidate *c = begin_candidacy(client, action);
    if (!c)
        return;
    pdk_election_callbacks calls = PDK_ELECTION_CALLBACKS_INIT;
    calls.elected = on_elected;
    calls.deposed = on_deposed;
    calls.leader = c->watching ? on_heard : NULL;
    calls.failed = on_failed;
    calls.user = c;
    pdk_status status = plan_recipe(player->d->plan, lock / 2) == PLAN_RECIPE_GROUP
                            ? members_join(c, &calls)
                            : pdk_election_join(client->objects[lock].election, &calls);
    if (status != PDK_OK)
        on_failed(status, c);
}
