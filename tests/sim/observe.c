/* Notes the state of every driver: holds, leases, sessions. observe_nodes.c notes the ensemble's.
 *
 * A hold's word is read after each event, also of holds that nobody has received yet. Readings change nothing: the word of
 * a hold that is over stays as it is until the driver looks.
 */
#include "observe.h"

#include "grant/claim.h"
#include "grant/hold.h"
#include "grant/registry.h"
#include "session/entries.h"

/* The driver's lists. A session has none before its first queue. */
static const GList *first_queue(const pdk_session *s) {
    return s->listener ? ((const struct pdk__registry *)s->listener)->queues.head : NULL;
}

static const GList *first_hold(const pdk_session *s) {
    return s->listener ? ((const struct pdk__registry *)s->listener)->holds.head : NULL;
}

/* ---- holds */

static int64_t true_until(const struct believed *b, const struct deployment *d) {
    if (b->until <= 0)
        return d->agenda.now;
    return sim_process_when(b->client->process, b->until);
}

static struct believed *find(struct deployment *d, const pdk_hold *hold) {
    for (int32_t i = 0; i < d->believed_count; i++) {
        struct believed *b = &d->believed[i];
        if (b->hold == hold && b->token == hold->token && b->handover == hold->handover)
            return b;
    }
    return NULL;
}

/* How many waiters in the same queue had come before the claim that gets the hold. */
static int32_t count_passed(const struct client *client, const pdk_hold *hold) {
    const struct claiming *gets = client->claims;
    int32_t passed = 0;
    while (gets && (!gets->claim || gets->claim->hold != hold))
        gets = gets->next;
    for (const struct claiming *claim = gets; claim; claim = claim->next)
        passed += claim->claim && claim->claim->queue == hold->queue && claim->claim->state == PDK__CLAIM_QUEUED;
    return passed;
}

/* ---- the admitted node of a semaphore, or for any stripe: it may be gone by the time of the grant */

static struct observed_admission *admission_of(struct deployment *d, const struct pdk__queue *queue) {
    for (int32_t i = 0; i < d->admissions_count; i++)
        if (d->admissions[i].queue == queue)
            return &d->admissions[i];
    return NULL;
}

static bool is_of(const struct deployment *d, const struct pdk__queue *queue, enum plan_recipe recipe) {
    const char *ignored;
    int32_t path = queue->gate ? observe_path(d->plan, queue->dir, &ignored) : -1;
    return path >= 0 && plan_recipe(d->plan, path) == recipe;
}

/* A lock with a delay has a gate, too. */
static bool is_semaphore(const struct deployment *d, const struct pdk__queue *queue) {
    return is_of(d, queue, PLAN_RECIPE_SEMAPHORE);
}

static bool is_for_any(const struct deployment *d, const struct pdk__queue *queue) {
    return is_of(d, queue, PLAN_RECIPE_STRIPED);
}

static void note_admissions(struct deployment *d, const pdk_session *s) {
    for (const GList *link = first_queue(s); link; link = link->next) {
        const struct pdk__queue *queue = link->data;
        struct observed_name name;
        if (!queue->admitting || !queue->entry || !observe_name(queue->entry->c.own, &name) ||
            !(is_semaphore(d, queue) || is_for_any(d, queue)))
            continue;
        struct observed_admission *admission = admission_of(d, queue);
        if (!admission && d->admissions_count < (int32_t)G_N_ELEMENTS(d->admissions))
            admission = &d->admissions[d->admissions_count++];
        if (admission)
            *admission = (struct observed_admission){queue, name.sequence};
    }
}

/* ---- the nodes it stands on */

static enum history_mode mode_of(const struct deployment *d, const pdk_hold *hold) {
    return is_semaphore(d, hold->queue) ? MODE_PERMIT : hold->queue->kind.shared ? MODE_SHARED : MODE_EXCLUSIVE;
}

static int32_t sequence_of(struct deployment *d, const pdk_hold *hold) {
    struct observed_name name;
    const struct observed_admission *admission = is_semaphore(d, hold->queue) ? admission_of(d, hold->queue) : NULL;
    if (admission)
        return admission->sequence;
    return hold->grant && observe_name(hold->grant->entries[0]->c.own, &name) ? name.sequence : 0;
}

static void note_stands(struct deployment *d, const struct believed *b, int64_t czxid) {
    struct history_event *event = note(d, HISTORY_STANDS, b->id, b->client);
    if (event)
        event->a = czxid;
}

/* The node of the grant stands in a stripe. */
static void note_admitted(struct deployment *d, const struct believed *b, const pdk_hold *hold) {
    const struct observed_admission *admission = admission_of(d, hold->queue);
    struct history_event *event = admission ? note(d, HISTORY_ADMITTED, b->id, b->client) : NULL;
    if (event)
        event->a = admission->sequence;
}

static void note_grant(struct deployment *d, struct believed *b, const pdk_hold *hold) {
    const char *ignored;
    struct history_event *event = note(d, HISTORY_GRANT, b->id, b->client);
    if (!event)
        return;
    event->path = (int8_t)observe_path(d->plan, hold->node, &ignored);
    event->a = hold->token;
    event->b = true_until(b, d);
    event->extra = hold->handover;
    event->passed = count_passed(b->client, hold);
    event->mode = (int8_t)mode_of(d, hold);
    event->count = hold->grant ? (int16_t)hold->grant->count : 0;
    event->sequence = sequence_of(d, hold);
    for (guint i = 1; hold->grant && i < hold->grant->count; i++)
        note_stands(d, b, hold->grant->entries[i]->c.token);
    if (is_for_any(d, hold->queue))
        note_admitted(d, b, hold);
}

static struct believed *begin(struct deployment *d, struct client *client, const pdk_hold *hold) {
    if (d->believed_count == DEPLOYMENT_BELIEVED || d->holds_count == HISTORY_HOLDS)
        return NULL;
    struct believed *b = &d->believed[d->believed_count++];
    *b = (struct believed){
        .hold = hold,
        .token = hold->token,
        .node = hold->token,
        .handover = hold->handover,
        .until = pdk__hold_until(hold),
        .id = d->holds_count++,
        .client = client,
    };
    const struct checker_node *node = checker_node_of(&d->checker, hold->token);
    d->tally.grants++;
    d->tally.contended += node && node->behind && hold->handover == 0;
    d->tally.handovers += hold->handover > 0;
    note_grant(d, b, hold);
    return b;
}

/* A reader's node took over from the writer's. */
static void reread_node(struct deployment *d, struct believed *b) {
    const struct pdk__grant *grant = b->hold->grant;
    int64_t czxid = grant ? grant->entries[0]->c.token : 0;
    if (czxid == 0 || czxid == b->node)
        return;
    b->node = czxid;
    note_stands(d, b, czxid);
}

static void reread(struct deployment *d, struct believed *b) {
    int64_t until = pdk__hold_until(b->hold);
    if (until == b->until)
        return;
    b->until = until;
    if (until <= 0) {
        if (!b->ended)
            note(d, HISTORY_ENDED, b->id, b->client);
        b->ended = true;
        return;
    }
    struct history_event *event = note(d, HISTORY_EXTEND, b->id, b->client);
    d->tally.extends++;
    if (event)
        event->a = true_until(b, d);
}

static void reread_lease(struct deployment *d, struct client *client) {
    int64_t end = client->s->lease.end;
    bool longer = end > client->leased;
    client->leased = end;
    struct history_event *event = longer ? note(d, HISTORY_LEASED, client->number, client) : NULL;
    if (!event)
        return;
    event->a = sim_process_when(client->process, end);
    event->b = sim_promised_until(client->ensemble, client->s->id);
}

/* true: there are holds that were not known yet. */
static bool reread_session(struct deployment *d, struct client *client) {
    bool more = false;
    for (const GList *link = first_hold(client->s); link; link = link->next) {
        struct believed *b = find(d, link->data);
        if (!b) {
            more = true;
            continue;
        }
        b->seen = true;
        reread(d, b);
        reread_node(d, b);
    }
    return more;
}

/* Its ZooKeeper session is another one now, or none. */
static void look_at_session(struct deployment *d, struct client *client) {
    if (client->generation == client->s->generation)
        return;
    client->generation = client->s->generation;
    note(d, HISTORY_RETIRED, client->number, client);
}

static void begin_new(struct deployment *d, struct client *client) {
    for (const GList *link = first_hold(client->s); link; link = link->next)
        if (!find(d, link->data))
            begin(d, client, link->data);
}

/* A hold that is in no driver's list any more has ended. */
static void forget_ended(struct deployment *d) {
    int32_t kept = 0;
    for (int32_t i = 0; i < d->believed_count; i++) {
        struct believed *b = &d->believed[i];
        if (b->seen) {
            b->seen = false;
            d->believed[kept++] = *b;
        } else if (!b->ended) {
            note(d, HISTORY_ENDED, b->id, b->client);
        }
    }
    d->believed_count = kept;
}

/* One that is over, and that no driver has any more; -1: it was never noted. */
static int32_t noted_before(const struct deployment *d, const pdk_hold *hold) {
    for (int32_t i = d->history.count - 1; i >= 0; i--) {
        const struct history_event *e = &d->history.events[i];
        if (e->kind == HISTORY_GRANT && e->a == hold->token && e->extra == hold->handover)
            return e->id;
    }
    return -1;
}

int32_t observe_hold(struct deployment *d, struct client *client, const pdk_hold *hold) {
    struct believed *b = find(d, hold);
    int32_t id = b ? b->id : noted_before(d, hold);
    if (id >= 0)
        return id;
    for (struct client *one = client; one; one = one->side)
        client = one->s == hold->s ? one : client;
    b = begin(d, client, hold);
    return b ? b->id : -1;
}

void observe_killed(struct deployment *d, const struct player *player) {
    int32_t kept = 0;
    for (int32_t i = 0; i < d->believed_count; i++)
        if (d->believed[i].client->player != player)
            d->believed[kept++] = d->believed[i];
    d->believed_count = kept;
}

/* Ends come before beginnings of the same event. */
bool observe(struct deployment *d) {
    bool more = false;
    int32_t clients = DEPLOYMENT_CLIENTS * d->plan->processes;
    for (int32_t i = 0; i < clients; i++)
        if (observe_is_read(deployment_client(d, i)))
            more |= reread_session(d, deployment_client(d, i));
    if (d->believed_count > 0)
        forget_ended(d);
    for (int32_t i = 0; i < clients; i++) {
        struct client *client = deployment_client(d, i);
        if (!observe_is_read(client))
            continue;
        look_at_session(d, client);
        reread_lease(d, client);
        if (more)
            begin_new(d, client);
        note_admissions(d, client->s);
    }
    observe_look_on(d);
    if (d->transcript)
        transcript_look(d);
    return !d->checker.broken;
}
