/* The story's words: shared by what is told of calls and servers (story.c) and of the history (story_events.c). */
#ifndef STORY_H
#define STORY_H

#include "deployment.h"

/* A path with the middle of its UUID left out, and a zxid as epoch:counter. Each is good for the next few calls. */
const char *story_path(const char *path);
const char *story_zxid(int64_t zxid);
/* One event of the history in words; those that were told otherwise are left out. */
void story_event(const struct deployment *d, const struct history_event *event, FILE *out);

#endif
