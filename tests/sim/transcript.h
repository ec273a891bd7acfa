/* The transcript's words, for calls and servers (transcript.c) and for the history (transcript_events.c). */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include "deployment.h"

/* A path with the middle of its UUID left out, and a zxid as epoch:counter. Each is good for the next few calls. */
const char *transcript_path(const char *path);
const char *transcript_zxid(int64_t zxid);
/* One event of the history in words. Events that were printed in another way are left out. */
void transcript_event(const struct deployment *d, const struct history_event *event, FILE *out);

#endif
