#include "set.h"

#include "base/cancel.h"
#include "base/text.h"
#include "core/majority.h"
#include "grant/claim.h"

static pdk_session *set_session_of(const struct pdk__part *part) { return part->right.queue->s; }

/* ---- a look at the parts */

/* Between these two calls no hold of a part is freed, although it may be replaced. Where all are needed, none is
 * replaced. */
static void begin_reading(const struct pdk_set *set) {
    if (pdk__set_some_suffice(set))
        atomic_fetch_add(&((struct pdk_set *)set)->readers, 1);
}

static void end_reading(const struct pdk_set *set) {
    if (pdk__set_some_suffice(set))
        atomic_fetch_sub(&((struct pdk_set *)set)->readers, 1);
}

struct pdk_hold *pdk__set_take(struct pdk_set *set, guint i) {
    begin_reading(set);
    struct pdk_hold *hold = pdk_hold_ref(atomic_load(&set->part[i].hold));
    end_reading(set);
    return hold;
}

static int64_t lease_of(const struct pdk_set *set) {
    int64_t words[PDK__MAJORITY_MOST];
    for (guint i = 0; i < set->count; i++) {
        const struct pdk_hold *hold = atomic_load(&set->part[i].hold);
        words[i] = hold ? pdk__hold_until(hold) : PDK__LAPSED;
    }
    return pdk__majority_until(words, set->count, set->need);
}

/* Are too many parts gone? A renewal may have come since a word was read. A hold that is found invalid here stays so,
 * but another hold may have come in its place before the next one was lost: then they were never gone together. */
static bool too_many_are_gone(const struct pdk_set *set) {
    const struct pdk_hold *seen[PDK__MAJORITY_MOST];
    const guint count = set->count;
    guint gone = 0;
    for (guint i = 0; i < count; i++) {
        seen[i] = atomic_load(&set->part[i].hold);
        gone += !pdk_hold_is_valid(seen[i]);
    }
    bool same = true;
    for (guint i = 0; i < count; i++)
        same = same && atomic_load(&set->part[i].hold) == seen[i];
    return same && gone > count - set->need;
}

static bool enough_are_valid(const struct pdk_set *set) {
    bool valid, gone;
    begin_reading(set);
    do {
        int64_t until = lease_of(set); /* read before the clock */
        valid = pdk__now(set->s) < until;
        gone = !valid && too_many_are_gone(set);
    } while (!valid && !gone);
    end_reading(set);
    return valid;
}

/* From the first look that finds too few parts the set is lapsed, for every thread. */
static bool set_is_valid(const struct pdk_set *set) {
    int stands = PDK__SET_STANDS;
    if (atomic_load(&set->word) != PDK__SET_STANDS)
        return false;
    if (enough_are_valid(set))
        return true;
    atomic_compare_exchange_strong(&((struct pdk_set *)set)->word, &stands, PDK__SET_LAPSED);
    return false;
}

/* ---- its loss */

static struct pdk_set *of_loss(struct pdk__loss *loss) {
    return (struct pdk_set *)((char *)loss - G_STRUCT_OFFSET(struct pdk_set, loss));
}

static void loss_call(struct pdk__loss *loss) { ((pdk_set_lost_fn)loss->fn)(of_loss(loss), loss->reason, loss->user); }
static void loss_ref(struct pdk__loss *loss) { pdk_set_ref(of_loss(loss)); }
static void loss_unref(struct pdk__loss *loss) { pdk_set_unref(of_loss(loss)); }

static const struct pdk__loss_kind loss_kind = {loss_call, loss_ref, loss_unref};

static void set_end(struct pdk_set *set) {
    set->ended = true;
    pdk__unfollow_end(set->s, &set->end);
}

/* Lose it, and have on_lost called. A set that has ended stays as it is. */
static void set_lose(struct pdk_set *set, pdk_reason reason) {
    pdk__assert_locked(set->s);
    if (set->ended)
        return;
    atomic_store(&set->word, PDK__SET_LAPSED);
    pdk__log(set->s, PDK_LOG_WARN, "%s lost: %s", set->name, pdk_reason_name(reason));
    pdk__loss_tell(&set->loss, reason);
    set_end(set);
}

/* Nobody received it: end it without telling anybody. */
static void set_discard(struct pdk_set *set) {
    pdk__assert_locked(set->s);
    set->loss.released = true;
    if (set->ended)
        return;
    atomic_store(&set->word, PDK__SET_RELEASED);
    set_end(set);
}

static void set_free(struct pdk_set *set);
static void release_parts(struct pdk_set *set);

static void put_down(struct pdk_set *set) {
    if (atomic_fetch_sub(&set->users, 1) == 1)
        set_free(set);
}

static void arrive(void *user) {
    struct pdk_set *set = user;
    pdk__lock(set->s);
    set_lose(set, set->reason);
    pdk__unlock(set->s);
    if (pdk__set_some_suffice(set))
        release_parts(set);
    put_down(set);
}

/* Have fn(set) called outside of all monitors; it puts the set down. s: the session whose monitor this thread has. The
 * memory is there, since nobody frees it before the part in that session, or the set, is released, which takes the
 * monitor. */
static void carry_out(struct pdk_set *set, pdk_session *s, void (*fn)(void *set)) {
    pdk__assert_locked(s);
    atomic_fetch_add(&set->users, 1);
    if (!pdk__later_outside(s, PDK__DUE_LOSS, fn, set))
        atomic_fetch_sub(&set->users, 1);
}

static void lose_in(struct pdk_set *set, pdk_session *s, pdk_reason reason) {
    pdk_reason none = PDK_REASON_NONE;
    pdk__assert_locked(s);
    atomic_compare_exchange_strong(&set->reason, &none, reason);
    if (s == set->s)
        set_lose(set, set->reason);
    if (s != set->s || pdk__set_some_suffice(set))
        carry_out(set, s, arrive); /* taken: a session loses its holds before it goes silent */
}

/* The session of the set has ended: no news of the set could reach its owner any more. */
static void home_ended(struct pdk__follower *follower) {
    struct pdk_set *set = (struct pdk_set *)((char *)follower - G_STRUCT_OFFSET(struct pdk_set, end));
    lose_in(set, set->s, PDK_REASON_CLOSED);
}

/* ---- replaced holds are freed, but for the ones that the owner has seen */

static void unref(void *hold) { pdk_hold_unref(hold); }

static void tidy_part(struct pdk__part *part) {
    GSList *seen = NULL;
    pdk__lock(set_session_of(part));
    GSList *before = g_steal_pointer(&part->before);
    pdk__unlock(set_session_of(part));
    bool nobody_reads = atomic_load(&part->set->readers) == 0; /* nobody read the pointer before it was replaced */
    for (GSList *link = before, *next; link; link = next) {
        struct pdk_hold *hold = link->data;
        next = link->next;
        if (nobody_reads && !atomic_load(&hold->shown))
            pdk_hold_unref(hold);
        else
            seen = g_slist_prepend(seen, hold);
    }
    g_slist_free(before);
    pdk__lock(set_session_of(part));
    part->before = g_slist_concat(seen, part->before);
    pdk__unlock(set_session_of(part));
}

static void tidy(void *user) {
    struct pdk_set *set = user;
    for (guint i = 0; i < set->count; i++)
        tidy_part(&set->part[i]);
    put_down(set);
}

/* ---- a part that is lost is taken again. Under its monitor */

static void ended(struct pdk__grant_listener *l, pdk_reason reason);

static void listen(struct pdk__part *part, struct pdk_hold *hold) {
    part->grant = hold->grant;
    part->listener.ended = ended;
    pdk__grant_listen(part->grant, &part->listener);
}

/* A part was granted again. The look comes before the part is counted. */
static void on_taken(void *user, pdk_status status, struct pdk_hold *hold) {
    struct pdk__part *part = user;
    pdk_session *s = set_session_of(part);
    if (status != PDK_OK) {
        if (!part->closed)
            pdk__log(s, PDK_LOG_WARN, "%s: a part is not taken again: %s", part->right.path, part->claim->why);
        return;
    }
    if (!set_is_valid(part->set)) {
        part->before = g_slist_prepend(part->before, hold); /* its last reference is not given back under a monitor */
        pdk__hold_discard(hold);
        lose_in(part->set, s, PDK_REASON_LEASE);
        return;
    }
    pdk__log(s, PDK_LOG_INFO, "%s: a part is held again", part->right.path);
    listen(part, hold);
    pdk__hold_own(hold, atomic_load(&part->set->thread));
    struct pdk_hold *old = atomic_exchange(&part->hold, hold);
    if (old) {
        part->before = g_slist_prepend(part->before, old);
        carry_out(part->set, s, tidy);
    }
}

static void take_again(struct pdk__part *part) {
    pdk_session *s = set_session_of(part);
    pdk__assert_locked(s);
    if (part->closed || s->ended != PDK_OK)
        return;
    pdk_claim_unref(g_steal_pointer(&part->claim)); /* the claim of the time before */
    pdk__claim_begin_until(part->right.queue, part->right.count, INT64_MAX, false, on_taken, part, &part->claim);
}

static void ended(struct pdk__grant_listener *l, pdk_reason reason) {
    struct pdk__part *part = (struct pdk__part *)l;
    pdk_session *s = set_session_of(part);
    pdk__assert_locked(s);
    part->grant = NULL;
    if (!set_is_valid(part->set)) {
        lose_in(part->set, s, reason);
        return;
    }
    pdk__log(s, PDK_LOG_WARN, "%s: a part is lost (%s)", part->right.path, pdk_reason_name(reason));
    take_again(part);
}

/* ---- its life */

struct pdk_set *pdk__set_new(guint count, guint need) {
    struct pdk_set *set = g_malloc0(sizeof *set + count * sizeof set->part[0]);
    atomic_init(&set->refs, 1);
    atomic_init(&set->users, 1);
    set->count = count;
    set->need = need;
    set->end.ended = home_ended;
    return set;
}

void pdk__set_fill(struct pdk_set *set, const struct pdk__right *right, struct pdk_hold *hold) {
    struct pdk__part *part = &set->part[right->place];
    part->set = set;
    part->right = *right;
    part->right.queue = pdk__queue_ref(right->queue);
    part->right.path = g_strdup(right->path);
    atomic_init(&part->hold, hold);
}

static void release_part(struct pdk__part *part) {
    pdk_session *s = set_session_of(part);
    pdk__lock(s);
    part->closed = true;
    if (part->claim)
        pdk__claim_cancel(part->claim);
    if (part->grant)
        pdk__grant_unlisten(g_steal_pointer(&part->grant), &part->listener);
    if (part->hold)
        pdk__hold_discard(part->hold);
    pdk__unlock(s);
}

/* Release the parts, from the last named to the first, though any order is right. It may run again: a released part
 * stays so. */
static void release_parts(struct pdk_set *set) {
    for (guint i = set->count; i-- > 0;)
        release_part(&set->part[i]);
}

static void set_free(struct pdk_set *set) {
    for (guint i = 0; i < set->count; i++) {
        struct pdk__part *part = &set->part[i];
        pdk_claim_unref(part->claim);
        pdk_hold_unref(part->hold);
        g_slist_free_full(part->before, unref);
        pdk__queue_unref(part->right.queue);
        g_free(part->right.path);
    }
    g_free(set->name);
    g_free(set);
}

/* Listen to the grant of a part that stands. */
static void set_begin(struct pdk__part *part) {
    struct pdk_hold *hold = part->hold;
    pdk__lock(set_session_of(part));
    if (hold && !hold->ended)
        listen(part, hold);
    pdk__unlock(set_session_of(part));
}

/* Take a part that is not held, in the background. */
static void complete(struct pdk__part *part) {
    pdk__lock(set_session_of(part));
    if (!part->grant && !part->claim && set_is_valid(part->set))
        take_again(part);
    pdk__unlock(set_session_of(part));
}

bool pdk__set_join(struct pdk_set *set, pdk_session *s) {
    set->s = s;
    set->name = g_strdup_printf("%s of %s and %u more", pdk__set_some_suffice(set) ? "a majority" : "all",
                                set->part[0].right.path, set->count - 1);
    pdk__loss_init(&set->loss, s, &loss_kind);
    for (guint i = 0; i < set->count; i++)
        set_begin(&set->part[i]);
    pdk__lock(s);
    bool stands = s->ended == PDK_OK && !set->ended && set_is_valid(set);
    if (stands)
        pdk__follow_end(s, &set->end);
    else
        set_discard(set);
    pdk__unlock(s);
    for (guint i = 0; i < set->count && stands; i++)
        complete(&set->part[i]);
    if (!stands)
        pdk_set_unref(set);
    return stands;
}

void pdk__set_own(struct pdk_set *set, uint64_t thread) {
    atomic_store(&set->thread, thread);
    for (guint i = 0; i < set->count; i++) {
        struct pdk__part *part = &set->part[i];
        pdk__lock(set_session_of(part));
        struct pdk_hold *hold = part->hold;
        if (hold && !hold->ended && hold->thread == 0)
            pdk__hold_own(hold, thread);
        pdk__unlock(set_session_of(part));
    }
}

/* End it for its owner, but for the parts and the reference. Under its monitor; *user_free as pdk__loss_release has
 * it. */
static pdk_status set_release(struct pdk_set *set, void (**user_free)(void *user)) {
    pdk__assert_locked(set->s);
    if (set->loss.released)
        return PDK_NOT_HELD;
    bool kept = set_is_valid(set);
    pdk__loss_release(&set->loss, user_free);
    if (set->ended)
        return PDK_LOST;
    if (!kept) { /* it has lapsed unnoticed: on_lost is not called any more */
        set_lose(set, PDK_REASON_LEASE);
        return PDK_LOST;
    }
    atomic_store(&set->word, PDK__SET_RELEASED);
    set_end(set);
    return PDK_OK;
}

pdk_status pdk__set_how_it_ended(struct pdk_set *set, const char *call) {
    pdk__assert_locked(set->s);
    pdk_status status = set->loss.released ? PDK_NOT_HELD : set_is_valid(set) ? PDK_OK : PDK_LOST;
    return status == PDK_OK ? status : pdk__fail(status, "%s: %s: %s", call, set->name, pdk_status_text(status));
}

/* ---- the public functions */

static pdk_status set_check(const pdk_set *set, const char *call) {
    if (!set)
        return pdk__fail(PDK_INVALID, "%s: set: NULL", call);
    if (!pdk__set_is_ours(set))
        return pdk__fail(PDK_FORKED, "%s: the set belongs to the parent process", call);
    return PDK_OK;
}

bool pdk_set_is_valid(const pdk_set *set) { return pdk__set_is_ours(set) && set_is_valid(set); }

int64_t pdk_set_remaining_ms(const pdk_set *set) {
    if (!pdk_set_is_valid(set))
        return 0;
    begin_reading(set);
    int64_t until = lease_of(set);
    end_reading(set);
    return MAX(until - pdk__now(set->s), 0) / PDK__MS;
}

pdk_status pdk_set_on_lost(pdk_set *set, pdk_set_lost_fn fn, void *user, void (*user_free)(void *user)) {
    static const char call[] = "pdk_set_on_lost";
    pdk_status status = set_check(set, call);
    if (status != PDK_OK)
        return status;
    return pdk__loss_listen(&set->loss, (void (*)(void))fn, user, user_free, call, set->name);
}

int pdk_set_fd(pdk_set *set) {
    static const char call[] = "pdk_set_fd";
    return set_check(set, call) == PDK_OK ? pdk__loss_fd(&set->loss, call) : -1;
}

/* The news of a loss may not have come yet, so the reason is read where it begins. */
pdk_reason pdk_set_reason(const pdk_set *set) {
    pdk_set *inside = (pdk_set *)set;
    pdk_reason reason = PDK_REASON_NONE;
    if (!pdk__set_is_ours(set))
        return PDK_REASON_NONE;
    for (guint i = 0; i < set->count; i++) {
        struct pdk_hold *hold = pdk__set_take(inside, i);
        pdk_reason of_part = pdk_hold_reason(hold);
        reason = reason == PDK_REASON_NONE ? of_part : reason;
        pdk_hold_unref(hold);
    }
    pdk__lock(set->s);
    if (!set_is_valid(set))
        set_lose(inside, reason != PDK_REASON_NONE ? reason : PDK_REASON_LEASE);
    reason = set->loss.reason;
    pdk__unlock(set->s);
    return reason;
}

/* A part is taken again under its monitor. It sees that there is no thread any more, or its new hold is detached
 * here. */
void pdk_set_detach_thread(pdk_set *set) {
    if (!pdk__set_is_ours(set))
        return;
    atomic_store(&set->thread, 0);
    for (guint i = 0; i < set->count; i++) {
        struct pdk__part *part = &set->part[i];
        pdk__lock(set_session_of(part));
        struct pdk_hold *hold = atomic_load(&part->hold);
        if (hold)
            pdk__hold_disown(hold);
        pdk__unlock(set_session_of(part));
    }
}

int32_t pdk_set_count(const pdk_set *set) { return pdk__set_is_ours(set) ? (int32_t)set->count : 0; }

static const struct pdk__part *part_of(const pdk_set *set, int32_t index) {
    return index >= 0 && index < pdk_set_count(set) ? &set->part[index] : NULL;
}

/* The hold lives as long as the set from now on. */
const pdk_hold *pdk_set_part(const pdk_set *set, int32_t index) {
    const struct pdk__part *part = part_of(set, index);
    if (!part)
        return NULL;
    begin_reading(set);
    struct pdk_hold *found = atomic_load(&part->hold);
    if (found)
        atomic_store(&found->shown, true);
    end_reading(set);
    return found;
}

const char *pdk_set_part_path(const pdk_set *set, int32_t index) {
    const struct pdk__part *part = part_of(set, index);
    return part ? part->right.path : "";
}

pdk_set *pdk_set_ref(pdk_set *set) {
    if (pdk__set_is_ours(set))
        atomic_fetch_add(&set->refs, 1);
    return set;
}

/* The last reference is given back under the monitor, where a loss may be about to take one. The memory stays until no
 * step is on its way. */
void pdk_set_unref(pdk_set *set) {
    if (!pdk__set_is_ours(set))
        return;
    unsigned refs = atomic_load(&set->refs);
    while (refs > 1)
        if (atomic_compare_exchange_weak(&set->refs, &refs, refs - 1))
            return;
    void (*user_free)(void *) = NULL;
    pdk__lock(set->s);
    bool last = atomic_fetch_sub(&set->refs, 1) == 1;
    if (last)
        set_release(set, &user_free);
    pdk__unlock(set->s);
    if (!last)
        return;
    pdk__cancel_off();
    if (user_free)
        user_free(set->loss.user);
    pdk__loss_clear(&set->loss);
    release_parts(set);
    put_down(set);
    pdk__cancel_back();
}

pdk_status pdk_set_release(pdk_set *set) {
    static const char call[] = "pdk_set_release";
    pdk_status status = set_check(set, call);
    if (status != PDK_OK)
        return status;
    void (*user_free)(void *) = NULL;
    pdk__cancel_off();
    pdk__lock(set->s);
    status = set_release(set, &user_free);
    if (status == PDK_NOT_HELD)
        pdk__fail(status, "%s: %s: already released", call, set->name);
    else if (status == PDK_LOST)
        pdk__fail(status, "%s: %s: lost before (%s)", call, set->name, pdk_reason_name(set->loss.reason));
    pdk__unlock(set->s);
    release_parts(set);
    if (user_free)
        user_free(set->loss.user);
    pdk_set_unref(set);
    pdk__cancel_back();
    return status;
}
