/* A mirror: the contenders in one directory as a session knows them without a list (ADR 45).
 *
 *     a list of the directory ───────► The contenders up to our newest number are in it.
 *     our next create is consecutive ► One more is in it.
 *     our next create leaves a gap ──► Somebody came between. A list is due.
 *     a deletion is told ────────────► One less is in it.
 *     our node is held ──────────────► Nobody is ahead of it.
 *     the watch fires ───────────────► Nothing is known. Likewise when the connection goes.
 *
 * While it is full, each contender that stands in the directory with a number up to `last` is in it. It may have others,
 * whose end nobody has told. Then a list, or a read, tells. A directory counts all that is created in it, and names
 * sequential nodes by that count. So when a create of ours gets the number after `last`, nothing was created in between.
 * A directory that was deleted and made again counts from zero. So the mirror stands on a watch on the directory. No
 * number is compared with one from before that watch.
 *
 * It decides only for contenders whom everybody ahead blocks, and who keep no lock-delay. Pure: the room for its nodes is
 * the caller's.
 */
#ifndef PDK_CORE_MIRROR_H
#define PDK_CORE_MIRROR_H

#include "core/view.h"

struct pdk__mirrored {
    struct pdk__name parsed;
    char name[PDK__NAME_SIZE];
};

struct pdk__mirror {
    bool watched; /* the watch on the directory was answered on this connection, and has not fired */
    bool counted; /* `newest` is known, in the directory that is watched */
    bool full;
    bool in_turn;   /* the numbers of our two newest nodes are consecutive, or there are no two */
    int32_t newest; /* the number of our newest node */
    int32_t last;
    size_t count, room;
    struct pdk__mirrored *nodes; /* in any order */
};

/* The watch on the directory was answered. */
void pdk__mirror_watched(struct pdk__mirror *m);
/* Nothing is known any more. */
void pdk__mirror_void(struct pdk__mirror *m);

/* A list came, and every answer before it has been told here. FOREIGN children are no contenders. */
void pdk__mirror_listed(struct pdk__mirror *m, const struct pdk__child *children, size_t count);
/* A create of ours made this node, with a number that the server gave. true: it is in the mirror. */
bool pdk__mirror_created(struct pdk__mirror *m, const char *name);
/* The watch on this node, or the answer to our own delete, has told that it is deleted. ours: a node of this session. */
void pdk__mirror_deleted(struct pdk__mirror *m, const char *name, bool ours);
/* A contender of ours whom everybody ahead blocks is held with this node. */
void pdk__mirror_held(struct pdk__mirror *m, const char *own);

/* Is the next create of ours likely to be consecutive? *tail: the node that it would be behind, or "". */
bool pdk__mirror_expects(const struct pdk__mirror *m, const char **tail);
/* A view of our node, as of the newest answer of this connection; true: it stands for a list. It does not tell whether
 * our node still stands, nor whether those ahead do. */
bool pdk__mirror_view(const struct pdk__mirror *m, const char *own, struct pdk__view *view);

#endif
