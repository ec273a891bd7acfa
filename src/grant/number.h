/* A number that all who use a path must agree about: the data of one node. Here an answer about the node is compared with ours, and a
 * claim that fails of it gets its words.
 *
 *     read ──► UNKNOWN, ABSENT, REFUSED; or there are data: EMPTY, AGREES, OTHER, DAMAGED
 *
 * When it is read, and who makes or fills the node, is its user's protocol: recipes/striped_agreement, recipes/lock_delay,
 * recipes/semaphore_admission. Anybody may have written the data: of the first bytes the words have an escaped copy.
 */
#ifndef PDK_GRANT_NUMBER_H
#define PDK_GRANT_NUMBER_H

#include "zk/calls.h"

#include <paddock/status.h>

enum {
    PDK__NUMBER_QUOTED = 32,   /* so many bytes of the data are quoted */
    PDK__NUMBER_TEXT_SIZE = 12 /* of any number of ours, as text */
};

enum pdk__number_says {
    PDK__NUMBER_UNKNOWN, /* no answer that counts: it is to be asked again */
    PDK__NUMBER_ABSENT,  /* there is no such node, for its user to make */
    PDK__NUMBER_REFUSED, /* for good */
    /* it was read */
    PDK__NUMBER_EMPTY,  /* for its user to fill; for one who does not it is damaged */
    PDK__NUMBER_AGREES, /* byte for byte */
    PDK__NUMBER_OTHER,
    PDK__NUMBER_DAMAGED /* no number */
};

struct pdk__number {
    const char *path, *unit; /* its user's: of the node, absolute; of what it is the number, in the plural, for words */
    char ours[PDK__NUMBER_TEXT_SIZE];
    enum pdk__number_says says;
    pdk_status status; /* for a claim that cannot go on with it; OK: AGREES, ABSENT, UNKNOWN */
    char found[4 * PDK__NUMBER_QUOTED + 1];
};

/* path and unit are not copied. Nothing is known yet. */
void pdk__number_init(struct pdk__number *number, const char *path, int32_t ours, const char *unit);
/* The answer to a read of the node; NULL: none will come. */
void pdk__number_take(struct pdk__number *number, const struct pdk__reply *reply);
/* The result of another request to the node: that makes, fills or lists it. true: it is REFUSED now. */
bool pdk__number_refused(struct pdk__number *number, enum pdk__result result);
/* For a status that is not OK: the path, what was found, ours, and the fix. g_free. */
char *pdk__number_why(const struct pdk__number *number);

#endif
