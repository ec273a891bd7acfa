/* Every grant that the workers told of: who, with which token, and from when to when the hold was known to be valid. */
#ifndef DEMO_LEDGER_H
#define DEMO_LEDGER_H

#include "channel.h"

#include <glib.h>

struct grant {
    int64_t token;
    uint32_t handover;
    int64_t from_ns, until_ns; /* pdk_hold_valid said yes at both moments, so it was valid in between */
    char who[8];
};

struct ledger {
    GArray *grants;
    GHashTable *by_token;
};

void ledger_init(struct ledger *ledger);
void ledger_clear(struct ledger *ledger);

/* A HELD, LINGERS or BEAT. */
void ledger_note(struct ledger *ledger, const struct report *report);

/* Who held in each of the cells that begin at from_ns: the letter of the process, '.' for nobody. cells gets a NUL. */
void ledger_strip(const struct ledger *ledger, int64_t from_ns, int64_t cell_ns, char *cells, int count);

/* How many different threads had a turn, of the processes in letters. */
int ledger_threads(const struct ledger *ledger, const char *letters);

/* What a check found; problem is "" when all is well. */
struct finding {
    int64_t count; /* of what was checked */
    int64_t closest_ns;
    char problem[160];
};

/* Exclusion: no two grants were valid at the same instant. Sorts the grants by time. */
void ledger_check_exclusion(struct ledger *ledger, struct finding *finding);
/* Token order: in time, (token, hand-over) increases strictly. After ledger_check_exclusion. */
void ledger_check_tokens(const struct ledger *ledger, struct finding *finding);
/* The file: each line was written by the one to whom its (token, hand-over) was granted, and they never decrease. */
void ledger_check_file(const struct ledger *ledger, const char *path, struct finding *finding);

#endif
