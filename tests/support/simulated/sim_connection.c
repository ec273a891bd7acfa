/* A client's connection as the server sees it: dialled, accepted by the first packet, opened once the session is confirmed.
 *
 *     dial ─► CONNECT ─┬─ a new session: a write, through the leader ──────────┐
 *                      ├─ at the leader: its clock knows whether it is alive ──┼─► CONNECTED, or "expired" and the end
 *                      └─ at a follower: asked of the leader; it moves here ───┘
 *                      └─ the client has seen more than this server: the end
 */
#include "sim_server.h"

#include <glib.h>
#include <string.h>

void sim_connection_send(struct sim_connection *c, const struct sim_packet *packet) {
    if (c->closed)
        return;
    struct sim_packet *copy = sim_alloc(c->server->ensemble->agenda, sizeof *copy);
    *copy = *packet;
    sim_send(c->down, copy);
}

void sim_connection_close(struct sim_connection *c) {
    if (c->closed)
        return;
    c->closed = true;
    sim_hang_up(c->down);
    sim_ignore(c->up);
    if (!c->accepted)
        return;
    struct sim_connection **at = &c->server->connections;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

void sim_connections_of(struct sim_server *s, int64_t session, const struct sim_connection *but) {
    for (struct sim_connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        if (c->session == session && c != but)
            sim_connection_close(c);
    }
}

/* ---- sessions */

void sim_connection_opened(struct sim_connection *c, bool valid) {
    if (c->closed)
        return;
    struct sim_packet answer = {.kind = SIM_CONNECTED};
    if (valid) {
        answer.session = c->session;
        answer.timeout = c->timeout;
    }
    sim_connection_send(c, &answer);
    if (!valid) {
        sim_connection_close(c);
        return;
    }
    c->open = true;
    for (struct sim_held *held = c->held; held && !c->closed; held = held->next)
        sim_request_take(c, held->packet);
    c->held = NULL;
}

static void resume(struct sim_connection *c) {
    struct sim_server *s = c->server;
    if (s->role == SIM_FOLLOWING) {
        sim_follow_send(s, &(struct sim_message){.kind = SIM_REVALIDATE, .connection = c});
        return;
    }
    bool valid = sim_session_touch(s, c->session);
    if (valid)
        sim_session_find(s, c->session)->owner = s;
    sim_connection_opened(c, valid);
}

static void connect_session(struct sim_connection *c, const struct sim_packet *packet) {
    struct sim_server *s = c->server;
    const struct sim_ensemble_config *config = &s->ensemble->config;
    if (packet->kind != SIM_CONNECT || packet->zxid > s->tree.zxid) {
        sim_connection_close(c);
        return;
    }
    c->timeout = CLAMP(packet->timeout, config->session_least, config->session_most);
    c->session = packet->session;
    if (c->session == 0) {
        c->session = (int64_t)(s->number + 1) << 56 | (int64_t)config->number << 48 | ++s->sessions_made;
        sim_request_take(c, packet);
        return;
    }
    sim_connections_of(s, c->session, c);
    resume(c);
}

/* ---- packets */

static void hold(struct sim_connection *c, const struct sim_packet *packet) {
    struct sim_held *held = sim_alloc(c->server->ensemble->agenda, sizeof *held);
    held->packet = packet;
    if (c->held)
        c->held_last->next = held;
    else
        c->held = held;
    c->held_last = held;
}

static void client_speaks(void *connection, void *packet) {
    struct sim_connection *c = connection;
    struct sim_server *s = c->server;
    if (sim_put_off(s, client_speaks, connection, packet) || c->closed)
        return;
    if (packet && ((struct sim_packet *)packet)->kind == SIM_PING)
        sim_kept_time(s->ensemble);
    if (!packet || !sim_serves(s)) {
        sim_connection_close(c);
    } else if (!c->accepted) {
        c->accepted = true;
        c->next = s->connections;
        s->connections = c;
        connect_session(c, packet);
    } else if (c->open) {
        sim_request_take(c, packet);
    } else {
        hold(c, packet);
    }
}

void sim_dial(struct sim_ensemble *e, int32_t host, int32_t server, sim_receive_fn receive, void *receiver,
              struct sim_wire *wire) {
    struct sim_connection *c = sim_alloc(e->agenda, sizeof *c);
    c->server = &e->servers[server];
    c->up = sim_pipe_new(e->net, host, server, client_speaks, c);
    c->down = sim_pipe_new(e->net, server, host, receive, receiver);
    *wire = (struct sim_wire){e, c->up, c->down};
}
