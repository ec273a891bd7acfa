#include "grant/hold.h"

#include "base/fork.h"
#include "base/probe.h"
#include "base/text.h"
#include "grant/claim.h"
#include "grant/owned.h"
#include "grant/registry.h"

/* ---- inside */

static struct pdk_hold *hold_of(struct pdk__loss *loss) {
    return (struct pdk_hold *)((char *)loss - G_STRUCT_OFFSET(struct pdk_hold, loss));
}

static void loss_call(struct pdk__loss *loss) { ((pdk_lost_fn)loss->fn)(hold_of(loss), loss->reason, loss->user); }
static void loss_ref(struct pdk__loss *loss) { pdk_hold_ref(hold_of(loss)); }
static void loss_unref(struct pdk__loss *loss) { pdk_hold_unref(hold_of(loss)); }

static const struct pdk__loss_kind loss_kind = {loss_call, loss_ref, loss_unref};

/* The directory in which others wait for it. A thread that is about to wait looks there whether it would wait for
 * itself. */
static const char *dir_of(const struct pdk_hold *hold) {
    return hold->queue->kind.grants_elsewhere ? hold->grant->entries[0]->dir : hold->queue->dir;
}

void pdk__hold_own(struct pdk_hold *hold, uint64_t thread) {
    pdk__assert_locked(hold->s);
    hold->thread = thread;
    if (!thread)
        return;
    hold->own.data = hold;
    pdk__owned_put(&pdk__registry_of(hold->s)->owned, thread, dir_of(hold), &hold->own);
}

void pdk__hold_disown(struct pdk_hold *hold) {
    pdk__assert_locked(hold->s);
    if (hold->thread)
        pdk__owned_take(pdk__registry_of(hold->s)->owned, hold->thread, dir_of(hold), &hold->own);
    hold->thread = 0;
}

const GList *pdk__holds_of(pdk_session *s, uint64_t thread, const char *dir) {
    pdk__assert_locked(s);
    return pdk__owned_list(pdk__registry_of(s)->owned, thread, dir);
}

/* A list of the queue's directory alone can tell that no other recipe works there. The grants of a semaphore and of a
 * striped lock stand in others. */
static bool may_be_mixed(const struct pdk__grant *grant) {
    const struct pdk__entry *entry = grant->entries[0];
    return entry->company != PDK__COMPANY_NONE || strcmp(entry->dir, grant->queue->dir) != 0;
}

struct pdk_hold *pdk__hold_new(struct pdk__grant *grant, const struct pdk_claim *claim, int64_t now) {
    struct pdk__queue *queue = grant->queue;
    pdk_session *s = queue->s;
    pdk__assert_locked(s);
    struct pdk_hold *hold = g_new0(struct pdk_hold, 1);
    atomic_init(&hold->refs, 1);
    atomic_init(&hold->until, INT64_MAX);
    hold->lease_end = &pdk__registry_of(s)->lease_end;
    assert(atomic_load(hold->lease_end) == s->lease.end);
    hold->s = s;
    pdk__loss_init(&hold->loss, s, &loss_kind);
    hold->queue = pdk__queue_ref(queue);
    hold->token = grant->token;
    hold->handover = grant->handover;
    hold->since = now;
    hold->mixed = may_be_mixed(grant);
    pdk__stats_hold_began(s, queue->figures);
    g_snprintf(hold->token_text, sizeof hold->token_text, "%020" G_GINT64_FORMAT, hold->token);
    hold->node = g_strdup(grant->entries[0]->own_path);
    hold->grant = grant;
    hold->in_grant.data = hold;
    g_queue_push_tail_link(&grant->holds, &hold->in_grant);
    pdk__hold_own(hold, claim->fn || claim->decided ? 0 : claim->thread);
    hold->latest = INT64_MAX;
    hold->link.data = hold;
    g_queue_push_tail_link(&pdk__registry_of(s)->holds, &hold->link);
    return hold;
}

/* The token stays the czxid of the first node. But that node goes, so the proof names the czxid of the new one as
 * well. */
void pdk__hold_stands_on(struct pdk_hold *hold, const struct pdk__entry *entry, const char *mode) {
    pdk__assert_locked(hold->s);
    assert(!hold->next_node); /* a grant is downgraded once */
    hold->next_node = g_strdup(entry->own_path);
    hold->proof = g_strdup_printf("%s %s/%" G_GINT64_FORMAT, entry->own_path, mode, entry->c.token);
    hold->old_sequencer = g_steal_pointer(&hold->sequencer);
}

/* Its own word is read last: a thread that finds the lease passed has written it before anybody can hear of that. */
int64_t pdk__hold_until(const struct pdk_hold *hold) {
    int64_t lease_end = atomic_load(hold->lease_end), own = atomic_load(&hold->until);
    return MIN(lease_end, own);
}

/* It was found passed at `now`. true: it is lapsed for every thread from here on. false: the lease was renewed, or the
 * limit moved, before the clock was read, so look again. */
static bool lapse(const pdk_hold *hold, int64_t now) {
    _Atomic int64_t *word = (_Atomic int64_t *)&hold->until;
    int64_t own = atomic_load(word), lease_end = atomic_load(hold->lease_end);
    return own > 0 && MIN(own, lease_end) <= now && atomic_compare_exchange_strong(word, &own, PDK__LAPSED);
}

/* true: the hold was valid at *now. */
static bool is_valid(const pdk_hold *hold, int64_t *now) {
    for (int64_t until; (until = pdk__hold_until(hold)) > 0;) {
        if ((*now = pdk__now(hold->s)) < until)
            return true;
        if (lapse(hold, *now))
            return false;
    }
    return false;
}

static void hold_end(struct pdk_hold *hold, bool kept, int64_t now) {
    hold->ended = true;
    pdk__stats_hold_ended(hold->s, hold->queue->figures, hold->since, now);
    if (hold->loss.reason == PDK_REASON_NONE)
        pdk__probe_release(hold->queue->dir, hold->token, now - hold->since);
    else
        pdk__probe_lost(hold->queue->dir, hold->token, (int32_t)hold->loss.reason, now - hold->since);
    pdk__alarm_off(&hold->limit);
    pdk__hold_disown(hold);
    g_queue_unlink(&pdk__registry_of(hold->s)->holds, &hold->link);
    if (hold->awaited.data)
        g_queue_unlink(&pdk__registry_of(hold->s)->awaited, &hold->awaited);
    pdk__wake(&hold->waiters);
    pdk__grant_hold_ended(g_steal_pointer(&hold->grant), hold, kept);
}

void pdk__hold_void(struct pdk_hold *hold, pdk_reason reason) {
    pdk__assert_locked(hold->s);
    if (!pdk_hold_is_valid(hold))
        return;
    hold->voided = reason;
    atomic_store(&hold->until, PDK__LAPSED);
}

void pdk__hold_lose(struct pdk_hold *hold, pdk_reason reason) {
    pdk__assert_locked(hold->s);
    if (hold->ended)
        return;
    pdk__hold_void(hold, reason);
    reason = hold->voided;
    if (reason == PDK_REASON_NONE) /* it was over already */
        reason = pdk__now(hold->s) < hold->latest ? PDK_REASON_LEASE : PDK_REASON_OVERDUE;
    pdk__stats_lost(hold->s, hold->queue->figures, reason);
    pdk__log(hold->s, PDK_LOG_WARN, "%s lost: %s", hold->node, pdk_reason_name(reason));
    pdk__loss_tell(&hold->loss, reason);
    hold_end(hold, false, pdk__now(hold->s));
}

void pdk__hold_discard(struct pdk_hold *hold) {
    pdk__assert_locked(hold->s);
    hold->loss.released = true;
    if (hold->ended)
        return;
    bool kept = pdk_hold_is_valid(hold);
    atomic_store(&hold->until, PDK__RELEASED);
    hold_end(hold, kept, pdk__now(hold->s));
}

static void hold_free(struct pdk_hold *hold) {
    if (hold->wishes)
        hold->wishes->free(hold->wishes);
    pdk__loss_clear(&hold->loss);
    pdk__queue_unref(hold->queue);
    g_free(hold->node);
    g_free(hold->next_node);
    g_free(hold->proof);
    g_free(hold->sequencer);
    g_free(hold->old_sequencer);
    g_free(hold);
}

void pdk__hold_drop(struct pdk_hold *hold) {
    pdk__hold_discard(hold);
    assert(atomic_load(&hold->refs) == 1); /* nobody was told of it */
    hold_free(hold);
}

struct pdk__waiters *pdk__hold_await(struct pdk_hold *hold) {
    pdk__assert_locked(hold->s);
    assert(!hold->ended);
    if (!hold->awaited.data) {
        hold->awaited.data = hold;
        g_queue_push_tail_link(&pdk__registry_of(hold->s)->awaited, &hold->awaited);
    }
    return &hold->waiters;
}

/* ---- a hold that ends before its lease does, since its right has an end of its own, by this machine's clock */

static void overdue(pdk_session *s, void *user) {
    (void)s;
    pdk__hold_lose(user, PDK_REASON_OVERDUE);
}

void pdk__hold_limit(struct pdk_hold *hold, int64_t latest, int64_t leaves) {
    pdk__assert_locked(hold->s);
    if (hold->ended)
        return;
    hold->latest = latest;
    hold->leaves = leaves;
    hold->limit.ring = overdue;
    hold->limit.user = hold;
    int64_t until = atomic_load(&hold->until); /* a moment that has passed is no moment any more */
    while (pdk_hold_is_valid(hold) && !atomic_compare_exchange_weak(&hold->until, &until, latest))
        ;
    pdk__wake(&hold->waiters);
    /* An earlier end may have come a moment ago. Then the alarm tells it now. */
    pdk__alarm_set(hold->s, &hold->limit, pdk_hold_is_valid(hold) ? latest : 0);
}

int64_t pdk__hold_most_ms(const struct pdk_hold *hold) {
    pdk__assert_locked(hold->s);
    if (hold->latest == INT64_MAX)
        return INT64_MAX;
    return (hold->leaves > 0 ? hold->leaves : MAX(hold->latest - pdk__now(hold->s), 0)) / PDK__MS;
}

pdk_status pdk__hold_release(pdk_hold *hold, void (**user_free)(void *user)) {
    pdk__assert_locked(hold->s);
    if (hold->loss.released)
        return PDK_NOT_HELD;
    int64_t now = 0;
    bool kept = is_valid(hold, &now);
    pdk__loss_release(&hold->loss, user_free);
    if (hold->ended)
        return PDK_LOST;
    if (!kept) { /* it has lapsed unnoticed: on_lost is not called any more */
        pdk__hold_lose(hold, PDK_REASON_LEASE);
        return PDK_LOST;
    }
    atomic_store(&hold->until, PDK__RELEASED);
    hold_end(hold, true, now);
    return PDK_OK;
}

/* ---- the public functions */

static pdk_status hold_check(const pdk_hold *hold, const char *call) {
    if (!hold)
        return pdk__fail(PDK_INVALID, "%s: hold: NULL", call);
    if (!pdk__hold_is_ours(hold))
        return pdk__fail(PDK_FORKED, "%s: the hold belongs to the parent process", call);
    return PDK_OK;
}

bool pdk_hold_is_valid(const pdk_hold *hold) {
    if (!pdk__hold_is_ours(hold))
        return false;
    int64_t now;
    return is_valid(hold, &now);
}

int64_t pdk_hold_remaining_ms(const pdk_hold *hold) {
    if (!pdk_hold_is_valid(hold))
        return 0;
    int64_t until = pdk__hold_until(hold);
    return until > 0 ? MAX(until - pdk__now(hold->s), 0) / PDK__MS : 0;
}

pdk_status pdk_hold_on_lost(pdk_hold *hold, pdk_lost_fn fn, void *user, void (*user_free)(void *user)) {
    pdk_status status = hold_check(hold, "pdk_hold_on_lost");
    if (status != PDK_OK)
        return status;
    return pdk__loss_listen(&hold->loss, (void (*)(void))fn, user, user_free, "pdk_hold_on_lost", hold->node);
}

int pdk_hold_fd(pdk_hold *hold) {
    static const char call[] = "pdk_hold_fd";
    return hold_check(hold, call) == PDK_OK ? pdk__loss_fd(&hold->loss, call) : -1;
}

pdk_reason pdk_hold_reason(const pdk_hold *hold) {
    if (!pdk__hold_is_ours(hold))
        return PDK_REASON_NONE;
    pdk_session *s = hold->s;
    pdk__lock(s);
    if (!hold->ended && !pdk_hold_is_valid(hold)) /* the timer has not rung for it yet */
        pdk__hold_lose((pdk_hold *)hold, PDK_REASON_LEASE);
    pdk_reason reason = hold->loss.reason;
    pdk__unlock(s);
    return reason;
}

void pdk_hold_detach_thread(pdk_hold *hold) {
    if (!pdk__hold_is_ours(hold))
        return;
    pdk__lock(hold->s);
    pdk__hold_disown(hold);
    pdk__unlock(hold->s);
}

pdk_hold *pdk_hold_ref(pdk_hold *hold) {
    if (pdk__hold_is_ours(hold))
        atomic_fetch_add(&hold->refs, 1);
    return hold;
}

/* The last reference is given back under the monitor, where a loss may be about to take one. */
void pdk_hold_unref(pdk_hold *hold) {
    if (!pdk__hold_is_ours(hold))
        return;
    unsigned refs = atomic_load(&hold->refs);
    while (refs > 1)
        if (atomic_compare_exchange_weak(&hold->refs, &refs, refs - 1))
            return;
    void (*user_free)(void *) = NULL;
    pdk__lock(hold->s);
    bool last = atomic_fetch_sub(&hold->refs, 1) == 1;
    if (last)
        pdk__hold_release(hold, &user_free);
    pdk__unlock(hold->s);
    if (!last)
        return;
    pdk__cancel_off();
    if (user_free)
        user_free(hold->loss.user);
    hold_free(hold);
    pdk__cancel_back();
}

pdk_status pdk_hold_release(pdk_hold *hold) {
    pdk_status status = hold_check(hold, "pdk_hold_release");
    if (status != PDK_OK)
        return status;
    void (*user_free)(void *) = NULL;
    pdk__cancel_off();
    pdk__lock(hold->s);
    status = pdk__hold_release(hold, &user_free);
    if (status == PDK_NOT_HELD)
        pdk__fail(status, "pdk_hold_release: %s: already released", hold->node);
    else if (status == PDK_LOST)
        pdk__fail(status, "pdk_hold_release: %s: lost before (%s)", hold->node, pdk_reason_name(hold->loss.reason));
    bool last = !user_free && atomic_fetch_sub(&hold->refs, 1) == 1;
    pdk__unlock(hold->s);
    if (user_free) { /* it may have a reference, and give it back */
        user_free(hold->loss.user);
        pdk_hold_unref(hold);
    } else if (last) {
        hold_free(hold);
    }
    pdk__cancel_back();
    return status;
}

void pdk__hold_give_back(struct pdk_hold *hold) {
    void (*user_free)(void *) = NULL;
    pdk__cancel_off();
    pdk__lock(hold->s);
    bool ours = !hold->loss.released;
    if (ours)
        pdk__hold_release(hold, &user_free);
    pdk__unlock(hold->s);
    if (user_free)
        user_free(hold->loss.user);
    if (ours)
        pdk_hold_unref(hold);
    pdk__cancel_back();
}

/* ---- the texts and numbers of a hold */

const char *pdk_reason_name(pdk_reason reason) {
    switch (reason) {
    case PDK_REASON_NONE:
        return "NONE";
    case PDK_REASON_EXPIRED:
        return "EXPIRED";
    case PDK_REASON_LEASE:
        return "LEASE";
    case PDK_REASON_NODE_GONE:
        return "NODE_GONE";
    case PDK_REASON_CLOSED:
        return "CLOSED";
    case PDK_REASON_OVERDUE:
        return "OVERDUE";
    }
    return "UNKNOWN";
}

int64_t pdk_hold_token(const pdk_hold *hold) { return hold ? hold->token : 0; }
uint32_t pdk_hold_handover(const pdk_hold *hold) { return hold ? hold->handover : 0; }
const char *pdk_hold_token_text(const pdk_hold *hold) { return hold ? hold->token_text : ""; }

const char *pdk_hold_sequencer(const pdk_hold *hold) {
    if (!pdk__hold_is_ours(hold))
        return "";
    pdk_hold *inside = (pdk_hold *)hold;
    pdk_session *s = hold->s;
    pdk__lock(s);
    if (!inside->sequencer) {
        char *proof =
            hold->proof ? g_strdup(hold->proof) : g_strdup_printf("%s %s", hold->node, hold->queue->kind.mode);
        inside->sequencer = g_strdup_printf("pdk1 %s %" G_GINT64_FORMAT " %u", proof, hold->token, hold->handover);
        g_free(proof);
    }
    const char *sequencer = inside->sequencer;
    pdk__unlock(s);
    return sequencer;
}

bool pdk_hold_is_mixed(const pdk_hold *hold) { return pdk__hold_is_ours(hold) && hold->mixed; }

const char *pdk_hold_node(const pdk_hold *hold) {
    if (!pdk__hold_is_ours(hold))
        return "";
    pdk__lock(hold->s);
    const char *node = hold->next_node ? hold->next_node : hold->node;
    pdk__unlock(hold->s);
    return node;
}
