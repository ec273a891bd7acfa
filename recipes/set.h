/* A set, from inside: rights that are held together. Each part is a hold of its own, in one session or another.
 *
 *     all are needed: a part's grant ends                      some suffice: a part's grant ends
 *       ├─in the session of the set──► the set is lost,          ├─as many as are needed are left ──► it is taken again
 *       │                              under that monitor        └─fewer ──► the set is lost, as on the left, and all
 *       └─in another session──► by that session's outbox,                    that is left of it is released at once
 *           outside of all monitors ──► the set is lost
 *
 * The set has no moment of its own: it is valid while enough parts are. Its word is LAPSED from the first look that
 * finds fewer, or RELEASED. So a set that was reported invalid never becomes valid again, although a part may be taken
 * again. All else about the set is under the monitor of its session. A thread never has two monitors.
 *
 * A look reads the word of each part, and then the clock. So all that it counts was held at the moment that the clock
 * told. A part that was taken again is counted only after a look that found enough without it, at a moment when it was
 * held already. So there is no moment between the grant and the loss of the set at which fewer than needed were held.
 *
 * A step that is carried to an outbox keeps the memory of the set, but has no reference. So the owner's last unref
 * releases the parts at once, even if nobody dispatches the session where a step is on its way.
 *
 * Where all are needed, the parts stay held when the set is lost, and are released with it: until the owner has let go,
 * nobody comes in where it may still be at work. Where some suffice, the other parts are released at once: other
 * callers may have as many as they need by now, and would wait for these parts in vain.
 */
#ifndef PDK_RECIPE_SET_H
#define PDK_RECIPE_SET_H

#include "base/fork.h"
#include "grant/hold.h"
#include "grant/registry.h"

#include <paddock/set.h>

/* One right, of whichever recipe. */
struct pdk__right {
    struct pdk__queue *queue; /* a reference */
    int32_t count;            /* of permits; 1 elsewhere */
    char *path;               /* of the recipe, absolute, chroot included */
    guint place;              /* the place at which the caller named it */
};

/* A part. The array of parts is in the order in which the caller named them. Under the monitor of its session, but for
 * the hold. */
struct pdk__part {
    struct pdk__grant_listener listener; /* of the part's grant */
    struct pdk_set *set;
    struct pdk__right right;
    /* The newest one, a reference; NULL: it was not held yet. It lives as long as the set. */
    struct pdk_hold *_Atomic hold;
    GSList *before;           /* holds that were replaced, or came too late, which live as long */
    struct pdk__grant *grant; /* the grant that it listens to; or NULL */
    struct pdk_claim *claim;  /* to take it again; a reference. NULL: it never had to be taken again */
    bool closed;              /* it is not taken again any more */
};

enum pdk__set_word { PDK__SET_STANDS, PDK__SET_LAPSED, PDK__SET_RELEASED };

struct pdk_set {
    atomic_uint refs;
    atomic_int word; /* a pdk__set_word */
    pdk_session *s;  /* the session that tells of its loss: a part's, which has a reference */
    char *name;      /* for texts */
    guint count, need;
    atomic_uint users;         /* of the memory: one for all references, and one for each step on its way */
    _Atomic pdk_reason reason; /* why it is lost, before the news has arrived in its session */
    _Atomic uint64_t thread;   /* the thread to which it belongs; 0: none */
    atomic_uint readers;       /* threads that look at holds of parts, which may be replaced meanwhile */
    /* under the monitor */
    struct pdk__follower end; /* of its session */
    struct pdk__loss loss;
    bool ended; /* lost or released */
    struct pdk__part part[];
};

static inline bool pdk__set_is_ours(const struct pdk_set *set) { return set && set->s->forks == pdk__forks(); }
static inline bool pdk__set_some_suffice(const struct pdk_set *set) { return set->need < set->count; }

/* None of these calls under a monitor, but the last. */

/* A set of so many parts, to be filled, and joined. */
struct pdk_set *pdk__set_new(guint count, guint need);
/* Fill in a part. Takes over the hold, which may be NULL, and copies all that it needs of the right. */
void pdk__set_fill(struct pdk_set *set, const struct pdk__right *right, struct pdk_hold *hold);
/* The set stands from now on, in the session of one of its parts, and has one reference. false: too few parts are left;
 * all are released, and the set is gone. */
bool pdk__set_join(struct pdk_set *set, pdk_session *s);
/* Its parts belong to this thread from now on. */
void pdk__set_own(struct pdk_set *set, uint64_t thread);
/* The newest hold of one part, with a reference; or NULL. */
struct pdk_hold *pdk__set_take(struct pdk_set *set, guint i);
/* Its end, for a call of that name: NOT_HELD or LOST; OK: it is valid. Under its monitor. */
pdk_status pdk__set_how_it_ended(struct pdk_set *set, const char *call);

#endif
