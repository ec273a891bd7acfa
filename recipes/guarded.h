/* A guarded znode, from inside: a call, and the requests that it makes. */
#ifndef PDK_GUARDED_INSIDE_H
#define PDK_GUARDED_INSIDE_H

#include "core/guarded.h"
#include "core/pace.h"
#include "grant/hold.h"
#include "session/node_query.h"

#include <paddock/guarded.h>

struct pdk_guarded {
    atomic_uint refs; /* the caller's, and one for each call under way */
    pdk_hold *hold;   /* a reference */
    pdk_session *s;   /* the hold's */
    char *path;       /* absolute, chroot included */
    unsigned forks;
    /* under the monitor */
    bool busy;
    struct pdk__waiters turns; /* calls that wait for the one under way */
    struct pdk__guarded machine;
    GBytes *seen;   /* the data of the last read, for its rewrite */
    GBytes *wanted; /* the data that the call under way writes; NULL: it writes nothing */
};

/* A call. */
struct pdk__guarded_call {
    struct pdk__call call;
    pdk_guarded *g;           /* a reference */
    struct pdk__query *query; /* of one node, under way; or NULL */
    enum pdk__result result;  /* of the last request that was answered, and ZooKeeper's code */
    int code;
    struct pdk__pace reads;
    bool paced;       /* the next request has waited for its pace */
    size_t parent;    /* a parent is being made: so long is its path; 0: the node itself */
    bool unprotected; /* strangers may change the node */
};

/* All under the monitor. */
/* Send it. It becomes the call's query, also if it could not be sent. */
void pdk__guarded_ask(struct pdk__guarded_call *c, struct pdk__request request);
/* PDK__WAITS: the query is under way. OK: it was answered, or the call waits for it no longer: then its result is
 * UNKNOWN. */
pdk_status pdk__guarded_await(struct pdk__guarded_call *c);
/* The query is over. */
void pdk__guarded_forget(struct pdk__guarded_call *c);
/* Wait for a connection, or for so long: PDK__WAITS. OK: the session has ended, so there is nothing to wait for. */
pdk_status pdk__guarded_pause(struct pdk__guarded_call *c, int64_t ns);
/* Was it released or downgraded, or is it lost? */
bool pdk__guarded_has_ended(const pdk_guarded *g);
/* The machine's end as a status, in words. */
pdk_status pdk__guarded_ended_how(const struct pdk__guarded_call *c);
/* Send the machine's requests, until it is idle. Or PDK__WAITS. */
pdk_status pdk__guarded_drive(struct pdk__guarded_call *c);
/* The node that a GET has read, or has found missing. */
struct pdk__guarded_node pdk__guarded_node_of(const struct pdk__node_query *q);
/* A header and the payload. */
GBytes *pdk__guarded_data_of(const struct pdk__stamp *stamp, const void *payload, size_t size);

/* The pause before a request is tried again on one connection. */
#define PDK__GUARDED_AGAIN (50 * PDK__MS)

#endif
