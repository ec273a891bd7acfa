/* The platform of a session: all that it needs from its surroundings, in one table. These are ZooKeeper, name
 * resolution, the clock, random numbers, the timer and the wake-ups.
 *
 * The real one is threads.c over libzookeeper. A simulation brings its own, and the same driver runs in its time. Calls
 * that block (pdk_lock_acquire, pdk_session_close …) sleep in real time: they are for the real platform, or for threads
 * that sleep on an interrupt which the simulation keeps (tests/support/simulated/sim_thread.h).
 */
#ifndef PDK_SESSION_PLATFORM_H
#define PDK_SESSION_PLATFORM_H

#include "zk/calls.h"
#include "zk/names.h"

#include <stdbool.h>

struct pdk_session;

struct pdk__platform {
    /* The most that network and threads delay an answer where all is well, in ns. A timeout that carries no lease with
     * such delays is refused; 0: none is. */
    int64_t late;
    const struct pdk__zk_calls *zk;
    /* As pdk__resolve: begin the look-up of a name. Never blocks. Not under the monitor. */
    pdk__look_up look_up;
    /* CLOCK_BOOTTIME in ns: it counts while the machine sleeps, and nobody sets it. */
    int64_t (*now)(void);
    /* Bytes that no other process gets, not even a forked child. */
    void (*random)(void *bytes, size_t size);
    /* Start the session: from now on the other calls are carried out. SYSTEM. */
    pdk_status (*start)(struct pdk_session *s);
    /* Call pdk__tick soon after `at`, or earlier. Under the monitor. */
    void (*arm)(struct pdk_session *s, int64_t at);
    /* Callbacks are due. Under the monitor or not. */
    void (*wake)(struct pdk_session *s);
    /* Connections are to be opened or closed: call pdk__connector_run. Under the monitor. */
    void (*work)(struct pdk_session *s);
    /* No thread of the session runs any more, or none was ever started. Under the monitor. */
    bool (*ended)(const struct pdk_session *s);
    /* Free the platform's part of the session, after its last use. */
    void (*end)(struct pdk_session *s);
    /* The size of a slice of a chore; 0: the usual one. */
    unsigned slice;
};

#endif
