#include "grant/loss.h"

#include "base/standard.h"
#include "base/text.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

void pdk__loss_init(struct pdk__loss *loss, pdk_session *s, const struct pdk__loss_kind *kind) {
    loss->kind = kind;
    loss->s = s;
    loss->fd = -1;
}

void pdk__loss_clear(struct pdk__loss *loss) {
    if (loss->fd >= 0)
        close(loss->fd);
}

static void loss_run(void *user) {
    struct pdk__loss *loss = user;
    pdk_session *s = loss->s;
    pdk__lock(s);
    bool wanted = !loss->released;
    loss->telling = wanted;
    pdk__unlock(s);
    if (!wanted)
        return; /* the release has freed its user data */
    loss->kind->call(loss);
    pdk__lock(s);
    loss->telling = false;
    void (*user_free)(void *) = g_steal_pointer(&loss->user_free);
    pdk__unlock(s);
    if (user_free)
        user_free(loss->user);
}

static void loss_drop(void *user) {
    struct pdk__loss *loss = user;
    loss->kind->unref(loss);
}

/* Have fn called once, as soon as the thing is lost and fn is set. */
static void loss_call_soon(struct pdk__loss *loss) {
    if (!loss->fn || loss->told || loss->released || loss->reason == PDK_REASON_NONE)
        return;
    loss->told = true;
    loss->kind->ref(loss);
    if (!pdk__later_first(loss->s, loss_run, loss_drop, loss))
        loss->kind->unref(loss); /* not the last: the caller has one */
}

void pdk__loss_tell(struct pdk__loss *loss, pdk_reason reason) {
    pdk__assert_locked(loss->s);
    loss->reason = reason;
    if (loss->fd >= 0)
        eventfd_write(loss->fd, 1);
    loss_call_soon(loss);
}

void pdk__loss_release(struct pdk__loss *loss, void (**user_free)(void *user)) {
    pdk__assert_locked(loss->s);
    loss->released = true;
    if (!loss->telling)
        *user_free = g_steal_pointer(&loss->user_free);
}

pdk_status pdk__loss_listen(struct pdk__loss *loss, void (*fn)(void), void *user, void (*user_free)(void *user),
                            const char *call, const char *name) {
    pdk_status status = PDK_OK;
    if (!fn)
        return pdk__fail(PDK_INVALID, "%s: fn: NULL", call);
    pdk__lock(loss->s);
    if (loss->released) {
        status = pdk__fail(PDK_NOT_HELD, "%s: %s: released", call, name);
    } else if (loss->fn) {
        status = pdk__fail(PDK_INVALID, "%s: fn: %s has a callback already, and keeps it", call, name);
    } else {
        loss->fn = fn;
        loss->user = user;
        loss->user_free = user_free;
        loss_call_soon(loss);
    }
    pdk__unlock(loss->s);
    return status;
}

int pdk__loss_fd(struct pdk__loss *loss, const char *call) {
    pdk__lock(loss->s);
    if (loss->fd < 0) {
        loss->fd = pdk__above_standard(eventfd(loss->reason != PDK_REASON_NONE, EFD_CLOEXEC | EFD_NONBLOCK));
        if (loss->fd < 0)
            pdk__fail(PDK_SYSTEM, "%s: eventfd: %s", call, g_strerror(errno));
    }
    int fd = loss->fd;
    pdk__unlock(loss->s);
    return fd;
}
