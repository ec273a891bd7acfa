#include "grant/registry.h"

#include "grant/hold.h"
#include "session/chores.h"

static struct pdk__registry *registry_of(struct pdk__listener *l) { return (struct pdk__registry *)l; }

/* All holds that have not lapsed end with the lease, so holds that have lapsed are the oldest: they are at the head. */
static bool lose_lapsed(pdk_session *s, void *user) {
    struct pdk__registry *r = user;
    for (guint n = pdk__slice(s); n > 0 && r->holds.head && !pdk_hold_is_valid(r->holds.head->data); n--)
        pdk__hold_lose(r->holds.head->data, PDK_REASON_LEASE);
    return !r->holds.head || pdk_hold_is_valid(r->holds.head->data);
}

void pdk__registry_check(struct pdk__registry *r) {
    pdk__assert_locked(r->s);
    if (r->holds.head && !pdk_hold_is_valid(r->holds.head->data))
        pdk__chore_add(r->s, lose_lapsed, NULL, r);
}

/* No hold is valid from now on. They are told one after the other. */
static void lose_all(struct pdk__registry *r, pdk_reason reason) {
    for (GList *link = r->holds.head; link; link = link->next)
        pdk__hold_void(link->data, reason);
    pdk__registry_check(r);
}

/* A look at a hold is enough: a thread that finds it passed makes it LAPSED. */
static void note_lapsed(struct pdk__registry *r) {
    for (GList *link = r->holds.head; link; link = link->next)
        pdk_hold_is_valid(link->data);
}

static void wake_awaiting(struct pdk__registry *r) {
    for (GList *link; (link = g_queue_pop_head_link(&r->awaited));) {
        struct pdk_hold *hold = g_steal_pointer(&link->data);
        pdk__wake(&hold->waiters);
    }
}

/* A thread may find a hold LAPSED after this look at the clock, and before the word moves. That hold stays so. */
static void on_lease_extended(struct pdk__listener *l, int64_t end) {
    struct pdk__registry *r = registry_of(l);
    if (pdk__now(r->s) >= atomic_load(&r->lease_end))
        note_lapsed(r);
    pdk__registry_check(r); /* a hold that has lapsed stays so; the alarm moves away next */
    atomic_store(&r->lease_end, end);
    wake_awaiting(r);
}

static void on_lease_shortened(struct pdk__listener *l, int64_t end) {
    struct pdk__registry *r = registry_of(l);
    atomic_store(&r->lease_end, end);
    pdk__registry_check(r);
}

static void on_lease_over(struct pdk__listener *l) { pdk__registry_check(registry_of(l)); }

static void on_expired(struct pdk__listener *l) { lose_all(registry_of(l), PDK_REASON_EXPIRED); }

struct ending {
    struct pdk__registry *r;
    pdk_status status;
    char *why;
};

/* Queues that have ended are at the tail. */
static bool end_queues(pdk_session *s, void *user) {
    const struct ending *ending = user;
    GQueue *queues = &ending->r->queues;
    for (guint n = pdk__slice(s); n > 0; n--) {
        struct pdk__queue *first = g_queue_peek_head(queues);
        if (!first || first->ended)
            return true;
        if (pdk__queue_end(first, ending->status, ending->why)) {
            GList *link = g_queue_pop_head_link(queues);
            g_queue_push_tail_link(queues, link);
        }
    }
    return false;
}

static void free_ending(void *user) {
    struct ending *ending = user;
    g_free(ending->why);
    g_free(ending);
}

void pdk__follow_end(pdk_session *s, struct pdk__follower *follower) {
    pdk__assert_locked(s);
    assert(s->ended == PDK_OK);
    follower->link.data = follower;
    g_queue_push_tail_link(&pdk__registry_of(s)->followers, &follower->link);
}

void pdk__unfollow_end(pdk_session *s, struct pdk__follower *follower) {
    pdk__assert_locked(s);
    if (follower->link.data)
        g_queue_unlink(&pdk__registry_of(s)->followers, &follower->link);
    follower->link.data = NULL;
}

static void tell_followers(struct pdk__registry *r) {
    for (GList *link; (link = g_queue_pop_head_link(&r->followers));) {
        struct pdk__follower *follower = g_steal_pointer(&link->data);
        follower->ended(follower);
    }
}

static void on_ended(struct pdk__listener *l, pdk_status status, const char *why) {
    struct pdk__registry *r = registry_of(l);
    struct ending *ending = g_new(struct ending, 1);
    *ending = (struct ending){r, status, g_strdup(why)};
    lose_all(r, PDK_REASON_CLOSED);
    tell_followers(r);
    pdk__chore_add(r->s, end_queues, free_ending, ending);
}

static bool on_flushed(struct pdk__listener *l) {
    struct pdk__registry *r = registry_of(l);
    for (guint n = pdk__slice(r->s); n > 0 && r->lingering.head; n--)
        pdk__queue_stop_lingering(r->lingering.head->data);
    return !r->lingering.head;
}

static void registry_free(struct pdk__listener *l) {
    struct pdk__registry *r = registry_of(l);
    g_clear_pointer(&r->owned, g_hash_table_unref);
    g_free(r);
}

struct pdk__registry *pdk__registry_of(pdk_session *s) {
    static const struct pdk__listener_calls calls = {
        on_lease_extended, on_lease_shortened, on_lease_over, on_expired, on_ended, on_flushed, registry_free,
    };
    pdk__assert_locked(s);
    if (!s->listener) {
        struct pdk__registry *r = g_new0(struct pdk__registry, 1);
        r->listener.calls = &calls;
        r->s = s;
        atomic_init(&r->lease_end, s->lease.end);
        s->listener = &r->listener;
    }
    return registry_of(s->listener);
}
