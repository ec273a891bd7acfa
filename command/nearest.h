/* "Did you mean": the known word that is most like a mistyped one. */
#ifndef CMD_NEAREST_H
#define CMD_NEAREST_H

#include <stddef.h>

/* The known word that takes the fewest letters to be added, left out, changed or swapped with their neighbour, if those
 * are few for its length; else the only one that begins with the word. NULL: none is like it. */
const char *cmd_nearest(const char *word, const char *const *known, size_t count);

#endif
