/* The leader: writes become proposals, proposals that a majority has logged become committed, in order.
 *
 *     write ─► prepare ─► log + PROPOSE ─► ACK … ACK: a majority ─► COMMIT + apply
 *
 * Every half tick it sends a beat, which the followers answer with the touches they noted; at every tick it counts the
 * followers that have said something within syncLimit ticks, and gives up when they are no majority. Between the two it
 * serves its clients, also when another server leads elsewhere.
 */
#include "sim_server.h"

#include <zookeeper/zookeeper.h>

static void tell(struct sim_link *link, const struct sim_message *message) {
    struct sim_message *copy = sim_alloc(link->leader->ensemble->agenda, sizeof *copy);
    *copy = *message;
    sim_send(link->down, copy);
}

static void tell_all(struct sim_server *s, const struct sim_message *message) {
    for (int32_t i = 0; i < s->ensemble->config.servers; i++)
        if (s->lead.links[i])
            tell(s->lead.links[i], message);
}

static bool majority(const struct sim_server *s, int32_t count) { return 2 * count > s->ensemble->config.servers; }

/* ---- syncs: no quorum, but behind the proposals before them */

static void sync_later(struct sim_server *s, struct sim_link *link, struct sim_request *r) {
    struct sim_sync *sync = sim_alloc(s->ensemble->agenda, sizeof *sync);
    *sync = (struct sim_sync){NULL, link, r, s->lead.zxid};
    if (s->lead.syncs)
        s->lead.syncs_last->next = sync;
    else
        s->lead.syncs = sync;
    s->lead.syncs_last = sync;
}

static void answer_syncs(struct sim_server *s) {
    while (s->lead.syncs && (s->committed == s->logged || s->lead.syncs->zxid < s->log[s->committed]->zxid)) {
        struct sim_sync *sync = s->lead.syncs;
        s->lead.syncs = sync->next;
        if (s->lead.links[sync->link->follower->number] == sync->link)
            tell(sync->link, &(struct sim_message){.kind = SIM_SYNCED, .request = sync->request});
    }
}

/* ---- proposals */

static bool logged_by_majority(const struct sim_server *s, int64_t zxid) {
    int32_t count = 1;
    for (int32_t i = 0; i < s->ensemble->config.servers; i++)
        count += s->lead.links[i] && s->lead.links[i]->acked >= zxid;
    return majority(s, count);
}

static void commit_what_can_be(struct sim_server *s) {
    while (s->committed < s->logged && logged_by_majority(s, s->log[s->committed]->zxid)) {
        tell_all(s, &(struct sim_message){.kind = SIM_COMMIT});
        sim_log_commit(s);
        answer_syncs(s);
    }
}

struct sim_txn *sim_lead_txn(struct sim_server *s, enum sim_txn_kind kind, int64_t session) {
    struct sim_txn *txn = sim_alloc(s->ensemble->agenda, sizeof *txn);
    txn->kind = kind;
    txn->session = session;
    txn->at = s->ensemble->agenda->now;
    return txn;
}

void sim_lead_propose(struct sim_server *s, struct sim_txn *txn) {
    txn->zxid = ++s->lead.zxid;
    sim_tree_apply(&s->lead.ahead, txn, NULL, NULL);
    sim_log_append(s, txn);
    tell_all(s, &(struct sim_message){.kind = SIM_PROPOSE, .txn = txn});
    commit_what_can_be(s);
}

void sim_lead_write(struct sim_server *s, struct sim_request *r, const void *owner) {
    struct sim_txn *txn = sim_lead_txn(s, SIM_TXN_ERROR, r->session);
    txn->request = r;
    if (r->packet->kind == SIM_CONNECT) {
        txn->kind = SIM_TXN_OPEN;
        txn->value = r->connection->timeout;
        sim_session_track(s, r->session, txn->value, owner);
    } else if (r->packet->kind == SIM_CLOSE) { /* by any way */
        struct sim_tracked *session = sim_session_find(s, r->session);
        txn->kind = SIM_TXN_CLOSE;
        if (session)
            session->closing = true;
    } else {
        txn->code = sim_session_check(s, r->session, owner);
        if (txn->code == ZOK)
            sim_prepare(&s->lead.ahead, r->packet, s->ensemble->config.containers, false, txn);
    }
    sim_lead_propose(s, txn);
}

/* A parent's counter is the proposed one only while something about its children is on its way. */
static void settle_counter(struct sim_server *s, const struct sim_txn *txn) {
    if (txn->kind != SIM_TXN_CREATE && txn->kind != SIM_TXN_DELETE)
        return;
    struct sim_node *ahead = sim_tree_parent(&s->lead.ahead, txn->path);
    const struct sim_node *applied = sim_tree_parent(&s->tree, txn->path);
    if (ahead && applied && ahead->counted == txn->zxid)
        ahead->counter = applied->counter;
}

void sim_lead_applied(struct sim_server *s, const struct sim_txn *txn) {
    settle_counter(s, txn);
    if (txn->kind == SIM_TXN_CLOSE)
        sim_session_forget(s, txn->session);
}

/* ---- followers */

static void drop_link(struct sim_server *s, struct sim_link *link) {
    s->lead.links[link->follower->number] = NULL;
    sim_hang_up(link->down);
    sim_ignore(link->up);
}

static void forwarded(struct sim_server *s, struct sim_link *link, struct sim_request *r) {
    if (r->packet->kind != SIM_REQUEST || r->packet->op != SIM_OP_SYNC) {
        sim_lead_write(s, r, link);
        return;
    }
    sync_later(s, link, r);
    answer_syncs(s);
}

static void revalidate(struct sim_server *s, struct sim_link *link, struct sim_connection *c) {
    bool valid = sim_session_touch(s, c->session);
    if (valid)
        sim_session_find(s, c->session)->owner = link;
    tell(link, &(struct sim_message){.kind = SIM_VALIDATED, .connection = c, .valid = valid});
}

void sim_lead_hear(void *receiver, void *packet) {
    struct sim_link *link = receiver;
    struct sim_server *s = link->leader;
    const struct sim_message *message = packet;
    if (sim_put_off(s, sim_lead_hear, receiver, packet) || s->lead.links[link->follower->number] != link)
        return;
    if (!message) {
        drop_link(s, link);
        return;
    }
    link->deadline = s->lead.ticks + s->ensemble->config.sync_limit;
    if (message->kind == SIM_ACK) {
        link->acked = message->zxid;
        commit_what_can_be(s);
    } else if (message->kind == SIM_FORWARD) {
        forwarded(s, link, message->request);
    } else if (message->kind == SIM_REVALIDATE) {
        revalidate(s, link, message->connection);
    } else if (message->kind == SIM_TOUCHES) {
        sim_kept_time(s->ensemble);
        for (size_t i = 0; i < message->count; i++)
            sim_session_touch(s, message->touches[i].session);
    }
}

void sim_lead_admit(struct sim_server *s, struct sim_server *follower) {
    struct sim_net *net = s->ensemble->net;
    if (s->lead.links[follower->number]) /* its end has not been heard of */
        drop_link(s, s->lead.links[follower->number]);
    struct sim_link *link = sim_alloc(s->ensemble->agenda, sizeof *link);
    *link = (struct sim_link){.leader = s, .follower = follower};
    link->down = sim_pipe_new(net, s->number, follower->number, sim_follow_hear, link);
    link->up = sim_pipe_new(net, follower->number, s->number, sim_lead_hear, link);
    link->deadline = s->lead.ticks + s->ensemble->config.sync_limit;
    sim_log_adopt(follower, s, s->committed);
    link->acked = sim_log_zxid(follower);
    sim_follow(follower, link);
    s->lead.links[follower->number] = link;
    for (size_t i = s->committed; i < s->logged; i++)
        tell(link, &(struct sim_message){.kind = SIM_PROPOSE, .txn = s->log[i]});
}

/* ---- time */

static bool count_followers(struct sim_server *s) {
    int32_t count = 1;
    for (int32_t i = 0; i < s->ensemble->config.servers; i++) {
        struct sim_link *link = s->lead.links[i];
        if (link && s->lead.ticks > link->deadline)
            drop_link(s, link);
        else
            count += link != NULL;
    }
    return majority(s, count);
}

static void on_half_tick(struct sim_server *s, bool late) {
    (void)late;
    s->lead.half = !s->lead.half;
    if (!s->lead.half) {
        s->lead.ticks++;
        if (!count_followers(s)) {
            sim_look(s);
            return;
        }
    }
    sim_kept_time(s->ensemble);
    tell_all(s, &(struct sim_message){.kind = SIM_BEAT});
    sim_timer(s, s->ensemble->agenda->now + s->ensemble->config.tick / 2, on_half_tick);
}

static void on_containers(struct sim_server *s, bool late) {
    const char *empty[64];
    size_t count = 0;
    (void)late;
    for (size_t i = 1; i < s->tree.count && count < sizeof empty / sizeof empty[0]; i++) {
        const struct sim_node *node = &s->tree.nodes[i];
        if (node->container && node->stat.children == 0 && node->counter > 0)
            empty[count++] = node->path;
    }
    if (count == 0)
        sim_kept_time(s->ensemble);
    for (size_t i = 0; i < count; i++) {
        struct sim_txn *txn = sim_lead_txn(s, SIM_TXN_ERROR, 0);
        struct sim_packet removal = {.kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = empty[i]};
        sim_prepare(&s->lead.ahead, &removal, true, true, txn);
        sim_lead_propose(s, txn);
    }
    sim_timer(s, s->ensemble->agenda->now + s->ensemble->config.container_interval, on_containers);
}

void sim_lead(struct sim_server *s) {
    const struct sim_ensemble_config *config = &s->ensemble->config;
    int64_t now = s->ensemble->agenda->now;
    s->role = SIM_LEADING;
    s->incarnation++;
    s->lead = (struct sim_lead){.zxid = sim_log_zxid(s), .expiry_at = INT64_MAX};
    sim_tree_copy(&s->lead.ahead, &s->tree);
    s->lead.ahead.ahead = true;
    for (size_t i = 0; i < s->tree.sessions_count; i++)
        sim_session_track(s, s->tree.sessions[i].id, s->tree.sessions[i].timeout, NULL);
    sim_timer(s, now + config->tick / 2, on_half_tick);
    if (config->container_interval > 0)
        sim_timer(s, now + config->container_interval, on_containers);
}
