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

/* Send it, and wait for the answer. fresh: behind a sync, so a server that lags shows what stands. Under the monitor.
 *   OK           *out has the answer, and the caller a reference
 *   UNAVAILABLE  it is worth asking again
 *   other        the session has ended so */
pdk_status pdk__node_ask(pdk_session *s, struct pdk__request request, bool fresh, int64_t deadline,
                         struct pdk__node_query **out);
/* What a result other than OK, NO_NODE and BAD_VERSION is to the caller, in words. */
pdk_status pdk__node_refused(const struct pdk__node_query *q, const char *call, const char *path);

#endif
