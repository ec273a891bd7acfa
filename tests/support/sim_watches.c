/* Data watches: they belong to a connection, fire once, and are set again by a client that moved. */
#include "sim_server.h"

#include <string.h>

void sim_watch_add(struct sim_connection *c, const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < c->watches_count; i++)
        if (c->watches[i].length == length && memcmp(c->watches[i].path, path, length) == 0)
            return;
    c->watches =
        sim_room(c->server->ensemble->agenda, c->watches, c->watches_count, &c->watches_room, sizeof *c->watches);
    c->watches[c->watches_count++] = (struct sim_watch){path, length};
}

static void fire(struct sim_connection *c, const char *path, bool deleted) {
    struct sim_ensemble *e = c->server->ensemble;
    sim_connection_send(c, &(struct sim_packet){.kind = SIM_EVENT, .path = path, .deleted = deleted});
    if (e->on_fired)
        e->on_fired(e->user, c->session, path, deleted);
}

void sim_watches_fire(struct sim_server *s, const struct sim_node *node, bool deleted) {
    for (struct sim_connection *c = s->connections; c; c = c->next) {
        for (size_t i = 0; i < c->watches_count; i++) {
            if (c->watches[i].length != node->length || memcmp(c->watches[i].path, node->path, node->length) != 0)
                continue;
            c->watches[i] = c->watches[--c->watches_count];
            if (!(node->acl & SIM_NO_READ)) /* who may not read it is told nothing, though the watch is gone */
                fire(c, node->path, deleted);
            break;
        }
    }
}

void sim_watches_set(struct sim_connection *c, const struct sim_packet *packet) {
    const struct sim_tree *tree = &c->server->tree;
    for (size_t i = 0; i < packet->count; i++) {
        const struct sim_node *node = sim_tree_find(tree, packet->paths[i]);
        if (!node)
            fire(c, packet->paths[i], true);
        else if (node->stat.mzxid > packet->zxid)
            fire(c, packet->paths[i], false);
        else
            sim_watch_add(c, packet->paths[i]);
    }
    sim_connection_send(c, &(struct sim_packet){.kind = SIM_WATCHES_SET, .tag = packet->tag, .zxid = tree->zxid});
}
