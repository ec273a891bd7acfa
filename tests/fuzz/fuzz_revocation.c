/* Wishes that a holder let go: a regular expression describes ours, and what is read can be written again. Input: the data of
 * a znode. */
#include "core/revocation.h"
#include "fuzz.h"

#include <glib.h>
#include <string.h>

static bool read_slowly(const char *data, size_t size) {
    static GRegex *shape;
    if (!shape)
        shape = g_regex_new("\\A__REVOKE__(?: (?:0|[1-9][0-9]{0,14}) [^\\x00-\\x1f\\x7f]{1,1024}\\n.*)?\\z",
                            G_REGEX_RAW | G_REGEX_DOTALL, 0, NULL);
    return g_regex_match_full(shape, data, (gssize)size, 0, 0, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *data = (const char *)bytes;
    struct pdk__revocation r;
    bool accepted = pdk__revocation_read(data, size, &r), expected = size > 0 && read_slowly(data, size);
    FUZZ_REQUIRE(accepted == expected, "%.*s: %d, expected %d", (int)size, data, accepted, expected);
    FUZZ_REQUIRE(r.within_ms >= 0 && r.within_ms <= PDK__WITHIN_MAX, "%.*s", (int)size, data);
    if (!accepted) {
        FUZZ_REQUIRE(r.identity_size == size && r.who_size == 0, "%.*s: the identity is all of it", (int)size, data);
    } else if (r.who_size > 0) {
        char head[PDK__REVOKE_SIZE];
        g_autofree char *who = g_strndup(r.who, r.who_size);
        size_t length = pdk__revocation_write(r.within_ms, who, head);
        FUZZ_REQUIRE(length + r.identity_size == size && memcmp(head, data, length) == 0, "%.*s: wrote %s", (int)size,
                     data, head);
        FUZZ_REQUIRE(pdk__who_error(who) == NULL, "%s", who);
    }
    return 0;
}
