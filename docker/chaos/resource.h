/*
 * What the contenders' right protects, twice, as two files:
 *     NAME.naive    a number that is read and written one higher, as by any program that trusts its lock alone
 *     NAME.fenced   "TOKEN HANDOVER COUNT": the largest fencing token it has seen, and how many writes it has accepted; it is
 *                   looked at and changed under an exclusive lock of the file, which stands for its own atomicity
 */
#ifndef RESOURCE_H
#define RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct resource resource;

/* In the folder, with the name of the path, / replaced by _. NULL, and errno, when it cannot be. */
resource *resource_open(const char *folder, const char *path);
void resource_close(resource *r);

/* False, and errno, when the file cannot be read or written; what nobody has written yet is 0. */
bool resource_read(const resource *r, int64_t *number);
bool resource_write(const resource *r, int64_t number);
/* A write with this token: its number among those that were accepted, from 1; 0: refused. False, and errno, when that cannot be
 * told. */
bool resource_offer(const resource *r, int64_t token, uint32_t handover, int64_t *count);

#endif
