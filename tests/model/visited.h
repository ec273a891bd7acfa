/* The states that were seen: a set of hashes. */
#ifndef VISITED_H
#define VISITED_H

#include <stdbool.h>
#include <stdint.h>

struct visited {
    uint64_t *slots;
    uint64_t mask, count;
};
void visited_init(struct visited *v);
void visited_free(struct visited *v);
/* Soon it will be asked for this one. */
void visited_fetch(const struct visited *v, uint64_t hash);
/* true when it was not in there yet. */
bool visited_add(struct visited *v, uint64_t hash);

#endif
