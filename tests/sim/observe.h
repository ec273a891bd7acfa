/* What the files share that note what happens: observe.c holds and sessions, observe_nodes.c nodes. */
#ifndef OBSERVE_H
#define OBSERVE_H

#include "deployment.h"

/* A contender's name, read by other means than the core's, which is what is being looked at. */
struct observed_name {
    enum history_mode mode;
    int32_t sequence;
    int64_t mark; /* its mark, as a number */
};
bool observe_name(const char *name, struct observed_name *out);
/* The path of the plan to which that node, or a directory of it, belongs, and what stands below the directory; -1: to none. */
int32_t observe_path(const struct plan *plan, const char *path, const char **name);
/* The checker knows which nodes live: it must have seen all that was noted. */
void observe_look_on(struct deployment *d);
bool observe_is_read(const struct client *client);

#endif
