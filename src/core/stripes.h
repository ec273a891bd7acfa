/* The stripe of a key: the same number in every language and version, for ever.
 *
 *     bytes ── FNV-1a, 64 bits ──► h ── the finalizer of MurmurHash3 ──► h' ── modulo the stripes ──► stripe
 *
 * The finalizer is there because FNV-1a alone has weak low bits: with a power of two, keys that differ in one place
 * would fill a part of the stripes. */
#ifndef PDK_CORE_STRIPES_H
#define PDK_CORE_STRIPES_H

#include <stddef.h>
#include <stdint.h>

uint64_t pdk__key_hash(const void *key, size_t size);
/* stripes: 1 or more. */
int32_t pdk__stripe_of(const void *key, size_t size, int32_t stripes);

#endif
