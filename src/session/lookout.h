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
#ifndef PDK_SESSION_LOOKOUT_H
#define PDK_SESSION_LOOKOUT_H

#include "session/watches.h"

struct pdk__lookout;

struct pdk__lookout_calls {
    /* Send the question. Each request sent takes a reference, and the last answer ends in pdk__lookout_done. false: it could
     * not be sent. */
    bool (*ask)(struct pdk__lookout *l);
    /* The last reference was given back. */
    void (*free)(struct pdk__lookout *l);
};

/* Embedded first in what it is for. */
struct pdk__lookout {
    struct pdk__watcher watcher;
    const struct pdk__lookout_calls *calls;
    pdk_session *s; /* not a reference: whoever has the lookout has one */
    unsigned refs;
    bool asking, again, stopped;
    GPtrArray *keys; /* of what it may hear from: see watches.h */
    GList link;      /* in s->lookouts */
    struct pdk__alarm alarm;
};

/* With one reference. It does not look yet. */
void pdk__lookout_init(struct pdk__lookout *l, pdk_session *s, const struct pdk__lookout_calls *calls);
void pdk__lookout_look(struct pdk__lookout *l);
/* While asking: ask once more, whatever the answer. */
void pdk__lookout_again(struct pdk__lookout *l);
/* While idle: look after so long at the latest. */
void pdk__lookout_look_within(struct pdk__lookout *l, int64_t ns);
/* The answer is in: OK, or whatever need not be asked again, or it must be asked again. */
void pdk__lookout_done(struct pdk__lookout *l, bool answered);
/* It will leave a watch: under this key of watches.h. false: the session has too many. */
bool pdk__lookout_watch(struct pdk__lookout *l, const char *key);
/* It was not set; or its event, which may still come, is not wanted any more. */
void pdk__lookout_unset(struct pdk__lookout *l, const char *key);
void pdk__lookout_unwatch(struct pdk__lookout *l, const char *key);
/* No more of it; gives the reference back. Answers on their way still come, and find it stopped. */
void pdk__lookout_stop(struct pdk__lookout *l);
void pdk__lookout_ref(struct pdk__lookout *l);
void pdk__lookout_unref(struct pdk__lookout *l);

/* Connected: what was watched may have changed. */
void pdk__lookouts_look(pdk_session *s);

#endif
