/* A script that is played: its sessions, their requests, and what they receive. */
#ifndef PLAY_H
#define PLAY_H

#include "conformance.h"

#include <pthread.h>

struct session {
    struct play *play;
    pdk__zk *zk;   /* NULL: closed */
    char name[16]; /* "A", the second of that slot "A2" */
    bool connected, dead, cut;
    bool may_disconnect; /* this step may break its connection */
    bool ended_by_step;  /* a step has ended it */
    bool recorded;       /* `last` has been recorded */
    enum pdk__zk_state last;
};

/* A request, by its tag. */
struct asked {
    struct session *session;
    const struct ask *ask; /* NULL: a barrier of our own */
    bool answered;
};

struct play {
    const struct script *script;
    struct backend *backend;
    struct trace *trace;
    const char *root;

    pthread_mutex_t lock; /* guards what follows; sessions may receive on other threads */
    pthread_cond_t received;
    size_t step;
    const char *problem;
    bool disturbed;               /* a connection broke, or a session ended, and no step has done that */
    struct session *slots[SLOTS]; /* only the playing thread uses them and the sessions */
    GPtrArray *sessions;          /* all that were ever opened */
    GPtrArray *asked;
    guint unanswered;
    GHashTable *owners; /* session id: name of the session */
};

/* Receives for the sessions: writes to the trace, and wakes the waiting thread. Its driver is a struct session. */
extern const struct pdk__zk_sink play_sink;

#endif
