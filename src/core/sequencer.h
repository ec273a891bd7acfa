/* The parser of sequencers and tokens: texts that come from others, of any bytes. */
#ifndef PDK_CORE_SEQUENCER_H
#define PDK_CORE_SEQUENCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDK__SEQUENCER_MAX 1024

enum pdk__mode { PDK__MODE_EXCLUSIVE, PDK__MODE_SHARED, PDK__MODE_LEADER, PDK__MODE_PERMIT };

struct pdk__sequencer {
    char node[PDK__SEQUENCER_MAX];
    int64_t token;
    int64_t czxid; /* of the node: the token, unless the grant was downgraded */
    uint32_t handover;
    enum pdk__mode mode;
};

/* Takes any bytes. false: not a sequencer. */
bool pdk__sequencer_parse_bytes(const char *bytes, size_t size, struct pdk__sequencer *out);
/* Takes any text, NULL included. */
bool pdk__sequencer_parse(const char *text, struct pdk__sequencer *out);

/* Decimal digits and nothing else, of a number from least to most. Zeros may lead. */
bool pdk__number_parse(const char *digits, size_t length, uint64_t least, uint64_t most, uint64_t *value);

#endif
