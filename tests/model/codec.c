/* A state of the model as bits, field by field: for hashing, and for keeping it small. One description serves both ways, so
 * that both agree. Writing leaves the state as it is: each function returns what it was given.
 *
 * States that differ only in absolute numbers are one: sequences, tokens, marks and tickets that still occur somewhere are
 * numbered anew, in their order. The protocol depends on that order alone (a run with `exact` does not rely on it
 * for sequences). Parts without influence on the future are left out. */
#include "model.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define ALWAYS static inline __attribute__((always_inline))

/* New numbers, by the old ones. */
struct numbers {
    struct model_used used;
    uint8_t sequence[64], token[64], mark[MODEL_CLIENTS][MODEL_MARKS];
    int32_t sequences, tokens;
};

struct codec {
    const struct model *m;
    const struct numbers *numbers; /* when writing */
    uint8_t *at;
    const uint8_t *end;
    uint64_t word;
    unsigned filled;
    bool writing;
};

ALWAYS uint32_t code(struct codec *c, uint32_t value, unsigned bits) {
    if (c->writing) {
        assert(value >> bits == 0);
        c->word |= (uint64_t)value << c->filled;
        c->filled += bits;
        if (c->filled >= 32) {
            uint32_t low = (uint32_t)c->word;
            assert(c->at + sizeof low <= c->end);
            memcpy(c->at, &low, sizeof low);
            c->at += sizeof low;
            c->word >>= 32;
            c->filled -= 32;
        }
        return value;
    }
    if (c->filled < bits) {
        uint32_t low;
        assert(c->at + sizeof low <= c->end);
        memcpy(&low, c->at, sizeof low);
        c->at += sizeof low;
        c->word |= (uint64_t)low << c->filled;
        c->filled += 32;
    }
    value = (uint32_t)(c->word & ((UINT64_C(1) << bits) - 1));
    c->word >>= bits;
    c->filled -= bits;
    return value;
}

ALWAYS int32_t code_int(struct codec *c, int32_t value, unsigned bits) {
    return (int32_t)code(c, (uint32_t)value, bits);
}

ALWAYS bool code_bool(struct codec *c, bool value) { return code(c, value, 1) != 0; }

/* ---- numbers that are renumbered */

ALWAYS int32_t code_mark(struct codec *c, int32_t number) {
    int32_t anew = 0;
    if (c->writing && number != 0) {
        int32_t client = (number - 1) / MODEL_MARKS;
        anew = model_mark(client, c->numbers->mark[client][(number - 1) % MODEL_MARKS]);
    }
    anew = code_int(c, anew, 6);
    return c->writing ? number : anew;
}

ALWAYS int32_t code_sequence(struct codec *c, int32_t sequence) {
    uint32_t first = (uint32_t)c->m->config.first_sequence, offset = (uint32_t)sequence - first;
    uint32_t anew = code(c, c->writing ? c->numbers->sequence[offset] : 0, 6);
    return c->writing ? sequence : (int32_t)(anew + first);
}

ALWAYS void code_name(struct codec *c, struct ts_fake_name *name) {
    name->mark = code_mark(c, name->mark);
    if (name->mark != 0)
        name->sequence = code_sequence(c, name->sequence);
}

ALWAYS int64_t code_token(struct codec *c, int64_t token) {
    uint32_t anew = code(c, c->writing ? c->numbers->token[token] : 0, 6);
    return c->writing ? token : anew;
}

/* A text, and the name in it. */
ALWAYS void code_text(struct codec *c, char *text, struct ts_fake_name name) {
    code_name(c, &name);
    if (!c->writing && name.mark != 0)
        ts_fake_name_text(&c->m->names, name, text);
}

/* ---- the fake */

ALWAYS void code_tree(struct codec *c, struct ts_fake_tree *tree) {
    uint32_t first = (uint32_t)c->m->config.first_sequence;
    tree->levels = code_int(c, tree->levels, 1);
    tree->count = code_int(c, tree->count, 4);
    if (code_bool(c, (tree->children_watchers | tree->overlooked | tree->watchers | tree->missed) != 0)) {
        tree->children_watchers = (uint16_t)code(c, tree->children_watchers, TS_FAKE_SESSIONS);
        tree->overlooked = (uint16_t)code(c, tree->overlooked, TS_FAKE_SESSIONS);
        tree->watchers = (uint16_t)code(c, tree->watchers, TS_FAKE_SESSIONS);
        tree->missed = (uint16_t)code(c, tree->missed, TS_FAKE_SESSIONS);
    } else {
        tree->children_watchers = tree->overlooked = tree->watchers = tree->missed = 0;
    }
    if (c->writing)
        code(c, (uint32_t)c->numbers->sequences, 6);
    else
        tree->next_sequence = (int32_t)(code(c, 0, 6) + first);
    for (int32_t i = 0; i < tree->count; i++) {
        struct ts_fake_node *node = &tree->nodes[i];
        code_name(c, &node->name);
        node->session = code_int(c, node->session, 3);
        node->czxid = code_token(c, node->czxid);
        node->watchers = code(c, node->watchers, TS_FAKE_SESSIONS);
        node->missed = code(c, node->missed, TS_FAKE_SESSIONS);
    }
}

ALWAYS void code_request(struct codec *c, struct ts_fake_request *r) {
    if (!c->writing)
        memset(r, 0, sizeof *r);
    r->kind = (enum pdk__op_kind)code(c, r->kind, 4);
    r->tag = code(c, (uint32_t)r->tag, 7);
    r->level = (int16_t)code_int(c, r->level, 1);
    if (r->kind == PDK__OP_CREATE)
        r->named = code_bool(c, r->named);
    if (r->kind == PDK__OP_LIST)
        r->watch = code_bool(c, r->watch);
    if (r->kind == PDK__OP_CREATE && !r->named)
        r->name.mark = code_mark(c, r->name.mark);
    else
        code_name(c, &r->name);
}

ALWAYS void code_reply(struct codec *c, struct ts_fake_reply *r) {
    if (!c->writing)
        memset(r, 0, offsetof(struct ts_fake_reply, children));
    r->packet = (enum ts_fake_packet)code(c, r->packet, 2);
    if (r->packet == TS_FAKE_REPLY) {
        r->kind = (enum pdk__op_kind)code(c, r->kind, 4);
        r->tag = code(c, (uint32_t)r->tag, 7);
        r->result = (enum pdk__result)code(c, r->result, 3);
    }
    if (model_reply_has_name(r))
        code_name(c, &r->name);
    if (model_reply_has_token(r)) {
        r->token = code_token(c, r->token);
        r->owner = code_int(c, r->owner + 1, 4) - 1;
    }
    if (r->packet == TS_FAKE_REPLY && r->kind == PDK__OP_LIST && r->result == PDK__OK) {
        r->count = (int16_t)code_int(c, r->count, 4);
        r->watch = code_bool(c, r->watch != 0);
    }
    for (int32_t i = 0; i < r->count; i++)
        code_name(c, &r->children[i]);
}

ALWAYS void code_session(struct codec *c, struct ts_fake_session *s) {
    if (!c->writing)
        memset(s, 0, offsetof(struct ts_fake_session, late));
    s->open = code_bool(c, s->open);
    s->alive = code_bool(c, s->alive);
    if (!s->open && !s->alive)
        return;
    s->link = code_bool(c, s->link);
    s->children_watch = code_bool(c, s->children_watch);
    s->zombies = code_int(c, s->zombies, 3);
    s->requests_count = code_int(c, s->requests_count, 4);
    s->replies_count = code_int(c, s->replies_count, 4);
    s->watches_count = code_int(c, s->watches_count, 4);
    for (int32_t i = 0; i < s->zombies; i++)
        code_request(c, &s->late[i]);
    for (int32_t i = 0; i < s->requests_count; i++)
        code_request(c, &s->requests[i]);
    for (int32_t i = 0; i < s->replies_count; i++)
        code_reply(c, &s->replies[i]);
    for (int32_t i = 0; i < s->watches_count; i++)
        code_name(c, &s->watches[i]);
}

/* ---- the clients */

/* A field that is added to the contender needs a line of code here. Of `ahead` only this much is used. */
_Static_assert(sizeof(struct pdk__contender) == 360, "code_contender knows every field of struct pdk__contender");

ALWAYS void code_contender(struct codec *c, struct pdk__contender *k) {
    k->phase = (enum pdk__phase)code(c, k->phase, 3);
    if (c->m->config.budgets[DOWNGRADES] != 0)
        k->named = code_bool(c, k->named);
    k->doing = (enum pdk__command)code(c, k->doing, 4);
    k->failure = (pdk_status)code(c, (uint32_t)k->failure, 6);
    k->wanted = code_bool(c, k->wanted);
    k->leaving = code_bool(c, k->leaving);
    k->link = code_bool(c, k->link);
    if (c->m->config.tries != 0)
        k->looks_first = code_bool(c, k->looks_first);
    k->dirless = code_bool(c, k->dirless);
    k->proven = code_bool(c, k->proven);
    k->list_due = code_bool(c, k->list_due);
    k->listed = code_bool(c, k->listed);
    k->watching = code_bool(c, k->watching);
    k->sole = code_bool(c, k->sole);
    k->guarded = code_bool(c, k->guarded);
    k->pause = code_bool(c, k->pause);
    int32_t ahead = code_bool(c, k->ahead > 1) ? 2 : 0;
    k->ahead = c->writing ? k->ahead : ahead;
    k->token = code_token(c, k->token);
}

/* How many of a client's claims drew an earlier ticket. That is the new number of this one. */
static int32_t rank_of(const struct model_client *k, int32_t ticket) {
    int32_t rank = 0;
    for (int32_t i = 0; i < k->entries_count; i++)
        rank += k->entries[i].grant.hold != MODEL_NO_HOLD && k->entries[i].grant.holder < ticket;
    for (int32_t i = 0; i < k->queued; i++)
        rank += k->queue[i] < ticket;
    for (int32_t i = 0; i < k->sleepers; i++)
        rank += k->sleeper[i] < ticket;
    return rank;
}

ALWAYS int32_t code_ticket(struct codec *c, const struct model_client *k, int32_t ticket) {
    int32_t anew = code_int(c, c->writing ? rank_of(k, ticket) : 0, 3);
    return c->writing ? ticket : anew;
}

ALWAYS void code_grant(struct codec *c, struct model_grant *grant, const struct model_client *k) {
    grant->hold = (enum model_hold)code(c, grant->hold, 2);
    if (grant->hold == MODEL_NO_HOLD)
        return;
    grant->valid = code_bool(c, grant->valid);
    if (c->m->config.budgets[DOWNGRADES] != 0)
        grant->downgraded = code_bool(c, grant->downgraded);
    grant->holder = code_ticket(c, k, grant->holder);
    grant->handover = code_int(c, grant->handover, 3);
}

ALWAYS void code_entry(struct codec *c, struct model_client *k, int32_t client, int32_t entry) {
    struct model_entry *p = &k->entries[entry];
    const struct ts_fake_name nameless = {0, 0};
    int32_t number = code_mark(c, model_mark(client, p->mark));
    if (!c->writing) {
        memset(p, 0, offsetof(struct model_entry, c));
        p->mark = (number - 1) % MODEL_MARKS;
        pdk__contender_init(&p->c, c->m->names.mark[number - 1]);
    }
    p->owner = (enum model_owner)code(c, p->owner, 2);
    if (p->owner != MODEL_REAPER)
        code_grant(c, &p->grant, k);
    p->pausing = code_bool(c, p->pausing);
    p->removed = code_bool(c, p->removed);
    p->removed_behind = p->removed && code_bool(c, p->removed_behind);
    p->registered = code_bool(c, p->registered);
    if (model_never_waits(c->m, client))
        p->blocked = code_bool(c, p->blocked);
    p->own_watch = (enum model_pending)code(c, p->own_watch, 2);
    if (c->m->config.mirrors) {
        p->mirrored = code_bool(c, p->mirrored);
        p->own_stands = code_bool(c, p->own_stands);
    }
    code_contender(c, &p->c);
    if (p->c.named)
        code_name(c, &p->exchanged);
    code_text(c, p->c.own, c->writing ? c->numbers->used.own[client][entry] : nameless);
    code_text(c, p->c.watched, c->writing ? c->numbers->used.watched[client][entry] : nameless);
}

ALWAYS void code_claims(struct codec *c, struct model_client *k) {
    k->queued = code_int(c, k->queued, 3);
    k->sleepers = code_int(c, k->sleepers, 3);
    k->handovers.handovers = code(c, k->handovers.handovers, 3);
    for (int32_t i = 0; i < k->queued; i++)
        k->queue[i] = code_ticket(c, k, k->queue[i]);
    for (int32_t i = 0; i < k->sleepers; i++)
        k->sleeper[i] = code_ticket(c, k, k->sleeper[i]);
}

static int32_t claims_of(const struct model_client *k) {
    int32_t count = k->queued + k->sleepers;
    for (int32_t i = 0; i < k->entries_count; i++)
        count += k->entries[i].grant.hold != MODEL_NO_HOLD;
    return count;
}

/* A number that has no influence is none. */
ALWAYS int32_t code_number(struct codec *c, bool counts, int32_t number) {
    if (!counts)
        return c->writing ? number : 0;
    uint32_t first = (uint32_t)c->m->config.first_sequence;
    uint32_t anew = code(c, (uint32_t)number - first, 6);
    return c->writing ? number : (int32_t)(anew + first);
}

ALWAYS void code_mirror(struct codec *c, struct model_client *k) {
    struct pdk__mirror *m = &k->mirror;
    k->directory_watch = (enum model_pending)code(c, k->directory_watch, 2);
    m->watched = code_bool(c, m->watched);
    if (!m->watched)
        return;
    m->counted = code_bool(c, m->counted);
    m->in_turn = code_bool(c, m->in_turn);
    m->full = code_bool(c, m->full);
    m->newest = code_number(c, m->counted, m->newest);
    m->last = code_number(c, m->full, m->last);
    m->count = (size_t)code_int(c, (int32_t)m->count, 4);
    for (size_t i = 0; i < m->count; i++) {
        struct ts_fake_name name = {0, 0};
        if (c->writing)
            name = model_name(k->mirrored[i].name);
        code_name(c, &name);
        if (c->writing)
            continue;
        ts_fake_name_text(&c->m->names, name, k->mirrored[i].name);
        pdk__name_parse(k->mirrored[i].name, &k->mirrored[i].parsed);
    }
}

ALWAYS void code_client(struct codec *c, struct model_client *k, int32_t client) {
    if (!c->writing)
        memset(k, 0, offsetof(struct model_client, entries));
    k->session = code_int(c, k->session + 1, 4) - 1;
    k->lease = code_bool(c, k->lease);
    k->renewing = code_bool(c, k->renewing);
    if (c->m->config.budgets[GHOSTS] != 0) {
        code_name(c, &k->ghost);
        k->asked = code_bool(c, k->asked);
        k->told = code_bool(c, k->told);
    }
    if (!c->writing)
        k->handovers = model_handovers(c->m, client);
    if (c->m->config.lingers) {
        k->lingers = code_bool(c, k->lingers);
        k->lookout = (enum model_lookout)code(c, k->lookout, 2);
    }
    code_claims(c, k);
    if (c->m->config.mirrors)
        code_mirror(c, k);
    k->entries_count = code_int(c, k->entries_count, 3);
    for (int32_t i = 0; i < k->entries_count; i++)
        code_entry(c, k, client, i);
    if (!c->writing)
        k->tickets = claims_of(k);
}

ALWAYS void code_state(struct codec *c, struct model_state *s) {
    for (int32_t i = 0; i < BUDGETS; i++) {
        int32_t left = s->budgets[i] > s->budgets[FAULTS] && i < CLAIMS ? s->budgets[FAULTS] : s->budgets[i];
        left = code_int(c, c->writing ? left : 0, 4);
        s->budgets[i] = c->writing ? s->budgets[i] : left;
    }
    s->last_token = code_token(c, s->last_token);
    if (c->m->readers)
        s->last_exclusive = code_token(c, s->last_exclusive);
    else if (!c->writing)
        s->last_exclusive = 0;
    code_tree(c, &s->fake.tree);
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++)
        code_session(c, &s->fake.sessions[i]);
    for (int32_t i = 0; i < c->m->config.clients; i++)
        code_client(c, &s->clients[i], i);
}

/* ---- both ways */

static int32_t number_anew(uint64_t used, uint8_t *numbers, int32_t first) {
    for (; used != 0; used &= used - 1)
        numbers[__builtin_ctzll(used)] = (uint8_t)first++;
    return first;
}

static void make_numbers(const struct model *m, const struct model_state *s, struct numbers *n) {
    model_use(m, s, &n->used);
    assert(!n->used.beyond);
    n->token[0] = 0; /* none */
    n->tokens = number_anew(n->used.tokens, n->token, 1);
    for (int32_t i = 0; i < MODEL_CLIENTS; i++) {
        uint32_t down = m->config.roles[i] == MODEL_WRITES ? n->used.marks[i] >> MODEL_DOWN << MODEL_DOWN : 0;
        number_anew(n->used.marks[i] & ~down, n->mark[i], 0);
        number_anew(down, n->mark[i], MODEL_DOWN);
    }
    n->sequences = number_anew(n->used.sequences, n->sequence, 0);
    if (!m->config.exact)
        return;
    for (uint8_t i = 0; i < 64; i++)
        n->sequence[i] = i;
    n->sequences = (int32_t)((uint32_t)s->fake.tree.next_sequence - (uint32_t)m->config.first_sequence);
}

size_t model_pack(const struct model *m, struct model_state *s, uint8_t bytes[SEARCH_PACKED]) {
    struct numbers numbers;
    make_numbers(m, s, &numbers);
    struct codec c = {.m = m, .numbers = &numbers, .at = bytes, .end = bytes + SEARCH_PACKED, .writing = true};
    code_state(&c, s);
    if (c.filled != 0)
        code(&c, 0, 32 - c.filled); /* to the end of the word */
    return (size_t)(c.at - bytes);
}

void model_unpack(const struct model *m, struct model_state *s, const uint8_t *bytes, size_t size) {
    uint8_t copy[SEARCH_PACKED];
    struct codec c = {.m = m, .at = copy, .end = copy + size, .writing = false};
    memcpy(copy, bytes, size);
    code_state(&c, s);
    for (int32_t i = m->config.clients; i < MODEL_CLIENTS; i++)
        memset(&s->clients[i], 0, offsetof(struct model_client, entries));
    assert(c.at == c.end);
    s->fake.tree.zxid = 32; /* above all tokens */
}
