/* The world a session lives in: ZooKeeper, the clock, the timer and the wake-ups, in one table.
 *
 * The real one is threads.c over libzookeeper; a simulation brings its own, and the same driver runs in its time.
 */
#ifndef PDK_SESSION_WORLD_H
#define PDK_SESSION_WORLD_H

#include "zk/calls.h"

#include <stdbool.h>

struct pdk_session;

struct pdk__world {
    const struct pdk__zk_calls *zk;
    /* CLOCK_BOOTTIME in ns: it counts while the machine sleeps, and nobody sets it. */
    int64_t (*now)(void);
    /* Bring the session to life: from now on the other calls are carried out. SYSTEM. */
    pdk_status (*start)(struct pdk_session *s);
    /* Call pdk__tick soon after `at`, or earlier. Under the monitor. */
    void (*arm)(struct pdk_session *s, int64_t at);
    /* Callbacks are due. Under the monitor or not. */
    void (*wake)(struct pdk_session *s);
    /* Connections are to be opened or closed: call pdk__connector_run. Under the monitor. */
    void (*work)(struct pdk_session *s);
    /* After the last use. */
    void (*end)(struct pdk_session *s);
};

extern const struct pdk__world pdk__world_real;

#endif
