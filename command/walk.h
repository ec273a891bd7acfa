/* A walk over the directories below a path, by one server's lists. */
#ifndef CMD_WALK_H
#define CMD_WALK_H

#include "place.h"
#include "settings.h"

enum { CMD_WALK_ALL = G_MAXINT32, CMD_WALK_MOST = 100000 };

typedef struct {
    cmd_servers servers;
    cmd_wire wire;
    GPtrArray *places; /* of cmd_place, the path itself first */
    int64_t token_base;
    bool complete; /* false: there are more than CMD_WALK_MOST, and the rest is not seen */
    guint unread;  /* places that may not be listed, so nothing below them is seen */
} cmd_walk;

/* Connects, and walks: the path and `depth` levels below it. The nodes of contenders are none of the places, and
 * ZooKeeper's own directory is left out. CMD_OK, or the exit status, having said why. Call cmd_walk_end in any case. */
int cmd_walk_begin(cmd_walk *walk, const cmd_settings *settings, const char *path, guint depth);
/* The same in silence: 0, a code of ZooKeeper, or CMD_WIRE_BROKEN, with words in walk->wire.error. */
int cmd_walk_start(cmd_walk *walk, const cmd_settings *settings, const char *path, guint depth);
void cmd_walk_end(cmd_walk *walk);
/* Walks once more, after cmd_walk_start, over the same connection if that is still there. The same answers. */
int cmd_walk_again(cmd_walk *walk, const cmd_settings *settings, const char *path, guint depth);
/* Was all seen that is there? */
bool cmd_walk_saw_all(const cmd_walk *walk);

/* Is it a place to be shown? The halves of a semaphore are not, nor are directories that have gone meanwhile. */
bool cmd_walk_shows(const cmd_place *place);

/* The exit status when ZooKeeper could have no such path, having said why; otherwise CMD_OK. */
int cmd_walk_check_path(const char *verb, const char *path);

#endif
