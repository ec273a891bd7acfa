/* What the calls about a hold do for a whole. */
#include "core/majority.h"
#include "grant/owned.h"
#include "grant/parts.h"

#include <paddock/all.h>

/* Between these two no hold of a part is freed, although it may be replaced. Where all are needed, none is. */
static void begin_reading(const struct pdk__parts *parts) {
    if (pdk__parts_some_suffice(parts))
        atomic_fetch_add(&((struct pdk__parts *)parts)->readers, 1);
}

static void end_reading(const struct pdk__parts *parts) {
    if (pdk__parts_some_suffice(parts))
        atomic_fetch_sub(&((struct pdk__parts *)parts)->readers, 1);
}

struct pdk_hold *pdk__parts_take(const struct pdk__parts *parts, guint i) {
    begin_reading(parts);
    struct pdk_hold *hold = pdk_hold_ref(atomic_load(&parts->part[i].hold));
    end_reading(parts);
    return hold;
}

static int64_t lease_of(const struct pdk__parts *parts) {
    int64_t words[PDK__MAJORITY_MOST];
    for (guint i = 0; i < parts->count; i++) {
        const struct pdk_hold *hold = atomic_load(&parts->part[i].hold);
        words[i] = hold ? atomic_load(&hold->until) : PDK__LAPSED;
    }
    return pdk__majority_until(words, parts->count, parts->need);
}

/* A renewal may have come since its word was read. What is found invalid here is so for good, but another hold may have come in its place
 * before the next one was lost: then they were never gone together. */
static bool too_many_are_gone(const struct pdk__parts *parts) {
    const struct pdk_hold *seen[PDK__MAJORITY_MOST];
    const guint count = parts->count;
    guint gone = 0;
    for (guint i = 0; i < count; i++) {
        seen[i] = atomic_load(&parts->part[i].hold);
        gone += !pdk_hold_is_valid(seen[i]);
    }
    bool same = true;
    for (guint i = 0; i < count; i++)
        same = same && atomic_load(&parts->part[i].hold) == seen[i];
    return same && gone > count - parts->need;
}

bool pdk__parts_valid(const struct pdk_hold *whole) {
    bool valid, gone;
    begin_reading(whole->parts);
    do {
        int64_t until = lease_of(whole->parts); /* before the clock */
        valid = pdk__now(whole->s) < until;
        gone = !valid && too_many_are_gone(whole->parts);
    } while (!valid && !gone);
    end_reading(whole->parts);
    return valid;
}

int64_t pdk__parts_remaining_ms(const struct pdk_hold *whole) {
    begin_reading(whole->parts);
    int64_t until = lease_of(whole->parts);
    end_reading(whole->parts);
    return MAX(until - pdk__now(whole->s), 0) / PDK__MS;
}

void pdk__parts_check(struct pdk_hold *whole) {
    pdk_reason reason = PDK_REASON_NONE;
    for (guint i = 0; i < whole->parts->count; i++) {
        struct pdk_hold *hold = pdk__parts_take(whole->parts, i);
        pdk_reason of_part = pdk_hold_reason(hold);
        reason = reason == PDK_REASON_NONE ? of_part : reason;
        pdk_hold_unref(hold);
    }
    if (pdk_hold_is_valid(whole))
        return;
    pdk__lock(whole->s);
    if (reason != PDK_REASON_NONE)
        pdk__hold_lose(whole, reason);
    pdk__unlock(whole->s);
}

/* A part is taken again under its monitor: it sees that there is no thread, or it is the hold that is detached here. */
void pdk__parts_detach_thread(const struct pdk_hold *whole) {
    atomic_store(&whole->parts->thread, 0);
    for (guint i = 0; i < whole->parts->count; i++) {
        struct pdk__part *part = &whole->parts->part[i];
        pdk_session *s = part->right.queue->s;
        pdk__lock(s);
        struct pdk_hold *hold = atomic_load(&part->hold);
        if (hold)
            pdk__owned_remove(hold);
        pdk__unlock(s);
    }
}

/* ---- the public functions */

int32_t pdk_hold_parts(const pdk_hold *hold) {
    return pdk__hold_is_ours(hold) && hold->parts ? (int32_t)hold->parts->count : 0;
}

static const struct pdk__part *part_of(const pdk_hold *hold, int32_t index) {
    return index >= 0 && index < pdk_hold_parts(hold) ? &hold->parts->part[index] : NULL;
}

/* It lives as long as the whole from now on. */
const pdk_hold *pdk_hold_part(const pdk_hold *hold, int32_t index) {
    const struct pdk__part *part = part_of(hold, index);
    if (!part)
        return NULL;
    begin_reading(hold->parts);
    struct pdk_hold *found = atomic_load(&part->hold);
    if (found)
        atomic_store(&found->shown, true);
    end_reading(hold->parts);
    return found;
}

const char *pdk_hold_part_path(const pdk_hold *hold, int32_t index) {
    const struct pdk__part *part = part_of(hold, index);
    return part ? part->right.path : "";
}
