/* A hold, from inside. Its validity is one atomic word: the moment until which it is valid, or LAPSED, or RELEASED. A
 * comparison that finds the moment passed turns it to LAPSED, and a renewal extends it only from an unexpired value: what
 * was once reported invalid never becomes valid again. */
#ifndef PDK_HOLD_INSIDE_H
#define PDK_HOLD_INSIDE_H

#include "grant/grant.h"
#include "grant/queue.h"

#include <paddock/hold.h>

#define PDK__LAPSED INT64_C(0)
#define PDK__RELEASED INT64_C(-1)

struct pdk_hold {
    atomic_uint refs;
    _Atomic int64_t until;
    pdk_session *s;           /* the line's */
    struct pdk__queue *queue; /* a reference */
    int64_t token;
    uint32_t handover;
    char token_text[21];
    char *node; /* path of the znode with which the right was granted */
    /* under the monitor */
    struct pdk__grant *grant; /* NULL once ended */
    GList in_grant;           /* in right->holds */
    char *proof;              /* of a sequencer: the znode that stands for it now, and the mode */
    pdk_reason reason;
    bool ended; /* lost or released: not in s->holds */
    bool released;
    GList link;      /* in s->holds */
    uint64_t thread; /* that acquired it, blocking; 0: none, or detached */
    int fd;
    char *sequencer, *old_sequencer; /* the one from before a downgrade lives on */
    pdk_lost_fn on_lost;
    void *user;
    void (*user_free)(void *user);
    bool told, telling; /* on_lost is due or was called; is running */
};

/* All under the monitor. */
struct pdk_hold *pdk__hold_new(struct pdk__grant *grant, const struct pdk_claim *claim);
/* Its right stands on another node from now on. */
void pdk__hold_stands_on(struct pdk_hold *hold, const struct pdk__entry *entry, const char *mode);
void pdk__hold_lose(struct pdk_hold *hold, pdk_reason reason);
/* Have on_lost called if it is lost and was not told. */
void pdk__hold_tell(struct pdk_hold *hold);
/* End it for its owner, as pdk_hold_release does, but for the reference. The user data of a callback that can no longer run is
 * to be freed outside with *user_free, where that is set. OK, LOST, NOT_HELD. */
pdk_status pdk__hold_release(struct pdk_hold *hold, void (**user_free)(void *user));
/* It was granted and never received: end it without a word. */
void pdk__hold_discard(struct pdk_hold *hold);

/* The lease moved; a shorter timeout was negotiated; time has passed; the end of all. */
void pdk__holds_extend(pdk_session *s, int64_t end);
void pdk__holds_shorten(pdk_session *s, int64_t end);
void pdk__holds_check(pdk_session *s);
void pdk__holds_lose(pdk_session *s, pdk_reason reason);

#endif
