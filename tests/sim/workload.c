/* What the processes do with locks: they claim, hold, write, and give back, as any program would. */
#include "deployment.h"

#include <glib.h>
#include <poll.h>

/* ---- the end of a hold */

static void given_back(struct holding *h, pdk_status status, bool dropped) {
    struct deployment *d = h->life->player->d;
    h->hold = NULL;
    d->holding--;
    if (h->life->process->dead)
        return;
    struct history_event *event = note(d, HISTORY_RELEASED, h->id, h->life);
    if (event) {
        event->a = status;
        event->b = dropped;
    }
}

static void give_hold_back(struct holding *h) {
    pdk_hold *hold = h->hold;
    if (!hold)
        return;
    if (h->end == PLAN_END_UNREF) {
        pdk_status status = pdk_hold_valid(hold) ? PDK_OK : PDK_LOST;
        pdk_hold_unref(hold);
        given_back(h, status, true);
    } else {
        given_back(h, pdk_hold_release(hold), false);
    }
}

static void release_in(void *subject, void *what) {
    (void)what;
    give_hold_back(subject);
}

static void write_in(void *subject, void *what) {
    struct holding *h = subject;
    struct deployment *d = h->life->player->d;
    (void)what;
    if (h->hold && pdk_hold_valid(h->hold))
        resource_write(h, sim_random_between(&d->agenda.chance, 0, h->late * SIM_MS));
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    struct holding *h = user;
    struct deployment *d = h->life->player->d;
    struct history_event *event = note(d, HISTORY_LOST, h->id, h->life);
    d->tally.lost++;
    d->tally.reasons[reason]++;
    struct pollfd readable = {.fd = h->fd, .events = POLLIN};
    bool silent = h->fd >= 0 && poll(&readable, 1, 0) != 1;
    if (event) {
        event->a = reason;
        event->b = pdk_hold_valid(hold) || pdk_hold_remaining_ms(hold) > 0 || silent;
    }
    if (h->id % 2)
        give_hold_back(h);
}

/* ---- claims */

static void received(struct claiming *claim, pdk_hold *hold) {
    struct life *life = claim->life;
    struct deployment *d = life->player->d;
    const int32_t *value = claim->action->value;
    struct holding *h = sim_alloc(&d->agenda, sizeof *h);
    *h = (struct holding){
        .next = life->holdings,
        .life = life,
        .hold = hold,
        .id = observe_hold(d, life, hold),
        .path = claim->lock / 2,
        .late = value[PLAN_LATE],
        .fd = -1,
        .token = pdk_hold_token(hold),
        .handover = pdk_hold_handover(hold),
        .end = value[PLAN_END],
        .wants_lost = value[PLAN_LOST] & PLAN_LOST_TOLD,
    };
    life->holdings = h;
    d->holding++;
    struct history_event *event = note(d, HISTORY_ANSWER, claim->id, life);
    if (event) {
        event->b = h->id;
        event->extra = h->wants_lost;
    }
    if (h->wants_lost)
        pdk_hold_on_lost(hold, on_lost, h, NULL);
    if (value[PLAN_LOST] & PLAN_LOST_FD)
        h->fd = pdk_hold_fd(hold);
    if (value[PLAN_WRITES] > 0)
        write_in(h, NULL);
    if (h->end == PLAN_END_AT_ONCE || life->closed) {
        give_hold_back(h);
        return;
    }
    int64_t now = d->agenda.now, last = now + value[PLAN_HOLD] * SIM_MS;
    for (int32_t i = 1; i < value[PLAN_WRITES]; i++)
        sim_run_in(life->process, now + (last - now) * i / value[PLAN_WRITES], true, write_in, h, NULL);
    sim_run_in(life->process, last, true, release_in, h, NULL);
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct claiming *claim = user;
    struct life *life = claim->life;
    struct deployment *d = life->player->d;
    if (!claim->answered) {
        life->unanswered--;
        d->unanswered--;
    }
    claim->answered = true;
    d->tally.answers[status]++;
    if (status == PDK_OK) {
        received(claim, hold);
    } else {
        struct history_event *event = note(d, HISTORY_ANSWER, claim->id, life);
        if (event) {
            event->a = status;
            event->b = -1;
        }
    }
    if (claim->closes)
        life_close(life, claim->action);
    if (life->closed && life->unanswered == 0 && !life->process->dead)
        life_leave(life);
}

static pdk_lock *lock_of(struct life *life, int32_t lock) {
    const struct plan *plan = life->player->d->plan;
    if (life->locks[lock])
        return life->locks[lock];
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.max_handovers = plan->handovers;
    options.max_handover_ms = plan->handover_ms;
    options.naming = plan->kazoo & 1 << lock / 2 ? PDK_NAMING_KAZOO : PDK_NAMING_CURATOR;
    if (pdk_lock_new(life->s, plan_path(lock / 2), &options, &life->locks[lock]) != PDK_OK)
        return NULL;
    return life->locks[lock];
}

void workload_claim(struct life *life, const struct plan_action *action, int32_t number, int32_t timeout, bool closes) {
    struct deployment *d = life->player->d;
    pdk_lock *lock = lock_of(life, number);
    if (!lock || d->claims_count == HISTORY_CLAIMS)
        return;
    struct claiming *claim = sim_alloc(&d->agenda, sizeof *claim);
    *claim = (struct claiming){.next = life->claims,
                               .life = life,
                               .action = action,
                               .id = d->claims_count++,
                               .lock = number,
                               .closes = closes};
    life->claims = claim;
    int64_t ms = timeout == 0 ? d->plan->request : timeout;
    struct history_event *event = note(d, HISTORY_CLAIM, claim->id, life);
    if (event) {
        event->path = (int8_t)(number / 2);
        event->extra = ms < 0 ? INT64_MAX : event->clock + ms * SIM_MS;
        event->a = ms < 0 ? INT64_MAX : sim_process_when(life->process, event->extra);
        event->b = timeout == 0;
    }
    life->unanswered++;
    d->unanswered++;
    d->tally.claims++;
    pdk_status status = pdk_lock_acquire_async(lock, timeout, on_acquired, claim, &claim->claim);
    if (status != PDK_OK)
        on_acquired(status, NULL, claim);
}

void workload_acquire(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    struct life *life = player->life;
    if (life && life->s && !life->closed && !player->d->healed)
        workload_claim(life, action, action->value[PLAN_LOCK], action->value[PLAN_TIMEOUT], false);
}

void workload_cancel(void *subject, void *what) {
    struct player *player = subject;
    struct life *life = player->life;
    struct claiming *claim = life && !life->closed ? life->claims : NULL;
    int32_t ahead = 0;
    (void)what;
    while (claim && (claim->answered || !claim->claim))
        claim = claim->next;
    if (!claim)
        return;
    if (pdk_claim_position(claim->claim, &ahead) == PDK_OK)
        g_assert(ahead >= 0);
    if (pdk_claim_cancel(claim->claim) != PDK_OK)
        return;
    struct history_event *event = note(player->d, HISTORY_CANCEL, claim->id, life);
    if (event)
        event->a = 1;
}

/* ---- the end of a lock object, and of all */

static void drop_lock(struct life *life, int32_t lock) {
    if (!life->locks[lock])
        return;
    for (struct claiming *claim = life->claims; claim; claim = claim->next)
        if (claim->lock == lock && !claim->answered && !life->process->dead)
            note(life->player->d, HISTORY_CANCEL, claim->id, life);
    pdk_lock_unref(life->locks[lock]);
    life->locks[lock] = NULL;
}

void workload_drop(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    if (player->life && !player->life->closed)
        drop_lock(player->life, action->value[1]);
}

void workload_give_back(struct life *life) {
    for (int32_t i = 0; i < PLAN_LOCKS; i++)
        drop_lock(life, i);
    for (struct holding *h = life->holdings; h; h = h->next)
        give_hold_back(h);
    for (struct claiming *claim = life->claims; claim; claim = claim->next) {
        pdk_claim_unref(claim->claim);
        claim->claim = NULL;
    }
}
