/* A listing of the directory as one contender sees it: is it there, who is ahead, whom must it watch.
 *
 * A recipe is a rule: a predicate over two kinds, does that one block me, and how many of those ahead may be there all the
 * same. The nearest blocker ahead is the one to watch; without one too many, the contender is admitted. Nodes after one's own
 * never matter.
 */
#ifndef PDK_CORE_VIEW_H
#define PDK_CORE_VIEW_H

#include "core/names.h"

#include <stddef.h>

/* More children than this are refused (LIMIT) rather than considered. */
#define PDK__CHILDREN_MAX 100000

/* Does a contender of kind theirs, ahead, keep one of kind mine waiting? */
typedef bool (*pdk__blocks_fn)(enum pdk__kind theirs, enum pdk__kind mine);

struct pdk__rule {
    pdk__blocks_fn blocks;
    /* Blockers ahead that do not matter: n - 1 where n may hold together. The nearest one's going may change nothing then, so
     * whoever sends such contenders is in a hurry (session/place.h), and sends others when there is room. */
    int32_t spare;
};

/* Who looks. */
struct pdk__viewer {
    const char *mark;
    const char *own;       /* the name of our node, or "" when it is not known; ahead and blocker need it */
    const char *exchanged; /* "", or our earlier node, whose place in line `own` takes over */
    struct pdk__rule rule;
};

struct pdk__view {
    bool listed;                  /* our own node is in the list */
    bool exchanged_gone;          /* the earlier node is not: the place in line it stood for is nobody's any more */
    bool beyond_limits;           /* too many children, or a contender's name too long to be handled */
    int32_t ahead;                /* contenders ahead of us, blocking or not */
    char blocker[PDK__NAME_SIZE]; /* the nearest one that blocks us, or "" when we are admitted */
    char marked[PDK__NAME_SIZE];  /* the newest node bearing our mark that is not `own`, or "" */
};

void pdk__view_make(struct pdk__view *view, const char *const *names, size_t count, const struct pdk__viewer *viewer);

/* The rule of the lock: everybody ahead blocks. */
bool pdk__blocks_always(enum pdk__kind theirs, enum pdk__kind mine);
/* Of the read/write lock: readers do not block each other. */
bool pdk__blocks_unless_shared(enum pdk__kind theirs, enum pdk__kind mine);

#endif
