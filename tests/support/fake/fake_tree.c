/* The fake ZooKeeper's data: one directory of ephemeral sequential nodes, and the transactions on it. */
#include "fake_zk.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void ts_fake_init(struct ts_fake *fake, int32_t levels, int32_t first_sequence) {
    memset(fake, 0, sizeof *fake);
    fake->tree.levels = levels;
    fake->tree.next_sequence = first_sequence;
}

static void copy_session(struct ts_fake_session *to, const struct ts_fake_session *from) {
    memcpy(to, from, offsetof(struct ts_fake_session, late));
    memcpy(to->late, from->late, (size_t)from->zombies * sizeof to->late[0]);
    memcpy(to->watches, from->watches, (size_t)from->watches_count * sizeof to->watches[0]);
    memcpy(to->requests, from->requests, (size_t)from->requests_count * sizeof to->requests[0]);
    for (int32_t i = 0; i < from->replies_count; i++) {
        const struct ts_fake_reply *r = &from->replies[i];
        memcpy(&to->replies[i], r, offsetof(struct ts_fake_reply, children) + (size_t)r->count * sizeof r->children[0]);
    }
}

void ts_fake_copy(struct ts_fake *to, const struct ts_fake *from) {
    memcpy(&to->tree, &from->tree, offsetof(struct ts_fake_tree, nodes));
    memcpy(to->tree.nodes, from->tree.nodes, (size_t)from->tree.count * sizeof to->tree.nodes[0]);
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++)
        copy_session(&to->sessions[i], &from->sessions[i]);
}

static struct ts_fake_node *find(struct ts_fake_tree *tree, struct ts_fake_name name) {
    for (int32_t i = 0; i < tree->count; i++)
        if (ts_fake_name_equal(tree->nodes[i].name, name))
            return &tree->nodes[i];
    return NULL;
}

const struct ts_fake_node *ts_fake_find(const struct ts_fake *fake, struct ts_fake_name name) {
    for (int32_t i = 0; i < fake->tree.count; i++)
        if (ts_fake_name_equal(fake->tree.nodes[i].name, name))
            return &fake->tree.nodes[i];
    return NULL;
}

/* ---- events */

static void tell(struct ts_fake *fake, uint32_t watchers, enum ts_fake_packet packet, struct ts_fake_name name) {
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++) {
        struct ts_fake_session *s = &fake->sessions[i];
        if (!(watchers & 1u << i))
            continue;
        assert(s->replies_count < TS_FAKE_QUEUE);
        s->replies[s->replies_count++] = (struct ts_fake_reply){.packet = packet, .name = name};
    }
}

/* Send the event to everybody who watches, once. */
static void fire(struct ts_fake *fake, struct ts_fake_node *node, enum ts_fake_packet packet) {
    tell(fake, node->watchers, packet, node->name);
    node->watchers = 0;
}

static bool is_away(const struct ts_fake_session *s) { return s->open && s->alive && !s->link; }

/* A session with a data watch on the node, but without a connection, gets the event when it returns. */
static void miss(const struct ts_fake *fake, struct ts_fake_node *node) {
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++)
        if (is_away(&fake->sessions[i]) && ts_fake_watches(&fake->sessions[i], node->name))
            node->missed |= 1u << i;
}

/* The directory's children changed, or it is gone itself. */
static void fire_children(struct ts_fake *fake, enum ts_fake_packet packet) {
    tell(fake, fake->tree.children_watchers, packet, (struct ts_fake_name){0, 0});
    fake->tree.children_watchers = 0;
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++)
        if (is_away(&fake->sessions[i]) && fake->sessions[i].children_watch)
            fake->tree.overlooked |= (uint16_t)(1u << i);
}

/* The directory was written to, or is gone: then the watchers of its children hear of it, too, all of them once. */
static void fire_directory(struct ts_fake *fake, enum ts_fake_packet packet) {
    struct ts_fake_tree *tree = &fake->tree;
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++)
        if (is_away(&fake->sessions[i]) && ts_fake_watches(&fake->sessions[i], (struct ts_fake_name){0, 0}))
            tree->missed |= (uint16_t)(1u << i);
    if (packet == TS_FAKE_DELETED)
        tree->children_watchers |= tree->watchers;
    else
        tell(fake, tree->watchers, packet, (struct ts_fake_name){0, 0});
    tree->watchers = 0;
    if (packet == TS_FAKE_DELETED)
        fire_children(fake, packet);
}

/* ---- writes */

static void note(struct ts_fake_effect *effect, const struct ts_fake_node *node) {
    if (effect)
        effect->nodes[effect->deleted++] = *node;
}

static void drop(struct ts_fake *fake, struct ts_fake_node *node, struct ts_fake_effect *effect) {
    struct ts_fake_tree *tree = &fake->tree;
    note(effect, node);
    fire(fake, node, TS_FAKE_DELETED);
    size_t after = (size_t)(&tree->nodes[tree->count] - (node + 1));
    memmove(node, node + 1, after * sizeof *node);
    tree->count--;
    fire_children(fake, TS_FAKE_CHILDREN);
}

void ts_fake_remove(struct ts_fake *fake, struct ts_fake_name name, struct ts_fake_effect *effect) {
    struct ts_fake_node *node = find(&fake->tree, name);
    fake->tree.zxid++;
    if (node)
        drop(fake, node, effect);
}

static void touch(struct ts_fake *fake, struct ts_fake_node *node) {
    fire(fake, node, TS_FAKE_CHANGED);
    miss(fake, node);
}

void ts_fake_touch(struct ts_fake *fake, struct ts_fake_name name) {
    struct ts_fake_node *node = find(&fake->tree, name);
    fake->tree.zxid++;
    if (node)
        touch(fake, node);
}

void ts_fake_vanish(struct ts_fake *fake) {
    assert(fake->tree.count == 0 && fake->tree.levels > 0);
    fake->tree.zxid++;
    fake->tree.levels--;
    fire_directory(fake, TS_FAKE_DELETED);
}

void ts_fake_expire(struct ts_fake *fake, int32_t session, struct ts_fake_effect *effect) {
    struct ts_fake_tree *tree = &fake->tree;
    fake->sessions[session].alive = false;
    fake->sessions[session].zombies = 0;
    tree->zxid++;
    tree->children_watchers &= (uint16_t)~(1u << session);
    tree->overlooked &= (uint16_t)~(1u << session);
    tree->watchers &= (uint16_t)~(1u << session);
    tree->missed &= (uint16_t)~(1u << session);
    for (int32_t i = 0; i < tree->count; i++) {
        tree->nodes[i].watchers &= ~(1u << session);
        tree->nodes[i].missed &= ~(1u << session);
    }
    for (int32_t i = tree->count; i-- > 0;)
        if (tree->nodes[i].session == session)
            drop(fake, &tree->nodes[i], effect);
}

/* Children are counted, whatever their names. */
static void create(struct ts_fake *fake, int32_t session, struct ts_fake_name name, struct ts_fake_reply *reply,
                   struct ts_fake_effect *effect) {
    struct ts_fake_tree *tree = &fake->tree;
    assert(tree->count < TS_FAKE_NODES);
    struct ts_fake_node *node = &tree->nodes[tree->count++];
    *node = (struct ts_fake_node){name, session, 0, 0, tree->zxid};
    tree->next_sequence = (int32_t)((uint32_t)tree->next_sequence + 1);
    miss(fake, node); /* there was one of this name before */
    fire_children(fake, TS_FAKE_CHILDREN);
    reply->name = node->name;
    reply->token = node->czxid;
    if (effect)
        effect->created = true;
}

static void create_in(struct ts_fake *fake, int32_t session, const struct ts_fake_request *request, bool directory,
                      struct ts_fake_reply *reply, struct ts_fake_effect *effect) {
    struct ts_fake_name name = request->name;
    if (!request->named)
        name.sequence = fake->tree.next_sequence;
    fake->tree.zxid++;
    if (!directory)
        reply->result = PDK__NO_NODE;
    else if (find(&fake->tree, name)) /* a number of its own does not help against a name that was given */
        reply->result = PDK__NODE_EXISTS;
    else
        create(fake, session, name, reply, effect);
}

/* A node, or the directory. */
static void delete_it(struct ts_fake *fake, const struct ts_fake_request *request, struct ts_fake_reply *reply,
                      struct ts_fake_effect *effect) {
    struct ts_fake_tree *tree = &fake->tree;
    struct ts_fake_node *node = find(tree, request->name);
    tree->zxid++;
    if (node) {
        drop(fake, node, effect);
    } else if (request->name.mark != 0 || tree->levels < request->level) {
        reply->result = PDK__NO_NODE;
    } else if (tree->count != 0 || tree->levels > request->level) {
        reply->result = PDK__REFUSED;
    } else {
        ts_fake_vanish(fake);
        tree->next_sequence = 0;
    }
}

static void read_node(const struct ts_fake *fake, struct ts_fake_name name, int32_t levels,
                      struct ts_fake_reply *reply) {
    const struct ts_fake_node *node = ts_fake_find(fake, name);
    bool there = name.mark == 0 ? fake->tree.levels >= levels : node != NULL;
    reply->result = there ? PDK__OK : PDK__NO_NODE;
    reply->name = name;
    reply->owner = node ? node->session : -1;
    reply->token = node ? node->czxid : 0;
}

/* Newest first: the order of a real listing is any. */
static void list(const struct ts_fake_tree *tree, struct ts_fake_reply *reply) {
    for (int32_t i = tree->count; i-- > 0;)
        reply->children[reply->count++] = tree->nodes[i].name;
}

static void make_level(struct ts_fake_tree *tree, int32_t level, struct ts_fake_reply *reply) {
    if (tree->levels >= level)
        reply->result = PDK__NODE_EXISTS;
    else if (tree->levels == level - 1)
        tree->levels = level;
    else
        reply->result = PDK__NO_NODE;
}

void ts_fake_transact(struct ts_fake *fake, int32_t session, const struct ts_fake_request *request,
                      const struct ts_fake_names *names, struct ts_fake_reply *reply, struct ts_fake_effect *effect) {
    struct ts_fake_tree *tree = &fake->tree;
    struct ts_fake_node *node = find(tree, request->name);
    bool directory = tree->levels == names->levels;
    *reply = (struct ts_fake_reply){.kind = request->kind, .tag = request->tag, .result = PDK__OK};
    switch (request->kind) {
    case PDK__OP_CREATE:
        create_in(fake, session, request, directory, reply, effect);
        break;
    case PDK__OP_MKDIR:
        tree->zxid++;
        make_level(tree, request->level, reply);
        break;
    case PDK__OP_LIST:
        reply->result = directory ? PDK__OK : PDK__NO_NODE;
        list(tree, reply);
        reply->watch = directory && request->watch;
        if (reply->watch)
            tree->children_watchers |= (uint16_t)(1u << session);
        break;
    case PDK__OP_WATCH:
    case PDK__OP_GET:
    case PDK__OP_STAT:
    case PDK__OP_BARRIER:
        read_node(fake, request->name, request->level, reply);
        if (request->kind == PDK__OP_BARRIER)
            tree->zxid++;
        if (request->kind == PDK__OP_WATCH && node)
            node->watchers |= 1u << session;
        else if (request->kind == PDK__OP_WATCH && request->name.mark == 0 && request->level == names->levels &&
                 directory)
            tree->watchers |= (uint16_t)(1u << session);
        break;
    case PDK__OP_DELETE:
        delete_it(fake, request, reply, effect);
        break;
    case PDK__OP_ACL: /* everybody may do everything */
        read_node(fake, request->name, request->level, reply);
        break;
    case PDK__OP_SYNC: /* every read is as of now */
        break;
    case PDK__OP_SET:
        read_node(fake, request->name, request->level, reply);
        tree->zxid++;
        if (node)
            touch(fake, node);
        else if (reply->result == PDK__OK && request->level == names->levels)
            fire_directory(fake, TS_FAKE_CHANGED);
        break;
    }
}
