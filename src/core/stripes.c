#include "core/stripes.h"

#include <assert.h>

uint64_t pdk__key_hash(const void *key, size_t size) {
    const unsigned char *bytes = key;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ (h >> 33);
}

int32_t pdk__stripe_of(const void *key, size_t size, int32_t stripes) {
    assert(stripes > 0);
    return (int32_t)(pdk__key_hash(key, size) % (uint32_t)stripes);
}
