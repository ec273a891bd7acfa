/* The workload: processes claim, cancel and drop, as any program would. holdings.c has the use of a hold. */
#include "deployment.h"

#include <glib.h>

/* ---- claims */

static void received(const struct claiming *claim, struct holding *h) {
    holding_use(h);
    if (h->end == PLAN_END_AT_ONCE || claim->client->closed)
        holding_give_back(h);
    else
        holding_keep(h);
}

void workload_answered(struct claiming *claim, pdk_status status, int64_t hold) {
    struct client *client = claim->client;
    struct deployment *d = client->player->d;
    if (!claim->answered) {
        client->unanswered--;
        d->unanswered--;
    }
    claim->answered = true;
    d->tally.answers[status]++;
    struct history_event *event = note(d, HISTORY_ANSWER, claim->id, client);
    if (!event)
        return;
    event->a = status;
    event->b = hold;
    event->extra = status == PDK_OK && claim->action->value[PLAN_LOST] & PLAN_LOST_TOLD;
}

void workload_on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct claiming *claim = user;
    struct holding *h = status == PDK_OK ? holding_begin(claim->client, hold, claim->action, claim->lock, NULL) : NULL;
    if (h && claim->made)
        h->made = claim->made; /* another object does not know it */
    workload_answered(claim, status, h ? h->id : -1);
    if (h)
        received(claim, h);
    workload_after_answer(claim);
}

void workload_after_answer(struct claiming *claim) {
    struct client *client = claim->client;
    if (claim->closes)
        client_close(client, claim->action);
    if (client->closed && client->unanswered == 0 && !client->process->dead)
        client_leave(client);
}

/* ---- the objects */

static pdk_status make_lock(struct client *client, int32_t lock, int32_t naming) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.max_handovers = client->player->d->plan->handovers;
    options.max_handover_ms = client->player->d->plan->handover_ms;
    options.naming = naming;
    options.lock_delay_ms = plan_delay(client->player->d->plan, lock / 2, client->player->number);
    options.linger_ms = options.lock_delay_ms ? 0 : client->player->d->plan->linger;
    return pdk_lock_new(client_of(client, lock)->s, plan_path(lock / 2), &options, &client->objects[lock].lock);
}

static pdk_status make_rwlock(struct client *client, int32_t lock, int32_t naming) {
    pdk_rwlock_options options = PDK_RWLOCK_OPTIONS_INIT;
    options.max_handovers = client->player->d->plan->handovers;
    options.max_handover_ms = client->player->d->plan->handover_ms;
    options.naming = naming;
    return pdk_rwlock_new(client_of(client, lock)->s, plan_path(lock / 2), &options, &client->objects[lock].rwlock);
}

static pdk_status make_semaphore(struct client *client, int32_t lock) {
    const struct plan *plan = client->player->d->plan;
    pdk_semaphore_options options = PDK_SEMAPHORE_OPTIONS_INIT;
    options.max_handovers = plan->handovers;
    options.max_handover_ms = plan->handover_ms;
    return pdk_semaphore_new(client_of(client, lock)->s, plan_path(lock / 2),
                             plan_permits(plan, lock / 2, client->player->number), &options,
                             &client->objects[lock].semaphore);
}

/* Its candidates are known by a number. */
static pdk_status make_election(struct client *client, int32_t lock, int32_t naming) {
    char identity[16];
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    g_snprintf(identity, sizeof identity, "c%d", candidate_identity(client, lock));
    options.identity = identity;
    options.naming = naming;
    options.lock_delay_ms = plan_delay(client->player->d->plan, lock / 2, client->player->number);
    return pdk_election_new(client_of(client, lock)->s, plan_path(lock / 2), &options, &client->objects[lock].election);
}

static pdk_status make_striped(struct client *client, int32_t lock) {
    const struct plan *plan = client->player->d->plan;
    pdk_striped_options options = PDK_STRIPED_OPTIONS_INIT;
    options.max_handovers = plan->handovers;
    options.max_handover_ms = plan->handover_ms;
    return pdk_striped_new(client_of(client, lock)->s, plan_path(lock / 2),
                           plan_stripes(plan, lock / 2, client->player->number), &options,
                           &client->objects[lock].striped);
}

/* Joining a group makes the member. */
bool workload_object(struct client *client, int32_t lock) {
    const struct plan *plan = client->player->d->plan;
    int32_t naming = plan->kazoo & 1 << lock / 2 ? PDK_NAMING_KAZOO : PDK_NAMING_CURATOR;
    if (client->objects[lock].any)
        return true;
    client->made[lock]++;
    switch (plan_recipe(plan, lock / 2)) {
    case PLAN_RECIPE_RWLOCK:
        return make_rwlock(client, lock, naming) == PDK_OK;
    case PLAN_RECIPE_SEMAPHORE:
        return make_semaphore(client, lock) == PDK_OK;
    case PLAN_RECIPE_ELECTION:
        return make_election(client, lock, naming) == PDK_OK;
    case PLAN_RECIPE_STRIPED:
        return make_striped(client, lock) == PDK_OK;
    case PLAN_RECIPE_JOB:
    case PLAN_RECIPE_LEASE_LOCK:
        return records_make(client, lock) == PDK_OK;
    case PLAN_RECIPE_GROUP:
        return true;
    default:
        return make_lock(client, lock, naming) == PDK_OK;
    }
}

static void unref_object(struct client *client, int32_t lock) {
    union object object = client->objects[lock];
    client->objects[lock].any = NULL;
    switch (plan_recipe(client->player->d->plan, lock / 2)) {
    case PLAN_RECIPE_RWLOCK:
        pdk_rwlock_unref(object.rwlock);
        break;
    case PLAN_RECIPE_SEMAPHORE:
        pdk_semaphore_unref(object.semaphore);
        break;
    case PLAN_RECIPE_ELECTION:
        pdk_election_unref(object.election);
        break;
    case PLAN_RECIPE_STRIPED:
        pdk_striped_unref(object.striped);
        break;
    case PLAN_RECIPE_JOB:
    case PLAN_RECIPE_LEASE_LOCK:
        records_unref(client, lock, object);
        break;
    case PLAN_RECIPE_GROUP:
        pdk_member_leave(object.member); /* the data that it sets have references, too */
        pdk_member_unref(object.member);
        break;
    default:
        pdk_lock_unref(object.lock);
        break;
    }
}

/* ---- claims */

/* As many as it may ask for. */
static int32_t permits_of(const struct client *client, const struct plan_action *action, int32_t lock) {
    int32_t most = plan_permits(client->player->d->plan, lock / 2, client->player->number);
    return CLAMP(action->value[PLAN_COUNT], 1, most);
}

/* Of a key, or any stripe. */
static pdk_status start_striped(struct claiming *claim, pdk_striped *striped, int32_t queue, int32_t timeout) {
    pdk_lock *lock = NULL;
    if (queue < PLAN_PATHS)
        return pdk_striped_acquire_any_async(striped, timeout, workload_on_acquired, claim, &claim->claim);
    pdk_status status = pdk_striped_lock(striped, queue - plan_stripe(plan_path_of(queue), 0), &lock);
    if (status == PDK_OK)
        status = pdk_lock_acquire_async(lock, timeout, workload_on_acquired, claim, &claim->claim);
    pdk_lock_unref(lock);
    return status;
}

static pdk_status start(struct claiming *claim, const struct history_event *asked, int32_t timeout) {
    union object object = claim->client->objects[claim->lock];
    switch (plan_recipe(claim->client->player->d->plan, claim->lock / 2)) {
    case PLAN_RECIPE_RWLOCK:
        return (asked->mode == MODE_SHARED ? pdk_rwlock_acquire_read_async : pdk_rwlock_acquire_write_async)(
            object.rwlock, timeout, workload_on_acquired, claim, &claim->claim);
    case PLAN_RECIPE_SEMAPHORE:
        return pdk_semaphore_acquire_async(object.semaphore, asked->count, timeout, workload_on_acquired, claim,
                                           &claim->claim);
    case PLAN_RECIPE_STRIPED:
        return start_striped(claim, object.striped, asked->path, timeout);
    case PLAN_RECIPE_JOB:
    case PLAN_RECIPE_LEASE_LOCK:
        return records_claim(claim, timeout);
    default:
        return pdk_lock_acquire_async(object.lock, timeout, workload_on_acquired, claim, &claim->claim);
    }
}

/* The time that it may take, ms. An ask of a job has time for one request, and a try of a lease lock for two. */
static int32_t limit_of(const struct plan *plan, int32_t path, int32_t timeout) {
    enum plan_recipe recipe = plan_recipe(plan, path);
    if (recipe == PLAN_RECIPE_JOB)
        return timeout < 0 ? timeout : MAX(timeout, plan->request);
    return timeout != 0 ? timeout : recipe == PLAN_RECIPE_LEASE_LOCK ? 2 * plan->request : plan->request;
}

static void note_claim(const struct claiming *claim, int32_t timeout, const struct history_event *asked) {
    const struct client *client = claim->client;
    struct deployment *d = client->player->d;
    int64_t ms = limit_of(d->plan, claim->lock / 2, timeout);
    struct history_event *event = note(d, HISTORY_CLAIM, claim->id, client);
    if (!event)
        return;
    event->path = asked->path;
    event->extra = ms < 0 ? INT64_MAX : event->clock + ms * SIM_MS;
    event->a = ms < 0 ? INT64_MAX : sim_process_when(client->process, event->extra);
    event->b = timeout == 0;
    event->mode = asked->mode;
    event->count = asked->count;
    event->sequence = asked->sequence;
    event->passed = plan_recipe(d->plan, claim->lock / 2) == PLAN_RECIPE_JOB ? timeout : 0;
}

struct claiming *workload_begin_claim(struct client *client, const struct plan_action *action, int32_t lock,
                                      int32_t timeout, const struct history_event *asked) {
    struct deployment *d = client->player->d;
    if (d->claims_count == HISTORY_CLAIMS)
        return NULL;
    struct claiming *claim = sim_alloc(&d->agenda, sizeof *claim);
    *claim = (struct claiming){
        .next = client->claims, .client = client, .action = action, .id = d->claims_count++, .lock = lock};
    client->claims = claim;
    note_claim(claim, timeout, asked);
    client->unanswered++;
    d->unanswered++;
    d->tally.claims++;
    return claim;
}

/* The path's, or that of a key's stripe. */
static int32_t queue_of(const struct client *client, const struct plan_action *action, int32_t lock) {
    int32_t path = lock / 2, stripes = plan_stripes(client->player->d->plan, path, client->player->number);
    if (stripes == 0 || action->value[PLAN_COUNT] == 0)
        return path;
    char key = (char)('a' + action->value[PLAN_COUNT]);
    return plan_stripe(path, pdk_striped_stripe_of(&key, 1, stripes));
}

void workload_claim(struct client *client, const struct plan_action *action, int32_t number, int32_t timeout,
                    bool closes) {
    enum plan_recipe recipe = plan_recipe(client->player->d->plan, number / 2);
    bool permits = recipe == PLAN_RECIPE_SEMAPHORE, reads = recipe == PLAN_RECIPE_RWLOCK && action->value[PLAN_SHARED];
    const struct history_event asked = {
        .mode = permits ? MODE_PERMIT
                : reads ? MODE_SHARED
                        : MODE_EXCLUSIVE,
        .count = permits ? (int16_t)permits_of(client, action, number) : 1,
        .path = (int8_t)queue_of(client, action, number),
    };
    struct claiming *claim =
        workload_object(client, number) ? workload_begin_claim(client, action, number, timeout, &asked) : NULL;
    if (!claim)
        return;
    claim->closes = closes;
    pdk_status status = start(claim, &asked, timeout);
    if (status != PDK_OK)
        workload_on_acquired(status, NULL, claim);
}

void workload_acquire(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    struct client *client = player->client;
    if (client && client->s && !client->closed && !player->d->healed)
        workload_claim(client, action, action->value[PLAN_LOCK], action->value[PLAN_TIMEOUT], false);
}

void workload_cancel(void *subject, void *what) {
    struct player *player = subject;
    struct client *client = player->client;
    struct claiming *claim = client && !client->closed ? client->claims : NULL;
    int32_t ahead = 0;
    (void)what;
    while (claim && (claim->answered || (!claim->claim && !claim->set_claim)))
        claim = claim->next;
    if (!claim)
        return;
    if (claim->claim && pdk_claim_position(claim->claim, &ahead) == PDK_OK)
        g_assert(ahead >= 0);
    if ((claim->claim ? pdk_claim_cancel(claim->claim) : pdk_set_claim_cancel(claim->set_claim)) != PDK_OK)
        return;
    struct history_event *event = note(player->d, HISTORY_CANCEL, claim->id, client);
    if (event)
        event->a = 1;
}

/* ---- the end of an object, and of all */

static void drop_object(struct client *client, int32_t lock) {
    if (!client->objects[lock].any)
        return;
    for (struct claiming *claim = client->claims; claim; claim = claim->next)
        if ((claim->lock == lock || claim->set_claim) && !claim->answered && !client->process->dead)
            note(client->player->d, HISTORY_CANCEL, claim->id, client);
    candidate_drop(client, lock);
    unref_object(client, lock);
}

void workload_drop(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    if (player->client && !player->client->closed)
        drop_object(player->client, action->value[1]);
}

void workload_give_back(struct client *client) {
    for (int32_t i = 0; i < PLAN_LOCKS; i++)
        drop_object(client, i);
    candidates_stop_observers(client);
    for (struct holding *h = client->holdings; h; h = h->next) {
        if (h->candidate)
            holding_unref(h);
        else
            holding_give_back(h);
    }
    for (struct claiming *claim = client->claims; claim; claim = claim->next) {
        pdk_claim_unref(g_steal_pointer(&claim->claim));
        pdk_set_claim_unref(g_steal_pointer(&claim->set_claim));
        sets_give_back(claim);
    }
}
