/* States that differ only in absolute numbers are one: sequences and tokens that still occur somewhere are numbered anew, in
 * their order. What the protocol does depends on that order alone; a run with `exact` does not rely on it. */
#include "model.h"

#include <assert.h>
#include <string.h>

enum { SPAN = 64 };

struct numbers {
    struct model *m;
    uint64_t used;            /* a bit for each sequence, counted from the first */
    int32_t rank[SPAN];       /* its new number, counted likewise */
    int64_t tokens[2 * SPAN]; /* sorted, each once */
    int32_t tokens_count;
};

typedef void (*name_fn)(struct numbers *n, struct ts_fake_name *name);
typedef void (*token_fn)(struct numbers *n, int64_t *token);

static int32_t offset_of(const struct numbers *n, int32_t sequence) {
    uint32_t offset = (uint32_t)sequence - (uint32_t)n->m->config.first_sequence;
    assert(offset < SPAN);
    return (int32_t)offset;
}

static void collect_name(struct numbers *n, struct ts_fake_name *name) {
    if (name->mark != 0)
        n->used |= UINT64_C(1) << offset_of(n, name->sequence);
}

static int32_t renumbered(const struct numbers *n, int32_t rank) {
    return (int32_t)((uint32_t)n->m->config.first_sequence + (uint32_t)rank);
}

static void replace_name(struct numbers *n, struct ts_fake_name *name) {
    if (name->mark != 0)
        name->sequence = renumbered(n, n->rank[offset_of(n, name->sequence)]);
}

static void collect_token(struct numbers *n, int64_t *token) {
    int32_t at = n->tokens_count;
    while (at > 0 && n->tokens[at - 1] >= *token)
        at--;
    if (*token == 0 || (at < n->tokens_count && n->tokens[at] == *token))
        return;
    assert(n->tokens_count < 2 * SPAN);
    memmove(&n->tokens[at + 1], &n->tokens[at], (size_t)(n->tokens_count - at) * sizeof n->tokens[0]);
    n->tokens[at] = *token;
    n->tokens_count++;
}

static void replace_token(struct numbers *n, int64_t *token) {
    int32_t rank = 0;
    while (rank < n->tokens_count && n->tokens[rank] != *token)
        rank++;
    if (*token != 0)
        *token = rank + 1;
}

static void each_text(struct numbers *n, char *text, name_fn fn) {
    struct ts_fake_name name, before;
    if (text[0] == '\0' || !ts_fake_name_of(&n->m->names, text, &name))
        return;
    before = name;
    fn(n, &name);
    if (!ts_fake_name_equal(before, name))
        ts_fake_name_text(&n->m->names, name, text);
}

static void each_of_session(struct numbers *n, struct ts_fake_session *s, name_fn name, token_fn token) {
    for (int32_t i = 0; i < s->requests_count; i++)
        if (s->requests[i].kind != PDK__OP_CREATE)
            name(n, &s->requests[i].name);
    if (s->zombie && s->late.kind != PDK__OP_CREATE)
        name(n, &s->late.name);
    for (int32_t i = 0; i < s->replies_count; i++) {
        struct ts_fake_reply *r = &s->replies[i];
        name(n, &r->name);
        token(n, &r->token);
        for (int32_t k = 0; k < r->count; k++)
            name(n, &r->children[k]);
    }
    for (int32_t i = 0; i < s->watches_count; i++)
        name(n, &s->watches[i]);
}

static void each(struct numbers *n, struct model_state *s, name_fn name, token_fn token) {
    for (int32_t i = 0; i < s->fake.tree.count; i++) {
        name(n, &s->fake.tree.nodes[i].name);
        token(n, &s->fake.tree.nodes[i].czxid);
    }
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++)
        if (s->fake.sessions[i].open)
            each_of_session(n, &s->fake.sessions[i], name, token);
    for (int32_t i = 0; i < n->m->config.clients; i++) {
        struct pdk__contender *c = &s->clients[i].c;
        if (c->phase == PDK__GONE)
            continue;
        each_text(n, c->own, name);
        each_text(n, c->watched, name);
        token(n, &c->token);
    }
    token(n, &s->last_token);
}

static void keep_name(struct numbers *n, struct ts_fake_name *name) {
    (void)n;
    (void)name;
}

void model_normalise(struct model *m, struct model_state *s) {
    struct numbers n = {.m = m};
    each(&n, s, collect_name, collect_token);
    int32_t ranks = 0;
    for (int32_t i = 0; i < SPAN; i++)
        if (n.used & UINT64_C(1) << i)
            n.rank[i] = ranks++;
    each(&n, s, m->config.exact ? keep_name : replace_name, replace_token);
    if (!m->config.exact)
        s->fake.tree.next_sequence = renumbered(&n, ranks);
}
