/* The states that were seen and still wait to be expanded: packed, first in, first out. */
#ifndef FRONTIER_H
#define FRONTIER_H

#include <stddef.h>
#include <stdint.h>

struct chunk;
struct frontier {
    struct chunk *first, *last;
};
void frontier_push(struct frontier *f, uint32_t id, const uint8_t *bytes, size_t size);
/* Their size, 0 when there is none. */
size_t frontier_pop(struct frontier *f, uint32_t *id, uint8_t *bytes);
void frontier_free(struct frontier *f);

#endif
