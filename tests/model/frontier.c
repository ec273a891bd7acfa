/* One after the other, in chunks. A chunk is given back as soon as it is read. */
#include "frontier.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20 };

struct head {
    uint32_t id;
    uint16_t size;
};

struct chunk {
    struct chunk *next;
    size_t read, written;
    uint8_t bytes[CHUNK];
};

static struct chunk *chunk_new(void) {
    struct chunk *chunk = malloc(sizeof *chunk);
    if (!chunk)
        abort();
    chunk->next = NULL;
    chunk->read = chunk->written = 0;
    return chunk;
}

void frontier_push(struct frontier *f, uint32_t id, const uint8_t *bytes, size_t size) {
    struct head head = {id, (uint16_t)size};
    if (!f->last || f->last->written + sizeof head + size > CHUNK) {
        struct chunk *chunk = chunk_new();
        if (f->last)
            f->last->next = chunk;
        else
            f->first = chunk;
        f->last = chunk;
    }
    memcpy(f->last->bytes + f->last->written, &head, sizeof head);
    memcpy(f->last->bytes + f->last->written + sizeof head, bytes, size);
    f->last->written += sizeof head + size;
}

static void drop_first(struct frontier *f) {
    struct chunk *done = f->first;
    f->first = done->next;
    if (!f->first)
        f->last = NULL;
    free(done);
}

size_t frontier_pop(struct frontier *f, uint32_t *id, uint8_t *bytes) {
    struct head head;
    if (f->first && f->first->read == f->first->written)
        drop_first(f);
    if (!f->first)
        return 0;
    memcpy(&head, f->first->bytes + f->first->read, sizeof head);
    memcpy(bytes, f->first->bytes + f->first->read + sizeof head, head.size);
    f->first->read += sizeof head + head.size;
    *id = head.id;
    return head.size;
}

void frontier_free(struct frontier *f) {
    while (f->first)
        drop_first(f);
}
