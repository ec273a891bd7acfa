/* The common part of the verbs that only look: a session that claims nothing, and the queue at a path. */
#ifndef CMD_LOOKER_H
#define CMD_LOOKER_H

#include "recipe.h"

enum { CMD_LOOK_MS = 10000 }; /* for one answer */

typedef struct {
    const cmd_settings *settings;
    pdk_session *session;
    cmd_recipe recipe;
    pdk_election *election; /* in place of the recipe */
    pdk_lock *waiting;      /* of a semaphore: its queue */
    int32_t permits;        /* of a semaphore */
} cmd_looker;

/* The contenders there, the oldest first. For a semaphore they are the holders of permits, and `waiting` is its queue;
 * otherwise that is NULL. */
typedef struct {
    pdk_contenders *list, *waiting;
    size_t holders; /* so many of the list: one, the readers before the first writer, all of a semaphore */
} cmd_queue;

/* Without --shared and --slots the nodes that are there tell the kind; without nodes it is a lock. path may be NULL.
 * CMD_OK, or another result, having said why. */
int cmd_looker_open(cmd_looker *looker, const cmd_settings *settings, const char *path);
/* Is the node there? CMD_OK, or another result, having said why. */
int cmd_looker_exists(const cmd_looker *looker, const char *path, bool *exists);
/* cmd_queue_clear in any case. */
pdk_status cmd_looker_look(const cmd_looker *looker, cmd_queue *queue);
void cmd_queue_clear(cmd_queue *queue);
void cmd_looker_close(cmd_looker *looker);

#endif
