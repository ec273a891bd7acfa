/*
 * The resource that the players' grant protects, twice, as two files:
 *     NAME.naive    a number, twice. A use reads it and writes one more, as a program does that trusts its lock alone: first one
 *                   half, then the other. A look in between, without the lock, sees it torn.
 *     NAME.fenced   "TOKEN HANDOVER COUNT": the largest fencing token so far, and the number of accepted writes. It is
 *                   read and changed under an exclusive lock of the file, which stands for the resource's own atomicity.
 */
#ifndef RESOURCE_H
#define RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct resource resource;

/* Files in the folder with the path as NAME, / replaced by _. NULL, and errno, when they cannot be opened. */
resource *resource_open(const char *folder, const char *path);
void resource_close(resource *r);

/* False, and errno, when the file cannot be read or written. The first number is 0. torn: the halves differ; may be NULL. A write
 * waits for up to between_us between the halves. */
bool resource_read(const resource *r, int64_t *number, bool *torn);
bool resource_write(const resource *r, int64_t number, int between_us);
/* A write with this token. count: its number among the accepted writes, from 1; 0: refused. False, and errno, when
 * the file cannot be read or written. */
bool resource_offer(const resource *r, int64_t token, uint32_t handover, int64_t *count);

#endif
