/* Watches, of data and of children: they belong to a connection, fire once, and are set again by a client that moved. */
#include "sim_server.h"

#include <string.h>

static size_t length_of(const char *path) { return path[1] == '\0' ? 0 : strlen(path); }

static bool is_on(const struct sim_watch *w, const char *path, size_t length) {
    return w->length == length && memcmp(w->path, path, length) == 0;
}

void sim_watch_add(struct sim_connection *c, const char *path, bool children) {
    size_t length = length_of(path);
    for (size_t i = 0; i < c->watches_count; i++)
        if (c->watches[i].children == children && is_on(&c->watches[i], path, length))
            return;
    c->watches =
        sim_room(c->server->ensemble->agenda, c->watches, c->watches_count, &c->watches_room, sizeof *c->watches);
    c->watches[c->watches_count++] = (struct sim_watch){path, length, children};
}

/* Was there such a watch? It is gone. */
static bool take(struct sim_connection *c, const char *path, size_t length, bool children) {
    for (size_t i = 0; i < c->watches_count; i++) {
        if (c->watches[i].children != children || !is_on(&c->watches[i], path, length))
            continue;
        c->watches[i] = c->watches[--c->watches_count];
        return true;
    }
    return false;
}

static void fire(struct sim_connection *c, const char *path, enum sim_event event) {
    struct sim_ensemble *e = c->server->ensemble;
    sim_connection_send(c, &(struct sim_packet){.kind = SIM_EVENT, .path = path, .event = event});
    if (e->on_fired)
        e->on_fired(e->user, c->session, path, event);
}

/* A client that may not read the node hears nothing, though the watch is gone. */
static void fire_on(struct sim_connection *c, const struct sim_node *node, enum sim_event event) {
    bool data = event != SIM_CHILDREN && take(c, node->path, node->length, false);
    bool children = event != SIM_CHANGED && take(c, node->path, node->length, true);
    if ((data || children) && !(node->acl & SIM_NO_READ))
        fire(c, node->path, event);
}

/* The node's own watches come first, then its parent's. */
void sim_watches_fire(struct sim_server *s, const struct sim_node *node, bool created, bool deleted) {
    const struct sim_node *parent = created || deleted ? sim_tree_parent(&s->tree, node->path) : NULL;
    for (struct sim_connection *c = s->connections; c; c = c->next) {
        if (c->watches_count == 0)
            continue;
        if (!created)
            fire_on(c, node, deleted ? SIM_DELETED : SIM_CHANGED);
        if (parent)
            fire_on(c, parent, SIM_CHILDREN);
    }
}

void sim_watches_set(struct sim_connection *c, const struct sim_packet *packet) {
    const struct sim_tree *tree = &c->server->tree;
    for (size_t i = 0; i < packet->count; i++) {
        const struct sim_node *node = sim_tree_find(tree, packet->paths[i]);
        if (!node)
            fire(c, packet->paths[i], SIM_DELETED);
        else if (node->stat.mzxid > packet->zxid)
            fire(c, packet->paths[i], SIM_CHANGED);
        else
            sim_watch_add(c, packet->paths[i], false);
    }
    for (size_t i = 0; i < packet->parents_count; i++) {
        const struct sim_node *node = sim_tree_find(tree, packet->parents[i]);
        if (!node)
            fire(c, packet->parents[i], SIM_DELETED);
        else if (node->stat.pzxid > packet->zxid)
            fire(c, packet->parents[i], SIM_CHILDREN);
        else
            sim_watch_add(c, packet->parents[i], true);
    }
    sim_connection_send(c, &(struct sim_packet){.kind = SIM_WATCHES_SET, .tag = packet->tag, .zxid = tree->zxid});
}
