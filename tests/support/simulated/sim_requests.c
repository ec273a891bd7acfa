/* The requests of a client at its server. Reads are answered here, in the session's order, behind its own writes. Writes go
 * to the leader, and are answered when their transaction is applied here.
 *
 *     queue of a session:  [write ⋯ waits] [read] [read] [write ⋯ waits] [read]      an empty queue: reads go straight through
 */
#include "sim_server.h"

#include <glib.h>
#include <paddock/access.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

static struct sim_queue *queue_of(struct sim_server *s, int64_t session) {
    struct sim_queue *empty = NULL;
    for (struct sim_queue *q = s->queues; q; q = q->next) {
        if (q->session == session)
            return q;
        if (!q->first)
            empty = q;
    }
    if (!empty) {
        empty = sim_alloc(s->ensemble->agenda, sizeof *empty);
        empty->next = s->queues;
        s->queues = empty;
    }
    empty->session = session;
    return empty;
}

/* ---- answers */

static void read_node(struct sim_request *r, struct sim_packet *reply) {
    const struct sim_packet *asked = r->packet;
    const struct sim_tree *tree = &r->server->tree;
    const struct sim_node *node = asked->path ? sim_tree_find(tree, asked->path) : NULL;
    if (asked->op == SIM_OP_SYNC)
        return;
    reply->code = node ? ZOK : ZNONODE;
    /* Who may administer a node may ask for its list, whether it may be read or not. */
    bool reads = asked->op != SIM_OP_EXISTS && asked->op != SIM_OP_ACL;
    if (node && reads && node->acl & SIM_NO_READ)
        reply->code = ZNOAUTH;
    if (reply->code != ZOK)
        return;
    reply->stat = node->stat;
    if (asked->op == SIM_OP_ACL)
        reply->mode = ~node->acl & PDK_PERMISSION_ALL;
    if (asked->op == SIM_OP_GET) {
        reply->data = node->data;
        if (asked->watch)
            sim_watch_add(r->connection, node->path, false);
    } else if (asked->op == SIM_OP_LIST) {
        if (asked->watch)
            sim_watch_add(r->connection, node->path, true);
        reply->paths = sim_tree_children(tree, asked->path, &reply->count);
    }
}

static void show_written(const struct sim_request *r, const struct sim_txn *txn, struct sim_packet *reply) {
    reply->code = txn->kind == SIM_TXN_ERROR ? txn->code : ZOK;
    if (txn->kind != SIM_TXN_CREATE && txn->kind != SIM_TXN_SET)
        return;
    reply->path = txn->path;
    reply->stat = sim_tree_find(&r->server->tree, txn->path)->stat;
}

static void reply_to(struct sim_request *r, const struct sim_txn *txn) {
    struct sim_packet reply = {
        .kind = SIM_REPLY, .op = r->packet->op, .tag = r->packet->tag, .zxid = r->server->tree.zxid};
    if (txn)
        show_written(r, txn, &reply);
    else if (!r->refused)
        read_node(r, &reply);
    if (r->code != ZOK)
        reply = (struct sim_packet){
            .kind = SIM_REPLY, .op = reply.op, .tag = reply.tag, .zxid = reply.zxid, .code = r->code};
    if (reply.code == ZSESSIONMOVED) /* no answer to this one, but the end */
        sim_connection_close(r->connection);
    else
        sim_connection_send(r->connection, &reply);
}

static void answer(struct sim_request *r, const struct sim_txn *txn) {
    struct sim_connection *c = r->connection;
    if (c->closed)
        return;
    if (r->packet->kind == SIM_CONNECT)
        sim_connection_opened(c, true);
    else if (r->packet->kind == SIM_REQUEST || r->code != ZOK)
        reply_to(r, txn);
    else if (r->packet->kind == SIM_PING)
        sim_connection_send(c, &(struct sim_packet){.kind = SIM_PONG, .zxid = r->server->tree.zxid});
    else if (r->packet->kind == SIM_SET_WATCHES)
        sim_watches_set(c, r->packet);
    else if (r->packet->kind == SIM_CLOSE) {
        sim_connection_send(c, &(struct sim_packet){.kind = SIM_CLOSED, .zxid = r->server->tree.zxid});
        sim_connection_close(c);
    }
}

static void pop(struct sim_queue *q) {
    q->first = q->first->next;
    if (!q->first)
        q->last = NULL;
}

void sim_request_done(struct sim_request *r, const struct sim_txn *txn) {
    struct sim_queue *q = queue_of(r->server, r->session);
    g_assert(q->first == r);
    pop(q);
    answer(r, txn);
    while (q->first && !q->first->waits) {
        struct sim_request *next = q->first;
        pop(q);
        answer(next, NULL);
    }
}

/* ---- requests */

static bool is_write(const struct sim_packet *packet) {
    if (packet->kind != SIM_REQUEST)
        return packet->kind == SIM_CONNECT || packet->kind == SIM_CLOSE;
    return packet->op == SIM_OP_CREATE || packet->op == SIM_OP_DELETE || packet->op == SIM_OP_SET ||
           packet->op == SIM_OP_MULTI_CHECK;
}

/* Every packet of a session shows that it is alive. The leader ignores touches of a session that has ended. */
static bool touch(struct sim_connection *c, const struct sim_packet *packet) {
    struct sim_server *s = c->server;
    if (s->role == SIM_LEADING)
        return packet->kind == SIM_CONNECT || sim_session_touch(s, c->session);
    sim_follow_touch(s, c->session, c->timeout);
    return true;
}

static bool is_about(const struct sim_answer *answer, const struct sim_request *r) {
    return answer->session == r->session &&
           (!answer->path || (r->packet->path && strcmp(answer->path, r->packet->path) == 0));
}

static void take_set_answer(struct sim_request *r) {
    struct sim_answer **at = &r->server->ensemble->answers;
    if (r->packet->kind != SIM_REQUEST)
        return;
    while (*at && !is_about(*at, r))
        at = &(*at)->next;
    if (!*at)
        return;
    r->code = (*at)->code;
    r->refused = !(*at)->executed && r->packet->op != SIM_OP_MULTI_CHECK;
    *at = (*at)->next;
}

static void put_in_queue(struct sim_request *r) {
    struct sim_queue *q = queue_of(r->server, r->session);
    if (q->last)
        q->last->next = r;
    else
        q->first = r;
    q->last = r;
}

void sim_request_take(struct sim_connection *c, const struct sim_packet *packet) {
    struct sim_server *s = c->server;
    if (!touch(c, packet))
        return;
    struct sim_request *r = sim_alloc(s->ensemble->agenda, sizeof *r);
    *r = (struct sim_request){
        .server = s, .incarnation = s->incarnation, .connection = c, .packet = packet, .session = c->session};
    take_set_answer(r);
    bool sync = packet->kind == SIM_REQUEST && packet->op == SIM_OP_SYNC;
    r->waits = !r->refused && (is_write(packet) || (sync && s->role == SIM_FOLLOWING));
    if (!r->waits && !r->refused && s->role == SIM_LEADING) {
        int32_t code = sim_session_check(s, c->session, s);
        r->refused = code != ZOK;
        r->code = code != ZOK ? code : r->code;
    }
    if (!r->waits && !queue_of(s, r->session)->first) {
        answer(r, NULL);
        return;
    }
    put_in_queue(r);
    if (r->waits && s->role == SIM_LEADING)
        sim_lead_write(s, r, s);
    else if (r->waits)
        sim_follow_send(s, &(struct sim_message){.kind = SIM_FORWARD, .request = r});
}
