/* The threads of a client queue in front of its entry, as src/grant/queue.c and claim.c have it. The real core/handovers
 * decides which of them is next.
 *
 *     queue:  t3 t4 t5        entry, with a grant on it or none (grant.c)        sleepers: t1, whose grant lapsed
 *                             or held, and lingering for the next thread
 *
 * In the library each reader has a side queue of its own. Here the readers of a client stand behind each other. The order of
 * their nodes stays the same, and they do not hand over.
 */
#include "model.h"

#include <assert.h>
#include <string.h>

static struct model_client *client_of(struct model *m, int32_t client) { return &m->now->clients[client]; }

void model_say(struct model *m, int32_t client, int32_t ticket, const char *what) {
    if (m->transcript)
        model_print_thread(m, client, ticket, what);
}

/* Take the one at `at` out of a list of tickets. */
static int32_t take(int32_t *list, int32_t *count, int32_t at) {
    int32_t ticket = list[at];
    --*count;
    memmove(&list[at], &list[at + 1], (size_t)(*count - at) * sizeof list[0]);
    return ticket;
}

static void insert(int32_t *list, int32_t *count, int32_t at, int32_t ticket) {
    assert(*count < MODEL_CLAIMS);
    memmove(&list[at + 1], &list[at], (size_t)(*count - at) * sizeof list[0]);
    list[at] = ticket;
    ++*count;
}

/* Leave the entry to the reaper. */
static void drop_entry(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    int32_t entry = model_entry_with(k, MODEL_QUEUE);
    if (entry < 0)
        return;
    k->lingers = false;
    k->lookout = MODEL_BLIND;
    model_entry_leave(m, client, entry);
}

/* ---- a node that lingers */

void model_queue_stop_lingering(struct model *m, int32_t client) {
    if (client_of(m, client)->lingers)
        drop_entry(m, client);
}

void model_queue_meet(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    if (k->lookout == MODEL_BLIND)
        return;
    m->seen.met += k->lookout == MODEL_CLEAR;
    k->lookout = MODEL_MET;
    model_queue_stop_lingering(m, client);
}

/* The watch of an older connection may not stand any more: to begin with, the node goes when the connection breaks. */
static bool begin_lingering(struct model *m, int32_t client, int32_t entry, bool again) {
    struct model_client *k = client_of(m, client);
    if (pdk__handovers_linger(&k->handovers, 0, again) == 0 || !model_is_connected(m, k))
        return false;
    if (k->lookout == MODEL_BLIND) {
        k->lookout = MODEL_CLEAR;
        model_entry_look_out(m, client, entry);
    }
    k->lingers = k->lookout == MODEL_CLEAR;
    if (k->lingers)
        model_check_lingering(m, client, entry);
    return k->lingers;
}

static bool is_blocked(const struct model_entry *p) { return p->c.phase == PDK__IN && p->c.listed && p->blocked; }

static void grant_next(struct model *m, int32_t client, int32_t entry) {
    struct model_client *k = client_of(m, client);
    if (k->queued == 0) {
        drop_entry(m, client);
        return;
    }
    int32_t holder = take(k->queue, &k->queued, 0);
    for (int32_t i = 0; i < k->queued; i++)
        if (k->queue[i] < holder)
            model_break(m, "threads are served in their order", "client %c", 'A' + client);
    k->entries[entry].grant = (struct model_grant){
        .hold = MODEL_GRANTED, .valid = k->lease, .holder = holder, .handover = (int32_t)k->handovers.handovers};
    model_say(m, client, holder, "is granted; it has yet to wake up");
    model_check_grant(m, client, entry);
}

static void answer_all(struct model *m, int32_t client, const char *what) {
    struct model_client *k = client_of(m, client);
    while (k->queued != 0)
        model_say(m, client, take(k->queue, &k->queued, 0), what);
    drop_entry(m, client);
}

void model_queue_moved(struct model *m, int32_t client, int32_t entry) {
    struct model_client *k = client_of(m, client);
    const struct pdk__contender *c = &k->entries[entry].c;
    if (c->failure != PDK_OK) {
        answer_all(m, client, "is told that this can never be granted");
    } else if (c->phase == PDK__GONE) {
        m->seen.turned_away += c->found_somebody;
        if (c->found_somebody) /* it looked: somebody is there, and a try does not wait */
            answer_all(m, client, "does not want to wait");
        drop_entry(m, client);
        model_queue_advance(m, client);
    } else if (k->lingers) {
        if (!c->link)
            drop_entry(m, client);
    } else if (c->phase == PDK__HELD) {
        pdk__handovers_granted(&k->handovers, 0);
        grant_next(m, client, entry);
    } else if (is_blocked(&k->entries[entry])) {
        if (model_never_waits(m, client)) /* somebody else is ahead: a try does not wait */
            answer_all(m, client, "does not want to wait");
    }
}

void model_queue_advance(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    if (model_grant_of_queue(k) >= 0 || m->broken)
        return;
    if (k->lingers && k->queued == 0)
        return;
    if (k->lingers) {
        k->lingers = false;
        m->seen.taken_up++;
        model_queue_ended(m, client, model_entry_with(k, MODEL_QUEUE), true, (int32_t)k->handovers.handovers);
    } else if (k->queued == 0)
        drop_entry(m, client);
    else if (model_entry_with(k, MODEL_QUEUE) < 0)
        model_entry_new(m, client);
}

/* A thread that comes back returns to its old position. */
void model_queue_push(struct model *m, int32_t client, int32_t ticket) {
    struct model_client *k = client_of(m, client);
    int32_t held = model_grant_of_queue(k);
    if (held >= 0 && !k->entries[held].grant.valid)
        model_grant_lose(m, client, held);
    int32_t entry = model_entry_with(k, MODEL_QUEUE);
    bool behind = k->queued != 0 || model_grant_of_queue(k) >= 0 || (entry >= 0 && is_blocked(&k->entries[entry]));
    if (model_never_waits(m, client) && behind) {
        model_say(m, client, ticket, "does not want to wait");
        return;
    }
    int32_t at = 0;
    while (at < k->queued && k->queue[at] < ticket)
        at++;
    insert(k->queue, &k->queued, at, ticket);
    model_queue_advance(m, client);
}

void model_queue_ended(struct model *m, int32_t client, int32_t entry, bool kept, int32_t before) {
    struct model_client *k = client_of(m, client);
    bool again = kept && k->entries[entry].c.phase == PDK__HELD && k->lease;
    bool waiting = k->queued != 0;
    switch (pdk__handovers_next(&k->handovers, 0, waiting, again)) {
    case PDK__HANDOVER_HERE:
        grant_next(m, client, entry);
        model_check_handover(m, client, before);
        return;
    case PDK__HANDOVER_REJOIN: /* queue anew before leaving */
        m->seen.rejoins++;
        k->entries[entry].owner = MODEL_REAPER;
        k->lookout = MODEL_BLIND;
        model_queue_advance(m, client);
        model_entry_leave(m, client, entry);
        if (!waiting)
            model_break(m, "no entry without a thread", "client %c queues anew for nobody", 'A' + client);
        return;
    case PDK__HANDOVER_LEAVE:
        if (!begin_lingering(m, client, entry, again))
            drop_entry(m, client);
        return;
    }
}

void model_queue_sleep(struct model *m, int32_t client, int32_t ticket) {
    struct model_client *k = client_of(m, client);
    insert(k->sleeper, &k->sleepers, k->sleepers, ticket);
}

void model_queue_receive(struct model *m, int32_t client, int32_t which, bool in_time) {
    struct model_client *k = client_of(m, client);
    int32_t entry = which == 0 ? model_grant_of_queue(k) : -1;
    bool valid = entry >= 0 && k->entries[entry].grant.valid;
    if (valid && in_time) {
        k->entries[entry].grant.hold = MODEL_TAKEN;
        return;
    }
    int32_t ticket = entry >= 0 ? k->entries[entry].grant.holder : take(k->sleeper, &k->sleepers, which - 1);
    m->seen.late_receipts += in_time;
    model_say(m, client, ticket, in_time ? "finds that the grant has lapsed, and queues again" : "gives up");
    if (entry >= 0)
        model_grant_end(m, client, entry, valid);
    if (in_time)
        model_queue_push(m, client, ticket);
}

void model_queue_cancel(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    take(k->queue, &k->queued, k->queued - 1);
    model_queue_advance(m, client);
}
