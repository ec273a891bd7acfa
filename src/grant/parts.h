/* The hold of several rights, the whole. Each part is a hold of its own, in one session or another.
 *
 *     all are needed: a part's grant ends                      some suffice: a part's grant ends
 *       ├─in the session of the whole──► the whole is lost,      ├─as many as are needed are left ──► it is taken again
 *       │                                under that monitor      └─fewer ──► the whole is lost, as on the left, and all
 *       └─in another session──► by that session's outbox,                   that is left of it is released at once
 *           outside of all monitors ──► the whole is lost
 *
 * The whole has no moment of its own: it is valid while as many parts are as are needed. Its word (hold->until) is LAPSED from
 * the first look that finds fewer, or RELEASED. So a whole that was reported invalid never becomes valid again, although a part
 * may be taken again. All else about the whole is under the monitor of its session, as for any hold. A thread never has two
 * monitors.
 *
 * A look reads the word of each part, and then the clock. So all that it counts was held at the moment that the clock told. A part
 * that was taken again is counted only after a look that found enough without it, at a moment when it was held already. So there
 * is no moment between the grant and the loss of the whole at which fewer than needed were held.
 *
 * What is carried to an outbox keeps the memory of the whole, and no reference. So the last reference of its owner releases the parts
 * at once, although nobody may dispatch the session where a step is on its way.
 *
 * Where all are needed, they stay held when the whole is lost, and are released with it: until its owner has let go, nobody
 * comes in where the owner may still be at work. Where some suffice, what is left is released at once: others may have as many as
 * they need by now, and would wait for those in vain.
 */
#ifndef PDK_GRANT_PARTS_H
#define PDK_GRANT_PARTS_H

#include "grant/all.h"
#include "grant/hold.h"
#include "grant/registry.h"

/* A part. The array of them is in the order in which the caller named them. Under the monitor of its session, but for the hold. */
struct pdk__part {
    struct pdk__grant_listener listener; /* of the part's grant */
    struct pdk_hold *whole;
    struct pdk__right right;
    struct pdk_hold
        *_Atomic hold; /* the newest one, a reference; NULL: it was not held yet. It lives as long as the whole, */
    GSList *before;    /* and so do those that it has replaced, and those that came too late */
    struct pdk__grant *grant; /* the one that is listened to; or NULL */
    struct pdk_claim *claim;  /* to take it again; a reference. NULL: it never had to be */
    bool closed;              /* it is not taken again any more */
};

struct pdk__parts {
    guint count, need;
    struct pdk__follower end; /* of the session of the whole */
    struct pdk_hold *whole;
    atomic_uint users;         /* of the memory: all references to the whole are one, and each step on its way */
    _Atomic pdk_reason reason; /* for the whole, once it is lost */
    _Atomic uint64_t thread;   /* to which it belongs; 0: none */
    atomic_uint readers;       /* threads that look at holds of parts, which may be replaced meanwhile */
    struct pdk__part part[];
};

static inline bool pdk__parts_some_suffice(const struct pdk__parts *parts) { return parts->need < parts->count; }

/* An array of so many parts. */
struct pdk__parts *pdk__parts_new(guint count, guint need);
/* Fill in one of them. Takes over the hold, which may be NULL; what it needs of the right it copies. */
void pdk__parts_set(struct pdk__parts *parts, const struct pdk__right *right, struct pdk_hold *hold);
/* The whole of them, in the session of one of them, with one reference. Takes the parts over. NULL: too few are left; all are
 * released. Not under a monitor. */
struct pdk_hold *pdk__parts_join(struct pdk__parts *parts, pdk_session *s);
/* They belong to this thread from now on. Not under a monitor. */
void pdk__parts_own(struct pdk_hold *whole, uint64_t thread);

/* What the calls about a hold do for a whole. None of them under a monitor, but the first two. */
bool pdk__parts_valid(const struct pdk_hold *whole);
int64_t pdk__parts_remaining_ms(const struct pdk_hold *whole);
/* The whole has ended. Under its monitor. */
void pdk__parts_ended(struct pdk_hold *whole);
/* Lose the whole if too few parts are left, and the word of it has not come yet. */
void pdk__parts_check(struct pdk_hold *whole);
/* The newest hold of one part, with a reference; or NULL. */
struct pdk_hold *pdk__parts_take(const struct pdk__parts *parts, guint i);
void pdk__parts_detach_thread(const struct pdk_hold *whole);
/* Again and again: what is released stays so. */
void pdk__parts_release(struct pdk__parts *parts);
/* The last reference to the whole was given back: release them, and free them and the whole as soon as no step is on its way. */
void pdk__parts_give_up(struct pdk__parts *parts);

#endif
