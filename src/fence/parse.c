/* Reads tokens and sequencers that others send. */
#include "base/text.h"
#include "core/sequencer.h"
#include "fence/mark.h"

#include <string.h>

_Static_assert(sizeof((pdk_sequencer *)0)->node == sizeof((struct pdk__sequencer *)0)->node, "the same node");

pdk_status pdk_token_parse(const void *bytes, size_t size, int64_t *token) {
    uint64_t value;
    if (!bytes || !token)
        return pdk__fail(PDK_INVALID, "pdk_token_parse: %s: is NULL", bytes ? "token" : "bytes");
    if (size > 20 || !pdk__number_parse(bytes, size, 1, INT64_MAX, &value))
        return pdk__fail(PDK_INVALID, "pdk_token_parse: bytes: not a token; pass the digits of pdk_hold_token_text");
    *token = (int64_t)value;
    return PDK_OK;
}

pdk_status pdk_sequencer_parse(const void *bytes, size_t size, pdk_sequencer *out) {
    static const pdk_mode modes[] = {
        [PDK__MODE_EXCLUSIVE] = PDK_MODE_EXCLUSIVE,
        [PDK__MODE_SHARED] = PDK_MODE_SHARED,
        [PDK__MODE_LEADER] = PDK_MODE_LEADER,
        [PDK__MODE_PERMIT] = PDK_MODE_PERMIT,
    };
    struct pdk__sequencer read;
    if (!bytes || !out)
        return pdk__fail(PDK_INVALID, "pdk_sequencer_parse: %s: is NULL", bytes ? "out" : "bytes");
    if (!pdk__sequencer_parse_bytes(bytes, size, &read))
        return pdk__fail(PDK_INVALID,
                         "pdk_sequencer_parse: bytes: not a sequencer; pass what pdk_hold_sequencer returned");
    memset(out, 0, sizeof *out);
    memcpy(out->node, read.node, strlen(read.node) + 1);
    out->token = read.token;
    out->node_czxid = read.czxid;
    out->handover = read.handover;
    out->mode = modes[read.mode];
    return PDK_OK;
}
