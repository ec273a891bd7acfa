/* All queues and holds of a session. They hear from the session through its listener. Under the monitor. */
#ifndef PDK_GRANT_REGISTRY_H
#define PDK_GRANT_REGISTRY_H

#include "session/session.h"

/* A follower has neither a claim nor a hold in a session, and must hear of its end. Embedded in a struct of its own. */
struct pdk__follower {
    void (*ended)(struct pdk__follower *follower); /* once */
    GList link;                                    /* with data while it follows */
};

struct pdk__registry {
    struct pdk__listener listener; /* the session's */
    pdk_session *s;
    /* The end of the lease, as the holds know it. It has not moved since it passed, unless every hold was LAPSED by
     * then. */
    _Atomic int64_t lease_end;
    GQueue queues;     /* every queue of claims */
    GQueue lingering;  /* those of them whose node lingers */
    GQueue holds;      /* every hold that is neither lost nor released */
    GQueue awaited;    /* the holds of which somebody may wait for a longer lease */
    GQueue followers;  /* of its end */
    GHashTable *owned; /* the holds that belong to a thread (owned.h); NULL: none so far */
};

/* The registry of a session. The first call installs it; the session frees it. */
struct pdk__registry *pdk__registry_of(pdk_session *s);
/* Hear of the end of a session that has not ended. The follower must live until then, or until it follows no more. */
void pdk__follow_end(pdk_session *s, struct pdk__follower *follower);
void pdk__unfollow_end(pdk_session *s, struct pdk__follower *follower);
/* Lose every hold that has lapsed. */
void pdk__registry_check(struct pdk__registry *r);

#endif
