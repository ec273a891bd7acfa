/* A script being played: its sessions, and what they are asked and hear. */
#ifndef PLAY_H
#define PLAY_H

#include "conformance.h"

#include <pthread.h>

struct session {
    struct play *play;
    pdk__zk *zk;   /* NULL: closed */
    char name[16]; /* "A", the second of that slot "A2" */
    bool connected, dead, cut;
    bool excused;   /* this step is about to break its connection */
    bool condemned; /* a step has ended it */
    bool told;      /* `last` has been told */
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

    pthread_mutex_t lock; /* guards what follows; sessions may be heard on other threads */
    pthread_cond_t heard;
    size_t step;
    const char *problem;
    bool disturbed;               /* a connection broke, or a session ended, and no step has done that */
    struct session *slots[SLOTS]; /* this thread's, as are the sessions */
    GPtrArray *sessions;          /* all there ever were */
    GPtrArray *asked;
    guint unanswered;
    GHashTable *owners; /* session id: name of the session */
};

/* What the sessions hear: it goes to the trace, and wakes who waits. Its driver is a struct session. */
extern const struct pdk__zk_sink play_sink;

#endif
