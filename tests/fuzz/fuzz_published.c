/* What leaders publish: the parts of a znode's data put together again are its data, and a slow reader finds the same ones. Input:
 * the data of a znode. */
#include "core/published.h"

#include <string.h>

#include "core/revocation.h"
#include "fuzz.h"

/* Where the identity begins: behind a wish of ours, which fuzz_revocation looks at. */
static size_t head_of(const char *data, size_t size) {
    struct pdk__revocation r;
    return pdk__revocation_read(data, size, &r) && r.who_size > 0 ? size - r.identity_size : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *data = size > 0 ? (const char *)bytes : "";
    struct pdk__published p;
    pdk__published_read(data, size, &p);
    size_t begin = head_of(data, size), end = begin;
    while (end < size && data[end] != '\0')
        end++;
    FUZZ_REQUIRE(p.identity_size == end - begin, "the identity has %zu bytes, expected %zu", p.identity_size,
                 end - begin);
    FUZZ_REQUIRE(memcmp(p.identity, data + begin, end - begin) == 0, "%.*s is not the identity", (int)p.identity_size,
                 p.identity);
    FUZZ_REQUIRE((p.data != NULL) == (end < size), "published: %d, expected %d", p.data != NULL, end < size);
    if (p.data)
        FUZZ_REQUIRE(p.data_size == size - end - 1 && memcmp(p.data, data + end + 1, p.data_size) == 0,
                     "%zu bytes are published, expected %zu", p.data_size, size - end - 1);
    return 0;
}
