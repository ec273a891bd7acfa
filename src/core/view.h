/* A list of the directory as one contender sees it: is its node there, which nodes are ahead, and which of them must it
 * watch?
 *
 * A recipe is a rule: a predicate over two kinds (does that one block me?), and the number of blockers that it
 * tolerates. With more blockers ahead than that, the contender watches the nearest one. Otherwise it is admitted. Nodes
 * behind our own never matter.
 */
#ifndef PDK_CORE_VIEW_H
#define PDK_CORE_VIEW_H

#include "core/names.h"

#include <stddef.h>

/* More children than this are refused (LIMIT) rather than considered. */
#define PDK__CHILDREN_MAX 100000

/* Does a contender of kind theirs, ahead, block one of kind mine? */
typedef bool (*pdk__blocks_fn)(enum pdk__kind theirs, enum pdk__kind mine);

struct pdk__rule {
    pdk__blocks_fn blocks;
    /* How many blockers ahead are tolerated: n - 1 where n may hold together. When the nearest blocker goes, there may
     * still be no room. So the owner of such a contender never waits (session/entry.h), and makes another one when
     * there is room. */
    int32_t tolerated;
};

/* The contender that looks. */
struct pdk__viewer {
    const char *mark;
    const char *own;       /* the name of our node, or "" when it is not known; ahead and blocker need it */
    const char *exchanged; /* "", or our earlier node: `own` takes over its position in the queue */
    struct pdk__rule rule;
};

struct pdk__view {
    bool listed;                  /* our own node is in the list */
    bool exchanged_gone;          /* the earlier node does not exist any more: its position in the queue is lost */
    bool delays;                  /* the directory has a lock-delay: core/delay.h */
    bool mixed;                   /* contenders of another recipe are there, which our rule never sees */
    bool doubtful;                /* by its name a directory there has permits, or claims for them */
    bool beyond_limits;           /* too many children, or a contender's name too long to be handled */
    int32_t ahead;                /* contenders ahead of us, blocking or not */
    bool sole;                    /* the blocker alone is ahead: once it is gone, nobody can be, without a list */
    char blocker[PDK__NAME_SIZE]; /* the nearest one that blocks us, or "" when we are admitted */
    char marked[PDK__NAME_SIZE];  /* the newest node with our mark that is not `own`, or "" */
};

void pdk__view_make(struct pdk__view *view, const char *const *names, size_t count, const struct pdk__viewer *viewer);

/* A child of a directory, read once for all contenders that look at the list. */
struct pdk__child {
    const char *text;
    size_t length;
    struct pdk__name name; /* kind FOREIGN: not a contender's */
};

/* Read `count` names into as many children; the texts stay the caller's. */
void pdk__children_parse(struct pdk__child *children, const char *const *names, size_t count);
/* As pdk__view_make, from children that were read before. */
void pdk__view_of(struct pdk__view *view, const struct pdk__child *children, size_t count,
                  const struct pdk__viewer *viewer);

/* The same for a contender that has no node yet: everybody in the list is ahead. */
void pdk__view_from_behind(struct pdk__view *view, const struct pdk__child *children, size_t count, const char *mark,
                           struct pdk__rule rule);

/* The rule of the lock: everybody ahead blocks. */
bool pdk__blocks_always(enum pdk__kind theirs, enum pdk__kind mine);
/* The rule of the group: nobody blocks. */
bool pdk__blocks_never(enum pdk__kind theirs, enum pdk__kind mine);
/* The rule of the read/write lock: readers do not block each other. */
bool pdk__blocks_unless_shared(enum pdk__kind theirs, enum pdk__kind mine);

#endif
