#include "session/ops.h"

#include "base/probe.h"
#include "session/chores.h"
#include "session/lists.h"
#include "session/protect.h"
#include "session/renew.h"
#include "session/tokens.h"
#include "zk/request.h"

#include <assert.h>
#include <string.h>

/* An answer lets so many waiting requests of a lane out, so that no critical section sends many. */
enum { AT_ONCE = 8 };

struct op {
    uint64_t generation;
    uint64_t number;
    int64_t sent;
    enum pdk__op_kind kind;
    enum pdk__lane lane;
    const struct pdk__turn *turn; /* or NULL */
    pdk__done_fn done;
    void *user;
    struct pdk__request request; /* while it waits: with copies of its path and data */
};

static struct op *op_new(pdk_session *s, const struct pdk__request *request, pdk__done_fn done, void *user) {
    struct op *op = g_new0(struct op, 1);
    op->generation = s->generation;
    op->kind = request->kind;
    op->lane = request->kind == PDK__OP_DELETE ? PDK__LANE_DELETES : PDK__LANE_OTHERS;
    op->done = done;
    op->user = user;
    return op;
}

/* true: its answer frees the op, as soon as the monitor is free. */
static bool submit(pdk_session *s, struct op *op, struct pdk__request *request) {
    op->sent = pdk__now(s); /* the clock is read before the call */
    op->number = s->requests + 1;
    request->tag = (uintptr_t)op;
    if (!s->platform->zk->submit(s->zk, request))
        return false;
    s->requests++;
    if (request->kind == PDK__OP_BARRIER) {
        s->barrier = s->requests;
        s->stats.counts.renewals_sent++;
    }
    pdk__window_sent(&s->window, op->lane);
    if (op->turn)
        op->turn->sent(s, op->user);
    return true;
}

static bool send_or_free(pdk_session *s, struct op *op, struct pdk__request *request) {
    bool sent = submit(s, op, request);
    if (!sent)
        g_free(op);
    return sent;
}

bool pdk__send_now(pdk_session *s, enum pdk__lane lane, struct pdk__request request, pdk__done_fn done, void *user) {
    pdk__assert_locked(s);
    assert(s->link == PDK__LINK_CONNECTED && s->zk);
    struct op *op = op_new(s, &request, done, user);
    op->lane = lane;
    return send_or_free(s, op, &request);
}

bool pdk__send_in_turn(pdk_session *s, struct pdk__request request, const struct pdk__turn *turn, pdk__done_fn done,
                       void *user) {
    pdk__assert_locked(s);
    if (!s->zk)
        return false;
    struct op *op = op_new(s, &request, done, user);
    op->turn = turn;
    if (s->window.waiting[op->lane].length == 0 && pdk__window_has_room(&s->window, op->lane))
        return send_or_free(s, op, &request);
    op->request = request;
    op->request.path = g_strdup(request.path);
    op->request.data = pdk__request_data(&request);
    g_queue_push_tail(&s->window.waiting[op->lane], op);
    return true;
}

bool pdk__send(pdk_session *s, struct pdk__request request, pdk__done_fn done, void *user) {
    return pdk__send_in_turn(s, request, NULL, done, user);
}

/* An op that has waited needs its copies no more. */
static void free_copies(struct pdk__request *request) {
    g_free((char *)request->path);
    g_free((char *)request->data);
}

/* false: it was not sent. */
static bool take_turn(pdk_session *s, struct op *op) {
    struct pdk__request request = op->request;
    op->request = (struct pdk__request){0};
    bool sent = (!op->turn || op->turn->is_wanted(op->user)) && submit(s, op, &request);
    free_copies(&request);
    if (sent)
        return true;
    op->done(s, op->user, &(struct pdk__reply){.result = PDK__NOT_NOW});
    g_free(op);
    return false;
}

static void move_lane(pdk_session *s, enum pdk__lane lane) {
    struct pdk__window *w = &s->window;
    for (int sent = 0; sent < AT_ONCE && w->waiting[lane].length > 0 && pdk__window_has_room(w, lane);)
        sent += take_turn(s, g_queue_pop_head(&w->waiting[lane]));
}

void pdk__ops_move(pdk_session *s) {
    pdk__assert_locked(s);
    if (s->link != PDK__LINK_CONNECTED)
        return; /* a request that is sent without a connection may have to be proven absent */
    move_lane(s, PDK__LANE_DELETES);
    pdk__lists_move(s);
    move_lane(s, PDK__LANE_OTHERS);
}

void pdk__ops_reset(pdk_session *s) {
    pdk__assert_locked(s);
    struct pdk__window *w = &s->window;
    GQueue waiting[PDK__LANE_NONE];
    memcpy(waiting, w->waiting, sizeof waiting);
    pdk__window_init(w);
    for (int lane = 0; lane < PDK__LANE_NONE; lane++) {
        for (struct op *op; (op = g_queue_pop_head(&waiting[lane]));) {
            free_copies(&op->request);
            op->done(s, op->user, NULL);
            g_free(op);
        }
    }
    pdk__lists_reset(s);
    pdk__protect_reset(s);
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

/* A barrier that has failed serves nobody, so the next caller that needs one sends another. */
static void barrier_answered(pdk_session *s, const struct op *op, bool committed) {
    if (committed) {
        s->proven = op->number;
        int64_t now = pdk__now(s);
        pdk__stats_renewed(s, op->sent, now);
        pdk__probe_renew(s->id, now - op->sent, s->lease.end - now);
    } else if (s->barrier == op->number) {
        s->barrier = 0;
    }
}

void pdk__answered(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    pdk_session *s = driver;
    struct op *op = (struct op *)(uintptr_t)reply->tag;
    (void)zk;
    pdk__lock_again(s);
    bool current = op->generation == s->generation;
    bool committed = proves_quorum(op->kind, reply->result);
    if (current)
        pdk__window_answered(&s->window, op->lane, pdk__now(s) - op->sent, s->lease.timeout);
    if (current && op->kind == PDK__OP_BARRIER)
        barrier_answered(s, op, committed);
    if (current && reply->result != PDK__UNKNOWN)
        pdk__renew_answered(s, op->sent, committed);
    if (reply->result == PDK__OK)
        pdk__tokens_saw(s, MAX(reply->token, reply->zxid));
    assert(current == (op->generation == s->generation)); /* a longer lease retires no handle */
    op->done(s, op->user, current ? reply : NULL);
    pdk__ops_move(s);
    pdk__chores_run_and_unlock(s);
    g_free(op);
}
