/* What a hold says of itself: its token, its sequencer, its node; and the names of reasons. The hold of several rights leaves
 * all that to its parts: none of theirs is true of the whole. */
#include "grant/hold.h"

const char *pdk_reason_name(pdk_reason reason) {
    switch (reason) {
    case PDK_REASON_NONE:
        return "NONE";
    case PDK_REASON_EXPIRED:
        return "EXPIRED";
    case PDK_REASON_LEASE:
        return "LEASE";
    case PDK_REASON_NODE_GONE:
        return "NODE_GONE";
    case PDK_REASON_CLOSED:
        return "CLOSED";
    case PDK_REASON_OVERDUE:
        return "OVERDUE";
    }
    return "UNKNOWN";
}

int64_t pdk_hold_token(const pdk_hold *hold) { return hold ? hold->token : 0; }
uint32_t pdk_hold_handover(const pdk_hold *hold) { return hold ? hold->handover : 0; }
const char *pdk_hold_token_text(const pdk_hold *hold) { return hold ? hold->token_text : ""; }

const char *pdk_hold_sequencer(const pdk_hold *hold) {
    if (!pdk__hold_is_ours(hold) || hold->parts)
        return "";
    pdk_hold *inside = (pdk_hold *)hold;
    pdk_session *s = hold->s;
    pdk__lock(s);
    if (!inside->sequencer)
        inside->sequencer =
            g_strdup_printf("pdk1 %s %" G_GINT64_FORMAT " %u", hold->proof, hold->token, hold->handover);
    const char *sequencer = inside->sequencer;
    pdk__unlock(s);
    return sequencer;
}

const char *pdk_hold_node(const pdk_hold *hold) {
    if (!pdk__hold_is_ours(hold) || hold->parts)
        return "";
    pdk__lock(hold->s);
    const char *node = hold->exchanged ? hold->exchanged : hold->node;
    pdk__unlock(hold->s);
    return node;
}
