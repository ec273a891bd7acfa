/* A mark in memory, without locks.
 *
 *     word 0  top       ┐ one pair, raised by one exchange of 16 bytes
 *     word 1  hand-over ┘
 *     word 2  floor       raised ahead of the pair
 *
 * Three loads are a snapshot of the pair, since top only grows: each step of the rule makes it larger or leaves it. If
 * it is the same before and after the load of the hand-over, it was the same in between, and the hand-over is of this
 * top.
 *
 * The floor may be a word of its own, since it counts only while a reader's token is on top, and then it is the token
 * of the writer that was on top before. A thread that puts a reader's token above a writer's raises the floor to that
 * writer's token first, and exchanges the pair after that. While a writer is on top the floor does not count, so
 * raising it early changes nothing. It is only ever raised to a token that was on top as a writer's; so when the
 * exchange succeeds, from just that writer's pair, no larger floor is possible, and the floor is exact. Until another
 * writer is on top nobody can move it: a thread that comes late raises it to a smaller token, which does nothing.
 *
 * An exchange that fails means that another thread has raised the mark. So some thread always gets on. */
#include "fence/cell.h"

#include <string.h>

static struct pdk__mark read_words(const struct pdk__cell *cell) {
    struct pdk__mark mark;
    uint64_t again = atomic_load_explicit(&cell->top, memory_order_acquire);
    do {
        mark.top = again;
        mark.handover = (uint32_t)atomic_load_explicit(&cell->handover, memory_order_acquire);
        mark.floor = atomic_load_explicit(&cell->floor, memory_order_acquire);
        again = atomic_load_explicit(&cell->top, memory_order_acquire);
    } while (again != mark.top);
    return mark;
}

static void raise_floor(struct pdk__cell *cell, int64_t token) {
    int64_t floor = atomic_load(&cell->floor);
    while (floor < token && !atomic_compare_exchange_weak(&cell->floor, &floor, token))
        ;
}

#if PDK__CELL_WIDE

__extension__ typedef unsigned __int128 pair;

static pair pair_of(const struct pdk__mark *mark) {
    uint64_t words[2] = {mark->top, mark->handover};
    pair both;
    memcpy(&both, words, sizeof both);
    return both;
}

struct pdk__mark pdk__cell_load(const struct pdk__cell *cell) { return read_words(cell); }

static bool cell_exchange(struct pdk__cell *cell, const struct pdk__mark *from, const struct pdk__mark *to) {
    if (to->floor != from->floor)
        raise_floor(cell, to->floor);
    pair *words = (pair *)(void *)cell;
    return __sync_bool_compare_and_swap(words, pair_of(from), pair_of(to));
}

#else

static void cell_lock(const struct pdk__cell *cell) {
    while (atomic_flag_test_and_set_explicit(&((struct pdk__cell *)cell)->lock, memory_order_acquire))
        ;
}

static void cell_unlock(const struct pdk__cell *cell) {
    atomic_flag_clear_explicit(&((struct pdk__cell *)cell)->lock, memory_order_release);
}

struct pdk__mark pdk__cell_load(const struct pdk__cell *cell) {
    cell_lock(cell);
    struct pdk__mark mark = read_words(cell);
    cell_unlock(cell);
    return mark;
}

static bool cell_exchange(struct pdk__cell *cell, const struct pdk__mark *from, const struct pdk__mark *to) {
    cell_lock(cell);
    bool same = atomic_load(&cell->top) == from->top && atomic_load(&cell->handover) == from->handover;
    if (same) {
        if (to->floor != from->floor)
            raise_floor(cell, to->floor);
        atomic_store(&cell->handover, to->handover);
        atomic_store(&cell->top, to->top);
    }
    cell_unlock(cell);
    return same;
}

#endif

pdk_status pdk__cell_admit(struct pdk__cell *cell, const char *call, int64_t token, uint32_t handover,
                           enum pdk__use use) {
    for (;;) {
        struct pdk__mark from = pdk__cell_load(cell), to = from;
        if (!pdk__mark_admit(&to, token, handover, use))
            return pdk__mark_stale(call, &from, token, handover, use);
        if ((to.top == from.top && to.handover == from.handover) || cell_exchange(cell, &from, &to))
            return PDK_OK;
    }
}

void pdk__cell_init(struct pdk__cell *cell) {
    memset(cell, 0, sizeof *cell);
    atomic_flag_clear(&cell->lock);
}
