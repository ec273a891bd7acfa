/* The record of a lease lock: any bytes. Oracles: a regular expression has its shape; what is accepted is written again as the same
 * bytes. */
#include "core/lease_lock.h"
#include "fuzz.h"

#include <glib.h>
#include <string.h>

static bool has_shape(const char *data, size_t size) {
    static GRegex *shape;
    if (!shape)
        shape = g_regex_new(
            "\\Apaddock-lease 1\\n(?:N [1-9][0-9]{0,18}\\n|H [1-9][0-9]{0,18} [1-9][0-9]{0,11} [0-9a-f]{64} "
            "[^\\x00-\\x1f\\x7f]{1,128}\\n)\\z",
            G_REGEX_RAW, 0, NULL);
    return g_regex_match_full(shape, data, (gssize)size, 0, 0, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *data = (const char *)bytes;
    char text[PDK__LEASE_LOCK_SIZE];
    struct pdk__lease_record record;
    enum pdk__record_kind kind = pdk__lease_record_parse(data, size, &record);
    if (kind != PDK__RECORD_FINE) {
        FUZZ_REQUIRE(record.state == 0 && record.token == 0, "nothing of what is refused");
        return 0;
    }
    FUZZ_REQUIRE(size == 0 || has_shape(data, size), "%.*s", (int)size, data);
    FUZZ_REQUIRE((size == 0) == (record.state == 0), "an empty record");
    if (size > 0)
        FUZZ_REQUIRE(pdk__lease_record_write(&record, text) == size && memcmp(text, data, size) == 0, "%.*s", (int)size,
                     data);
    return 0;
}
