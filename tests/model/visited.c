/* A set of 64-bit hashes by open addressing: 8 bytes a state, and room. With n states two of them share a hash with a
 * probability of n²/2⁶⁵: one in 370,000 for ten million. */
#include "model.h"

#include <stdlib.h>

static uint64_t *slots_new(uint64_t n) {
    uint64_t *slots = calloc(n, sizeof *slots);
    if (!slots)
        abort();
    return slots;
}

void model_visited_init(struct model_visited *v) {
    v->mask = (1 << 16) - 1;
    v->count = 0;
    v->slots = slots_new(v->mask + 1);
}

void model_visited_free(struct model_visited *v) { free(v->slots); }

static bool insert(uint64_t *slots, uint64_t mask, uint64_t hash) {
    uint64_t at = hash & mask;
    while (slots[at] != 0 && slots[at] != hash)
        at = (at + 1) & mask;
    bool is_new = slots[at] == 0;
    slots[at] = hash;
    return is_new;
}

static void grow(struct model_visited *v) {
    uint64_t mask = v->mask * 2 + 1;
    uint64_t *slots = slots_new(mask + 1);
    for (uint64_t i = 0; i <= v->mask; i++)
        if (v->slots[i] != 0)
            insert(slots, mask, v->slots[i]);
    free(v->slots);
    v->slots = slots;
    v->mask = mask;
}

bool model_visited_add(struct model_visited *v, uint64_t hash) {
    if (!insert(v->slots, v->mask, hash == 0 ? 1 : hash))
        return false;
    if (++v->count * 10 > v->mask * 7)
        grow(v);
    return true;
}
