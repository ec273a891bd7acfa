/* SipHash-2-4: hostile names cannot crowd one bucket of a map, since its key is random. With a fixed key it is the
 * checksum of a slot of a file. */
#ifndef PDK_FENCE_HASH_H
#define PDK_FENCE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t pdk__hash(const uint64_t key[2], const void *bytes, size_t size);

#endif
