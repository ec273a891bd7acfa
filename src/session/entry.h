/* A place in line: the driver of one contender. It carries out the commands of the core, and tells its owner what came of it.
 *
 * A place without an owner is the reaper's: nobody wants its right, its node is being deleted, and it stays in s->places
 * until the server has confirmed that, across reconnects, or until the ZooKeeper session is gone.
 * All of it under the monitor.
 */
#ifndef PDK_SESSION_ENTRY_H
#define PDK_SESSION_ENTRY_H

#include "core/contender.h"
#include "session/watches.h"

/* Why there can be no new place. */
#define PDK__NODES_LIMIT "the nodes of this session have paths of 512 KiB together; use shorter paths, or more sessions"
#define PDK__WATCHES_LIMIT "the watches of this session have paths of 900 kB together; use more sessions"
#define PDK__CHILDREN_LIMIT                                                                                            \
    "more than 100,000 nodes, or a contender's name of more than 127 bytes; remove what does not belong there"

struct pdk__entry;

/* Whom its news concerns: embedded first in who has it. */
struct pdk__entry_owner {
    /* It took a step. May give it up. */
    void (*moved)(struct pdk__entry_owner *owner, struct pdk__entry *entry);
    /* Nobody wants to wait behind somebody. */
    bool (*never_waits)(const struct pdk__entry_owner *owner);
};

/* What kind of contender a recipe sends. */
struct pdk__entry_kind {
    enum pdk__profile profile;
    enum pdk__label label;
    struct pdk__rule rule;
};

struct pdk__entry {
    struct pdk__watcher watcher;
    unsigned refs;
    pdk_session *s;
    struct pdk__entry_owner *owner; /* NULL: the reaper's */
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
    bool blocked;                 /* as of the last list: somebody is ahead, other than a node of ours on its way out */
    bool list_unsent;             /* the second request of two could not be sent */
    struct pdk__alarm retry;      /* a command could not be sent, or the server asked for a pause */
    struct pdk__alarm poll;       /* ask after the predecessor, in case its watch is never heard of */
    bool unwatched;               /* it may not be read, so not be watched either */
    struct pdk__alarm settle;     /* a right that is kept for a while watches its node */
    bool own_watched;
};

/* A new node in line, with data (NULL: the session's identity); LIMIT when the session has too many. *out, a reference,
 * is set before the owner hears of it. */
pdk_status pdk__entry_new(pdk_session *s, struct pdk__entry_owner *owner, const char *dir,
                          const struct pdk__entry_kind *kind, const char *data, struct pdk__entry **out);
/* A new node with the sequence number of one that is held, to take over its place in line. */
pdk_status pdk__entry_exchange(struct pdk__entry *held, struct pdk__entry_owner *owner,
                               const struct pdk__entry_kind *kind, struct pdk__entry **out);
/* The bare place, in no line, with nothing known: for those two and the reaper. */
struct pdk__entry *pdk__entry_make(pdk_session *s, const char *dir, const char *mark);
struct pdk__entry *pdk__entry_ref(struct pdk__entry *entry);
void pdk__entry_unref(struct pdk__entry *entry);

/* Bring an event to the contender, and what follows from it to everybody else. */
void pdk__entry_step(struct pdk__entry *entry, const struct pdk__event *event);
void pdk__entry_tell(struct pdk__entry *entry, enum pdk__event_type type);
/* Its owner gives it up: to the reaper. */
void pdk__entry_leave(struct pdk__entry *entry);
/* The same, and the owner's reference with it. NULL is no place. */
void pdk__entry_drop(struct pdk__entry *entry);
/* Why it failed, in words, to be freed. */
char *pdk__entry_failure(const struct pdk__entry *entry);
/* In line behind somebody, as of the last list, other than a node of ours on its way out. */
bool pdk__entry_is_blocked(const struct pdk__entry *entry);
#endif
