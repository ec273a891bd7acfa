/* The leader prepares a write: it becomes a transaction, or an error that is logged instead.
 *
 * The order of the checks is ZooKeeper's, since the code of a write that is wrong in two ways depends on it. Permission to
 * delete a child is the parent's.
 */
#include "sim_server.h"

#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

/* Absolute, no empty or relative part, no control characters; a slash at the end only where a number follows. */
static bool path_valid(const char *path, bool sequential) {
    if (!path || path[0] != '/')
        return false;
    if (path[1] == '\0')
        return true;
    for (const char *part = path; part;) {
        const char *next = strchr(part + 1, '/');
        size_t length = next ? (size_t)(next - part - 1) : strlen(part + 1);
        if (length == 0 && (next || !sequential))
            return false;
        bool relative = (length == 1 || (length == 2 && part[2] == '.')) && part[1] == '.';
        if (relative && (next || !sequential))
            return false;
        part = next;
    }
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return false;
    return true;
}

static const char *numbered(const struct sim_tree *ahead, const char *path, int32_t number) {
    size_t size = strlen(path) + 12;
    char *text = sim_alloc(ahead->agenda, size);
    snprintf(text, size, "%s%010d", path, (int)number);
    return text;
}

static int32_t create(const struct sim_tree *ahead, const struct sim_packet *p, bool containers, bool by_admin,
                      struct sim_txn *txn) {
    bool sequential = p->mode == SIM_SEQUENTIAL || p->mode == SIM_EPHEMERAL_SEQUENTIAL;
    if (p->mode == SIM_CONTAINER && !containers)
        return ZUNIMPLEMENTED;
    if (!path_valid(p->path, sequential))
        return ZBADARGUMENTS;
    const struct sim_node *parent = sim_tree_parent(ahead, p->path);
    if (!parent)
        return ZNONODE;
    if (parent->acl & SIM_NO_CREATE && !by_admin)
        return ZNOAUTH;
    txn->path = sequential ? numbered(ahead, p->path, parent->counter) : p->path;
    if (sim_tree_find(ahead, txn->path))
        return ZNODEEXISTS;
    if (parent->stat.owner != 0)
        return ZNOCHILDRENFOREPHEMERALS;
    txn->kind = SIM_TXN_CREATE;
    txn->data = p->data;
    txn->mode = p->mode;
    txn->value = (int32_t)((uint32_t)parent->counter + 1);
    return ZOK;
}

static int32_t delete_node(const struct sim_tree *ahead, const struct sim_packet *p, bool by_admin,
                           struct sim_txn *txn) {
    if (!p->path || p->path[0] != '/' || p->path[1] == '\0')
        return ZBADARGUMENTS;
    const struct sim_node *parent = sim_tree_parent(ahead, p->path), *node = sim_tree_find(ahead, p->path);
    if (!parent)
        return ZNONODE;
    if (parent->acl & SIM_NO_DELETE && !by_admin)
        return ZNOAUTH;
    if (!node)
        return ZNONODE;
    if (node->stat.children > 0)
        return ZNOTEMPTY;
    txn->kind = SIM_TXN_DELETE;
    return ZOK;
}

static int32_t set(const struct sim_tree *ahead, const struct sim_packet *p, bool by_admin, struct sim_txn *txn) {
    if (!path_valid(p->path, false))
        return ZBADARGUMENTS;
    const struct sim_node *node = sim_tree_find(ahead, p->path);
    if (!node)
        return ZNONODE;
    if (node->acl & SIM_NO_WRITE && !by_admin)
        return ZNOAUTH;
    if (p->versioned && p->stat.version != node->stat.version)
        return ZBADVERSION;
    txn->kind = SIM_TXN_SET;
    txn->mode = SIM_SET_DATA;
    txn->data = p->data;
    return ZOK;
}

static int32_t check(const struct sim_tree *ahead, const struct sim_packet *p, bool by_admin, struct sim_txn *txn) {
    if (!path_valid(p->path, false))
        return ZBADARGUMENTS;
    const struct sim_node *node = sim_tree_find(ahead, p->path);
    if (!node)
        return ZNONODE;
    if (node->acl & SIM_NO_READ && !by_admin)
        return ZNOAUTH;
    txn->kind = SIM_TXN_CHECK;
    return ZOK;
}

void sim_prepare(const struct sim_tree *ahead, const struct sim_packet *packet, bool containers, bool by_admin,
                 struct sim_txn *txn) {
    int32_t code = ZUNIMPLEMENTED;
    txn->kind = SIM_TXN_ERROR;
    txn->path = packet->path;
    switch (packet->op) {
    case SIM_OP_CREATE:
        code = create(ahead, packet, containers, by_admin, txn);
        break;
    case SIM_OP_DELETE:
        code = delete_node(ahead, packet, by_admin, txn);
        break;
    case SIM_OP_SET:
        code = set(ahead, packet, by_admin, txn);
        break;
    case SIM_OP_MULTI_CHECK:
        code = check(ahead, packet, by_admin, txn);
        break;
    case SIM_OP_EXISTS:
    case SIM_OP_GET:
    case SIM_OP_LIST:
    case SIM_OP_SYNC:
    case SIM_OP_ACL:
        break;
    }
    txn->code = code;
}
