/* Shared by the files that note events: observe.c holds and sessions, observe_nodes.c nodes. */
#ifndef OBSERVE_H
#define OBSERVE_H

#include "deployment.h"

/* A contender's name. It is read without the core's parser, which is under test. */
struct observed_name {
    enum history_mode mode;
    int32_t sequence;
    int64_t mark; /* its mark, as a number */
};
bool observe_name(const char *name, struct observed_name *out);
/* The queue of the plan to which that node, or a directory of it, belongs, and the name below the directory; -1: to
 * none. */
int32_t observe_path(const struct plan *plan, const char *path, const char **name);
/* The checker knows which nodes exist. It must have seen all that was noted. */
void observe_look_on(struct deployment *d);
bool observe_is_read(const struct client *client);

#endif
