/* The states that were seen and still wait to be expanded: packed, one after the other, in chunks. A chunk is given
 * back as soon as it is read. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20 };

struct model_chunk {
    struct model_chunk *next;
    size_t read, written;
    uint8_t bytes[CHUNK];
};

static struct model_chunk *chunk_new(void) {
    struct model_chunk *chunk = malloc(sizeof *chunk);
    if (!chunk)
        abort();
    chunk->next = NULL;
    chunk->read = chunk->written = 0;
    return chunk;
}

void model_frontier_push(struct model_frontier *f, const uint8_t *bytes, size_t size) {
    uint16_t length = (uint16_t)size;
    if (!f->last || f->last->written + sizeof length + size > CHUNK) {
        struct model_chunk *chunk = chunk_new();
        if (f->last)
            f->last->next = chunk;
        else
            f->first = chunk;
        f->last = chunk;
    }
    memcpy(f->last->bytes + f->last->written, &length, sizeof length);
    memcpy(f->last->bytes + f->last->written + sizeof length, bytes, size);
    f->last->written += sizeof length + size;
}

static void drop_first(struct model_frontier *f) {
    struct model_chunk *done = f->first;
    f->first = done->next;
    if (!f->first)
        f->last = NULL;
    free(done);
}

size_t model_frontier_pop(struct model_frontier *f, uint8_t bytes[MODEL_PACKED]) {
    uint16_t length;
    if (f->first && f->first->read == f->first->written)
        drop_first(f);
    if (!f->first)
        return 0;
    memcpy(&length, f->first->bytes + f->first->read, sizeof length);
    memcpy(bytes, f->first->bytes + f->first->read + sizeof length, length);
    f->first->read += sizeof length + length;
    return length;
}

void model_frontier_free(struct model_frontier *f) {
    while (f->first)
        drop_first(f);
}
