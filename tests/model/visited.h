/* The states that were seen: a set of hashes. */
#ifndef VISITED_H
#define VISITED_H

#include <stdbool.h>
#include <stdint.h>

struct model_visited {
    uint64_t *slots;
    uint64_t mask, count;
};
void model_visited_init(struct model_visited *v);
void model_visited_free(struct model_visited *v);
/* Soon it will be asked for this one. */
void model_visited_fetch(const struct model_visited *v, uint64_t hash);
/* true when it was not in there yet. */
bool model_visited_add(struct model_visited *v, uint64_t hash);

#endif
