/* Reads ZooKeeper's frames as they pass. */
#include "sniff.h"

#include <string.h>

enum { HANDSHAKE_HEAD = 37, HEAD = 16, LONGEST = 8 << 20 };

int32_t pdk__test_get32(const uint8_t *at) {
    return (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3]);
}

int64_t pdk__test_get64(const uint8_t *at) {
    return (int64_t)((uint64_t)(uint32_t)pdk__test_get32(at) << 32 | (uint64_t)(uint32_t)pdk__test_get32(at + 4));
}

bool pdk__test_sniff_between(const pdk__test_sniff *s) { return s->have == 0 && s->skip == 0; }

/* How many bytes of length and body make the head of the present frame. */
static size_t head_size(const pdk__test_sniff *s) {
    const size_t wanted = s->past_first ? HEAD : HANDSHAKE_HEAD;
    const size_t body = (size_t)pdk__test_get32(s->head);

    return 4 + (body < wanted ? body : wanted);
}

static size_t fill(pdk__test_sniff *s, size_t to, const uint8_t *data, size_t size) {
    const size_t missing = to - s->have;
    const size_t part = missing < size ? missing : size;

    memcpy(s->head + s->have, data, part);
    s->have += part;
    return part;
}

static void finish_head(pdk__test_sniff *s, pdk__test_frame *frame) {
    const size_t size = s->have - 4;

    frame->ready = true;
    frame->handshake = !s->past_first;
    frame->body = s->head + 4;
    frame->size = size;
    s->skip = (uint32_t)pdk__test_get32(s->head) - (uint32_t)size;
    s->past_first = true;
    s->have = 0; /* the bytes stay until the next step, for the caller to look at */
}

size_t pdk__test_sniff_step(pdk__test_sniff *s, const uint8_t *data, size_t size, pdk__test_frame *frame) {
    size_t used = 0;

    frame->ready = false;
    if (s->unreadable) {
        return size;
    }
    if (s->skip > 0) {
        used = s->skip < size ? s->skip : size;
        s->skip -= (uint32_t)used;
        return used;
    }
    if (s->have < 4) {
        used = fill(s, 4, data, size);
        if (s->have < 4) {
            return used;
        }
        /* A four-letter command reads as an absurd length. */
        s->unreadable = pdk__test_get32(s->head) < 8 || pdk__test_get32(s->head) > LONGEST;
        if (s->unreadable) {
            return size;
        }
    }
    used += fill(s, head_size(s), data + used, size - used);
    if (s->have == head_size(s)) {
        finish_head(s, frame);
    }
    return used;
}
