/* The data of a contender's znode: its identity, and behind it the data that a leader has published.
 *
 *     [wish] identity [NUL data]
 *
 * A wish that the contender lets go may stand in front (revocation.h). Curator, kazoo and earlier versions of Paddock
 * know the identity alone.
 */
#ifndef PDK_CORE_PUBLISHED_H
#define PDK_CORE_PUBLISHED_H

#include <stddef.h>

/* The most data that a leader may publish. */
#define PDK__PUBLISHED_MAX 65536

/* Parts of the data that were read. */
struct pdk__published {
    const char *identity;
    size_t identity_size;
    const char *data; /* NULL: nothing is published, or more than may be */
    size_t data_size;
};

/* Any bytes. */
void pdk__published_read(const char *bytes, size_t size, struct pdk__published *p);

#endif
