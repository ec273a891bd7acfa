/* A set of 64-bit hashes by open addressing: 8 bytes a state, and free slots. With n states two of them share a hash,
 * so that one is taken for the other, with a probability of n²/2⁶⁵: one in 370,000 for ten million, one in 3,700 for a
 * hundred million. */
#include "visited.h"

#include <stdlib.h>
#include <sys/mman.h>

static uint64_t *slots_new(uint64_t n) {
    uint64_t *slots = mmap(NULL, n * sizeof *slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slots == MAP_FAILED)
        abort();
    madvise(slots, n * sizeof *slots, MADV_HUGEPAGE); /* the accesses are all over it */
    return slots;
}

static void slots_free(uint64_t *slots, uint64_t n) { munmap(slots, n * sizeof *slots); }

void visited_init(struct visited *v) {
    v->mask = (1 << 16) - 1;
    v->count = 0;
    v->slots = slots_new(v->mask + 1);
}

void visited_free(struct visited *v) { slots_free(v->slots, v->mask + 1); }

static bool insert(uint64_t *slots, uint64_t mask, uint64_t hash) {
    uint64_t at = hash & mask;
    while (slots[at] != 0 && slots[at] != hash)
        at = (at + 1) & mask;
    if (slots[at] == hash)
        return false;
    slots[at] = hash;
    return true;
}

static void grow(struct visited *v) {
    uint64_t mask = v->mask * 2 + 1;
    uint64_t *slots = slots_new(mask + 1);
    for (uint64_t i = 0; i <= v->mask; i++)
        if (v->slots[i] != 0)
            insert(slots, mask, v->slots[i]);
    slots_free(v->slots, v->mask + 1);
    v->slots = slots;
    v->mask = mask;
}

void visited_fetch(const struct visited *v, uint64_t hash) { __builtin_prefetch(&v->slots[hash & v->mask], 1); }

bool visited_add(struct visited *v, uint64_t hash) {
    if (!insert(v->slots, v->mask, hash == 0 ? 1 : hash))
        return false;
    if (++v->count * 10 > v->mask * 7)
        grow(v);
    return true;
}
