/* Use of a hold, claimed or of an office: writing, hearing of its loss, becoming a reader, giving it back. */
#include "deployment.h"

#include <glib.h>
#include <paddock/revoke.h>
#include <poll.h>
#include <stdlib.h>

/* ---- its end */

void holding_note_released(struct holding *h, pdk_status status, bool dropped) {
    h->released = true;
    if (h->client->process->dead)
        return;
    struct history_event *event = note(h->client->player->d, HISTORY_RELEASED, h->id, h->client);
    if (event) {
        event->a = status;
        event->b = dropped;
    }
}

void holding_unref(struct holding *h) {
    if (!h->hold)
        return;
    pdk_hold_unref(g_steal_pointer(&h->hold));
    h->client->player->d->offices--;
}

void holding_give_back(struct holding *h) {
    pdk_hold *hold = h->hold;
    if (!hold)
        return;
    if (h->candidate) {
        candidate_term_over(h->candidate);
        return;
    }
    if (records_end(h))
        return;
    h->hold = NULL;
    h->client->player->d->holding--;
    if (h->end == PLAN_END_UNREF) {
        pdk_status status = pdk_hold_is_valid(hold) ? PDK_OK : PDK_LOST;
        pdk_hold_unref(hold);
        holding_note_released(h, status, true);
    } else {
        holding_note_released(h, pdk_hold_release(hold), false);
    }
}

static void end_in(void *subject, void *what) {
    (void)what;
    holding_give_back(subject);
}

/* ---- its use */

static void write_in(void *subject, void *what) {
    struct holding *h = subject;
    struct deployment *d = h->client->player->d;
    (void)what;
    if (h->hold && pdk_hold_is_valid(h->hold))
        resource_write(h, sim_random_between(&d->agenda.chance, 0, h->value[PLAN_LATE] * SIM_MS));
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    struct holding *h = user;
    struct deployment *d = h->client->player->d;
    struct history_event *event = note(d, HISTORY_LOST, h->id, h->client);
    d->tally.lost++;
    d->tally.reasons[reason]++;
    struct pollfd readable = {.fd = h->fd, .events = POLLIN};
    bool silent = h->fd >= 0 && poll(&readable, 1, 0) != 1;
    if (event) {
        event->a = reason;
        event->b = pdk_hold_is_valid(hold) || pdk_hold_remaining_ms(hold) > 0 || silent;
    }
    if (h->id % 2)
        holding_give_back(h);
}

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    const struct holding *h = user;
    struct history_event *event = note(h->client->player->d, HISTORY_TOLD, h->id, h->client);
    (void)hold;
    (void)until_ms;
    if (event)
        event->a = g_str_has_prefix(who, "asker ") ? atoi(who + 6) : -1;
}

static pdk_status downgrade(struct holding *h) {
    pdk_status status = pdk_hold_downgrade(h->hold);
    struct history_event *event = note(h->client->player->d, HISTORY_DOWNGRADED, h->id, h->client);
    if (event)
        event->a = status;
    return status;
}

/* With the object that granted it. Another object does not know it. */
static void downgrade_in(void *subject, void *what) {
    struct holding *h = subject;
    (void)what;
    if (!h->hold || !h->client->objects[h->lock].any || h->client->made[h->lock] != h->made)
        return;
    h->shared = downgrade(h) == PDK_OK;
    if (h->shared && h->id % 4 == 0)
        downgrade(h);
}

/* ---- its beginning */

/* The queue of its node. */
static int32_t queue_of(const struct client *client, const pdk_hold *hold, int32_t lock) {
    if (plan_recipe(client->player->d->plan, lock / 2) != PLAN_RECIPE_STRIPED)
        return lock / 2;
    int32_t stripe = pdk_striped_stripe(client->objects[lock].striped, hold);
    g_assert(stripe >= 0 || !client->objects[lock].any);
    return plan_stripe(lock / 2, MAX(stripe, 0));
}

struct holding *holding_begin(struct client *client, pdk_hold *hold, const struct plan_action *action, int32_t lock,
                              struct candidate *candidate) {
    struct deployment *d = client->player->d;
    struct holding *h = sim_alloc(&d->agenda, sizeof *h);
    *h = (struct holding){
        .next = client->holdings,
        .client = client,
        .candidate = candidate,
        .hold = hold,
        .value = action->value,
        .id = observe_hold(d, client_of(client, lock), hold),
        .lock = lock,
        .path = queue_of(client, hold, lock),
        .fd = -1,
        .made = client->made[lock],
        .token = pdk_hold_token(hold),
        .handover = pdk_hold_handover(hold),
        .end = action->value[PLAN_END],
        .shared = action->value[PLAN_SHARED] && plan_recipe(d->plan, lock / 2) == PLAN_RECIPE_RWLOCK,
    };
    client->holdings = h;
    *(candidate ? &d->offices : &d->holding) += 1;
    return h;
}

/* Nothing orders the writes of permit holders, nor of members. */
static bool writes(const struct holding *h) {
    enum plan_recipe recipe = plan_recipe(h->client->player->d->plan, h->path);
    return recipe != PLAN_RECIPE_SEMAPHORE && recipe != PLAN_RECIPE_GROUP;
}

void holding_use(struct holding *h) {
    if (h->value[PLAN_LOST] & PLAN_LOST_TOLD)
        pdk_hold_on_lost(h->hold, on_lost, h, NULL);
    if (h->client->player->d->plan->listens)
        pdk_hold_on_request(h->hold, on_asked, h, NULL);
    if (h->value[PLAN_LOST] & PLAN_LOST_FD)
        h->fd = pdk_hold_fd(h->hold);
    if (h->value[PLAN_WRITES] > 0 && writes(h))
        write_in(h, NULL);
    guarding_begin(h);
}

void holding_keep(struct holding *h) {
    const int32_t *value = h->value;
    int64_t now = h->client->player->d->agenda.now, last = now + value[PLAN_HOLD] * SIM_MS;
    for (int32_t i = 1; i < value[PLAN_WRITES] && writes(h); i++)
        sim_run_in(h->client->process, now + (last - now) * i / value[PLAN_WRITES], true, write_in, h, NULL);
    sim_run_in(h->client->process, last, true, end_in, h, NULL);
    if (!h->candidate && value[PLAN_DOWNGRADE] > 0 && !h->shared &&
        plan_recipe(h->client->player->d->plan, h->path) == PLAN_RECIPE_RWLOCK)
        sim_run_in(h->client->process, now + value[PLAN_DOWNGRADE] * SIM_MS, true, downgrade_in, h, NULL);
}
