/*
 * The witness: files that tell which players are in. It knows nothing of ZooKeeper. A player that must be alone makes
 * the file with the witness's own name. A reader makes one with ".in.NAME" after it.
 */
#ifndef WITNESS_H
#define WITNESS_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct witness {
    char *path;
    atomic_long overlaps; /* met a player that must not be in at the same time */
    atomic_long together; /* a reader met another reader */
} witness;

/* Comes in, and looks for other players. reader is the reader's own name, or NULL for a player that must be alone.
 * Returns the file, for witness_leave; "" when there was one already, which its creator removes; NULL and errno when
 * it cannot be made. */
char *witness_enter(witness *w, const char *reader);
/* Frees the file's name. False and errno: it was gone, or cannot be removed. */
bool witness_leave(char *file);

#endif
