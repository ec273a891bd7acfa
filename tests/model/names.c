/* Names: the texts that the core sees, the numbers that the fake and the checks use, and which numbers occur in a state.
 *
 *     _c_b2000000-0000-4000-8000-000000000000-lock-0000000007       client B's mark number 2, sequence 7
 *
 * A writer's marks from MODEL_DOWN on belong to readers' nodes, which take over from its own.
 */
#include "model.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { CLIENT_AT = 3, MARK_AT = 4, LABEL_AT = 39 };

int32_t model_mark(int32_t client, int32_t mark) { return 1 + client * MODEL_MARKS + mark; }

static enum model_role role_of(const struct model *m, int32_t mark) {
    return m->config.roles[(mark - 1) / MODEL_MARKS];
}

bool model_is_down(const struct model *m, int32_t mark) {
    return role_of(m, mark) == MODEL_WRITES && (mark - 1) % MODEL_MARKS >= MODEL_DOWN;
}

bool model_is_shared(const struct model *m, int32_t mark) {
    return role_of(m, mark) == MODEL_READS || model_is_down(m, mark);
}

struct pdk__rule model_rule(const struct model *m, int32_t client) {
    switch (m->config.roles[client]) {
    case MODEL_LOCKS:
        return (struct pdk__rule){pdk__blocks_always, 0};
    case MODEL_LEASES:
        return (struct pdk__rule){pdk__blocks_always, m->config.permits - 1};
    default:
        return (struct pdk__rule){pdk__blocks_unless_shared, 0};
    }
}

static enum pdk__label label_of(const struct model *m, int32_t mark) {
    static const enum pdk__label labels[] = {
        [MODEL_LOCKS] = PDK__LABEL_LOCK,
        [MODEL_WRITES] = PDK__LABEL_WRITE,
        [MODEL_READS] = PDK__LABEL_READ,
        [MODEL_LEASES] = PDK__LABEL_LEASE,
    };
    return model_is_shared(m, mark) ? PDK__LABEL_READ : labels[role_of(m, mark)];
}

/* "-lock-", "-lease-", "-__WRIT__", "-__READ__": where the sequence begins behind one of them. */
static size_t label_length(const char *label) { return label[1] == '_' ? 9 : label[2] == 'o' ? 6 : 7; }

void model_names_init(struct model *m) {
    ts_fake_names_init(&m->names, MODEL_DIRECTORY);
    for (int32_t client = 0; client < MODEL_CLIENTS; client++)
        for (int32_t i = 0; i < MODEL_MARKS; i++) {
            char uuid[] = "xx000000-0000-4000-8000-000000000000", mark[PDK__MARK_SIZE];
            uuid[0] = (char)('a' + client);
            uuid[1] = "0123456789abcdef"[i];
            pdk__mark_make(PDK__CURATOR, label_of(m, model_mark(client, i)), uuid, mark);
            int32_t number = ts_fake_mark(&m->names, mark);
            assert(number == model_mark(client, i));
            assert(strlen(mark) == LABEL_AT + label_length(mark + LABEL_AT));
            (void)number;
        }
}

/* All texts are the fake's, so each part is where it must be. */
struct ts_fake_name model_name(const char *text) {
    if (text[0] == '\0')
        return (struct ts_fake_name){0, 0};
    int32_t digit = text[MARK_AT], mark = digit <= '9' ? digit - '0' : digit - 'a' + 10;
    const char *c = text + LABEL_AT + label_length(text + LABEL_AT);
    bool negative = *c == '-';
    int64_t value = 0;
    for (c += negative; *c; c++)
        value = value * 10 + (*c - '0');
    return (struct ts_fake_name){model_mark(text[CLIENT_AT] - 'a', mark), (int32_t)(negative ? -value : value)};
}

/* ---- the names in use */

static void use_mark(struct model_used *used, int32_t number) {
    used->marks[(number - 1) / MODEL_MARKS] |= 1u << (number - 1) % MODEL_MARKS;
}

static void use_name(const struct model *m, struct model_used *used, struct ts_fake_name name) {
    if (name.mark == 0)
        return;
    uint32_t offset = (uint32_t)name.sequence - (uint32_t)m->config.first_sequence;
    used->sequences |= UINT64_C(1) << offset % 64;
    used->beyond |= offset >= 64;
    use_mark(used, name.mark);
}

static void use_token(struct model_used *used, int64_t token) {
    if (token != 0)
        used->tokens |= UINT64_C(1) << token % 64;
    used->beyond |= token >= 64;
}

static void use_request(const struct model *m, struct model_used *used, const struct ts_fake_request *r) {
    if (r->kind == PDK__OP_CREATE && !r->named)
        use_mark(used, r->name.mark);
    else
        use_name(m, used, r->name);
}

static void use_reply(const struct model *m, struct model_used *used, const struct ts_fake_reply *r) {
    if (model_reply_has_name(r))
        use_name(m, used, r->name);
    if (model_reply_has_token(r))
        use_token(used, r->token);
    for (int32_t i = 0; i < r->count; i++)
        use_name(m, used, r->children[i]);
}

static void use_session(const struct model *m, struct model_used *used, const struct ts_fake_session *s) {
    for (int32_t i = 0; i < s->zombies; i++)
        use_request(m, used, &s->late[i]);
    for (int32_t i = 0; i < s->requests_count; i++)
        use_request(m, used, &s->requests[i]);
    for (int32_t i = 0; i < s->replies_count; i++)
        use_reply(m, used, &s->replies[i]);
    for (int32_t i = 0; i < s->watches_count; i++)
        use_name(m, used, s->watches[i]);
}

static void use_client(const struct model *m, struct model_used *used, const struct model_client *k) {
    use_name(m, used, k->ghost);
    for (size_t i = 0; i < k->mirror.count; i++)
        use_name(m, used, model_name(k->mirrored[i].name));
}

void model_use(const struct model *m, const struct model_state *s, struct model_used *used) {
    memset(used, 0, offsetof(struct model_used, own));
    for (int32_t i = 0; i < s->fake.tree.count; i++) {
        use_name(m, used, s->fake.tree.nodes[i].name);
        use_token(used, s->fake.tree.nodes[i].czxid);
    }
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++)
        use_session(m, used, &s->fake.sessions[i]);
    for (int32_t i = 0; i < m->config.clients; i++)
        use_client(m, used, &s->clients[i]);
    for (int32_t i = 0; i < m->config.clients; i++)
        for (int32_t n = 0; n < s->clients[i].entries_count; n++) {
            const struct model_entry *entry = &s->clients[i].entries[n];
            if (entry->c.phase == PDK__GONE)
                continue;
            used->own[i][n] = model_name(entry->c.own);
            used->watched[i][n] = model_name(entry->c.watched);
            use_mark(used, model_mark(i, entry->mark));
            use_name(m, used, entry->exchanged);
            use_name(m, used, used->own[i][n]);
            use_name(m, used, used->watched[i][n]);
            use_token(used, entry->c.token);
        }
    use_token(used, s->last_token);
    use_token(used, s->last_exclusive);
}

/* Higher than all in use, so that the order of marks is that of their age. */
int32_t model_new_mark(struct model *m, int32_t client, bool down) {
    struct model_used used;
    int32_t from = down ? MODEL_DOWN : 0;
    int32_t to = !down && m->config.roles[client] == MODEL_WRITES ? MODEL_DOWN : MODEL_MARKS, mark = to;
    int32_t *told = &m->told[client][down];
    if (m->config.same_mark)
        return from;
    if (m->transcript && from + *told < to)
        return from + (*told)++;
    model_use(m, m->now, &used);
    while (mark > from && !(used.marks[client] & 1u << (mark - 1)))
        mark--;
    for (int32_t i = to; i-- > from && mark == to;) /* a long run that is printed, without numbering anew */
        if (!(used.marks[client] & 1u << i))
            mark = i;
    return mark;
}
