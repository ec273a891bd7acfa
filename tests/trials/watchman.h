/*
 * Looks at holds, every 0.5 ms and each on its own evidence, and notes from when until when they were believed valid.
 * All times are taken just before a look that said yes, so that what is noted lies within what was believed.
 *
 *     granted token=T handover=H WHAT
 *     valid token=T handover=H first=NS last=NS longest=NS reason=NAME WHAT
 *
 * longest: between two looks, which tells a pause. first=0: not even the first look said yes. A second granted of the same
 * token and handover, after its valid, is no other grant: it goes on, as something else.
 */
#ifndef WATCHMAN_H
#define WATCHMAN_H

#include "diary.h"

#include <paddock/paddock.h>

typedef struct watchman watchman;

watchman *watchman_new(diary *d);
/* Waits until none of its holds is valid any more: release them first. NULL is allowed. */
void watchman_stop(watchman *w);

/* Takes a reference of its own. what, "key=value …", goes into the lines; it may be "". */
void watchman_watch(watchman *w, pdk_hold *hold, const char *what);
/* From now on the hold is something else: ends the span that there is, and begins another, with granted, so that it is known
 * of who is killed in it. Call it before the right grows weaker (a downgrade). */
void watchman_recast(watchman *w, pdk_hold *hold, const char *what);

#endif
