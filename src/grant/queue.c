#include "grant/queue.h"

#include "base/probe.h"
#include "grant/claim.h"
#include "grant/hold.h"
#include "grant/lookout.h"
#include "grant/registry.h"
#include "session/chores.h"
#include "session/close.h"
#include "session/path_stats.h"

static struct pdk__queue *queue_of(struct pdk__entry_owner *owner) { return (struct pdk__queue *)owner; }

/* Are all its claims tries? */
static bool queue_never_waits(const struct pdk__entry_owner *owner) {
    const struct pdk__queue *queue = (const struct pdk__queue *)owner;
    return queue->tries == queue->claims.length;
}

static void queue_moved(struct pdk__entry_owner *owner, struct pdk__entry *entry);
static void listed(struct pdk__entry_owner *owner, const struct pdk__child *children, size_t count);
static void read_own(struct pdk__entry_owner *owner, struct pdk__entry *entry, const struct pdk__reply *reply);
static void on_lingered(pdk_session *s, void *user);

/* The invariants of a queue, while no function of it runs. */
static void assert_in_step(const struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    assert(!queue->admitting || (queue->gate && queue->entry));
    assert(!queue->grant || (queue->grant->queue == queue && !queue->entry));
    assert(!queue->entry || queue->entry->owner == &queue->owner);
    assert(!queue->lingers_until || (queue->entry && queue->claims.length == 0));
    if (queue->s->ended == PDK_OK && !queue->grant && !queue->former && !queue->undecided)
        assert((queue->entry != NULL) == (queue->claims.length > 0 || queue->lingers_until));
}

static struct pdk__queue *make(pdk_session *s, char *dir, const struct pdk__queue_kind *kind,
                               struct pdk__handovers handovers) {
    struct pdk__queue *queue = g_new0(struct pdk__queue, 1);
    assert(kind->recipe);
    queue->owner = (struct pdk__entry_owner){queue_moved, queue_never_waits, true, read_own, listed};
    atomic_init(&queue->refs, 1);
    queue->s = pdk__session_ref(s);
    queue->dir = dir;
    queue->kind = *kind;
    queue->handovers = handovers;
    queue->main = queue;
    queue->link.data = queue->side.data = queue->lingering.data = queue;
    queue->linger = (struct pdk__alarm){.ring = on_lingered, .user = queue};
    return queue;
}

struct pdk__queue *pdk__queue_new(pdk_session *s, const char *path, const struct pdk__queue_kind *kind,
                                  struct pdk__handovers handovers) {
    struct pdk__queue *queue = make(s, g_strconcat(s->hosts->chroot, path, NULL), kind, handovers);
    pdk__lock(s);
    queue->figures = pdk__path_stats_of(s, kind->recipe, queue->dir);
    g_queue_push_tail_link(&pdk__registry_of(s)->queues, &queue->link);
    pdk__unlock(s);
    return queue;
}

struct pdk__queue *pdk__queue_side(struct pdk__queue *main, const struct pdk__queue_kind *kind) {
    struct pdk__handovers handovers;
    pdk__handovers_init(&handovers, 0, 0);
    struct pdk__queue *queue = make(main->s, g_strdup(main->dir), kind, handovers);
    queue->data = g_strdup(main->data);
    queue->main = pdk__queue_ref(main);
    pdk__lock(main->s);
    queue->figures = pdk__path_stats_of(main->s, kind->recipe, queue->dir);
    g_queue_push_tail_link(&pdk__registry_of(main->s)->queues, &queue->link);
    g_queue_push_tail_link(&main->sides, &queue->side);
    pdk__unlock(main->s);
    return queue;
}

struct pdk__queue *pdk__queue_ref(struct pdk__queue *queue) {
    atomic_fetch_add(&queue->refs, 1);
    return queue;
}

/* ---- an entry that lingers: it is held, and nobody holds it
 *
 *     a hold is released ──nobody waits──► lingers ──a claim──► handed over
 *                                             └──time is over, or somebody else comes, or may──► it goes
 */

/* It is taken, or goes. The alarm stays on: many holds follow each other within its time, as a rule. */
static void end_lingering(struct pdk__queue *queue) {
    if (queue->lingers_until)
        g_queue_unlink(&pdk__registry_of(queue->s)->lingering, &queue->lingering);
    queue->lingers_until = 0;
}

static void on_lingered(pdk_session *s, void *user) {
    struct pdk__queue *queue = user;
    if (pdk__now(s) < queue->lingers_until)
        pdk__alarm_set(s, &queue->linger, queue->lingers_until);
    else
        pdk__queue_stop_lingering(queue);
}

static void on_came(void *user) { pdk__queue_stop_lingering(user); }

/* false: nobody else can be heard from now on, or has been; or it may not linger at all. */
static bool begin_lingering(struct pdk__queue *queue, struct pdk__entry *entry, int64_t until) {
    pdk_session *s = queue->s;
    if (until == 0 || queue->shut || s->link != PDK__LINK_CONNECTED)
        return false;
    if (!queue->lookout)
        queue->lookout = pdk__lookout_new(s, queue->dir, entry->c.own, on_came, queue);
    if (!queue->lookout || !pdk__lookout_is_clear(queue->lookout))
        return false;
    queue->lingers_until = until;
    g_queue_push_tail_link(&pdk__registry_of(s)->lingering, &queue->lingering);
    if (!queue->linger.position)
        pdk__alarm_set(s, &queue->linger, until);
    return true;
}

/* ---- a queue that has one node at a time: the next one is made when the one before is gone
 *
 *     entry ──let go──► former ──its deletion is confirmed, or its session has ended──► none: the next entry may begin
 *
 * The order in which delete and create are sent does not suffice: the two are repeated apart, so the delete can be lost
 * while the create behind it is not. */

/* Nobody waits for it any more. */
static void former_forget(struct pdk__queue *queue) {
    struct pdk__entry *former = g_steal_pointer(&queue->former);
    if (former) {
        former->on_gone = NULL;
        pdk__entry_unref(former);
    }
}

static void former_gone(void *user) {
    struct pdk__queue *queue = user;
    former_forget(queue);
    pdk__queue_advance(queue);
}

/* An entry of the queue leaves. A queue that has one node at a time waits until it is gone. NULL is allowed. */
static void let_go(struct pdk__queue *queue, struct pdk__entry *entry) {
    if (!entry)
        return;
    end_lingering(queue);
    pdk__lookout_drop(g_steal_pointer(&queue->lookout)); /* the next node looks again */
    if (!queue->kind.one_node) {
        pdk__entry_drop(entry);
        return;
    }
    assert(!queue->former && entry->queued);
    queue->former = entry;
    entry->on_gone = former_gone; /* at once where there is no node */
    entry->on_gone_user = queue;
    pdk__entry_leave(entry);
}

/* ---- its life */

static void drop_entry(struct pdk__queue *queue) {
    queue->undecided = false;
    if (queue->gate && queue->gate->dropped)
        queue->gate->dropped(queue);
    let_go(queue, g_steal_pointer(&queue->entry));
}

void pdk__queue_stop_lingering(struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    if (queue->lingers_until)
        drop_entry(queue);
}

void pdk__queue_unref(struct pdk__queue *queue) {
    if (atomic_fetch_sub(&queue->refs, 1) != 1)
        return;
    pdk_session *s = queue->s;
    struct pdk__queue *main = queue->main != queue ? queue->main : NULL;
    pdk__lock(s);
    assert(g_queue_is_empty(&queue->claims) && !queue->grant && !queue->admitting);
    g_queue_unlink(&pdk__registry_of(s)->queues, &queue->link);
    if (main)
        g_queue_unlink(&main->sides, &queue->side);
    if (queue->consent)
        queue->consent->free(queue->consent);
    drop_entry(queue);
    former_forget(queue);
    pdk__alarm_off(&queue->linger);
    pdk__unlock(s);
    g_free(queue->dir);
    g_free(queue->data);
    if (queue->user_free)
        queue->user_free(queue->user);
    g_free(queue);
    if (main)
        pdk__queue_unref(main);
    pdk__session_unref(s);
}

/* ---- the steps of its entry */

/* The entry has a position: the claims that asked hear of it. */
static void tell_unplaced(struct pdk__queue *queue) {
    for (GList *link; (link = g_queue_pop_head_link(&queue->unplaced));) {
        struct pdk_claim *claim = g_steal_pointer(&link->data);
        pdk__claim_tell_queued(claim);
    }
}

/* A claim gets a grant that stands on the queue's entry. */
static void grant_to(struct pdk__queue *queue, struct pdk_claim *claim, int64_t now) {
    struct pdk__entry *entry = g_steal_pointer(&queue->entry);
    queue->grant = pdk__grant_new(queue, &entry, 1, queue->handovers.handovers);
    pdk__claim_decide(claim, PDK_OK, NULL, pdk__hold_new(queue->grant, claim, now));
}

/* Its entry is first: the first claim gets the grant, or is admitted at the gate. */
static void grant_next(struct pdk__queue *queue, int64_t now) {
    struct pdk_claim *claim = g_queue_peek_head(&queue->claims);
    if (!claim) {
        drop_entry(queue);
    } else if (queue->gate) {
        queue->admitting = claim;
        queue->entering++;
        queue->gate->enter(queue, claim);
        queue->entering--;
    } else {
        grant_to(queue, claim, now);
    }
}

/* Somebody is ahead, so tries are answered: they do not wait. A try queues only where nobody waits, so all tries are
 * among the first claims. */
static void answer_tries(struct pdk__queue *queue) {
    for (GList *link = queue->claims.head, *next; link && queue->tries > 0; link = next) {
        struct pdk_claim *claim = link->data;
        next = link->next;
        if (claim->is_try)
            pdk__claim_decide(claim, PDK_BUSY, "somebody is ahead", NULL);
    }
    if (g_queue_is_empty(&queue->claims))
        drop_entry(queue);
}

static void fail_claims(struct pdk__queue *queue, pdk_status status, const char *why) {
    for (struct pdk_claim *claim; (claim = g_queue_peek_head(&queue->claims));)
        pdk__claim_decide(claim, status, why, NULL);
}

/* True: none is left. */
static bool fail_some(struct pdk__queue *queue, pdk_status status, const char *why) {
    struct pdk_claim *claim;
    for (guint n = pdk__slice(queue->s); n > 0 && (claim = g_queue_peek_head(&queue->claims)); n--)
        pdk__claim_decide(claim, status, why, NULL);
    return g_queue_is_empty(&queue->claims);
}

static void fail_entry(struct pdk__queue *queue, struct pdk__entry *entry) {
    char *why = pdk__entry_failure(entry);
    fail_claims(queue, entry->c.failure, why);
    g_free(why);
    drop_entry(queue);
}

/* End the admission. A claim that the caller does not decide stays in the queue, and is admitted again. */
static struct pdk_claim *end_admission(struct pdk__queue *queue) {
    struct pdk_claim *claim = g_steal_pointer(&queue->admitting);
    if (claim)
        queue->gate->leave(queue);
    return claim;
}

/* Warn of contenders whom nobody here waits for, nor they for us. */
static void tell_mixed(struct pdk__queue *queue, const struct pdk__entry *entry) {
    if (entry->company != PDK__COMPANY_MIXED || queue->main->told_mixed)
        return;
    queue->main->told_mixed = true;
    pdk__log(queue->s, PDK_LOG_WARN,
             "%s: another recipe works here, too, beside the %s: they do not exclude each other; give each a path of "
             "its own",
             queue->dir, queue->kind.recipe);
}

static void queue_moved(struct pdk__entry_owner *owner, struct pdk__entry *entry) {
    struct pdk__queue *queue = queue_of(owner);
    tell_mixed(queue, entry);
    if (entry->c.listed)
        tell_unplaced(queue);
    if (entry->c.failure != PDK_OK) {
        fail_entry(queue, entry);
    } else if (entry->c.phase == PDK__GONE) {
        if (entry->c.found_somebody)
            answer_tries(queue);
        end_admission(queue);
        drop_entry(queue);
        pdk__queue_advance(queue);
    } else if (queue->lingers_until) {
        if (!entry->c.link) /* nobody who comes can be heard */
            drop_entry(queue);
    } else if (entry->c.phase == PDK__HELD && !queue->admitting) {
        if (queue->s->ended != PDK_OK)
            return; /* the claims are about to be answered */
        int64_t now = pdk__now(queue->s);
        pdk__handovers_granted(&queue->handovers, now);
        grant_next(queue, now);
    } else if (pdk__entry_is_blocked(entry)) {
        answer_tries(queue);
        if (queue->entry == entry && entry->ahead_gone && entry->c.ahead == 1 && queue->gate && queue->gate->next)
            queue->gate->next(queue);
    }
}

/* Its node was written to, by somebody who wishes that it goes, as a rule. Without a hold nobody is to be asked. Later
 * the grant wants to read it. */
static void read_own(struct pdk__entry_owner *owner, struct pdk__entry *entry, const struct pdk__reply *reply) {
    struct pdk__queue *queue = queue_of(owner);
    entry->unread = reply->version > 0;
    if (entry->unread)
        pdk__queue_stop_lingering(queue);
}

static void listed(struct pdk__entry_owner *owner, const struct pdk__child *children, size_t count) {
    struct pdk__queue *queue = queue_of(owner);
    if (queue->gate && queue->gate->listed)
        queue->gate->listed(queue, children, count);
}

/* ---- for claims and grants */

/* The entry goes to the next claim, or leaves. granted: it had a grant, which has ended; otherwise it had the place at
 * the gate, where the next claim needs a round trip for its grant. kept: see pdk__queue_grant_ended. */
static void hand_on(struct pdk__queue *queue, struct pdk__entry *entry, bool kept, bool granted) {
    pdk_session *s = queue->s;
    assert(!queue->grant && !queue->entry && !queue->admitting);
    int64_t now = pdk__now(s);
    bool again = kept && !entry->wished && s->ended == PDK_OK && entry->c.phase == PDK__HELD &&
                 pdk__lease_fresh(&s->lease, now) && queue->entering < PDK__ENTERING_MOST;
    switch (pdk__handovers_next(&queue->handovers, now, !g_queue_is_empty(&queue->claims), again)) {
    case PDK__HANDOVER_HERE:
        entry->owner = &queue->owner;
        queue->entry = entry;
        if (granted) {
            pdk__stats_handed_over(s, queue->figures);
            pdk__probe_handover(queue->dir, entry->c.token, queue->handovers.handovers);
        }
        grant_next(queue, now);
        return;
    case PDK__HANDOVER_REJOIN: /* queue again before leaving */
        pdk__queue_advance(queue);
        let_go(queue, entry);
        return;
    case PDK__HANDOVER_LEAVE:
        if (!granted || !begin_lingering(queue, entry, pdk__handovers_linger(&queue->handovers, now, again))) {
            let_go(queue, entry);
            return;
        }
        entry->owner = &queue->owner;
        queue->entry = entry;
        return;
    }
}

void pdk__queue_grant_ended(struct pdk__queue *queue, struct pdk__entry *entry, bool kept) {
    pdk__assert_locked(queue->s);
    hand_on(queue, entry, kept, true);
}

/* May a queue without a node make one? */
static bool may_begin(struct pdk__queue *queue) {
    queue->undecided = queue->consent && !queue->consent->may_begin(queue->consent);
    return !queue->undecided;
}

/* A claim has come, or none may come any more. A claim that the alarm should have preceded queues again. */
static void end_of_linger(struct pdk__queue *queue) {
    bool in_time = pdk__now(queue->s) < queue->lingers_until;
    assert(queue->claims.length > 0 || queue->shut);
    end_lingering(queue);
    hand_on(queue, g_steal_pointer(&queue->entry), in_time, true);
}

void pdk__queue_advance(struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    if (queue->grant || queue->admitting || queue->s->ended != PDK_OK)
        return;
    if (queue->lingers_until)
        end_of_linger(queue);
    else if (queue->entry && queue->entry->c.phase == PDK__HELD) /* the claim that was admitted is gone */
        hand_on(queue, g_steal_pointer(&queue->entry), true, false);
    else if (g_queue_is_empty(&queue->claims))
        drop_entry(queue);
    else if (!queue->entry && !queue->former && may_begin(queue) &&
             pdk__entry_new(queue->s, &queue->owner, queue->dir, &queue->kind.entry,
                            (struct pdk__node_data){queue->data, queue->data_size}, &queue->entry) != PDK_OK)
        fail_claims(queue, PDK_LIMIT, PDK__NODES_LIMIT);
}

void pdk__queue_check(struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    if (!queue->grant)
        return;
    struct pdk_hold *hold = queue->grant->holds.head->data;
    if (!pdk_hold_is_valid(hold))
        pdk__hold_lose(hold, PDK_REASON_LEASE);
}

static void insert(struct pdk__queue *queue, struct pdk_claim *claim) {
    GList *next = queue->claims.head;
    if (claim->number == 0) {
        claim->number = ++queue->claims_taken;
        next = NULL;
    }
    while (next && ((const struct pdk_claim *)next->data)->number < claim->number)
        next = next->next;
    g_queue_insert_before_link(&queue->claims, next, &claim->link);
    queue->tries += claim->is_try;
    pdk__stats_claim_queued(queue->s, queue->figures);
    pdk__probe_queue(queue->dir, claim->number, queue->claims.length);
    pdk__log(queue->s, PDK_LOG_DEBUG, "%s: claim %" G_GUINT64_FORMAT " queues", queue->dir, claim->number);
}

void pdk__queue_push(struct pdk__queue *queue, struct pdk_claim *claim) {
    pdk__queue_check(queue);
    assert_in_step(queue);
    insert(queue, claim);
    if (queue->shut) {
        pdk__claim_decide(claim, PDK_CANCELED, "nobody may queue here any more", NULL);
        return;
    }
    if (queue->admitting && queue->admitting->number > claim->number)
        end_admission(queue); /* the grant of this one has lapsed, so it comes back, and is admitted first */
    bool behind =
        claim->link.prev || queue->grant || queue->admitting || (queue->entry && pdk__entry_is_blocked(queue->entry));
    if (claim->is_try && behind)
        pdk__claim_decide(claim, PDK_BUSY, queue->grant ? "held by this process" : "somebody is ahead", NULL);
    else
        pdk__queue_advance(queue);
}

void pdk__queue_remove(struct pdk__queue *queue, struct pdk_claim *claim) {
    pdk__assert_locked(queue->s);
    if (queue->admitting == claim)
        end_admission(queue);
    g_queue_unlink(&queue->claims, &claim->link);
    if (claim->unplaced.data) {
        g_queue_unlink(&queue->unplaced, &claim->unplaced);
        claim->unplaced.data = NULL;
    }
    queue->tries -= claim->is_try;
}

void pdk__queue_detach(struct pdk__queue *queue, struct pdk__grant *grant) {
    pdk__assert_locked(queue->s);
    if (queue->grant != grant)
        return;
    queue->grant = NULL;
    pdk__queue_advance(queue);
}

void pdk__queue_admit(struct pdk__queue *queue, struct pdk__grant *grant) {
    pdk__assert_locked(queue->s);
    struct pdk_claim *claim = end_admission(queue);
    int64_t now = pdk__now(queue->s);
    if (grant)
        pdk__claim_decide(claim, PDK_OK, NULL, pdk__hold_new(grant, claim, now));
    else
        grant_to(queue, claim, now);
    pdk__queue_advance(queue);
}

void pdk__queue_refuse(struct pdk__queue *queue, pdk_status status, const char *why) {
    pdk__assert_locked(queue->s);
    pdk__claim_decide(end_admission(queue), status, why, NULL);
    pdk__queue_advance(queue);
}

void pdk__queue_rejoin(struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    end_admission(queue);
    drop_entry(queue);
    pdk__queue_advance(queue);
}

/* ---- its end */

void pdk__queue_fail(struct pdk__queue *queue, pdk_status status, const char *why) {
    pdk__assert_locked(queue->s);
    fail_claims(queue, status, why);
    pdk__queue_advance(queue);
}

void pdk__queue_cancel(struct pdk__queue *queue, const char *why) {
    pdk__assert_locked(queue->s);
    queue->shut = true;
    fail_claims(queue, PDK_CANCELED, why);
    pdk__queue_advance(queue);
}

/* Shut a slice of the side queues. The shut ones are at the tail. True: all are shut. */
static bool shut_sides(struct pdk__queue *queue, const char *why) {
    for (guint n = pdk__slice(queue->s); n > 0; n--) {
        GList *link = queue->sides.head;
        if (!link || ((const struct pdk__queue *)link->data)->shut)
            return true;
        g_queue_unlink(&queue->sides, link);
        g_queue_push_tail_link(&queue->sides, link);
        pdk__queue_cancel(link->data, why); /* of one claim */
    }
    return false;
}

void pdk__queue_close(struct pdk__queue *queue, const char *why) {
    pdk_session *s = queue->s;
    pdk__lock(s);
    queue->shut = true;
    while (!fail_some(queue, PDK_CANCELED, why))
        pdk__monitor_let_others(&s->monitor);
    pdk__queue_advance(queue);
    while (!shut_sides(queue, why))
        pdk__monitor_let_others(&s->monitor);
    pdk__unlock(s);
    pdk__queue_unref(queue);
}

bool pdk__queue_end(struct pdk__queue *queue, pdk_status status, const char *why) {
    pdk__assert_locked(queue->s);
    queue->ended = fail_some(queue, status, why);
    if (queue->ended)
        drop_entry(queue);
    return queue->ended;
}

bool pdk__queue_is_confirmed(const struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    return queue->grant || (queue->entry && queue->entry->c.listed);
}

int32_t pdk__queue_ahead(const struct pdk__queue *queue, const struct pdk_claim *claim) {
    pdk__assert_locked(queue->s);
    if (!pdk__queue_is_confirmed(queue))
        return -1;
    int32_t before = g_queue_link_index((GQueue *)&queue->claims, (GList *)&claim->link);
    return before + (queue->grant ? 1 : queue->entry->c.ahead);
}
