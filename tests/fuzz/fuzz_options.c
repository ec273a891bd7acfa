/* Option structs of any version, ours between 8 and 71 bytes long. Each byte is as the rule says. No byte is read that
 * the caller did not promise. Input: our size, the size of the first version, theirs, and their struct. */
#include "fuzz.h"
#include "session/options.h"

#include <glib.h>
#include <string.h>

enum { DEFAULT = 0xd5, MOST = 65536 };

struct versions {
    size_t first, ours, theirs;
};

/* The value that byte i of ours must have afterwards. */
static uint8_t expected(const struct versions *v, const uint8_t *given, size_t i) {
    const uint8_t *size = (const uint8_t *)&v->ours;
    if (i < sizeof v->ours)
        return size[i];
    return i < v->theirs ? given[i] : DEFAULT;
}

static bool is_acceptable(const struct versions *v, const uint8_t *given) {
    if (v->theirs < v->first || v->theirs > MOST || v->theirs % sizeof v->theirs != 0)
        return false;
    for (size_t i = v->ours; i < v->theirs; i++)
        if (given[i] != 0)
            return false;
    return true;
}

static void check(const struct versions *v, const uint8_t *given) {
    g_autofree uint8_t *full = g_malloc(v->ours);
    memset(full, DEFAULT, v->ours);
    memcpy(full, &v->ours, sizeof v->ours);
    pdk_status status = pdk__options_read("options", given, full, v->ours, v->first);
    bool fine = !given || is_acceptable(v, given);
    FUZZ_REQUIRE(status == (fine ? PDK_OK : PDK_INVALID), "sizes %zu %zu %zu: %s", v->first, v->ours, v->theirs,
                 pdk_status_name(status));
    FUZZ_REQUIRE(fine || g_str_has_prefix(pdk_last_error(), "options: "), "\"%s\"", pdk_last_error());
    for (size_t i = 0; i < v->ours; i++) {
        uint8_t byte = fine && given ? expected(v, given, i) : i < sizeof v->ours ? full[i] : DEFAULT;
        FUZZ_REQUIRE(full[i] == byte, "sizes %zu %zu %zu: byte %zu is %u, not %u", v->first, v->ours, v->theirs, i,
                     full[i], byte);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    struct versions v = {.ours = sizeof v.ours + fuzz_byte(&in) % 64};
    v.first = sizeof v.first + fuzz_byte(&in) % (v.ours - sizeof v.first + 1);
    unsigned way = fuzz_byte(&in) % 8;
    v.theirs = (size_t)fuzz_number(&in, way > 0 ? 1 : 8); /* mostly near to ours */
    if (way > 2)
        v.theirs -= v.theirs % sizeof v.theirs; /* as the size of a struct is */
    /* A size that is refused promises nothing but itself. */
    size_t block = v.theirs > MOST ? sizeof v.theirs : MAX(v.theirs, sizeof v.theirs);
    g_autofree uint8_t *given = g_malloc0(block);
    if (in.left > 0 && block > sizeof v.theirs)
        memcpy(given + sizeof v.theirs, in.at, MIN(in.left, block - sizeof v.theirs));
    memcpy(given, &v.theirs, sizeof v.theirs);
    check(&v, given);
    check(&v, NULL);
    return 0;
}
