#include "fence/hash.h"

#include <string.h>

static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

static void mix(uint64_t v[4], int rounds) {
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1], v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1], v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

/* The number of up to 8 bytes, the first of which is the lowest. */
static uint64_t little_endian(const unsigned char *bytes, size_t size) {
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

uint64_t pdk__hash(const uint64_t key[2], const void *bytes, size_t size) {
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                     key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    const unsigned char *at = bytes;
    for (size_t left = size;; left -= 8, at += 8) {
        uint64_t word = left >= 8 ? little_endian(at, 8) : little_endian(at, left) | (uint64_t)size << 56;
        v[3] ^= word;
        mix(v, 2);
        v[0] ^= word;
        if (left < 8)
            break;
    }
    v[2] ^= 0xff;
    mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
