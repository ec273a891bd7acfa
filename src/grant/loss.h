/* The news that a hold, or a set, is lost: a reason, a callback once, and a descriptor.
 *
 *     it stands ──pdk__loss_tell──► lost: the descriptor is readable; the callback is due as soon as it is set
 *         └───────┴──pdk__loss_release──► released: a callback that has not begun does not come
 *
 * Under the monitor of the session that tells.
 */
#ifndef PDK_GRANT_LOSS_H
#define PDK_GRANT_LOSS_H

#include "session/session.h"

#include <paddock/hold.h>

struct pdk__loss;

/* The thing that it is about. */
struct pdk__loss_kind {
    /* Call on_lost, with the thing, the reason and the user. Not under the monitor. */
    void (*call)(struct pdk__loss *loss);
    /* One more reference to the thing, and back. The monitor may be locked: then it is not the last one. */
    void (*ref)(struct pdk__loss *loss);
    void (*unref)(struct pdk__loss *loss);
};

/* Embedded in the thing. */
struct pdk__loss {
    const struct pdk__loss_kind *kind;
    pdk_session *s;
    pdk_reason reason; /* NONE: it is not lost */
    bool released;
    int fd;           /* -1: nobody has asked for it */
    void (*fn)(void); /* on_lost, as the kind knows it; NULL: not set */
    void *user;
    void (*user_free)(void *user);
    bool told, telling; /* fn is due or was called; is running */
};

void pdk__loss_init(struct pdk__loss *loss, pdk_session *s, const struct pdk__loss_kind *kind);
/* With the last reference. Not under the monitor. */
void pdk__loss_clear(struct pdk__loss *loss);
/* It is lost. Once. */
void pdk__loss_tell(struct pdk__loss *loss, pdk_reason reason);
/* It is released. Where *user_free is set, the caller calls it with loss->user outside of the monitor: fn cannot run
 * any more. */
void pdk__loss_release(struct pdk__loss *loss, void (**user_free)(void *user));

/* The work of the public calls. Not under the monitor. name: the thing's, in words; it must live as long as the
 * thing. */
pdk_status pdk__loss_listen(struct pdk__loss *loss, void (*fn)(void), void *user, void (*user_free)(void *user),
                            const char *call, const char *name);
int pdk__loss_fd(struct pdk__loss *loss, const char *call);

#endif
