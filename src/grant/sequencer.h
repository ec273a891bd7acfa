/* Sequencers, taken apart. */
#ifndef PDK_SEQUENCER_INSIDE_H
#define PDK_SEQUENCER_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

struct pdk__sequencer {
    char node[1024];
    int64_t token;
    int64_t czxid; /* of the node: the token, but for a right that was downgraded */
    uint32_t handover;
};

/* Total: any text, NULL included. */
bool pdk__sequencer_parse(const char *text, struct pdk__sequencer *out);

#endif
