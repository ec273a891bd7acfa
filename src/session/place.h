/* A place in line: the driver of one contender. It carries out the commands of the core, and tells the line what came of it.
 *
 * A place without a line is the reaper's: nobody wants its right, its node is being deleted, and it stays in s->places
 * until the server has confirmed that, across reconnects, or until the ZooKeeper session is gone.
 * All of it under the monitor.
 */
#ifndef PDK_SESSION_PLACE_H
#define PDK_SESSION_PLACE_H

#include "core/contender.h"
#include "session/session.h"

struct pdk__line;

struct pdk__place {
    unsigned refs;
    pdk_session *s;
    struct pdk__line *line; /* NULL: the reaper's */
    struct pdk__contender c;
    pdk__blocks_fn blocks;
    bool containers;
    bool queued; /* in s->places */
    GList link;
    char *dir;                    /* absolute, chroot included */
    char *watch_path;             /* of the predecessor that was last to be watched */
    char *own_path;               /* once known */
    int failure_code;             /* ZooKeeper's, of the last refusal */
    enum pdk__result dir_refused; /* what became of the directory's parents; OK: nothing bad */
    enum pdk__result unsent;      /* the answer to what could not be sent: NOT_NOW, or LIMITED */
    size_t bytes;                 /* counted in s->ephemeral_bytes */
    uint64_t leaving;             /* order of leaving; 0: not yet */
    bool outpaced;                /* as of the last list: somebody is ahead, other than a node of ours on its way out */
    bool list_unsent;             /* the second request of two could not be sent */
    struct pdk__alarm retry;      /* a command could not be sent, or the server asked for a pause */
    struct pdk__alarm poll;       /* ask after the predecessor, in case its watch is never heard of */
    bool unwatched;               /* it may not be read, so not be watched either */
    struct pdk__alarm settle;     /* a right that is kept for a while watches its node */
    bool own_watched;
};

/* A new node in line for `line`, which becomes line->place; LIMIT when the session has too many. */
pdk_status pdk__place_new(struct pdk__line *line);
/* The bare place, in no line, with nothing known: for pdk__place_new and the reaper. */
struct pdk__place *pdk__place_make(pdk_session *s, const char *dir, const char *mark);
struct pdk__place *pdk__place_ref(struct pdk__place *place);
void pdk__place_unref(struct pdk__place *place);

/* Bring an event to the contender, and what follows from it to everybody else. */
void pdk__place_step(struct pdk__place *place, const struct pdk__event *event);
void pdk__place_tell(struct pdk__place *place, enum pdk__event_type type);
/* The line gives it up: to the reaper. */
void pdk__place_leave(struct pdk__place *place);
void pdk__place_watch_fired(struct pdk__place *place, const char *path, bool gone);
#endif
