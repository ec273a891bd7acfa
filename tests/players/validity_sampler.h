/*
 * Asks every 0.5 ms whether each of its holds is valid, and notes the first and the last yes. It asks for each hold by
 * itself. It takes the time just before it asks. So the noted span lies within the time in which the hold was valid.
 *
 *     granted token=T handover=H WHAT
 *     valid token=T handover=H first=NS last=NS longest=NS reason=NAME WHAT
 *
 * longest is the longest time between two samples; it shows that the process was paused. first=0: no sample said yes. A
 * second granted line of the same token and handover, after its valid line, is the same grant, which goes on as
 * something else.
 */
#ifndef VALIDITY_SAMPLER_H
#define VALIDITY_SAMPLER_H

#include "event_log.h"

#include <paddock/paddock.h>

typedef struct sampler sampler;

sampler *sampler_new(event_log *log);
/* Waits until none of its holds is valid any more: release them first. NULL is allowed. */
void sampler_stop(sampler *s);

/* Takes a reference of its own. what, "key=value …", goes into the lines; it may be "". */
void sampler_add(sampler *s, pdk_hold *hold, const char *what);
/* The same of a set, which has no token, and of one part of it. */
void sampler_add_set(sampler *s, pdk_set *set, const char *what);
void sampler_add_part(sampler *s, pdk_set *set, int part, const char *what);
/* The least that remained of the hold, in ms, since it was added or since this was asked last. -1: it is not watched. */
int64_t sampler_least_ms(sampler *s, const pdk_hold *hold);
/* From now on the hold is something else. Ends its span and begins another, with a granted line: if the process is
 * killed then, the log tells what the hold was. Call it before the hold grows weaker (a downgrade). */
void sampler_change(sampler *s, pdk_hold *hold, const char *what);

#endif
