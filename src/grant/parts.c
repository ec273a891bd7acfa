#include "grant/parts.h"

#include "grant/owned.h"

#include <paddock/all.h>

/* ---- the loss of a part */

/* Nothing that a user sees: the outbox only carries it out of the monitor. */
static void carry(void *user) { (void)user; }

static void arrive(void *user) {
    struct pdk__part *part = user;
    struct pdk_hold *whole = part->whole;
    pdk__lock(whole->s);
    pdk__hold_lose(whole, part->reason);
    pdk__unlock(whole->s);
    pdk_hold_unref(whole);
}

/* The last reference may have been given back, in a monitor that this thread does not have: then the parts are being released. */
static bool ref_unless_gone(struct pdk_hold *whole) {
    unsigned refs = atomic_load(&whole->refs);
    while (refs > 0)
        if (atomic_compare_exchange_weak(&whole->refs, &refs, refs + 1))
            return true;
    return false;
}

static void ended(struct pdk__grant_listener *l, pdk_reason reason) {
    struct pdk__part *part = (struct pdk__part *)l;
    struct pdk_hold *whole = part->whole;
    pdk_session *s = part->hold->s;
    pdk__assert_locked(s);
    part->grant = NULL;
    part->reason = reason;
    if (s == whole->s)
        pdk__hold_lose(whole, reason);
    else if (ref_unless_gone(whole) && !pdk__later_first(s, carry, arrive, part))
        atomic_fetch_sub(&whole->refs, 1); /* a session loses its holds before it goes silent */
}

/* ---- its life */

struct pdk__parts *pdk__parts_new(guint count) {
    struct pdk__parts *parts = g_malloc0(sizeof *parts + count * sizeof parts->part[0]);
    parts->count = count;
    return parts;
}

static void release(struct pdk__part *part) {
    pdk_session *s = part->hold->s;
    pdk__lock(s);
    if (part->grant)
        pdk__grant_unlisten(g_steal_pointer(&part->grant), &part->listener);
    pdk__hold_discard(part->hold);
    pdk__unlock(s);
}

/* In the order in which they were named, backwards: any order is right. */
void pdk__parts_release(struct pdk__parts *parts) {
    for (guint i = parts->count; i-- > 0;)
        release(&parts->part[i]);
}

void pdk__parts_free(struct pdk__parts *parts) {
    pdk__parts_release(parts);
    for (guint i = 0; i < parts->count; i++) {
        pdk_hold_unref(parts->part[i].hold);
        g_free(parts->part[i].path);
    }
    g_free(parts);
}

/* false: the part has ended. */
static bool listen(struct pdk__part *part, struct pdk_hold *whole) {
    pdk_session *s = part->hold->s;
    part->whole = whole;
    part->listener.ended = ended;
    pdk__lock(s);
    bool stands = !part->hold->ended;
    if (stands) {
        part->grant = part->hold->grant;
        pdk__grant_listen(part->grant, &part->listener);
    }
    pdk__unlock(s);
    return stands;
}

struct pdk_hold *pdk__parts_join(struct pdk__parts *parts, pdk_session *s) {
    struct pdk_hold *whole = g_new0(struct pdk_hold, 1);
    bool all = true;
    atomic_init(&whole->refs, 1);
    atomic_init(&whole->until, INT64_MAX);
    whole->s = s;
    whole->parts = parts;
    whole->node = g_strdup_printf("all of %s and %u more", parts->part[0].path, parts->count - 1); /* for texts */
    whole->fd = -1;
    for (guint i = 0; i < parts->count && all; i++)
        all = listen(&parts->part[i], whole);
    if (all)
        return whole;
    pdk__lock(s);
    pdk__hold_discard(whole);
    pdk__unlock(s);
    pdk_hold_unref(whole);
    return NULL;
}

void pdk__parts_own(struct pdk_hold *whole, uint64_t thread) {
    for (guint i = 0; i < whole->parts->count; i++) {
        struct pdk_hold *hold = whole->parts->part[i].hold;
        pdk__lock(hold->s);
        if (!hold->ended) {
            hold->thread = thread;
            pdk__owned_add(hold);
        }
        pdk__unlock(hold->s);
    }
}

/* ---- what the calls do for a whole */

bool pdk__parts_valid(const struct pdk_hold *whole) {
    for (guint i = 0; i < whole->parts->count; i++)
        if (!pdk_hold_valid(whole->parts->part[i].hold))
            return false;
    return true;
}

int64_t pdk__parts_remaining_ms(const struct pdk_hold *whole) {
    int64_t least = INT64_MAX;
    for (guint i = 0; i < whole->parts->count; i++)
        least = MIN(least, pdk_hold_remaining_ms(whole->parts->part[i].hold));
    return least;
}

void pdk__parts_check(struct pdk_hold *whole) {
    for (guint i = 0; i < whole->parts->count; i++) {
        pdk_reason reason = pdk_hold_reason(whole->parts->part[i].hold);
        if (reason == PDK_REASON_NONE)
            continue;
        pdk__lock(whole->s);
        pdk__hold_lose(whole, reason);
        pdk__unlock(whole->s);
    }
}

void pdk__parts_detach_thread(const struct pdk_hold *whole) {
    for (guint i = 0; i < whole->parts->count; i++)
        pdk_hold_detach_thread(whole->parts->part[i].hold);
}

/* ---- the public functions */

int32_t pdk_hold_parts(const pdk_hold *hold) {
    return pdk__hold_is_ours(hold) && hold->parts ? (int32_t)hold->parts->count : 0;
}

static const struct pdk__part *part_of(const pdk_hold *hold, int32_t index) {
    return index >= 0 && index < pdk_hold_parts(hold) ? &hold->parts->part[index] : NULL;
}

const pdk_hold *pdk_hold_part(const pdk_hold *hold, int32_t index) {
    const struct pdk__part *part = part_of(hold, index);
    return part ? part->hold : NULL;
}

const char *pdk_hold_part_path(const pdk_hold *hold, int32_t index) {
    const struct pdk__part *part = part_of(hold, index);
    return part ? part->path : "";
}
