/* All queues and holds of a session. They hear from the session through its listener. Under the monitor. */
#ifndef PDK_GRANT_REGISTRY_H
#define PDK_GRANT_REGISTRY_H

#include "session/session.h"

struct pdk__registry {
    struct pdk__listener listener; /* the session's */
    pdk_session *s;
    GQueue queues;     /* every queue of claims */
    GQueue holds;      /* every hold that is neither lost nor released */
    GHashTable *owned; /* those that belong to a thread (owned.h); NULL: none so far */
};

/* The registry of a session. The first call installs it; the session frees it. */
struct pdk__registry *pdk__registry_of(pdk_session *s);
/* Lose every hold that has lapsed. */
void pdk__registry_check(struct pdk__registry *r);

#endif
