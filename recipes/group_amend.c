/* Amends a member's node that was made with older data than the member has.
 *
 *     create under way ──set: UNAVAILABLE──► the answer comes: a node with the data from before ──► written here
 *
 * The set has answered by then, and promised that every new registration has the new data. So the node is written in
 * the background. A set that comes meanwhile goes first, since it has newer data, and nobody waits for this write. A
 * request of this write that is under way is left alone then: both name the version that the node was made with, so one
 * of them is carried out, and the other one looks (own_data.h).
 */
#include "group_amend.h"

#include "grant/hold.h"
#include "session/blocking.h"

struct amending {
    struct pdk__call call;
    struct pdk__own_write write;
    uint64_t over; /* own->over, when its data were the newest */
};

/* The queue's data, for nodes to come. */
static GBytes *newest(const pdk_hold *hold) { return g_bytes_new(hold->queue->data, hold->queue->data_size); }

static pdk_status amend_step(struct pdk__call *call) {
    struct amending *a = (struct amending *)call;
    struct pdk__own_write *w = &a->write;
    struct pdk__own_data *own = w->own;
    pdk_status status = pdk__session_usable(call->s, call->name);
    if (status != PDK_OK)
        return status;
    if (own->writes.head) {
        pdk__own_write_forget(w);
        return pdk__call_waits(call, &own->turns, INT64_MAX);
    }
    if (a->over != own->over)
        pdk__own_write_anew(w, newest(w->hold));
    a->over = own->over;
    if (own->token == w->hold->token && own->settled) /* a set has written it */
        return PDK_OK;
    return pdk__own_write_step(w, NULL);
}

static void amend_leave(struct pdk__call *call) {
    const struct pdk__own_write *w = &((struct amending *)call)->write;
    pdk__own_write_forget(&((struct amending *)call)->write);
    pdk__log(call->s, PDK_LOG_DEBUG, "%s: its data were set before it was there: %s", w->hold->node,
             pdk_status_name(call->status));
}

static void amend_free(struct pdk__call *call) {
    struct amending *a = (struct amending *)call;
    pdk_hold_unref(a->write.hold);
    pdk__own_write_free(&a->write);
    g_free(a);
}

void pdk__member_amend(struct pdk__own_data *own, pdk_hold *hold) {
    static const struct pdk__call_kind kind = {NULL, amend_step, amend_leave, NULL, amend_free};
    pdk__assert_locked(hold->s);
    struct amending *a = g_new0(struct amending, 1);
    a->call = pdk__call_make(&kind, hold->s, "pdk_member_set_data", PDK_FOREVER);
    a->over = own->over;
    pdk__own_write_init(&a->write, &a->call, own, newest(hold));
    a->write.hold = pdk_hold_ref(hold);
    pdk__call_go(&a->call);
}
