/* The fake ZooKeeper's connections: two queues, the losses of a cut, and the watches that the client library keeps. */
#include "fake_zk.h"

#include <assert.h>
#include <string.h>

int32_t ts_fake_open(struct ts_fake *fake) {
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++) {
        if (fake->sessions[i].open || fake->sessions[i].alive)
            continue;
        memset(&fake->sessions[i], 0, sizeof fake->sessions[i]);
        fake->sessions[i].open = fake->sessions[i].alive = true;
        return i;
    }
    return -1;
}

bool ts_fake_watches(const struct ts_fake_session *s, struct ts_fake_name name) {
    for (int32_t i = 0; i < s->watches_count; i++)
        if (ts_fake_name_equal(s->watches[i], name))
            return true;
    return false;
}

static struct ts_fake_node *find(struct ts_fake *fake, struct ts_fake_name name) {
    for (int32_t i = 0; i < fake->tree.count; i++)
        if (ts_fake_name_equal(fake->tree.nodes[i].name, name))
            return &fake->tree.nodes[i];
    return NULL;
}

/* At the server. */
static void forget_watches(struct ts_fake *fake, int32_t session) {
    for (int32_t i = 0; i < fake->tree.count; i++)
        fake->tree.nodes[i].watchers &= ~(1u << session);
    fake->tree.children_watchers &= (uint16_t)~(1u << session);
    fake->tree.watchers &= (uint16_t)~(1u << session);
}

static void forget_missed(struct ts_fake *fake, int32_t session) {
    for (int32_t i = 0; i < fake->tree.count; i++)
        fake->tree.nodes[i].missed &= ~(1u << session);
    fake->tree.overlooked &= (uint16_t)~(1u << session);
    fake->tree.missed &= (uint16_t)~(1u << session);
}

void ts_fake_forget(struct ts_fake *fake, int32_t session) {
    struct ts_fake_session *s = &fake->sessions[session];
    ts_fake_cut(fake, session);
    s->open = false;
    s->replies_count = s->watches_count = 0;
    s->children_watch = false;
    forget_missed(fake, session);
}

bool ts_fake_enqueue(struct ts_fake *fake, int32_t session, const struct ts_fake_request *request) {
    struct ts_fake_session *s = &fake->sessions[session];
    if (!s->open || !s->link || s->requests_count + s->replies_count >= TS_FAKE_QUEUE)
        return false;
    s->requests[s->requests_count++] = *request;
    return true;
}

bool ts_fake_submit(struct ts_fake *fake, struct ts_fake_names *names, int32_t session,
                    const struct pdk__request *request) {
    struct ts_fake_request r = {.tag = request->tag, .kind = request->kind, .watch = request->watch};
    bool create = request->kind == PDK__OP_CREATE;
    int32_t level = 0;
    r.named = create && request->named;
    if (create && !r.named) {
        size_t n = strlen(names->directory) + 1;
        r.name.mark = ts_fake_mark(names, request->path + n);
    } else if (!ts_fake_name_of_path(names, request->path, &r.name, &level) || (r.named && r.name.mark == 0)) {
        return false;
    }
    r.level = (int16_t)level;
    return ts_fake_enqueue(fake, session, &r);
}

static struct ts_fake_request take_request(struct ts_fake_session *s) {
    struct ts_fake_request r = s->requests[0];
    s->requests_count--;
    memmove(&s->requests[0], &s->requests[1], (size_t)s->requests_count * sizeof r);
    return r;
}

static void answer(struct ts_fake_session *s, const struct ts_fake_reply *reply) {
    assert(s->replies_count < TS_FAKE_QUEUE);
    s->replies[s->replies_count++] = *reply;
}

static bool is_write(enum pdk__op_kind kind) {
    return kind == PDK__OP_CREATE || kind == PDK__OP_MKDIR || kind == PDK__OP_BARRIER || kind == PDK__OP_DELETE ||
           kind == PDK__OP_SET;
}

bool ts_fake_can_execute(const struct ts_fake *fake, int32_t session) {
    const struct ts_fake_session *s = &fake->sessions[session];
    return s->link && s->alive && s->requests_count != 0;
}

/* An earlier write of the session is executed before a later one, or never. */
static void settle(struct ts_fake_session *s, enum pdk__op_kind kind) {
    if (is_write(kind))
        s->zombies = 0;
}

void ts_fake_execute(struct ts_fake *fake, const struct ts_fake_names *names, int32_t session,
                     struct ts_fake_effect *effect) {
    struct ts_fake_session *s = &fake->sessions[session];
    struct ts_fake_request r = take_request(s);
    struct ts_fake_reply reply;
    settle(s, r.kind);
    ts_fake_transact(fake, session, &r, names, &reply, effect);
    answer(s, &reply);
}

void ts_fake_execute_unknown(struct ts_fake *fake, const struct ts_fake_names *names, int32_t session,
                             struct ts_fake_effect *effect) {
    struct ts_fake_session *s = &fake->sessions[session];
    struct ts_fake_request r = take_request(s);
    struct ts_fake_reply lost, unknown = {.kind = r.kind, .tag = r.tag, .result = PDK__UNKNOWN};
    settle(s, r.kind);
    ts_fake_transact(fake, session, &r, names, &lost, effect);
    answer(s, &unknown);
}

/* Remember a write that was on its way. */
static void linger(struct ts_fake_session *s, const struct ts_fake_request *r) {
    if (!s->alive || (r->kind != PDK__OP_CREATE && r->kind != PDK__OP_DELETE && r->kind != PDK__OP_SET))
        return;
    assert(s->zombies < TS_FAKE_ZOMBIES);
    s->late[s->zombies++] = *r;
}

void ts_fake_refuse(struct ts_fake *fake, int32_t session, enum pdk__result result) {
    struct ts_fake_session *s = &fake->sessions[session];
    struct ts_fake_request r = take_request(s);
    struct ts_fake_reply reply = {.kind = r.kind, .tag = r.tag, .result = result};
    if (result == PDK__UNKNOWN)
        linger(s, &r);
    answer(s, &reply);
}

void ts_fake_execute_zombie(struct ts_fake *fake, const struct ts_fake_names *names, int32_t session,
                            struct ts_fake_effect *effect) {
    struct ts_fake_session *s = &fake->sessions[session];
    struct ts_fake_request r = s->late[0];
    struct ts_fake_reply lost;
    s->zombies--;
    memmove(&s->late[0], &s->late[1], (size_t)s->zombies * sizeof r);
    ts_fake_transact(fake, session, &r, names, &lost, effect);
}

/* An event is lost on its way. */
static void miss(struct ts_fake *fake, int32_t session, struct ts_fake_name name, enum ts_fake_packet packet) {
    const struct ts_fake_session *s = &fake->sessions[session];
    struct ts_fake_node *node = find(fake, name); /* of a deleted one: another of its name */
    if (name.mark == 0 && packet != TS_FAKE_CHILDREN && ts_fake_watches(s, name))
        fake->tree.missed |= (uint16_t)(1u << session);
    if (node && ts_fake_watches(s, name))
        node->missed |= 1u << session;
    if (name.mark == 0 && s->children_watch)
        fake->tree.overlooked |= (uint16_t)(1u << session);
}

void ts_fake_cut(struct ts_fake *fake, int32_t session) {
    struct ts_fake_session *s = &fake->sessions[session];
    int32_t kept = 0;
    for (int32_t i = 0; i < s->replies_count; i++) {
        struct ts_fake_reply lost = s->replies[i];
        if (lost.packet != TS_FAKE_REPLY)
            miss(fake, session, lost.name, lost.packet);
        else
            s->replies[kept++] = (struct ts_fake_reply){.kind = lost.kind, .tag = lost.tag, .result = PDK__UNKNOWN};
    }
    s->replies_count = kept;
    while (s->requests_count != 0) {
        struct ts_fake_request r = take_request(s);
        struct ts_fake_reply lost = {.kind = r.kind, .tag = r.tag, .result = PDK__UNKNOWN};
        linger(s, &r);
        answer(s, &lost);
    }
    s->link = false;
    forget_watches(fake, session);
}

static void restore_children_watch(struct ts_fake *fake, const struct ts_fake_names *names, int32_t session) {
    struct ts_fake_tree *tree = &fake->tree;
    bool there = tree->levels == names->levels;
    if (there && !(tree->overlooked & 1u << session))
        tree->children_watchers |= (uint16_t)(1u << session);
    else
        answer(&fake->sessions[session], &(struct ts_fake_reply){.packet = there ? TS_FAKE_CHILDREN : TS_FAKE_DELETED});
}

static void restore_directory_watch(struct ts_fake *fake, const struct ts_fake_names *names, int32_t session) {
    struct ts_fake_tree *tree = &fake->tree;
    bool there = tree->levels == names->levels;
    if (there && !(tree->missed & 1u << session))
        tree->watchers |= (uint16_t)(1u << session);
    else
        answer(&fake->sessions[session], &(struct ts_fake_reply){.packet = there ? TS_FAKE_CHANGED : TS_FAKE_DELETED});
}

bool ts_fake_connect(struct ts_fake *fake, const struct ts_fake_names *names, int32_t session, bool restore) {
    struct ts_fake_session *s = &fake->sessions[session];
    assert(s->replies_count == 0);
    if (!s->alive)
        return false;
    s->link = true;
    if (!restore) {
        s->watches_count = 0;
        s->children_watch = false;
    }
    for (int32_t i = 0; i < s->watches_count; i++) {
        if (s->watches[i].mark == 0) {
            restore_directory_watch(fake, names, session);
            continue;
        }
        struct ts_fake_node *node = find(fake, s->watches[i]);
        struct ts_fake_reply missed = {.packet = node ? TS_FAKE_CHANGED : TS_FAKE_DELETED, .name = s->watches[i]};
        if (node && !(node->missed & 1u << session))
            node->watchers |= 1u << session;
        else
            answer(s, &missed);
    }
    if (s->children_watch)
        restore_children_watch(fake, names, session);
    forget_missed(fake, session);
    return true;
}

/* The client library's table of watches: an answered read enters it, an event leaves it. */
static void keep_watch(struct ts_fake_session *s, struct ts_fake_name name) {
    if (ts_fake_watches(s, name))
        return;
    assert(s->watches_count < TS_FAKE_WATCHES);
    s->watches[s->watches_count++] = name;
}

static void drop_watch(struct ts_fake_session *s, struct ts_fake_name name) {
    int32_t kept = 0;
    for (int32_t i = 0; i < s->watches_count; i++)
        if (!ts_fake_name_equal(s->watches[i], name))
            s->watches[kept++] = s->watches[i];
    s->watches_count = kept;
}

void ts_fake_take(struct ts_fake *fake, int32_t session, struct ts_fake_reply *packet) {
    struct ts_fake_session *s = &fake->sessions[session];
    *packet = s->replies[0];
    s->replies_count--;
    memmove(&s->replies[0], &s->replies[1], (size_t)s->replies_count * sizeof *packet);
    if (packet->packet != TS_FAKE_REPLY && packet->packet != TS_FAKE_CHILDREN)
        drop_watch(s, packet->name);
    if (packet->packet == TS_FAKE_DELETED ? packet->name.mark == 0 : packet->packet == TS_FAKE_CHILDREN)
        s->children_watch = false;
    else if (packet->packet != TS_FAKE_REPLY)
        return;
    else if (packet->watch)
        s->children_watch = true;
    else if (packet->kind == PDK__OP_WATCH && packet->result == PDK__OK)
        keep_watch(s, packet->name);
}
