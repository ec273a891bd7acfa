/* A guarded znode, from inside: a call, and the requests that it makes. */
#ifndef PDK_GUARDED_INSIDE_H
#define PDK_GUARDED_INSIDE_H

#include "core/guarded.h"
#include "core/pace.h"
#include "grant/hold.h"
#include "session/query.h"

#include <paddock/guarded.h>

struct pdk_guarded {
    pdk_hold *hold; /* a reference */
    pdk_session *s; /* the hold's */
    char *path;     /* absolute, chroot included */
    unsigned forks;
    /* under the monitor */
    bool busy;
    struct pdk__waiters turns; /* threads that wait for the call under way */
    struct pdk__guarded machine;
    GBytes *seen;   /* the data of the last read, for its rewrite */
    GBytes *wanted; /* the data that this call writes; NULL: it writes nothing */
};

/* A call, on its thread's stack. */
struct pdk__guarded_call {
    pdk_guarded *g;
    const char *name;
    int64_t deadline;
    enum pdk__result result; /* of the last request that was answered, and ZooKeeper's code */
    int code;
    struct pdk__pace reads;
    bool unprotected; /* strangers may change the node: the thread's error text says how */
};

/* One request, and its answer. */
struct pdk__guarded_question {
    struct pdk__query base;
    enum pdk__result result;
    int code;
    struct pdk__guarded_node node; /* of a GET */
    struct pdk__reply stat;        /* the same: without what it points to */
    GBytes *data;
};

/* All under the monitor. */
/* The answer, or NULL when it did not come in time. The caller has a reference. */
struct pdk__guarded_question *pdk__guarded_ask(struct pdk__guarded_call *c, struct pdk__request request);
/* Wait for a connection, or for a moment: the request is tried again. */
void pdk__guarded_pause(const struct pdk__guarded_call *c);
/* Was it released or downgraded, or is it lost? */
bool pdk__guarded_has_ended(const pdk_guarded *g);
/* The machine's end as a status, in words. */
pdk_status pdk__guarded_ended_how(const struct pdk__guarded_call *c);
/* Send what the machine wants, until it is idle. */
pdk_status pdk__guarded_drive(struct pdk__guarded_call *c);
/* Confirmed, or not open to us. Afterwards what is known is what stands. */
pdk_status pdk__guarded_settle(struct pdk__guarded_call *c);
/* A header and the payload. */
GBytes *pdk__guarded_data_of(const struct pdk__stamp *stamp, const void *payload, size_t size);

#endif
