/* Grants, until each is released or lost, as src/grant/grant.c and hold.c have them: one hold each.
 *
 *     on the queue's entry ──released──► back to the queue, which may hand the entry on
 *        │  └──its node or the lease lost──► lost
 *        └──downgraded: another contender, on its way to a reader's node with the same number; as soon as that is admitted the
 *           grant stands on it, apart from the queue, and the writer's node goes
 */
#include "model.h"

static struct model_client *client_of(struct model *m, int32_t client) { return &m->now->clients[client]; }

int32_t model_grant_of_queue(const struct model_client *k) {
    int32_t entry = model_entry_with(k, MODEL_QUEUE);
    return entry >= 0 && k->entries[entry].grant.hold != MODEL_NO_HOLD ? entry : -1;
}

static void drop_exchange(struct model *m, int32_t client) {
    int32_t entry = model_entry_with(client_of(m, client), MODEL_EXCHANGE);
    if (entry >= 0)
        model_entry_leave(m, client, entry);
}

void model_grant_end(struct model *m, int32_t client, int32_t entry, bool kept) {
    struct model_entry *p = &client_of(m, client)->entries[entry];
    int32_t before = p->grant.handover;
    bool downgraded = p->grant.downgraded; /* the next contender behind gets it, not the next thread here */
    m->seen.given_back += kept && p->grant.downgraded && p->owner == MODEL_QUEUE;
    p->grant = (struct model_grant){.hold = MODEL_NO_HOLD};
    if (p->owner == MODEL_QUEUE) {
        drop_exchange(m, client);
        model_queue_ended(m, client, entry, kept && !downgraded, before);
    } else {
        model_entry_leave(m, client, entry);
    }
}

void model_grant_lose(struct model *m, int32_t client, int32_t entry) {
    const struct model_grant *grant = &client_of(m, client)->entries[entry].grant;
    m->seen.lost_holds++;
    if (m->now->budgets[FAULTS] == m->config.budgets[FAULTS])
        model_break(m, "nothing is lost without a fault", "client %c", 'A' + client);
    model_say(m, client, grant->holder,
              grant->hold == MODEL_TAKEN ? "is told that its hold is lost" : "has lost it before it woke up");
    if (grant->hold == MODEL_GRANTED)
        model_queue_sleep(m, client, grant->holder);
    model_grant_end(m, client, entry, false);
}

void model_grant_release(struct model *m, int32_t client, int32_t entry) {
    if (client_of(m, client)->entries[entry].grant.valid)
        model_grant_end(m, client, entry, true);
    else
        model_grant_lose(m, client, entry);
}

bool model_grants_lapsed(const struct model_client *k) {
    for (int32_t i = 0; i < k->entries_count; i++)
        if (k->entries[i].grant.hold != MODEL_NO_HOLD && !k->entries[i].grant.valid)
            return true;
    return false;
}

/* A loss makes no other grant: grants made meanwhile are not among the lost ones. */
void model_grants_lose(struct model *m, int32_t client, bool all) {
    struct model_client *k = client_of(m, client);
    for (int32_t i = 0, count = k->entries_count; i < count; i++)
        if (k->entries[i].grant.hold != MODEL_NO_HOLD && (all || !k->entries[i].grant.valid))
            model_grant_lose(m, client, i);
}

/* ---- the downgrade */

void model_grant_downgrade(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    int32_t entry = model_grant_of_queue(k);
    m->seen.downgrades++;
    k->entries[entry].grant.downgraded = true;
    model_entry_exchange(m, client, entry);
}

/* The reader's node is in the queue, at the writer's position: stand on it, and let the writer's node go. */
static void take_over(struct model *m, int32_t client, int32_t entry) {
    struct model_client *k = client_of(m, client);
    int32_t old = model_grant_of_queue(k);
    m->seen.taken_over++;
    k->entries[entry].grant = k->entries[old].grant;
    k->entries[entry].owner = MODEL_GRANT;
    k->entries[old].grant = (struct model_grant){.hold = MODEL_NO_HOLD};
    model_check_taken_over(m, client, entry);
    model_entry_leave(m, client, old);
    model_queue_advance(m, client);
}

static void exchange_moved(struct model *m, int32_t client, int32_t entry) {
    const struct pdk__contender *c = &client_of(m, client)->entries[entry].c;
    if (c->phase == PDK__HELD) {
        take_over(m, client, entry);
    } else if (c->leaving) {
        bool exchanged_gone = c->failure == PDK_OK;
        model_entry_leave(m, client, entry);
        m->seen.exchanged_gone += exchanged_gone;
        if (exchanged_gone) /* the writer's node was not there any more */
            model_grant_lose(m, client, model_grant_of_queue(client_of(m, client)));
    }
}

void model_moved(struct model *m, int32_t client, int32_t entry) {
    const struct model_entry *p = &client_of(m, client)->entries[entry];
    if (m->broken || p->owner == MODEL_REAPER)
        return;
    if (p->owner == MODEL_EXCHANGE)
        exchange_moved(m, client, entry);
    else if (p->grant.hold == MODEL_NO_HOLD)
        model_queue_moved(m, client, entry);
    else if (p->c.phase == PDK__GONE)
        model_grant_lose(m, client, entry);
}
