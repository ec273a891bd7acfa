/* The table of calls by which a session tells the code above it. The session knows no grants, so the code above
 * installs the table.
 *
 *     supervise, renew ──► listener ◄── installed by grant/registry.c
 *
 * All calls come under the monitor. A session has one listener at most.
 */
#ifndef PDK_SESSION_LISTENER_H
#define PDK_SESSION_LISTENER_H

#include <paddock/session.h>
#include <stdint.h>

struct pdk__listener;

struct pdk__listener_calls {
    /* A quorum has confirmed the session: the lease ends at `end` now. A hold that has lapsed stays lapsed. */
    void (*lease_extended)(struct pdk__listener *l, int64_t end);
    /* The server negotiated a shorter timeout: nothing stays valid beyond `end`. */
    void (*lease_shortened)(struct pdk__listener *l, int64_t end);
    /* The end of the lease has come. */
    void (*lease_over)(struct pdk__listener *l);
    /* The ZooKeeper session is gone, and with it all its nodes. A new one follows. */
    void (*expired)(struct pdk__listener *l);
    /* The session has ended: nothing is granted any more. status and why answer every claim that waits. */
    void (*ended)(struct pdk__listener *l, pdk_status status, const char *why);
    /* The session is flushed: delete a slice of the nodes that nobody holds. true: it was the last. */
    bool (*flushed)(struct pdk__listener *l);
    /* The session is freed. Not under the monitor. */
    void (*free)(struct pdk__listener *l);
};

/* Embedded first in the listener's own struct. */
struct pdk__listener {
    const struct pdk__listener_calls *calls;
};

#endif
