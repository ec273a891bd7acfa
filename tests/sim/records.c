/* Jobs and lease locks: a record beside a lock. Their holds are used as others are (holdings.c). Here is what comes before and after
 * that: an ask that is skipped, an outcome that is told, a lock that is given up.
 *
 * A process has one secret for its first object of a path. Its second object shares one with every other process. */
#include "deployment.h"

#include <glib.h>

static struct deployment *deployment_of(const struct client *client) { return client->player->d; }

static bool is_job(const struct client *client, int32_t lock) {
    return plan_recipe(deployment_of(client)->plan, lock / 2) == PLAN_RECIPE_JOB;
}

/* ---- the objects */

static pdk_status make_job(struct client *client, int32_t lock) {
    const struct plan *plan = deployment_of(client)->plan;
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    options.every_ms = plan->every;
    options.at_ms = plan_edge(plan);
    options.at_least_ms = plan->least;
    options.at_most_ms = plan->most;
    options.retry = plan->retry ? PDK_JOB_RETRY_AT_ONCE : PDK_JOB_RETRY_NEXT_PERIOD;
    options.history = plan->keep;
    return pdk_job_new(client_of(client, lock)->s, plan_path(lock / 2), &options, &client->objects[lock].job);
}

/* The record names the secret by its owner's identity. */
static pdk_status make_lease_lock(struct client *client, int32_t lock) {
    int32_t number = lock % 2 ? PLAN_PROCESSES : client->player->number;
    char secret[32], identity[16];
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    g_snprintf(secret, sizeof secret, "the secret number %d", number);
    g_snprintf(identity, sizeof identity, "s%d", number);
    options.secret = secret;
    options.identity = identity;
    options.duration_ms = deployment_of(client)->plan->duration;
    return pdk_lease_lock_new(client_of(client, lock)->s, plan_path(lock / 2), &options,
                              &client->objects[lock].lease_lock);
}

pdk_status records_make(struct client *client, int32_t lock) {
    return is_job(client, lock) ? make_job(client, lock) : make_lease_lock(client, lock);
}

void records_unref(const struct client *client, int32_t lock, union object object) {
    if (is_job(client, lock))
        pdk_job_unref(object.job);
    else
        pdk_lease_lock_unref(object.lease_lock);
}

/* ---- claims, and what others have run */

static void note_runs(struct client *client, int32_t path, int32_t claim, pdk_status status, const pdk_job_runs *runs,
                      int64_t begun) {
    const pdk_job_run *newest = pdk_job_runs_run(runs, 0);
    struct history_event *event = note(deployment_of(client), HISTORY_RUNS, claim, client);
    if (!event)
        return;
    event->path = (int8_t)path;
    event->a = status;
    event->b = newest ? newest->token : 0;
    event->mode = newest ? (int8_t)newest->state : 0;
    event->sequence = newest ? newest->outcome : 0;
    event->count = (int16_t)pdk_job_runs_count(runs);
    event->extra = begun;
}

static void on_begun(pdk_status status, pdk_hold *hold, pdk_job_runs *runs, void *user) {
    struct claiming *claim = user;
    if (status == PDK_SKIPPED)
        note_runs(claim->client, claim->lock / 2, claim->id, status, runs, claim->begun);
    pdk_job_runs_free(runs);
    workload_on_acquired(status, hold, claim);
}

pdk_status records_claim(struct claiming *claim, int32_t timeout) {
    struct client *client = claim->client;
    union object object = client->objects[claim->lock];
    claim->begun = deployment_of(client)->agenda.now;
    claim->made = client->made[claim->lock];
    return is_job(client, claim->lock)
               ? pdk_job_acquire_async(object.job, timeout, on_begun, claim)
               : pdk_lease_lock_acquire_async(object.lease_lock, timeout, workload_on_acquired, claim);
}

struct reading {
    struct client *client;
    int32_t path, timeout;
    int64_t begun;
};

static void on_read(pdk_status status, pdk_job_runs *runs, void *user) {
    const struct reading *r = user;
    struct deployment *d = deployment_of(r->client);
    r->client->asking--;
    d->asking--;
    note_runs(r->client, r->path, -1, status, runs, r->begun);
    if (d->history.count > 0)
        d->history.events[d->history.count - 1].passed = r->timeout;
    pdk_job_runs_free(runs);
}

void records_read(void *subject, void *what) {
    struct player *player = subject;
    const int32_t *value = ((const struct plan_action *)what)->value;
    struct deployment *d = player->d;
    struct client *client = player->client;
    if (!client || !client->s || client->closed || d->healed)
        return;
    struct reading *r = sim_alloc(&d->agenda, sizeof *r);
    *r = (struct reading){client, value[1], value[2], d->agenda.now};
    client->asking++;
    d->asking++;
    pdk_status status =
        pdk_job_history_async(client_of(client, 2 * value[1])->s, plan_path(value[1]), value[2], on_read, r);
    if (status != PDK_OK)
        on_read(status, NULL, r);
}

/* ---- the end of a hold */

/* The call has a reference to the hold as long as it tells the answer. */
static void on_ended(pdk_status status, void *user) {
    struct holding *h = user;
    struct history_event *event = note(deployment_of(h->client), HISTORY_ENDING_ANSWERED, h->id, h->client);
    if (event)
        event->a = status;
    if (!h->hold)
        return; /* given back meanwhile */
    if (status != PDK_OK) {
        holding_give_back(h);
        return;
    }
    holding_note_released(h, pdk_hold_reason(h->hold) == PDK_REASON_NONE ? PDK_OK : PDK_LOST, false);
    h->hold = NULL;
    deployment_of(h->client)->holding--;
}

bool records_end(struct holding *h) {
    struct client *client = h->client;
    struct deployment *d = deployment_of(client);
    union object object = client->objects[h->lock];
    if (!plan_records(d->plan, h->path) || h->ends || client->closed || client->process->dead || d->healed ||
        h->end == PLAN_END_UNREF || h->end == PLAN_END_ALONE || !object.any || client->made[h->lock] != h->made)
        return false;
    int32_t outcome = is_job(client, h->lock) ? h->id : 0, timeout = h->id % 2 ? d->plan->request : 60000;
    struct history_event *event = note(d, HISTORY_ENDING, h->id, client);
    if (event) {
        event->path = (int8_t)h->path;
        event->a = outcome;
        event->passed = timeout;
    }
    h->ends = true;
    pdk_status status = is_job(client, h->lock)
                            ? pdk_job_finish_async(object.job, h->hold, outcome, timeout, on_ended, h)
                            : pdk_lease_lock_release_async(object.lease_lock, h->hold, timeout, on_ended, h);
    if (status != PDK_OK)
        on_ended(status, h);
    return true;
}
