/*
 * The witness: files that say who is in, and know nothing of ZooKeeper. One of the witness's own name is whoever must be
 * alone; one with ".in.NAME" after it is a reader.
 */
#ifndef WITNESS_H
#define WITNESS_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct witness {
    char *path;
    atomic_long overlaps; /* met somebody who must not be in at the same time */
    atomic_long together; /* a reader met another */
} witness;

/* Comes in, and looks who is there. reader: a name of its own, or NULL: alone. The file that is to be given to
 * witness_leave; "" where there was one already, which stays its creator's; NULL and errno: it cannot be made. */
char *witness_enter(witness *w, const char *reader);
/* Frees the file's name. False and errno: it was gone, or cannot be removed. */
bool witness_leave(char *file);

#endif
