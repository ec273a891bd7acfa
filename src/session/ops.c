#include "session/ops.h"

#include "session/renew.h"

#include <assert.h>

struct op {
    uint64_t generation;
    int64_t sent;
    enum pdk__op_kind kind;
    pdk__done_fn done;
    void *user;
};

bool pdk__send(pdk_session *s, struct pdk__request request, pdk__done_fn done, void *user) {
    pdk__assert_locked(s);
    if (!s->zk)
        return false;
    struct op *op = g_new(struct op, 1);
    *op = (struct op){s->generation, pdk__now(s), request.kind, done, user}; /* the clock is read before the call */
    request.tag = (uintptr_t)op;
    bool sent = s->platform->zk->submit(s->zk, &request);
    if (!sent)
        g_free(op);
    return sent;
}

/* Does the answer prove that a quorum committed something of our session? Failed creates, deletes and sets prove
 * nothing. */
static bool proves_quorum(enum pdk__op_kind kind, enum pdk__result result) {
    switch (kind) {
    case PDK__OP_CREATE:
    case PDK__OP_MKDIR:
    case PDK__OP_DELETE:
    case PDK__OP_SET:
        return result == PDK__OK;
    case PDK__OP_BARRIER: /* a failed transaction is committed as well */
        return result == PDK__OK || result == PDK__NO_NODE || result == PDK__NOT_ALLOWED;
    default:
        return false;
    }
}

void pdk__answered(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    pdk_session *s = driver;
    struct op *op = (struct op *)(uintptr_t)reply->tag;
    (void)zk;
    pdk__lock(s);
    bool current = op->generation == s->generation;
    if (current && reply->result != PDK__UNKNOWN)
        pdk__renew_answered(s, op->sent, proves_quorum(op->kind, reply->result));
    assert(current == (op->generation == s->generation)); /* a longer lease retires no handle */
    op->done(s, op->user, current ? reply : NULL);
    pdk__unlock(s);
    g_free(op);
}
