/* A connection to a server that says nothing is given up early, and the next one is dated. */
#ifndef PDK_SESSION_SILENCE_H
#define PDK_SESSION_SILENCE_H

#include "session/alarms.h"

#include <stdbool.h>
#include <stdint.h>

struct pdk_session;

struct pdk__silence {
    struct pdk__alarm alarm;
    int64_t since;    /* connected: writes are unanswered since then; 0: none is */
    int64_t idle_at;  /* otherwise: when a look found no handshake under way; 0: the last one found one */
    int64_t dials_at; /* since when looks find that it waits to be accepted, and it is noted; 0: the last one did not */
    int64_t dialled_at;       /* when a look found one first; 0: the last one found none */
    unsigned leaves, hurries; /* given up in a row: each time with twice the patience */
    bool leave, hurry, skip;  /* the connector has to do it; skip: note or give up a connection not yet accepted */
};

/* Under the monitor, all of it. */
void pdk__silence_init(struct pdk_session *s);
/* There is a handle, and it has no connection, or has one. */
void pdk__silence_disconnected(struct pdk_session *s);
void pdk__silence_connected(struct pdk_session *s);
/* The handle is retired. */
void pdk__silence_over(struct pdk_session *s);
/* A barrier was handed over; a quorum has committed something. */
void pdk__silence_asked(struct pdk_session *s);
void pdk__silence_broken(struct pdk_session *s);

/* The connector's part: give up the connection that is to be given up. Leaves the monitor meanwhile. false: nothing was
 * to be done. */
bool pdk__silence_act(struct pdk_session *s);

#endif
