#include "session/borrow.h"

#include "base/text.h"
#include "session/blocking.h"
#include "session/close.h"

#include <paddock/borrow.h>

struct pdk_borrow {
    pdk_session *s; /* a reference until it is returned */
    pdk__zk *zk;
    void *handle;
    uint64_t generation;
    bool returned;
    void (*closed)(void *user);
    void *user;
};

bool pdk__is_borrowed(const pdk_session *s, const pdk__zk *zk) {
    pdk__assert_locked(s);
    for (const GList *link = s->borrows.head; link; link = link->next) {
        const pdk_borrow *borrow = link->data;
        if (borrow->zk == zk && !borrow->returned)
            return true;
    }
    return false;
}

void pdk__borrows_end(pdk_session *s, const pdk__zk *zk) {
    pdk__assert_locked(s);
    GQueue over = G_QUEUE_INIT;
    for (GList *link = s->borrows.head, *next; link; link = next) {
        next = link->next;
        if (((const pdk_borrow *)link->data)->zk == zk) {
            g_queue_unlink(&s->borrows, link);
            g_queue_push_tail_link(&over, link);
        }
    }
    pdk__unlock(s);
    for (pdk_borrow *borrow; (borrow = g_queue_pop_head(&over));) {
        borrow->closed(borrow->user);
        g_free(borrow);
    }
    pdk__lock(s);
}

pdk_status pdk_session_borrow(pdk_session *s, void (*closed)(void *user), void *user, pdk_borrow **out) {
    static const char call[] = "pdk_session_borrow";
    if (!out)
        return pdk__fail(PDK_INVALID, "%s: out: NULL", call);
    pdk_status status = pdk__check_call(s, call, 0);
    if (status != PDK_OK)
        return status;
    pdk__lock(s);
    status = pdk__session_connected(s, call);
    if (status == PDK_OK) {
        pdk_borrow *borrow = g_new(pdk_borrow, 1);
        *borrow = (pdk_borrow){
            pdk__session_ref(s), s->zk, s->platform->zk->native(s->zk), s->generation, false, closed, user};
        g_queue_push_tail(&s->borrows, borrow);
        *out = borrow;
    }
    pdk__unlock(s);
    return status;
}

void *pdk_borrow_handle(const pdk_borrow *borrow) {
    return borrow && !pdk__is_forked(borrow->s) ? borrow->handle : NULL;
}

bool pdk_borrow_is_current(const pdk_borrow *borrow) {
    if (!borrow || pdk__is_forked(borrow->s))
        return false;
    pdk_session *s = borrow->s;
    pdk__lock(s);
    bool current = s->ended == PDK_OK && s->generation == borrow->generation;
    pdk__unlock(s);
    return current;
}

void pdk_borrow_release(pdk_borrow *borrow) {
    if (!borrow || pdk__is_forked(borrow->s))
        return;
    pdk_session *s = borrow->s;
    pdk__lock(s);
    borrow->returned = true;
    if (!borrow->closed) {
        g_queue_remove(&s->borrows, borrow);
        g_free(borrow);
    }
    s->platform->work(s);
    pdk__unlock(s);
    pdk__session_unref(s);
}
