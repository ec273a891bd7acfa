/* The ready-made query: a request about a node that need not be ours, and its answer. */
#ifndef PDK_SESSION_NODE_QUERY_H
#define PDK_SESSION_NODE_QUERY_H

#include "session/query.h"

struct pdk__node_query {
    struct pdk__query base;
    enum pdk__result result; /* UNKNOWN: not answered */
    int code;
    struct pdk__reply stat; /* its numbers alone */
    GBytes *data;           /* the data of a GET that is OK; else NULL */
    GPtrArray *names;       /* the names of a LIST; not NULL once it was answered */
    struct pdk__reply also; /* of the other node: its numbers alone */
};

/* The request that goes ahead of this one, to the same path. */
enum pdk__behind {
    PDK__BEHIND_NOTHING, /* a server that lags may show an earlier node */
    PDK__BEHIND_SYNC,    /* then it shows the present node; but a deposed leader's own view may be old */
    PDK__BEHIND_BARRIER, /* a quorum says so. UNAVAILABLE, unless the barrier has proven it */
};

/* Send it. Returns the query, with the caller's reference. Under the monitor. */
struct pdk__query *pdk__node_ask(pdk_session *s, struct pdk__request request, enum pdk__behind behind);
/* Ask for the stat of another node in the same query, and the same round trip. Before the caller waits. Under the
 * monitor. */
void pdk__node_ask_also(struct pdk__query *q, const char *path);
/* OK: there is a result. UNAVAILABLE: it is worth asking again. */
pdk_status pdk__node_answered(const struct pdk__query *q);
/* The status for a result other than OK, NO_NODE and BAD_VERSION, with words. */
pdk_status pdk__node_refused(const struct pdk__node_query *q, const char *call, const char *path);

#endif
