/* A place in line: the driver of one contender. It carries out the commands of the core, and tells its owner what came of it.
 *
 * A place without an owner is the reaper's: nobody wants its right, its node is being deleted, and it stays in s->places
 * until the server has confirmed that, across reconnects, or until the ZooKeeper session is gone.
 * All of it under the monitor.
 */
#ifndef PDK_SESSION_PLACE_H
#define PDK_SESSION_PLACE_H

#include "core/contender.h"
#include "session/watches.h"

/* Why there can be no new place. */
#define PDK__NODES_LIMIT "the nodes of this session have paths of 512 KiB together; use shorter paths, or more sessions"
#define PDK__WATCHES_LIMIT "the watches of this session have paths of 900 kB together; use more sessions"
#define PDK__CHILDREN_LIMIT                                                                                            \
    "more than 100,000 nodes, or a contender's name of more than 127 bytes; remove what does not belong there"

struct pdk__place;

/* Whom its news concerns: embedded first in who has it. */
struct pdk__owner {
    /* It took a step. May give it up. */
    void (*moved)(struct pdk__owner *owner, struct pdk__place *place);
    /* Nobody wants to wait behind somebody. */
    bool (*in_hurry)(const struct pdk__owner *owner);
};

/* What kind of contender a recipe sends. */
struct pdk__place_kind {
    enum pdk__profile profile;
    enum pdk__label label;
    struct pdk__rule rule;
};

struct pdk__place {
    struct pdk__watcher watcher;
    unsigned refs;
    pdk_session *s;
    struct pdk__owner *owner; /* NULL: the reaper's */
    struct pdk__contender c;
    struct pdk__rule rule;
    bool containers;
    bool queued; /* in s->places */
    GList link;
    char *dir;                    /* absolute, chroot included */
    char *data;                   /* what others see of it */
    char *name;                   /* where it is given: the whole name of its node */
    char *exchanged;              /* the name of our node whose place in line this one takes over, or NULL */
    char *watch_path;             /* of the predecessor that was last to be watched */
    char *own_path;               /* once known */
    int failure_code;             /* ZooKeeper's, of the last refusal */
    enum pdk__result dir_refused; /* what became of the directory's parents; OK: nothing bad */
    const char *limit;            /* that was met, in words; NULL: that of a directory */
    enum pdk__result unsent;      /* the answer to what could not be sent: NOT_NOW, or LIMITED */
    size_t bytes;                 /* counted in s->ephemeral_bytes */
    uint64_t leaving;             /* order of leaving; 0: not yet */
    uint64_t serial;              /* the number in its mark; 0: found by the reaper */
    bool outpaced;                /* as of the last list: somebody is ahead, other than a node of ours on its way out */
    bool list_unsent;             /* the second request of two could not be sent */
    struct pdk__alarm retry;      /* a command could not be sent, or the server asked for a pause */
    struct pdk__alarm poll;       /* ask after the predecessor, in case its watch is never heard of */
    bool unwatched;               /* it may not be read, so not be watched either */
    struct pdk__alarm settle;     /* a right that is kept for a while watches its node */
    bool own_watched;
};

/* A new node in line, with data (NULL: the session's identity); LIMIT when the session has too many. *out, a reference,
 * is set before the owner hears of it. */
pdk_status pdk__place_new(pdk_session *s, struct pdk__owner *owner, const char *dir, const struct pdk__place_kind *kind,
                          const char *data, struct pdk__place **out);
/* A new node with the sequence number of one that is held, to take over its place in line. */
pdk_status pdk__place_exchange(struct pdk__place *held, struct pdk__owner *owner, const struct pdk__place_kind *kind,
                               struct pdk__place **out);
/* The bare place, in no line, with nothing known: for those two and the reaper. */
struct pdk__place *pdk__place_make(pdk_session *s, const char *dir, const char *mark);
struct pdk__place *pdk__place_ref(struct pdk__place *place);
void pdk__place_unref(struct pdk__place *place);

/* Bring an event to the contender, and what follows from it to everybody else. */
void pdk__place_step(struct pdk__place *place, const struct pdk__event *event);
void pdk__place_tell(struct pdk__place *place, enum pdk__event_type type);
/* Its owner gives it up: to the reaper. */
void pdk__place_leave(struct pdk__place *place);
/* The same, and the owner's reference with it. NULL is no place. */
void pdk__place_drop(struct pdk__place *place);
/* Why it failed, in words, to be freed. */
char *pdk__place_failure(const struct pdk__place *place);
/* In line behind somebody, as of the last list, other than a node of ours on its way out. */
bool pdk__place_is_outpaced(const struct pdk__place *place);
#endif
