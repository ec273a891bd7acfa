/* A state of the model as bytes, field by field: for hashing, and for keeping it small. One description serves both ways,
 * so that what is written is what is read. What has no influence on the future is left out. */
#include "model.h"

#include <assert.h>
#include <string.h>

struct codec {
    struct model *m;
    bool writing;
    uint8_t *at;
    const uint8_t *end;
};

/* A byte for −1 to 254. */
static int32_t code(struct codec *c, int32_t value) {
    assert(c->at < c->end);
    if (!c->writing)
        return *c->at++ - 1;
    assert(value >= -1 && value < 255);
    *c->at++ = (uint8_t)(value + 1);
    return value;
}

static bool code_bool(struct codec *c, bool value) { return code(c, value) != 0; }

static void code_name(struct codec *c, struct ts_fake_name *name) {
    uint32_t first = (uint32_t)c->m->config.first_sequence;
    name->mark = code(c, name->mark);
    if (name->mark != 0)
        name->sequence = (int32_t)((uint32_t)code(c, (int32_t)((uint32_t)name->sequence - first)) + first);
}

static void code_text(struct codec *c, char *text) {
    struct ts_fake_name name = {0, 0};
    if (c->writing && text[0] != '\0' && !ts_fake_name_of(&c->m->names, text, &name))
        assert(!"a contender's name has a sequence");
    code_name(c, &name);
    if (!c->writing && name.mark != 0)
        ts_fake_name_text(&c->m->names, name, text);
}

static void code_tree(struct codec *c, struct ts_fake_tree *tree) {
    uint32_t first = (uint32_t)c->m->config.first_sequence;
    tree->levels = code(c, tree->levels);
    tree->next_sequence = (int32_t)((uint32_t)code(c, (int32_t)((uint32_t)tree->next_sequence - first)) + first);
    tree->count = code(c, tree->count);
    for (int32_t i = 0; i < tree->count; i++) {
        struct ts_fake_node *node = &tree->nodes[i];
        code_name(c, &node->name);
        node->session = code(c, node->session);
        node->czxid = code(c, (int32_t)node->czxid);
        node->watchers = (uint32_t)code(c, (int32_t)node->watchers);
    }
}

static void code_request(struct codec *c, struct ts_fake_request *r) {
    r->kind = (enum pdk__op_kind)code(c, (int32_t)r->kind);
    r->tag = (uint64_t)code(c, (int32_t)r->tag);
    r->level = code(c, r->level);
    if (r->kind == PDK__OP_CREATE)
        r->name.mark = code(c, r->name.mark);
    else
        code_name(c, &r->name);
}

static void code_reply(struct codec *c, struct ts_fake_reply *r) {
    r->packet = (enum ts_fake_packet)code(c, (int32_t)r->packet);
    code_name(c, &r->name);
    if (r->packet != TS_FAKE_REPLY)
        return;
    r->kind = (enum pdk__op_kind)code(c, (int32_t)r->kind);
    r->tag = (uint64_t)code(c, (int32_t)r->tag);
    r->result = (enum pdk__result)code(c, (int32_t)r->result);
    r->owner = code(c, r->owner);
    r->token = code(c, (int32_t)r->token);
    r->count = code(c, r->count);
    for (int32_t i = 0; i < r->count; i++)
        code_name(c, &r->children[i]);
}

static void code_session(struct codec *c, struct ts_fake_session *s) {
    s->open = code_bool(c, s->open);
    s->alive = code_bool(c, s->alive);
    if (!s->open)
        return;
    s->link = code_bool(c, s->link);
    s->zombie = code_bool(c, s->zombie);
    if (s->zombie)
        code_request(c, &s->late);
    s->requests_count = code(c, s->requests_count);
    for (int32_t i = 0; i < s->requests_count; i++)
        code_request(c, &s->requests[i]);
    s->replies_count = code(c, s->replies_count);
    for (int32_t i = 0; i < s->replies_count; i++)
        code_reply(c, &s->replies[i]);
    s->watches_count = code(c, s->watches_count);
    for (int32_t i = 0; i < s->watches_count; i++)
        code_name(c, &s->watches[i]);
}

/* A field that is added to the contender needs a line here. Left out: ahead, which only informs, and all of one that is
 * gone. */
_Static_assert(sizeof(struct pdk__contender) == 360, "code_contender knows every field of struct pdk__contender");

static void code_contender(struct codec *c, struct pdk__contender *k) {
    k->phase = (enum pdk__phase)code(c, (int32_t)k->phase);
    if (k->phase == PDK__GONE)
        return;
    k->doing = (enum pdk__command)code(c, (int32_t)k->doing);
    k->failure = (pdk_status)code(c, (int32_t)k->failure);
    k->wanted = code_bool(c, k->wanted);
    k->leaving = code_bool(c, k->leaving);
    k->link = code_bool(c, k->link);
    k->dirless = code_bool(c, k->dirless);
    k->proven = code_bool(c, k->proven);
    k->look = code_bool(c, k->look);
    k->listed = code_bool(c, k->listed);
    k->watching = code_bool(c, k->watching);
    k->pause = code_bool(c, k->pause);
    k->token = code(c, (int32_t)k->token);
    code_text(c, k->own);
    code_text(c, k->watched);
}

static void code_client(struct codec *c, struct model_client *k, int32_t client) {
    k->session = code(c, k->session);
    k->incarnation = code(c, k->incarnation);
    k->lease = code_bool(c, k->lease);
    if (!c->writing) {
        int32_t mark = client + (c->m->config.same_mark ? 0 : k->incarnation * c->m->config.clients);
        pdk__contender_init(&k->c, c->m->names.mark[mark]);
    }
    code_contender(c, &k->c);
    if (k->c.phase == PDK__GONE)
        return;
    k->pausing = code_bool(c, k->pausing);
    k->robbed = code_bool(c, k->robbed);
    k->renewing = (enum model_pending)code(c, (int32_t)k->renewing);
    k->own_watch = (enum model_pending)code(c, (int32_t)k->own_watch);
}

static void code_state(struct codec *c, struct model_state *s) {
    for (int32_t i = 0; i < BUDGETS; i++)
        s->budgets[i] = code(c, s->budgets[i]);
    s->last_token = code(c, (int32_t)s->last_token);
    code_tree(c, &s->fake.tree);
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++)
        code_session(c, &s->fake.sessions[i]);
    for (int32_t i = 0; i < c->m->config.clients; i++)
        code_client(c, &s->clients[i], i);
}

size_t model_pack(struct model *m, struct model_state *s, uint8_t bytes[MODEL_PACKED]) {
    struct codec c = {m, true, bytes, bytes + MODEL_PACKED};
    code_state(&c, s);
    return (size_t)(c.at - bytes);
}

void model_unpack(struct model *m, struct model_state *s, const uint8_t *bytes, size_t size) {
    uint8_t copy[MODEL_PACKED];
    struct codec c = {m, false, copy, copy + size};
    memcpy(copy, bytes, size);
    memset(s, 0, sizeof *s);
    code_state(&c, s);
    assert(c.at == c.end);
    s->fake.tree.zxid = 100; /* above all tokens: model_normalise keeps them small */
}

/* Murmur's mixing, 64 bits. */
uint64_t model_hash(const uint8_t *bytes, size_t size) {
    const uint64_t multiplier = UINT64_C(0xc6a4a7935bd1e995);
    uint64_t hash = size * multiplier;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        word *= multiplier;
        word ^= word >> 47;
        hash = (hash ^ word * multiplier) * multiplier;
    }
    hash ^= hash >> 47;
    hash *= multiplier;
    return hash ^ hash >> 47;
}
