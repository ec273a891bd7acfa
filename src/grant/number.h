/* A number that all clients of a path must agree about: the data of one node. This compares an answer about the node
 * with our number, and gives a claim that fails of it its words.
 *
 *     read ──► UNKNOWN, ABSENT, REFUSED; or there are data: EMPTY, AGREES, OTHER, DAMAGED
 *
 * Its users decide when to read the node, and when to make or fill it: recipes/striped_agreement, recipes/lock_delay,
 * recipes/semaphore_admission. Anybody may have written the data, so the words quote its first bytes escaped.
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
    PDK__NUMBER_UNKNOWN, /* there was no answer that counts: ask again */
    PDK__NUMBER_ABSENT,  /* there is no such node; its user may make it */
    PDK__NUMBER_REFUSED, /* the server refuses it, for good */
    /* it was read */
    PDK__NUMBER_EMPTY,  /* its user may fill it; to a user that does not, it is damaged */
    PDK__NUMBER_AGREES, /* byte for byte */
    PDK__NUMBER_OTHER,
    PDK__NUMBER_DAMAGED /* no number */
};

struct pdk__number {
    /* Its user's: the absolute path of the node; the things that it counts, in the plural, for words. */
    const char *path, *unit;
    char ours[PDK__NUMBER_TEXT_SIZE];
    enum pdk__number_says says;
    pdk_status status; /* the answer to a claim that cannot go on; OK: AGREES, ABSENT, UNKNOWN */
    char found[4 * PDK__NUMBER_QUOTED + 1];
};

/* path and unit are not copied. Nothing is known yet. */
void pdk__number_init(struct pdk__number *number, const char *path, int32_t ours, const char *unit);
/* The answer to a read of the node; NULL: none will come. */
void pdk__number_take(struct pdk__number *number, const struct pdk__reply *reply);
/* The result of another request to the node, which makes, fills or lists it. true: it is REFUSED now. */
bool pdk__number_refused(struct pdk__number *number, enum pdk__result result);
/* For a status that is not OK: the path, the number found, ours, and the fix. g_free. */
char *pdk__number_why(const struct pdk__number *number);

#endif
