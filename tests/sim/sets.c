/* Sets of rights: several paths at once, named in an order that is not the library's. */
#include "deployment.h"

#include <glib.h>

static struct deployment *deployment_of(const struct claiming *claim) { return claim->client->player->d; }

static struct history_event *note_set(const struct claiming *claim, enum history_kind kind, int64_t a, int64_t b) {
    struct history_event *event =
        claim->client->process->dead ? NULL : note(deployment_of(claim), kind, claim->id, claim->client);
    if (event) {
        event->a = a;
        event->b = b;
    }
    return event;
}

/* ---- it is held */

/* Those that it was not seen to have yet. Of a majority one may be missing, and others come. */
static void note_parts(struct claiming *claim, const pdk_set *set) {
    for (int32_t i = 0; i < pdk_set_count(set); i++) {
        const pdk_hold *part = claim->client->process->dead ? NULL : pdk_set_part(set, i);
        int32_t id = part ? observe_hold(deployment_of(claim), claim->client, part) : 0;
        if (part && claim->parts[i] != id + 1)
            note_set(claim, HISTORY_PART, id, i);
        claim->parts[i] = part ? id + 1 : claim->parts[i];
    }
}

static void set_give_back(struct claiming *claim) {
    pdk_set *set = g_steal_pointer(&claim->set);
    if (!set)
        return;
    if (claim->action->value[PLAN_NEED] > 0)
        note_parts(claim, set);
    deployment_of(claim)->holding--;
    if (claim->action->value[PLAN_END] == PLAN_END_UNREF) {
        pdk_status status = pdk_set_is_valid(set) ? PDK_OK : PDK_LOST;
        pdk_set_unref(set);
        note_set(claim, HISTORY_SET_RELEASED, status, true);
    } else {
        note_set(claim, HISTORY_SET_RELEASED, pdk_set_release(set), false);
    }
}

void sets_give_back(struct claiming *claim) { set_give_back(claim); }

static void end_in(void *subject, void *what) {
    (void)what;
    set_give_back(subject);
}

static void look_in(void *subject, void *what) {
    struct claiming *claim = subject;
    int64_t valid = 0;
    (void)what;
    if (!claim->set)
        return;
    bool says = pdk_set_is_valid(claim->set) || pdk_set_remaining_ms(claim->set) > 0;
    if (claim->action->value[PLAN_NEED] > 0)
        note_parts(claim, claim->set);
    for (int32_t i = 0; i < pdk_set_count(claim->set); i++)
        valid += pdk_hold_is_valid(pdk_set_part(claim->set, i));
    note_set(claim, HISTORY_LOOKED, says, valid);
}

static void on_lost(pdk_set *set, pdk_reason reason, void *user) {
    struct claiming *claim = user;
    if (claim->action->value[PLAN_NEED] > 0)
        note_parts(claim, set);
    note_set(claim, HISTORY_SET_LOST, reason, pdk_set_is_valid(set) || pdk_set_remaining_ms(set) > 0);
    if (claim->id % 2)
        set_give_back(claim);
}

static void keep(struct claiming *claim) {
    const int32_t *value = claim->action->value;
    int64_t now = deployment_of(claim)->agenda.now, last = now + value[PLAN_HOLD] * SIM_MS;
    for (int32_t i = 1; i < value[PLAN_WRITES]; i++)
        sim_run_in(claim->client->process, now + (last - now) * i / value[PLAN_WRITES], true, look_in, claim, NULL);
    sim_run_in(claim->client->process, last, true, end_in, claim, NULL);
}

/* ---- it is claimed */

static void received(struct claiming *claim, pdk_set *set) {
    claim->set = set;
    deployment_of(claim)->holding++;
    look_in(claim, NULL);
    if (claim->action->value[PLAN_LOST] & PLAN_LOST_TOLD)
        pdk_set_on_lost(set, on_lost, claim, NULL);
    if (claim->action->value[PLAN_END] == PLAN_END_AT_ONCE || claim->client->closed)
        set_give_back(claim);
    else
        keep(claim);
}

static void on_taken(pdk_status status, pdk_set *set, void *user) {
    struct claiming *claim = user;
    if (status == PDK_OK)
        note_parts(claim, set);
    workload_answered(claim, status, -1);
    if (status == PDK_OK)
        received(claim, set);
    workload_after_answer(claim);
}

struct wanted {
    pdk_right rights[PLAN_RIGHTS];
    enum history_mode modes[PLAN_RIGHTS];
    int32_t queues[PLAN_RIGHTS];
    pdk_lock *locks[PLAN_RIGHTS]; /* of stripes: references */
    size_t count;
};

/* Of one stripe, or of two. */
static void add_stripes(struct client *client, struct wanted *wanted, int32_t path, int32_t first, bool two) {
    int32_t stripes = plan_stripes(client->player->d->plan, path, client->player->number);
    for (int32_t i = 0; i < (two && stripes > 1 ? 2 : 1) && wanted->count < PLAN_RIGHTS; i++) {
        pdk_lock *lock = NULL;
        if (pdk_striped_lock(client->objects[2 * path].striped, (first + i) % stripes, &lock) != PDK_OK)
            return;
        wanted->locks[wanted->count] = lock;
        wanted->rights[wanted->count] = pdk_right_lock(lock);
        wanted->modes[wanted->count] = MODE_EXCLUSIVE;
        wanted->queues[wanted->count++] = plan_stripe(path, (first + i) % stripes);
    }
}

/* An election is no right, nor is a group, nor a recipe with a record, and no path is named twice. */
static void add_right(struct client *client, struct wanted *wanted, int32_t code, int32_t stripe) {
    const struct plan *plan = client->player->d->plan;
    int32_t path = (code - 1) / 2;
    bool less = code % 2 == 0;
    for (size_t i = 0; i < wanted->count; i++)
        if (plan_path_of(wanted->queues[i]) == path)
            return;
    enum plan_recipe recipe = plan_recipe(plan, path);
    if (code == 0 || wanted->count == PLAN_RIGHTS || recipe == PLAN_RECIPE_ELECTION || recipe >= PLAN_RECIPE_JOB ||
        !workload_object(client, 2 * path))
        return;
    if (plan_recipe(plan, path) == PLAN_RECIPE_STRIPED) {
        add_stripes(client, wanted, path, stripe, less);
        return;
    }
    union object object = client->objects[2 * path];
    pdk_right *right = &wanted->rights[wanted->count];
    enum history_mode mode = MODE_EXCLUSIVE;
    if (plan_recipe(plan, path) == PLAN_RECIPE_SEMAPHORE) {
        int32_t permits = plan_permits(plan, path, client->player->number);
        *right = pdk_right_permits(object.semaphore, less && permits > 1 ? 2 : 1);
        mode = MODE_PERMIT;
    } else if (plan_recipe(plan, path) == PLAN_RECIPE_RWLOCK) {
        *right = less ? pdk_right_read(object.rwlock) : pdk_right_write(object.rwlock);
        mode = less ? MODE_SHARED : MODE_EXCLUSIVE;
    } else {
        *right = pdk_right_lock(object.lock);
    }
    wanted->modes[wanted->count] = mode;
    wanted->queues[wanted->count++] = path;
}

static void note_rights(const struct claiming *claim, const struct wanted *wanted) {
    for (size_t i = 0; i < wanted->count; i++) {
        struct history_event *event = note_set(claim, HISTORY_RIGHT, (int64_t)i, 0);
        if (!event)
            return;
        event->path = (int8_t)wanted->queues[i];
        event->mode = (int8_t)wanted->modes[i];
        event->count = (int16_t)wanted->rights[i].count;
    }
}

static void take(struct claiming *claim, const struct wanted *wanted) {
    pdk_set_options options = PDK_SET_OPTIONS_INIT;
    options.need = claim->action->value[PLAN_NEED];
    note_rights(claim, wanted);
    pdk_status status = pdk_set_acquire_async(wanted->rights, wanted->count, claim->action->value[PLAN_TIMEOUT],
                                              &options, on_taken, claim, &claim->set_claim);
    if (status != PDK_OK)
        on_taken(status, NULL, claim);
}

void sets_take(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    struct client *client = player->client;
    struct wanted wanted = {.count = 0};
    if (!client || !client->s || client->closed || player->d->healed)
        return;
    add_right(client, &wanted, action->value[PLAN_LOCK], action->at);
    add_right(client, &wanted, action->value[PLAN_SECOND], action->at);
    add_right(client, &wanted, action->value[PLAN_THIRD], action->at);
    if (wanted.count == 0 || action->value[PLAN_NEED] > (int32_t)wanted.count)
        return;
    const struct history_event asked = {.mode = MODE_SET,
                                        .count = (int16_t)wanted.count,
                                        .path = (int8_t)wanted.queues[0],
                                        .sequence = action->value[PLAN_NEED]};
    struct claiming *claim =
        workload_begin_claim(client, action, 2 * plan_path_of(wanted.queues[0]), action->value[PLAN_TIMEOUT], &asked);
    if (claim)
        take(claim, &wanted);
    for (size_t i = 0; i < wanted.count; i++)
        pdk_lock_unref(wanted.locks[i]);
}
