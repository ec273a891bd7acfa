/* The hold of several rights, the whole. Each part is a hold of its own, in one session or another.
 *
 *     part's grant ends ──in the session of the whole──► the whole is lost, under that monitor
 *              └──in another session──► by that session's outbox, outside of all monitors ──► the whole is lost
 *
 * The whole has no moment of its own: it is valid while each part is, and no part revives. So it needs no lock, and is never
 * optimistic. Its word (hold->until) is LAPSED from the first look that finds a part invalid, or RELEASED. All else about the
 * whole is under the monitor of its session, as for any hold. A thread never has two monitors.
 *
 * The parts stay held when the whole is lost, and are released with it: until its owner has let go, nobody comes in where the
 * owner may still be at work.
 */
#ifndef PDK_GRANT_PARTS_H
#define PDK_GRANT_PARTS_H

#include "grant/hold.h"

/* A part. The array of them is in the order in which the caller named them. */
struct pdk__part {
    struct pdk__grant_listener listener; /* of the part's grant */
    struct pdk_hold *whole;
    struct pdk_hold *hold;    /* a reference */
    struct pdk__grant *grant; /* under the part's monitor: the one that is listened to; or NULL */
    char *path;               /* absolute, chroot included */
    pdk_reason reason;        /* for the whole, once the part is lost */
};

struct pdk__parts {
    guint count;
    struct pdk__part part[];
};

/* An array of so many parts, to be filled with hold and path, both taken over. */
struct pdk__parts *pdk__parts_new(guint count);
/* The whole of them, in the session of one of them, with one reference. Takes the parts over. NULL: one has ended; all are
 * released. Not under a monitor. */
struct pdk_hold *pdk__parts_join(struct pdk__parts *parts, pdk_session *s);
/* They belong to this thread from now on. Not under a monitor. */
void pdk__parts_own(struct pdk_hold *whole, uint64_t thread);

/* What the calls about a hold do for a whole. None of them under a monitor, but the first two. */
bool pdk__parts_valid(const struct pdk_hold *whole);
int64_t pdk__parts_remaining_ms(const struct pdk_hold *whole);
/* Lose the whole if a part is lost, and the word of it has not come yet. */
void pdk__parts_check(struct pdk_hold *whole);
void pdk__parts_detach_thread(const struct pdk_hold *whole);
/* Again and again: what is released stays so. */
void pdk__parts_release(struct pdk__parts *parts);
/* Release them, and free them. */
void pdk__parts_free(struct pdk__parts *parts);

#endif
