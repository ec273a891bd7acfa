/* Nodes and sessions of a fake server. There are a few dozen nodes at most. They are in one array, and are found by a
 * cheap hash. */
#include "sim_ensemble.h"

#include <glib.h>
#include <string.h>

/* ---- keys */

struct key {
    const char *text;
    uint32_t length, hash;
};

/* The ends of paths differ, since names end in numbers. */
static struct key key_of(const char *text, size_t length) {
    uint64_t end = 0;
    size_t used = MIN(length, sizeof end);
    memcpy(&end, text + (length - used), used);
    end = (end ^ length) * UINT64_C(0x9e3779b97f4a7c15);
    return (struct key){text, (uint32_t)length, (uint32_t)(end >> 32)};
}

/* "/" counts as empty, so that a child's path is always its parent's, a slash and a name. */
static struct key path_key(const char *path) { return key_of(path, path[1] == '\0' ? 0 : strlen(path)); }

static struct key parent_key(const char *path) { return key_of(path, (size_t)(strrchr(path, '/') - path)); }

static struct sim_node *find(const struct sim_tree *tree, struct key key) {
    for (size_t i = 0; i < tree->count; i++) {
        struct sim_node *node = &tree->nodes[i];
        if (node->hash == key.hash && node->length == key.length && memcmp(node->path, key.text, key.length) == 0)
            return node;
    }
    return NULL;
}

struct sim_node *sim_tree_find(const struct sim_tree *tree, const char *path) {
    return path[0] == '/' ? find(tree, path_key(path)) : NULL;
}

struct sim_node *sim_tree_parent(const struct sim_tree *tree, const char *path) {
    return path[0] == '/' ? find(tree, parent_key(path)) : NULL;
}

const char *const *sim_tree_children(const struct sim_tree *tree, const char *path, size_t *count) {
    struct key key = path_key(path);
    struct sim_node *node = find(tree, key);
    size_t found = 0, children = node ? (size_t)node->stat.children : 0;
    const char **names = sim_alloc(tree->agenda, (children + 1) * sizeof *names);
    /* Backwards: a caller that takes the order of names for the order of creation shall notice. */
    for (size_t i = tree->count; i-- > 1 && found < children;) {
        const struct sim_node *child = &tree->nodes[i];
        if (child->parents_hash == key.hash && child->above == key.length &&
            memcmp(child->path, key.text, key.length) == 0)
            names[found++] = child->path + child->above + 1;
    }
    *count = found;
    return names;
}

/* ---- arrays */

static void *grown(struct sim_agenda *agenda, void *items, size_t count, size_t *room, size_t size) {
    if (count < *room)
        return items;
    *room = MAX(2 * *room, 16);
    void *more = sim_alloc(agenda, *room * size);
    if (count > 0)
        memcpy(more, items, count * size);
    return more;
}

static struct sim_node *add_node(struct sim_tree *tree, const char *path) {
    struct key key = path_key(path), above = parent_key(path);
    tree->nodes = grown(tree->agenda, tree->nodes, tree->count, &tree->room, sizeof *tree->nodes);
    struct sim_node *node = &tree->nodes[tree->count++];
    *node = (struct sim_node){
        .path = path, .length = key.length, .hash = key.hash, .above = above.length, .parents_hash = above.hash};
    return node;
}

void sim_tree_begin(struct sim_tree *tree, struct sim_agenda *agenda) {
    *tree = (struct sim_tree){.agenda = agenda};
    add_node(tree, "/");
}

void sim_tree_copy(struct sim_tree *to, const struct sim_tree *from) {
    *to = *from;
    to->nodes = sim_alloc(from->agenda, from->room * sizeof *from->nodes);
    memcpy(to->nodes, from->nodes, from->count * sizeof *from->nodes);
    to->sessions = sim_alloc(from->agenda, from->sessions_room * sizeof *from->sessions);
    if (from->sessions_count > 0)
        memcpy(to->sessions, from->sessions, from->sessions_count * sizeof *from->sessions);
}

const struct sim_session *sim_tree_session(const struct sim_tree *tree, int64_t id) {
    for (size_t i = 0; i < tree->sessions_count; i++)
        if (tree->sessions[i].id == id)
            return &tree->sessions[i];
    return NULL;
}

/* ---- transactions */

/* Creations and deletions of children, as far as the count of creations shows them. */
static void show_cversion(struct sim_node *node) {
    node->stat.cversion = (int32_t)((uint32_t)node->counter * 2 - (uint32_t)node->stat.children);
}

static void create(struct sim_tree *tree, const struct sim_txn *txn, sim_touched_fn touched, void *user) {
    struct sim_node *node = add_node(tree, txn->path);
    node->data = txn->data;
    node->container = txn->mode == SIM_CONTAINER;
    node->stat.czxid = node->stat.mzxid = node->stat.pzxid = txn->zxid;
    node->stat.ctime_ms = node->stat.mtime_ms = txn->at / SIM_MS;
    if (txn->mode & SIM_EPHEMERAL)
        node->stat.owner = txn->session;

    struct sim_node *parent = sim_tree_parent(tree, txn->path);
    int32_t counter = (int32_t)txn->value;
    g_assert(parent);
    parent->counted = txn->zxid;
    parent->stat.children++;
    if (tree->ahead || counter > parent->counter) {
        parent->counter = counter;
        parent->stat.pzxid = txn->zxid;
    }
    show_cversion(parent);
    if (touched)
        touched(user, node, false);
}

static void drop(struct sim_tree *tree, struct sim_node *node, int64_t zxid, sim_touched_fn touched, void *user) {
    if (touched)
        touched(user, node, true);
    struct sim_node *parent = sim_tree_parent(tree, node->path);
    g_assert(parent);
    parent->counted = parent->stat.pzxid = zxid;
    parent->stat.children--;
    show_cversion(parent);
    size_t after = (size_t)(&tree->nodes[tree->count] - (node + 1));
    memmove(node, node + 1, after * sizeof *node);
    tree->count--;
}

static void set(struct sim_tree *tree, const struct sim_txn *txn, sim_touched_fn touched, void *user) {
    struct sim_node *node = sim_tree_find(tree, txn->path);
    if (!node)
        return;
    if (txn->mode == SIM_SET_DATA) {
        node->data = txn->data;
        node->stat.version++;
        node->stat.mtime_ms = txn->at / SIM_MS;
        node->stat.mzxid = txn->zxid;
    } else if (txn->mode == SIM_SET_ACL) {
        node->acl = (int32_t)txn->value;
    } else {
        node->counter = (int32_t)txn->value;
        node->counted = txn->zxid;
        show_cversion(node);
    }
    if (touched)
        touched(user, node, false);
}

static void open_session(struct sim_tree *tree, const struct sim_txn *txn) {
    tree->sessions =
        grown(tree->agenda, tree->sessions, tree->sessions_count, &tree->sessions_room, sizeof *tree->sessions);
    tree->sessions[tree->sessions_count++] = (struct sim_session){txn->session, txn->value};
}

static void close_session(struct sim_tree *tree, const struct sim_txn *txn, sim_touched_fn touched, void *user) {
    for (size_t i = 0; i < tree->sessions_count; i++) {
        if (tree->sessions[i].id != txn->session)
            continue;
        tree->sessions[i] = tree->sessions[--tree->sessions_count];
        break;
    }
    for (size_t i = 1; i < tree->count && txn->session != 0;) {
        if (tree->nodes[i].stat.owner == txn->session)
            drop(tree, &tree->nodes[i], txn->zxid, touched, user);
        else
            i++;
    }
}

void sim_tree_apply(struct sim_tree *tree, const struct sim_txn *txn, sim_touched_fn touched, void *user) {
    struct sim_node *node;
    tree->zxid = txn->zxid;
    switch (txn->kind) {
    case SIM_TXN_CREATE:
        create(tree, txn, touched, user);
        break;
    case SIM_TXN_DELETE:
        node = sim_tree_find(tree, txn->path);
        if (node)
            drop(tree, node, txn->zxid, touched, user);
        break;
    case SIM_TXN_SET:
        set(tree, txn, touched, user);
        break;
    case SIM_TXN_OPEN:
        open_session(tree, txn);
        break;
    case SIM_TXN_CLOSE:
        close_session(tree, txn, touched, user);
        break;
    case SIM_TXN_ERROR:
    case SIM_TXN_CHECK:
    case SIM_TXN_EPOCH:
        break;
    }
}
