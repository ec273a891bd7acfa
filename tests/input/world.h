/* One object of each kind, on one session, as good arguments for each call. */
#ifndef WORLD_H
#define WORLD_H

#include <paddock/paddock.h>

#include "rows.h"

enum { SCRATCH = 16384 };

/* Fails the test when it cannot be had. world_end frees all of it. */
void world_make(void);
void world_end(void);
/* Closes its sessions. */
void world_close(void);
/* Fails the test when anything of it has come to harm. */
void world_assert_whole(void);
/* How many requests its sessions have sent that look, make, write or delete. What goes on by itself is none of these. */
int world_requests(void);

pdk_session *world_session(void);
/* It has no thread of its own. */
pdk_session *world_manual(void);

/* Good arguments for a call. Outputs are SCRATCH bytes each, the n-th at world_scratch + n * SCRATCH. Returns the first
 * parameter for which there is none; NULL when all are there. */
const struct parameter *world_arguments(const struct row *row, union value *values);
extern unsigned char world_scratch[MOST_PARAMETERS * SCRATCH];
/* Before a call that gives a reference back. */
void world_lend(const struct row *row);
/* How often a user_free of these arguments has run, and how often any other callback. */
int world_freed(void);
int world_called(void);

#endif
