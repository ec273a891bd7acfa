/* The admission of a claim: it takes leases of a semaphore.
 *
 *     enter ────► ASK: list and watch ──enough are free──► TAKE: one node each ──all admitted──► grant; next admission
 *                  ▲      │ too few: wait for the watch        │
 *                  └──────┴────────── one is not admitted ─────┘
 */
#include "semaphore_admission.h"

#include "core/sequencer.h"
#include "grant/claim.h"
#include "grant/hold.h"
#include "grant/number.h"
#include "session/live_query.h"
#include "session/ops.h"
#include "session/reap.h"
#include "session/unowned.h"
#include "session/watches.h"

#include <string.h>

/* The admission of one claim at the gate. */
struct admission {
    struct pdk__live_query query;
    struct pdk__entry_owner owner; /* of the leases */
    struct pdk__queue *queue;
    struct pdk__permits *all; /* the queue's; it may be gone when a late answer finds the query stopped */
    char *key;                /* of the watch on the leases */
    const struct pdk_claim *claim;
    struct pdk__entry **leases; /* claim->count references, while TAKE; else NULLs */
    bool taking;
    bool made;                 /* the question under way has made the directory */
    bool watching;             /* the list under way leaves a watch */
    GHashTable *owned;         /* names of leases whose owner was asked after, and exists */
    struct pdk__number number; /* of permits: the data of the directory */
};

static struct pdk__permits *permits_of(const struct pdk__queue *queue) { return queue->user; }

static struct admission *admission_of(struct pdk__entry_owner *owner) {
    return (struct admission *)((char *)owner - offsetof(struct admission, owner));
}

/* ---- TAKE */

static void give_up(struct admission *admission) {
    pdk__assert_locked(admission->queue->s);
    admission->taking = false;
    for (int32_t i = 0; i < admission->claim->count; i++)
        pdk__entry_drop(g_steal_pointer(&admission->leases[i]));
}

/* Refuse the claim. The admission is over, and may be freed. */
static void admission_refuse(const struct admission *admission, pdk_status status, const char *why) {
    pdk__queue_refuse(admission->queue, status, why);
}

static void refuse_for_number(const struct admission *admission) {
    char *why = pdk__number_why(&admission->number);
    admission_refuse(admission, admission->number.status, why);
    g_free(why);
}

static void admission_moved(struct pdk__entry_owner *owner, struct pdk__entry *entry) {
    struct admission *admission = admission_of(owner);
    int32_t admitted = 0;
    if (entry->c.failure != PDK_OK) {
        char *why = pdk__entry_failure(entry);
        admission_refuse(admission, entry->c.failure, why);
        g_free(why);
        return;
    }
    /* If the directory is gone, a new one needs the number of permits first. */
    if (entry->c.leaving || entry->c.phase == PDK__GONE || entry->c.dirless) {
        give_up(admission);
        pdk__live_query_look(&admission->query);
        return;
    }
    while (admitted < admission->claim->count && admission->leases[admitted]->c.phase == PDK__HELD)
        admitted++;
    if (admitted < admission->claim->count)
        return;
    struct pdk__grant *grant = pdk__grant_new(admission->queue, admission->leases, (guint)admitted, 0);
    while (admitted > 0)
        admission->leases[--admitted] = NULL; /* the grant's now */
    pdk__queue_admit(admission->queue, grant);
}

static bool admission_never_waits(const struct pdk__entry_owner *owner) {
    (void)owner;
    return true; /* a lease that is not admitted leaves, and the live query asks again */
}

static void admission_take(struct admission *admission) {
    pdk__assert_locked(admission->queue->s);
    struct pdk__entry_kind kind = {
        PDK__CURATOR, PDK__LABEL_LEASE, {pdk__blocks_always, admission->all->permits - 1}, false};
    pdk_session *s = admission->queue->s;
    pdk_status status = PDK_OK;
    admission->taking = true;
    for (int32_t i = 0; i < admission->claim->count && admission->taking && status == PDK_OK; i++)
        status = pdk__entry_new(s, &admission->owner, admission->all->leases, &kind,
                                (struct pdk__node_data){.bytes = admission->queue->data}, &admission->leases[i]);
    if (status != PDK_OK)
        admission_refuse(admission, status, PDK__NODES_LIMIT);
}

/* ---- ASK */

static void admission_answered(struct admission *admission, bool fine) {
    pdk__live_query_done(&admission->query, fine);
    pdk__live_query_unref(&admission->query);
}

static bool admission_send(struct admission *admission, struct pdk__request request, pdk__done_fn done) {
    request.path = admission->all->leases;
    if (!pdk__send(admission->query.s, request, done, admission))
        return false;
    pdk__live_query_ref(&admission->query);
    return true;
}

static bool admission_look(struct admission *admission);

static void on_made(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct admission *admission = user;
    if (reply && !admission->query.stopped && pdk__number_refused(&admission->number, reply->result))
        refuse_for_number(admission);
    bool made = reply && (reply->result == PDK__OK || reply->result == PDK__NODE_EXISTS);
    /* Look at it now, whatever the pace: after a pause a directory that comes and goes would be gone again. */
    admission->made = made && !admission->query.stopped && admission_look(admission);
    if (admission->made) { /* the look counts, and makes the next question wait */
        (void)pdk__pace_next(&admission->query.pace, &pdk__pace_steps, pdk__now(s));
        pdk__live_query_unref(&admission->query);
        return;
    }
    pdk__live_query_again(&admission->query); /* it may exist */
    admission_answered(admission, made);
}

static void on_noted(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct admission *admission = user;
    (void)s;
    (void)reply; /* the next admission finds the number, or writes it again */
    pdk__live_query_unref(&admission->query);
}

static void on_number(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct admission *admission = user;
    (void)s;
    pdk__number_take(&admission->number, reply);
    pdk__live_query_unref(&admission->query);
}

/* Does the directory's data, the number of permits, agree? A client that does not know of this may have made the
 * directory. */
static bool agrees(struct admission *admission) {
    if (admission->number.says == PDK__NUMBER_AGREES)
        return true;
    if (admission->number.says == PDK__NUMBER_EMPTY) {
        admission_send(admission, (struct pdk__request){.kind = PDK__OP_SET, .data = admission->number.ours}, on_noted);
        return true;
    }
    refuse_for_number(admission);
    return false;
}

/* A question after the owner of a lease. */
struct doubt {
    struct admission *admission; /* a reference to its query */
    char *name;
};

static bool is_lease(const struct admission *admission, const char *text) {
    struct pdk__name name;
    return pdk__name_parse(text, &name) && name.kind == PDK__LEASE &&
           !pdk__unowned_is(admission->query.s, admission->all->leases, text);
}

/* Count again: without the lease, or knowing that somebody owns it. */
static void on_doubt(pdk_session *s, void *user, const struct pdk__reply *reply, bool unowned) {
    struct doubt *d = user;
    struct admission *admission = d->admission;
    (void)s;
    if (reply && !unowned && (reply->result == PDK__OK || reply->result == PDK__NOT_ALLOWED))
        g_hash_table_add(admission->owned, g_strdup(d->name));
    pdk__live_query_again(&admission->query);
    admission_answered(admission, reply && reply->result != PDK__UNKNOWN && reply->result != PDK__NOT_NOW);
    g_free(d->name);
    g_free(d);
}

/* A lease whose name may be a path that somebody chose. NULL: there is none. */
static const char *doubtful(const struct admission *admission, const struct pdk__reply *reply) {
    for (size_t i = 0; i < reply->children_count; i++)
        if (is_lease(admission, reply->children[i]) && pdk__unowned_may_be(reply->children[i]) &&
            !g_hash_table_contains(admission->owned, reply->children[i]))
            return reply->children[i];
    return NULL;
}

/* true: a question is under way, whose answer tells whether there is too little. */
static bool doubts(struct admission *admission, const struct pdk__reply *reply) {
    const char *name = doubtful(admission, reply);
    if (!name)
        return false;
    struct doubt *d = g_new(struct doubt, 1);
    *d = (struct doubt){admission, g_strdup(name)};
    if (pdk__unowned_ask(admission->query.s, admission->all->leases, name, on_doubt, d)) {
        pdk__live_query_ref(&admission->query);
        return true;
    }
    g_free(d->name);
    g_free(d);
    return false;
}

/* true: a further answer ends the question. */
static bool count(struct admission *admission, const struct pdk__reply *reply) {
    int32_t taken = 0;
    if (admission->taking || !agrees(admission))
        return false;
    for (size_t i = 0; i < reply->children_count; i++)
        taken += is_lease(admission, reply->children[i]);
    if (admission->all->permits - taken >= admission->claim->count)
        admission_take(admission);
    else if (doubts(admission, reply))
        return true;
    else if (admission->claim->is_try)
        admission_refuse(admission, PDK_BUSY, "too few permits are free");
    else if (!admission->watching)
        admission_refuse(admission, PDK_LIMIT, PDK__WATCHES_LIMIT);
    return false;
}

/* The answer to the list ends the question, unless the directory must be made first. */
static void on_leases(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct admission *admission = user;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    if (reply && result != PDK__OK)
        pdk__live_query_unset(&admission->query, admission->key);
    bool fine = result == PDK__OK && admission->number.says >= PDK__NUMBER_EMPTY;
    if (admission->query.stopped) {
        fine = true;
    } else if (fine) {
        pdk__reap_orphans(s, admission->all->leases, "", reply->children, reply->children_count);
        if (count(admission, reply)) { /* on_doubt ends the question */
            pdk__live_query_unref(&admission->query);
            return;
        }
    } else if (admission->number.says == PDK__NUMBER_REFUSED || pdk__number_refused(&admission->number, result)) {
        refuse_for_number(admission);
    } else if (result == PDK__NO_NODE && !admission->made) {
        struct pdk__request make = {.kind = PDK__OP_MKDIR, .data = admission->number.ours, .container = true};
        if (admission_send(admission, make, on_made)) { /* on_made ends the question */
            pdk__live_query_unref(&admission->query);
            return;
        }
    }
    admission_answered(admission, fine);
}

/* Ask for the number and the list. */
static bool admission_look(struct admission *admission) {
    struct pdk__live_query *query = &admission->query;
    /* A try does not wait, so it needs no watch. */
    admission->watching = !admission->claim->is_try && pdk__live_query_watch(query, admission->key);
    bool sent =
        admission_send(admission, (struct pdk__request){.kind = PDK__OP_GET}, on_number) &&
        admission_send(admission, (struct pdk__request){.kind = PDK__OP_LIST, .watch = admission->watching}, on_leases);
    if (!sent)
        pdk__live_query_unset(query, admission->key);
    return sent;
}

static bool admission_ask(struct pdk__live_query *query) {
    struct admission *admission = (struct admission *)query;
    /* Our own nodes among the leases need no new list, since the owner hears when they are in. */
    if (admission->taking) {
        pdk__live_query_done(query, true);
        return true;
    }
    admission->made = false;
    return admission_look(admission);
}

static void admission_free(struct pdk__live_query *query) {
    struct admission *admission = (struct admission *)query;
    g_free(admission->leases);
    g_hash_table_unref(admission->owned);
    g_free(admission->key);
    g_free(admission);
}

/* ---- the gate of the queue */

static void enter(struct pdk__queue *queue, struct pdk_claim *claim) {
    pdk__assert_locked(queue->s);
    static const struct pdk__live_query_calls calls = {.ask = admission_ask, .free = admission_free};
    struct admission *admission = g_new0(struct admission, 1);
    pdk__live_query_init(&admission->query, queue->s, &calls);
    admission->owner = (struct pdk__entry_owner){admission_moved, admission_never_waits, false, NULL, NULL};
    admission->queue = queue;
    admission->all = permits_of(queue);
    admission->key = pdk__watches_children_key(admission->all->leases);
    admission->claim = claim;
    pdk__number_init(&admission->number, admission->all->leases, admission->all->permits, "permits");
    admission->owned = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    admission->leases = g_new0(struct pdk__entry *, (gsize)claim->count);
    admission->all->admission = admission;
    pdk__live_query_look(&admission->query);
}

static void admission_leave(struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    struct admission *admission = g_steal_pointer(&permits_of(queue)->admission);
    give_up(admission);
    pdk__live_query_stop(&admission->query);
}

const struct pdk__gate pdk__permits_gate = {.enter = enter, .leave = admission_leave};
