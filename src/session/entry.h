/* An entry: one node of ours in a queue, from before its creation until after its deletion. It is the driver of one
 * contender. It carries out the contender's commands, and tells its owner about each step.
 *
 *     queue or grant (owner) ◄── moved ── entry ── command ──► commands.c ──► ZooKeeper
 *                                           └── left by its owner ──► the reaper's
 *
 * An entry without an owner is the reaper's: nobody needs it any more, and its node is being deleted. It stays in
 * s->entries, across reconnects, until the server has confirmed the deletion, or until the ZooKeeper session is gone.
 * All of it under the monitor.
 */
#ifndef PDK_SESSION_ENTRY_H
#define PDK_SESSION_ENTRY_H

#include "core/contender.h"
#include "core/pace.h"
#include "session/watches.h"

/* The limits, in words. */
#define PDK__NODES_LIMIT                                                                                               \
    "the nodes of this session have paths of 1000 KiB together; use shorter paths, or more sessions"
#define PDK__WATCHES_LIMIT "the watches of this session have paths of 900 kB together; use more sessions"
#define PDK__DELAY_MISMATCH "the path has a lock-delay: a node \"delay\" says which; use the same one"
#define PDK__CHILDREN_LIMIT                                                                                            \
    "more than 100,000 nodes, or a contender's name of more than 127 bytes; remove what does not belong there"

struct pdk__entry;

/* The owner of an entry hears about its steps. Embedded in the owner's own struct. */
struct pdk__entry_owner {
    /* The entry took a step. May give the entry up. */
    void (*moved)(struct pdk__entry_owner *owner, struct pdk__entry *entry);
    /* True: all claims are tries, so none of them wants to wait. */
    bool (*never_waits)(const struct pdk__entry_owner *owner);
    /* While it never waits, its entry looks whether somebody is there before it writes. */
    bool looks;
    /* NULL, or: the node of a held entry was read, as it was when its watch was set. */
    void (*read)(struct pdk__entry_owner *owner, struct pdk__entry *entry, const struct pdk__reply *reply);
    /* NULL, or: a list of the directory came. Its entry is told next. */
    void (*listed)(struct pdk__entry_owner *owner, const struct pdk__child *children, size_t count);
};

/* The contenders of a recipe: their naming and their rule. */
struct pdk__entry_kind {
    enum pdk__profile profile;
    enum pdk__label label;
    struct pdk__rule rule;
    bool delays; /* they keep the lock-delay of their directory: core/delay.h */
};

/* The other recipes in the directory, as of the newest list that shows our node. */
enum pdk__company { PDK__COMPANY_UNKNOWN, PDK__COMPANY_NONE, PDK__COMPANY_MIXED };

struct pdk__entry {
    struct pdk__watcher watcher;
    unsigned refs;
    pdk_session *s;
    struct pdk__entry_owner *owner; /* NULL: the reaper's */
    void (*on_gone)(void *user);    /* NULL, or: called once the entry is removed */
    void *on_gone_user;
    struct pdk__contender c;
    struct pdk__rule rule;
    bool containers;
    bool queued; /* in s->entries */
    GList link;
    bool renews; /* in s->renewing */
    GList renewing_link;
    GList leaving_link;           /* in s->leaving, from its leave until it is removed */
    char *dir;                    /* absolute, chroot included */
    char *data;                   /* of its node; NULL: an entry that the reaper made */
    size_t data_size;             /* of data that is not text; 0: it is text */
    bool outdated;                /* its newest create was handed over with other data */
    char *name;                   /* the whole name of its node, if that is given; or NULL */
    char *exchanged;              /* the name of our node from which this one takes over the position, or NULL */
    char *watch_path;             /* of the latest predecessor that was to be watched */
    char *own_path;               /* once known */
    int failure_code;             /* ZooKeeper's code for the last refusal */
    enum pdk__result dir_refused; /* the refusal to create a parent of the directory; OK: none */
    const char *limit;            /* the limit that was met, in words; NULL: the directory's */
    enum pdk__result unsent;      /* the answer to a command that could not be sent: NOT_NOW, or LIMITED */
    size_t bytes;                 /* counted in s->ephemeral_bytes */
    uint64_t leaving;             /* its number in the order of leaving; 0: not yet */
    uint64_t serial;              /* the number in its mark; 0: found by the reaper */
    uint64_t create;              /* the number of its newest create among the session's requests */
    enum pdk__company company;
    bool blocked;            /* as of the last list: see pdk__entry_is_blocked */
    bool list_unsent;        /* the list behind its create, or sync, is not sent either */
    bool without_list;       /* it needs no list behind its create */
    bool mirrored;           /* likewise, unless the mirror does not stand for one */
    bool synced;             /* the sync ahead of the look's list was answered */
    struct pdk__alarm retry; /* a command could not be sent, or has to wait: for its pace, or in a pause */
    struct pdk__pace steps, pauses, creates, mkdirs, deletes;
    bool paced;         /* the command waits for its pace */
    bool waits_to_send; /* its pause is for a request that could not be sent */
    GList ask_link;     /* in s->predecessors.entries */
    bool asks;
    int64_t ask_at;
    struct pdk__alarm poll;   /* list again, behind a predecessor that may not be read */
    bool unwatched;           /* the predecessor may not be read, so it cannot be watched either */
    struct pdk__alarm settle; /* an entry that stays held for a while watches its own node */
    bool own_watched;         /* its watch was asked for, and has not fired */
    bool own_armed;           /* its watch stands, says the answer */
    bool unread;              /* its node was written to and read, and its owner then had no use for it */
    bool ahead_gone;          /* the predecessor that it watched is gone, and no list was read since */
    char *pledge;      /* the path of its pledge (core/delay.h), deleted before its node is; NULL: none, or broken */
    bool pledged;      /* a quorum has it */
    bool pledge_stays; /* the newest delete of it may not have been executed */
    bool wished;       /* its node has a wish that we let go: it is not handed on within the process */
    int32_t wished_version; /* of its data, then */
};

/* The data of a new node. bytes: NULL for the session's identity. size: of data that is not text; 0: it is text. */
struct pdk__node_data {
    const char *bytes;
    size_t size;
};

/* Queue with a new node. *out, a reference, is set before the owner hears of the
 * entry. LIMIT: the session has too many nodes. */
pdk_status pdk__entry_new(pdk_session *s, struct pdk__entry_owner *owner, const char *dir,
                          const struct pdk__entry_kind *kind, struct pdk__node_data data, struct pdk__entry **out);
/* Creates that are handed over from now on have other data. */
void pdk__entry_set_data(struct pdk__entry *entry, struct pdk__node_data data);
/* Queue with a new node that has the sequence number of a held one, to take over its position. */
pdk_status pdk__entry_exchange(struct pdk__entry *held, struct pdk__entry_owner *owner,
                               const struct pdk__entry_kind *kind, struct pdk__entry **out);
/* A bare entry, without an owner and with no node known. For these two functions and the reaper. */
struct pdk__entry *pdk__entry_make(pdk_session *s, const char *dir, const char *mark);
struct pdk__entry *pdk__entry_ref(struct pdk__entry *entry);
void pdk__entry_unref(struct pdk__entry *entry);

/* Read its node, leaving a watch. entry->own_watched, or it could not be sent. The answer may end it. */
void pdk__entry_watch_own(struct pdk__entry *entry);
/* Bring an event to the contender, carry out its command, and tell the owner. */
void pdk__entry_step(struct pdk__entry *entry, const struct pdk__event *event);
/* The same, for an event that has a type alone. */
void pdk__entry_tell(struct pdk__entry *entry, enum pdk__event_type type);
/* A held entry has another owner from now on. That owner hears of earlier writes to its node. */
void pdk__entry_give(struct pdk__entry *entry, struct pdk__entry_owner *owner);
/* Its own node is not watched any more. */
void pdk__entry_unguard(struct pdk__entry *entry);
/* The owner gives the entry up to the reaper, and keeps its reference. */
void pdk__entry_leave(struct pdk__entry *entry);
/* The same, and give the owner's reference back. NULL is allowed. */
void pdk__entry_drop(struct pdk__entry *entry);
/* Its holder has ended uncleanly, so its pledge stays, and tells the others. */
void pdk__entry_break_pledge(struct pdk__entry *entry);
/* The reason for its failure, in words, to be freed. */
char *pdk__entry_failure(const struct pdk__entry *entry);
/* As of the last list: is somebody ahead, other than a node of ours that is being deleted? */
bool pdk__entry_is_blocked(const struct pdk__entry *entry);

#endif
