/* The parser of sequencers. */
#ifndef PDK_SEQUENCER_INSIDE_H
#define PDK_SEQUENCER_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

struct pdk__sequencer {
    char node[1024];
    int64_t token;
    int64_t czxid; /* of the node: the token, unless the grant was downgraded */
    uint32_t handover;
};

/* Takes any text, NULL included. false: not a sequencer. */
bool pdk__sequencer_parse(const char *text, struct pdk__sequencer *out);

#endif
