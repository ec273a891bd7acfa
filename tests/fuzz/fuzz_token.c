/* The public parsers of tokens and sequencers: any bytes, in a block of just their size, zeros among them. Oracle of tokens: the
 * decimal digits, counted by hand. Oracle of sequencers: the parser that takes texts, where there are no zeros. What was refused
 * leaves the output alone. Input: the bytes. */
#include "core/sequencer.h"
#include "fuzz.h"

#include <glib.h>
#include <paddock/fence.h>
#include <string.h>

/* A token by its text: no longer than 20 digits, and by the order of padded texts within the limits. */
static bool is_token(const char *bytes, size_t size) {
    char padded[21] = "00000000000000000000";
    for (size_t i = 0; i < size; i++)
        if (size > 20 || !g_ascii_isdigit(bytes[i]))
            return false;
    memcpy(padded + 20 - size, bytes, size);
    return strcmp(padded, "00000000000000000000") > 0 && strcmp(padded, "09223372036854775807") <= 0;
}

static void check_token(const char *bytes, size_t size) {
    int64_t token = -7;
    pdk_status status = pdk_token_parse(bytes, size, &token);
    bool expected = is_token(bytes, size);
    FUZZ_REQUIRE(status == (expected ? PDK_OK : PDK_INVALID), "token of %zu bytes: %d", size, (int)status);
    if (expected) {
        char text[32];
        g_snprintf(text, sizeof text, "%020" G_GINT64_FORMAT, token);
        FUZZ_REQUIRE(memcmp(text + 20 - size, bytes, size) == 0, "read as %s", text);
    } else {
        FUZZ_REQUIRE(token == -7, "the output was changed");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *bytes = size ? (const char *)data : "";
    pdk_sequencer out;
    struct pdk__sequencer inner;
    check_token(bytes, size);
    memset(&out, 0x5a, sizeof out);
    pdk_status status = pdk_sequencer_parse(bytes, size, &out);
    g_autofree char *text = g_strndup(bytes, size);
    bool expected = strlen(text) == size && pdk__sequencer_parse(text, &inner);
    FUZZ_REQUIRE(status == (expected ? PDK_OK : PDK_INVALID), "sequencer of %zu bytes: %d", size, (int)status);
    if (expected) {
        FUZZ_REQUIRE(strcmp(out.node, inner.node) == 0 && out.token == inner.token && out.handover == inner.handover,
                     "\"%s\"", text);
        g_autofree char *prefix = g_strdup_printf("pdk1 %s ", out.node);
        FUZZ_REQUIRE(g_str_has_prefix(text, prefix), "\"%s\"", text);
        static const char first[] = "eslp"; /* exclusive, shared, leader, permit */
        FUZZ_REQUIRE(text[strlen(prefix)] == first[out.mode], "\"%s\": mode %d", text, (int)out.mode);
    } else {
        for (size_t i = 0; i < sizeof out; i++)
            FUZZ_REQUIRE(((const char *)&out)[i] == 0x5a, "the output was changed");
    }
    return 0;
}
