#include "grant/parts.h"

#include "grant/claim.h"
#include "grant/owned.h"

static pdk_session *session_of(const struct pdk__part *part) { return part->right.queue->s; }

/* ---- the loss of the whole */

/* Nothing that a user sees: the outbox only carries it out of the monitor. */
static void carry(void *user) { (void)user; }

static void free_all(struct pdk__parts *parts);

static void put_down(struct pdk_hold *whole) {
    if (atomic_fetch_sub(&whole->parts->users, 1) == 1)
        free_all(whole->parts);
}

static void arrive(void *user) {
    struct pdk_hold *whole = user;
    pdk__lock(whole->s);
    pdk__hold_lose(whole, whole->parts->reason);
    pdk__unlock(whole->s);
    if (pdk__parts_some_suffice(whole->parts))
        pdk__parts_release(whole->parts);
    put_down(whole);
}

/* Have fn(whole) called outside of all monitors; it puts the whole down. s: the session whose monitor this thread has. So the part in
 * it, or the whole, is not released yet, and the memory is there: nobody frees it before that. */
static void carry_out(struct pdk_hold *whole, pdk_session *s, void (*fn)(void *whole)) {
    pdk__assert_locked(s);
    atomic_fetch_add(&whole->parts->users, 1);
    if (!pdk__later_first(s, carry, fn, whole))
        atomic_fetch_sub(&whole->parts->users, 1);
}

static void lose_whole(struct pdk_hold *whole, pdk_session *s, pdk_reason reason) {
    pdk_reason none = PDK_REASON_NONE;
    pdk__assert_locked(s);
    atomic_compare_exchange_strong(&whole->parts->reason, &none, reason);
    if (s == whole->s)
        pdk__hold_lose(whole, whole->parts->reason);
    if (s != whole->s || pdk__parts_some_suffice(whole->parts))
        carry_out(whole, s, arrive); /* taken: a session loses its holds before it goes silent */
}

/* No word of it could reach its owner any more. */
static void home_ended(struct pdk__follower *follower) {
    struct pdk_hold *whole = ((struct pdk__parts *)((char *)follower - G_STRUCT_OFFSET(struct pdk__parts, end)))->whole;
    lose_whole(whole, whole->s, PDK_REASON_CLOSED);
}

void pdk__parts_ended(struct pdk_hold *whole) { pdk__unfollow_end(whole->s, &whole->parts->end); }

/* ---- what was replaced is freed, but for what its owner has seen */

static void unref(void *hold) { pdk_hold_unref(hold); }

static void tidy_part(struct pdk__part *part) {
    GSList *seen = NULL;
    pdk__lock(session_of(part));
    GSList *before = g_steal_pointer(&part->before);
    pdk__unlock(session_of(part));
    bool nobody_reads =
        atomic_load(&part->whole->parts->readers) == 0; /* nobody who read the pointer before it was replaced */
    for (GSList *link = before, *next; link; link = next) {
        struct pdk_hold *hold = link->data;
        next = link->next;
        if (nobody_reads && !atomic_load(&hold->shown))
            pdk_hold_unref(hold);
        else
            seen = g_slist_prepend(seen, hold);
    }
    g_slist_free(before);
    pdk__lock(session_of(part));
    part->before = g_slist_concat(seen, part->before);
    pdk__unlock(session_of(part));
}

static void tidy(void *user) {
    struct pdk_hold *whole = user;
    for (guint i = 0; i < whole->parts->count; i++)
        tidy_part(&whole->parts->part[i]);
    put_down(whole);
}

/* ---- a part that is lost is taken again. Under its monitor */

static void ended(struct pdk__grant_listener *l, pdk_reason reason);

static void listen(struct pdk__part *part, struct pdk_hold *hold) {
    part->grant = hold->grant;
    part->listener.ended = ended;
    pdk__grant_listen(part->grant, &part->listener);
}

/* It was granted again. The look comes before it is counted. */
static void on_taken(void *user, pdk_status status, struct pdk_hold *hold) {
    struct pdk__part *part = user;
    pdk_session *s = session_of(part);
    if (status != PDK_OK) {
        if (!part->closed)
            pdk__log(s, PDK_LOG_WARN, "%s: a part is not taken again: %s", part->right.path, part->claim->why);
        return;
    }
    if (!pdk_hold_is_valid(part->whole)) {
        part->before = g_slist_prepend(part->before, hold); /* its last reference is not given back under a monitor */
        pdk__hold_discard(hold);
        lose_whole(part->whole, s, PDK_REASON_LEASE);
        return;
    }
    pdk__log(s, PDK_LOG_INFO, "%s: a part is held again", part->right.path);
    listen(part, hold);
    hold->thread = atomic_load(&part->whole->parts->thread);
    pdk__owned_add(hold);
    struct pdk_hold *old = atomic_exchange(&part->hold, hold);
    if (old) {
        part->before = g_slist_prepend(part->before, old);
        carry_out(part->whole, s, tidy);
    }
}

static void take_again(struct pdk__part *part) {
    pdk_session *s = session_of(part);
    pdk__assert_locked(s);
    if (part->closed || s->ended != PDK_OK)
        return;
    pdk_claim_unref(g_steal_pointer(&part->claim)); /* of the time before */
    pdk__claim_begin_until(part->right.queue, part->right.count, INT64_MAX, false, on_taken, part, &part->claim);
}

static void ended(struct pdk__grant_listener *l, pdk_reason reason) {
    struct pdk__part *part = (struct pdk__part *)l;
    pdk_session *s = session_of(part);
    pdk__assert_locked(s);
    part->grant = NULL;
    if (!pdk_hold_is_valid(part->whole)) {
        lose_whole(part->whole, s, reason);
        return;
    }
    pdk__log(s, PDK_LOG_WARN, "%s: a part is lost (%s)", part->right.path, pdk_reason_name(reason));
    take_again(part);
}

/* ---- its life */

struct pdk__parts *pdk__parts_new(guint count, guint need) {
    struct pdk__parts *parts = g_malloc0(sizeof *parts + count * sizeof parts->part[0]);
    parts->count = count;
    parts->need = need;
    return parts;
}

void pdk__parts_set(struct pdk__parts *parts, const struct pdk__right *right, struct pdk_hold *hold) {
    struct pdk__part *part = &parts->part[right->place];
    part->right = *right;
    part->right.queue = pdk__queue_ref(right->queue);
    part->right.path = g_strdup(right->path);
    atomic_init(&part->hold, hold);
}

static void release(struct pdk__part *part) {
    pdk_session *s = session_of(part);
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

/* In the order in which they were named, backwards: any order is right. */
void pdk__parts_release(struct pdk__parts *parts) {
    for (guint i = parts->count; i-- > 0;)
        release(&parts->part[i]);
}

static void free_all(struct pdk__parts *parts) {
    for (guint i = 0; i < parts->count; i++) {
        struct pdk__part *part = &parts->part[i];
        pdk_claim_unref(part->claim);
        pdk_hold_unref(part->hold);
        g_slist_free_full(part->before, unref);
        pdk__queue_unref(part->right.queue);
        g_free(part->right.path);
    }
    pdk__hold_free(parts->whole);
    g_free(parts);
}

void pdk__parts_give_up(struct pdk__parts *parts) {
    pdk__parts_release(parts);
    put_down(parts->whole);
}

static struct pdk_hold *make_whole(struct pdk__parts *parts, pdk_session *s) {
    struct pdk_hold *whole = g_new0(struct pdk_hold, 1);
    atomic_init(&whole->refs, 1);
    atomic_init(&whole->until, INT64_MAX);
    whole->s = s;
    whole->parts = parts;
    whole->node = g_strdup_printf("%s of %s and %u more", pdk__parts_some_suffice(parts) ? "a majority" : "all",
                                  parts->part[0].right.path, parts->count - 1); /* for texts */
    whole->fd = -1;
    parts->whole = whole;
    atomic_init(&parts->users, 1);
    parts->end.ended = home_ended;
    for (guint i = 0; i < parts->count; i++)
        parts->part[i].whole = whole;
    return whole;
}

/* Those that stand are listened to. */
static void begin(struct pdk__part *part) {
    struct pdk_hold *hold = part->hold;
    pdk__lock(session_of(part));
    if (hold && !hold->ended)
        listen(part, hold);
    pdk__unlock(session_of(part));
}

/* The others are taken in the background. */
static void complete(struct pdk__part *part) {
    pdk__lock(session_of(part));
    if (!part->grant && !part->claim && pdk_hold_is_valid(part->whole))
        take_again(part);
    pdk__unlock(session_of(part));
}

struct pdk_hold *pdk__parts_join(struct pdk__parts *parts, pdk_session *s) {
    struct pdk_hold *whole = make_whole(parts, s);
    for (guint i = 0; i < parts->count; i++)
        begin(&parts->part[i]);
    pdk__lock(s);
    bool stands = s->ended == PDK_OK && !whole->ended && pdk_hold_is_valid(whole);
    if (stands)
        pdk__follow_end(s, &parts->end);
    else
        pdk__hold_discard(whole);
    pdk__unlock(s);
    for (guint i = 0; i < parts->count && stands; i++)
        complete(&parts->part[i]);
    if (stands)
        return whole;
    pdk_hold_unref(whole);
    return NULL;
}

void pdk__parts_own(struct pdk_hold *whole, uint64_t thread) {
    atomic_store(&whole->parts->thread, thread);
    for (guint i = 0; i < whole->parts->count; i++) {
        struct pdk__part *part = &whole->parts->part[i];
        pdk__lock(session_of(part));
        struct pdk_hold *hold = part->hold;
        if (hold && !hold->ended && hold->thread == 0) {
            hold->thread = thread;
            pdk__owned_add(hold);
        }
        pdk__unlock(session_of(part));
    }
}
