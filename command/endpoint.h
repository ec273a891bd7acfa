/*
 * The answers of `elect --listen` by HTTP, for load balancers and probes:
 *
 *     /leader   200 while the work runs, its lease is valid, and its guardian does not end it, else 503
 *     /healthz  200 while the program's own loop turns, else 503
 *     /metrics  the figures of the session as OpenMetrics; 503 before there is one. A reading resets nothing, so there
 *               may be several readers
 *
 * /leader tells a client that accepts application/json, with the same status, who leads as far as this program knows:
 *
 *     {"path": text, "leads": boolean, "identity": text or null, "token": text}
 *
 * GET, HEAD and OPTIONS get the same status. The answers come from a thread of its own (http.h), so that they come, too,
 * while the program hangs.
 */
#ifndef CMD_ENDPOINT_H
#define CMD_ENDPOINT_H

#include "guard.h"
#include <glib.h>
#include <paddock/paddock.h>
#include <pthread.h>

typedef struct {
    struct cmd_http *http; /* NULL: nobody listens */
    pthread_mutex_t mutex;
    pdk_hold *hold;             /* of the work, or NULL */
    const cmd_moments *moments; /* of the guardian of the work */
    int64_t beat;               /* when the loop turned last */
    pdk_session *session;       /* the one whose figures are told, or NULL; it stays until the end */
    const char *path, *self;    /* of the election, and our own identity; NULL: not known yet */
    char *leader;               /* the identity that was told last; NULL: nobody leads */
    int64_t token;              /* of that one */
} cmd_endpoint;

/* "ADDRESS:PORT", or "PORT" on loopback; NULL: nothing is done. CMD_OK, or the exit status, having said why. */
int cmd_endpoint_open(cmd_endpoint *endpoint, const char *where);
/* There is a session. It has to live until the end. */
void cmd_endpoint_measure(cmd_endpoint *endpoint, pdk_session *session);
/* The hold under which the work runs now, and when its guardian ends it. NULL: none does. */
void cmd_endpoint_set(cmd_endpoint *endpoint, pdk_hold *hold, const cmd_moments *moments);
/* There is an election: its path, and our own identity. They have to live until the end. */
void cmd_endpoint_name(cmd_endpoint *endpoint, const char *path, const char *self);
/* The leader has changed. NULL: nobody leads, or nobody tells. */
void cmd_endpoint_hear(cmd_endpoint *endpoint, const char *leader, int64_t token);
/* The loop turns. */
void cmd_endpoint_beat(cmd_endpoint *endpoint);
void cmd_endpoint_close(cmd_endpoint *endpoint);

#endif
