/* One request about a node that need not be ours, and its answer. */
#ifndef PDK_GRANT_NODE_QUERY_H
#define PDK_GRANT_NODE_QUERY_H

#include "session/query.h"

struct pdk__node_query {
    struct pdk__query base;
    enum pdk__result result;
    int code;
    struct pdk__reply stat; /* its numbers alone */
    GBytes *data;           /* of a GET */
    GPtrArray *names;       /* of a LIST */
};

/* Send it. fresh: behind a sync, so a server that lags shows what stands. The query, and the caller's reference. Under the
 * monitor. */
struct pdk__query *pdk__node_ask(pdk_session *s, struct pdk__request request, bool fresh);
/* OK: the result says how. UNAVAILABLE: it is worth asking again. */
pdk_status pdk__node_answered(const struct pdk__query *q);
/* What a result other than OK, NO_NODE and BAD_VERSION is to the caller, in words. */
pdk_status pdk__node_refused(const struct pdk__node_query *q, const char *call, const char *path);

#endif
