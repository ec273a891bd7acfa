/* A lookout: keeps asking ZooKeeper a question, each time there is a reason to believe that the answer has changed.
 *
 *              look                        done
 *     idle ───────────► asking ──────────────────────────► idle, with a watch, and a poll once per session timeout
 *       ▲                  │  look meanwhile: asks again
 *       └── a watch fired, connected again, polled, or not answered
 *
 * What the question is and what follows from the answer is the user's (ask); one question is asked at a time. Under the
 * monitor.
 */
#ifndef PDK_SESSION_LIVE_QUERY_H
#define PDK_SESSION_LIVE_QUERY_H

#include "session/watches.h"

struct pdk__live_query;

struct pdk__live_query_calls {
    /* Send the question. Each request sent takes a reference, and the last answer ends in pdk__live_query_done. false: it could
     * not be sent. */
    bool (*ask)(struct pdk__live_query *l);
    /* The last reference was given back. */
    void (*free)(struct pdk__live_query *l);
};

/* Embedded first in what it is for. */
struct pdk__live_query {
    struct pdk__watcher watcher;
    const struct pdk__live_query_calls *calls;
    pdk_session *s; /* not a reference: whoever has the lookout has one */
    unsigned refs;
    bool asking, again, stopped;
    GPtrArray *keys; /* of what it may hear from: see watches.h */
    GList link;      /* in s->lookouts */
    struct pdk__alarm alarm;
};

/* With one reference. It does not look yet. */
void pdk__live_query_init(struct pdk__live_query *l, pdk_session *s, const struct pdk__live_query_calls *calls);
void pdk__live_query_look(struct pdk__live_query *l);
/* While asking: ask once more, whatever the answer. */
void pdk__live_query_again(struct pdk__live_query *l);
/* While idle: look after so long at the latest. */
void pdk__live_query_look_within(struct pdk__live_query *l, int64_t ns);
/* The answer is in: OK, or whatever need not be asked again, or it must be asked again. */
void pdk__live_query_done(struct pdk__live_query *l, bool answered);
/* It will leave a watch: under this key of watches.h. false: the session has too many. */
bool pdk__live_query_watch(struct pdk__live_query *l, const char *key);
/* It was not set; or its event, which may still come, is not wanted any more. */
void pdk__live_query_unset(struct pdk__live_query *l, const char *key);
void pdk__live_query_unwatch(struct pdk__live_query *l, const char *key);
/* No more of it; gives the reference back. Answers on their way still come, and find it stopped. */
void pdk__live_query_stop(struct pdk__live_query *l);
void pdk__live_query_ref(struct pdk__live_query *l);
void pdk__live_query_unref(struct pdk__live_query *l);

/* Connected: what was watched may have changed. */
void pdk__live_queries_look(pdk_session *s);

#endif
