/* A live query asks ZooKeeper a question again whenever the answer may have changed.
 *
 *              look                        done
 *     idle ───────────► asking ──────────────────────────► idle, with a watch, and a poll once per session timeout
 *       ▲                  │  look meanwhile: asks again
 *       └── a watch fired, connected again, polled, or not answered
 *
 * The user sends the question (ask), and acts on the answer. One question is asked at a time. Under the monitor.
 */
#ifndef PDK_SESSION_LIVE_QUERY_H
#define PDK_SESSION_LIVE_QUERY_H

#include "core/pace.h"
#include "session/watches.h"

struct pdk__live_query;

struct pdk__live_query_calls {
    /* Send the question. Each request that is sent takes a reference. The handler of the last answer calls
     * pdk__live_query_done. false: the question could not be sent. */
    bool (*ask)(struct pdk__live_query *l);
    /* The last reference was given back. */
    void (*free)(struct pdk__live_query *l);
    /* A watch on path, or on the children of path, has fired, before it looks; or NULL. May stop it. */
    void (*fired)(struct pdk__live_query *l, const char *path, bool gone);
};

/* Embedded first in the user's own struct. */
struct pdk__live_query {
    struct pdk__watcher watcher;
    const struct pdk__live_query_calls *calls;
    pdk_session *s; /* not a reference: the user of the live query has one */
    unsigned refs;
    bool asking, again, stopped;
    GHashTable *keys; /* of the watches that it may hear from: see watches.h */
    GList link;       /* in s->live_queries */
    struct pdk__alarm alarm;
    struct pdk__pace pace;
    int64_t not_before; /* it asks no earlier */
};

/* It begins with one reference, and does not look yet. */
void pdk__live_query_init(struct pdk__live_query *l, pdk_session *s, const struct pdk__live_query_calls *calls);
/* Ask now, or again after the question under way. Without a connection nothing is asked: the next connection makes it
 * look. */
void pdk__live_query_look(struct pdk__live_query *l);
/* While a question is under way: ask again after it, even if it is answered. */
void pdk__live_query_again(struct pdk__live_query *l);
/* While a question is under way: its answer shows every change that has fired meanwhile, so there is no need to ask
 * again. */
void pdk__live_query_caught_up(struct pdk__live_query *l);
/* While idle: look after `ns` at the latest. */
void pdk__live_query_look_within(struct pdk__live_query *l, int64_t ns);
/* The question is over. answered: false, if there is no answer that counts. Then the question is asked again soon. */
void pdk__live_query_done(struct pdk__live_query *l, bool answered);
/* The question will leave a watch, under this key of watches.h. false: the session has too many watches. */
bool pdk__live_query_watch(struct pdk__live_query *l, const char *key);
/* That watch was not set. */
void pdk__live_query_unset(struct pdk__live_query *l, const char *key);
/* The event of that watch may still come, but is not wanted any more. */
void pdk__live_query_unwatch(struct pdk__live_query *l, const char *key);
/* Ask no more, and give the first reference back. Answers under way still come, and find it stopped. */
void pdk__live_query_stop(struct pdk__live_query *l);
void pdk__live_query_ref(struct pdk__live_query *l);
void pdk__live_query_unref(struct pdk__live_query *l);

/* All live queries of the session look: it has connected, and every answer may have changed. */
void pdk__live_queries_look(pdk_session *s);

#endif
