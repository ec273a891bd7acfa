/* A fence in memory, without locks.
 *
 *     word 0  top       ┐ one pair, raised by one exchange of 16 bytes
 *     word 1  hand-over ┘
 *     word 2  floor       raised ahead of the pair
 *
 * Why three loads are a snapshot of the pair: top only grows, since each step of the rule makes it larger or leaves it. If it
 * is the same before and after the load of the hand-over, it was the same in between, and the hand-over is of this top.
 *
 * Why the floor may be a word of its own: it counts only while a reader's token is on top, and then it is the token of the
 * writer that was on top before. Whoever wants to put a reader's token above a writer's raises the floor to that writer's
 * token first, and exchanges the pair after that. While a writer is on top the floor does not count, so raising it early
 * changes nothing. It is only ever raised to a token that was on top as a writer's; so when the exchange succeeds, from just that
 * writer's pair, no larger floor is possible, and the floor is exact. Until another writer is on top nobody can move it: those
 * who come late raise it to a smaller token, which does nothing.
 *
 * An exchange that fails means that another thread has raised the mark. So some thread always gets on. */
#include "fence/fence.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static struct pdk__mark read_words(const struct pdk_fence *fence) {
    struct pdk__mark mark;
    uint64_t again = atomic_load_explicit(&fence->top, memory_order_acquire);
    do {
        mark.top = again;
        mark.handover = (uint32_t)atomic_load_explicit(&fence->handover, memory_order_acquire);
        mark.floor = atomic_load_explicit(&fence->floor, memory_order_acquire);
        again = atomic_load_explicit(&fence->top, memory_order_acquire);
    } while (again != mark.top);
    return mark;
}

static void raise_floor(struct pdk_fence *fence, int64_t token) {
    int64_t floor = atomic_load(&fence->floor);
    while (floor < token && !atomic_compare_exchange_weak(&fence->floor, &floor, token))
        ;
}

#if PDK__FENCE_WIDE

__extension__ typedef unsigned __int128 pair;

static pair pair_of(const struct pdk__mark *mark) {
    uint64_t words[2] = {mark->top, mark->handover};
    pair both;
    memcpy(&both, words, sizeof both);
    return both;
}

struct pdk__mark pdk__fence_load(const struct pdk_fence *fence) { return read_words(fence); }

static bool exchange(struct pdk_fence *fence, const struct pdk__mark *from, const struct pdk__mark *to) {
    if (to->floor != from->floor)
        raise_floor(fence, to->floor);
    pair *words = (pair *)(void *)fence;
    return __sync_bool_compare_and_swap(words, pair_of(from), pair_of(to));
}

#else

static void lock(const struct pdk_fence *fence) {
    while (atomic_flag_test_and_set_explicit(&((struct pdk_fence *)fence)->lock, memory_order_acquire))
        ;
}

static void unlock(const struct pdk_fence *fence) {
    atomic_flag_clear_explicit(&((struct pdk_fence *)fence)->lock, memory_order_release);
}

struct pdk__mark pdk__fence_load(const struct pdk_fence *fence) {
    lock(fence);
    struct pdk__mark mark = read_words(fence);
    unlock(fence);
    return mark;
}

static bool exchange(struct pdk_fence *fence, const struct pdk__mark *from, const struct pdk__mark *to) {
    lock(fence);
    bool same = atomic_load(&fence->top) == from->top && atomic_load(&fence->handover) == from->handover;
    if (same) {
        if (to->floor != from->floor)
            raise_floor(fence, to->floor);
        atomic_store(&fence->handover, to->handover);
        atomic_store(&fence->top, to->top);
    }
    unlock(fence);
    return same;
}

#endif

pdk_status pdk__fence_admit(struct pdk_fence *fence, const char *call, int64_t token, uint32_t handover,
                            enum pdk__use use) {
    for (;;) {
        struct pdk__mark from = pdk__fence_load(fence), to = from;
        if (!pdk__mark_admit(&to, token, handover, use))
            return pdk__mark_stale(call, &from, token, handover, use);
        if ((to.top == from.top && to.handover == from.handover) || exchange(fence, &from, &to))
            return PDK_OK;
    }
}

void pdk__fence_init(struct pdk_fence *fence) {
    memset(fence, 0, sizeof *fence);
    atomic_flag_clear(&fence->lock);
}

pdk_status pdk_fence_new(pdk_fence **out) {
    if (!out)
        return pdk__fail(PDK_INVALID, "pdk_fence_new: fence: is NULL");
    struct pdk_fence *fence = aligned_alloc(_Alignof(struct pdk_fence), sizeof *fence);
    if (!fence)
        return pdk__fail(PDK_SYSTEM, "pdk_fence_new: no memory");
    pdk__fence_init(fence);
    *out = fence;
    return PDK_OK;
}

void pdk_fence_free(pdk_fence *fence) { free(fence); }

static pdk_status admit(const char *call, struct pdk_fence *fence, int64_t token, uint32_t handover,
                        enum pdk__use use) {
    if (!fence || token <= 0)
        return pdk__mark_check(call, "fence", fence, token);
    return pdk__fence_admit(fence, call, token, handover, use);
}

pdk_status pdk_fence_admit(pdk_fence *fence, int64_t token, uint32_t handover) {
    return admit("pdk_fence_admit", fence, token, handover, PDK__WRITE);
}

pdk_status pdk_fence_admit_shared(pdk_fence *fence, int64_t token, uint32_t handover) {
    return admit("pdk_fence_admit_shared", fence, token, handover, PDK__READ);
}

pdk_status pdk_fence_advance(pdk_fence *fence, int64_t token, uint32_t handover) {
    return admit("pdk_fence_advance", fence, token, handover, PDK__WRITE);
}

void pdk_fence_mark(const pdk_fence *fence, int64_t *token, uint32_t *handover) {
    struct pdk__mark mark = {0};
    if (fence)
        mark = pdk__fence_load(fence);
    if (token)
        *token = pdk__mark_token(&mark);
    if (handover)
        *handover = pdk__mark_is_writers(&mark) ? mark.handover : 0;
}
