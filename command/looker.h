/* What the verbs that only look have in common: a session that claims nothing, and a list of contenders. */
#ifndef CMD_LOOKER_H
#define CMD_LOOKER_H

#include "settings.h"

enum { CMD_LOOK_MS = 10000 }; /* for one answer */

typedef struct {
    const cmd_settings *settings;
    pdk_session *session;
    pdk_lock *lock;
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
} cmd_looker;

/* CMD_OK, or it says why not, and it is the exit status. path may be NULL. */
int cmd_looker_open(cmd_looker *looker, const cmd_settings *settings, const char *path);
/* The queue, the holder first: of a semaphore the holders of permits. */
pdk_status cmd_looker_look(const cmd_looker *looker, pdk_contenders **out);
/* The same; a failure is said. */
pdk_status cmd_looker_list(const cmd_looker *looker, pdk_contenders **out);
/* How many of the list hold: one, the readers before the first writer, all of a semaphore. */
size_t cmd_looker_holders(const cmd_looker *looker, const pdk_contenders *list);
void cmd_looker_close(cmd_looker *looker);

#endif
