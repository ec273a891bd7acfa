/* A directory in ZooKeeper, and the news in the names of its children: the recipe that works there, its holders, its
 * waiters. */
#ifndef CMD_PLACE_H
#define CMD_PLACE_H

#include "wire.h"

typedef enum { CMD_KIND_NONE, CMD_KIND_LOCK, CMD_KIND_RWLOCK, CMD_KIND_SEMAPHORE, CMD_KIND_ELECTION } cmd_kind;

typedef struct {
    char *path;
    guint depth;
    cmd_kind kind;
    guint holders, waiters; /* as far as the names tell */
    guint nodes;            /* children that are no contenders */
    char *first;            /* the path of the oldest holder's node, or NULL */
    int32_t last_sequence;  /* the newest contender's; -1: there is none */
    const char *mixed;      /* recipes that do not exclude each other, in words; NULL: there is one at most */
    bool curator, kazoo;    /* contenders for a lock with such a name stand there */
    int code;               /* 0, or why it could not be listed */
    cmd_stat stat;
    /* The two directories of a semaphore, as indexes among the places; 0: it has none. They are not places of their
     * own. */
    guint leases, locks;
    bool part;
} cmd_place;

cmd_place *cmd_place_new(const char *path, guint depth);
void cmd_place_free(gpointer place);

/* Is this the name of a contender's node? */
bool cmd_is_contender(const char *name);
/* Fills kind, numbers and first from the children's names. */
void cmd_place_judge(cmd_place *place, const GPtrArray *names);

/* "lock", "rwlock", "semaphore", "election" or "directory". */
const char *cmd_kind_name(cmd_kind kind);

/* A child's path. g_free it. */
char *cmd_below(const char *path, const char *name);

#endif
