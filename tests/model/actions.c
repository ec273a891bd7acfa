/* What can happen next in a state of the model. */
#include "model.h"

#include <assert.h>

struct list {
    const struct model *m;
    const struct model_state *s;
    model_action *enabled;
    size_t count;
};

enum model_budget model_budget_of(enum model_action_kind kind) {
    static const enum model_budget budgets[ACTION_KINDS] = {
        [CUT] = LOSSES,           [LAPSE] = LAPSES,        [EXPIRE] = EXPIRIES, [CANCEL] = CANCELS,
        [OVERDUE] = CANCELS,      [REMOVE] = REMOVALS,     [TOUCH] = TOUCHES,   [SAY_NOT_NOW] = REFUSALS,
        [SAY_UNKNOWN] = REFUSALS, [DO_UNKNOWN] = REFUSALS, [RENEW] = RENEWALS,  [ABANDON] = ABANDONS,
        [VANISH] = VANISHES,      [SQUAT] = SQUATS,        [GHOST] = GHOSTS,    [CLAIM] = CLAIMS,
        [DOWNGRADE] = DOWNGRADES,
    };
    return budgets[kind];
}

static bool affordable(const struct model_state *s, enum model_action_kind kind) {
    enum model_budget budget = model_budget_of(kind);
    return budget == FAULTS || (s->budgets[budget] > 0 && (budget >= CLAIMS || s->budgets[FAULTS] > 0));
}

/* As many of the kind as `wide` says, or none. */
static void add(struct list *l, enum model_action_kind kind, int32_t whose, int32_t wide) {
    if (wide == 0 || !affordable(l->s, kind))
        return;
    assert(l->count + (size_t)wide <= SEARCH_ACTIONS);
    for (int32_t i = 0; i < wide; i++)
        l->enabled[l->count++] = search_act(kind, whose, i);
}

/* One, of this entry. */
static void add_of(struct list *l, enum model_action_kind kind, int32_t client, int32_t entry) {
    if (affordable(l->s, kind))
        l->enabled[l->count++] = search_act(kind, client, entry);
}

/* The queue's grant, while its thread has not woken yet. */
static bool is_granted(const struct model_client *k) {
    int32_t entry = model_grant_of_queue(k);
    return entry >= 0 && k->entries[entry].grant.hold == MODEL_GRANTED;
}

/* ---- the ordinary course */

/* Does it wait for a node that its server shows, and that is gone? Any other answer would change nothing. */
static bool asks(const struct list *l, const struct model_client *k, const struct model_entry *p) {
    return k->ghost.mark != 0 && !k->asked && p->c.phase == PDK__IN && p->c.watching && !p->c.leaving &&
           ts_fake_name_equal(model_name(p->c.watched), k->ghost) && !ts_fake_find(&l->s->fake, k->ghost);
}

/* Does it watch a node that is there? */
static bool may_be_fooled(const struct list *l, const struct model_client *k, const struct model_entry *p) {
    const struct ts_fake_node *node =
        p->registered && p->c.watching ? ts_fake_find(&l->s->fake, model_name(p->c.watched)) : NULL;
    return k->ghost.mark == 0 && node && node->watchers & 1u << k->session;
}

static void add_network(struct list *l, int32_t client) {
    const struct model_client *k = &l->s->clients[client];
    const struct ts_fake_session *at = k->session < 0 ? NULL : &l->s->fake.sessions[k->session];
    if (at && !at->link && at->replies_count == 0 && model_is_live(k))
        add(l, CONNECT, client, 1);
    if (at && ts_fake_can_execute(&l->s->fake, k->session))
        add(l, EXECUTE, client, 1);
    if (at && at->replies_count != 0)
        add(l, DELIVER, client, 1);
    if (at && at->link && !at->alive && model_is_live(k))
        add(l, DROP, client, 1);
    for (int32_t i = 0; i < k->entries_count; i++)
        if (k->entries[i].pausing)
            add_of(l, PAUSED, client, i);
    for (int32_t i = 0; i < k->entries_count && at && at->link; i++)
        if (k->entries[i].c.phase == PDK__HELD && k->entries[i].own_watch == MODEL_NONE)
            add_of(l, SETTLE, client, i);
    if (model_grants_lapsed(k))
        add(l, NOTICE, client, 1);
    for (int32_t i = 0; i < k->entries_count && at && at->link; i++)
        if (asks(l, k, &k->entries[i]))
            add_of(l, ASK, client, i);
}

static bool may_downgrade(const struct list *l, int32_t client, const struct model_entry *p) {
    return l->m->config.roles[client] == MODEL_WRITES && p->owner == MODEL_QUEUE && p->grant.valid &&
           !p->grant.downgraded;
}

static void add_threads(struct list *l, int32_t client) {
    const struct model_client *k = &l->s->clients[client];
    if (is_granted(k))
        add(l, RECEIVE, client, 1);
    for (int32_t i = 0; i < k->sleepers; i++)
        add_of(l, RECEIVE, client, 1 + i);
    for (int32_t i = 0; i < k->entries_count; i++) {
        if (k->entries[i].grant.hold != MODEL_TAKEN)
            continue;
        add_of(l, RELEASE, client, i);
        if (may_downgrade(l, client, &k->entries[i]))
            add_of(l, DOWNGRADE, client, i);
    }
    if (k->lingers)
        add(l, OUTSTAY, client, 1);
    add(l, CLAIM, client, 1);
}

bool model_is_quiet(const struct model *m, const struct model_state *s) {
    model_action enabled[SEARCH_ACTIONS];
    struct list l = {m, s, enabled, 0};
    for (int32_t i = 0; i < m->config.clients && l.count == 0; i++)
        add_network(&l, i);
    return l.count == 0;
}

/* ---- faults and chances */

static int32_t nodes_of(const struct model_state *s, int32_t session) {
    int32_t nodes = 0;
    for (int32_t i = 0; i < s->fake.tree.count; i++)
        nodes += s->fake.tree.nodes[i].session == session;
    return nodes;
}

static void add_server_faults(struct list *l, int32_t client) {
    const struct model_client *k = &l->s->clients[client];
    const struct ts_fake_session *at = &l->s->fake.sessions[k->session];
    if (!at->link && at->replies_count == 0 && at->alive && at->watches_count != 0)
        add(l, CONNECT_BARE, client, 1);
    if (at->link && at->alive)
        add(l, CUT, client, 1);
    if (at->alive && !k->lease)
        add(l, EXPIRE, client, 1);
    add(l, REMOVE, client, nodes_of(l->s, k->session));
    add(l, TOUCH, client, nodes_of(l->s, k->session));
    for (int32_t i = 0; i < k->entries_count && at->link; i++)
        if (may_be_fooled(l, k, &k->entries[i]))
            add_of(l, GHOST, client, i);
    if (!ts_fake_can_execute(&l->s->fake, k->session))
        return;
    add(l, SAY_NOT_NOW, client, 1);
    add(l, SAY_UNKNOWN, client, 1);
    add(l, DO_UNKNOWN, client, 1);
}

static void add_client_faults(struct list *l, int32_t client) {
    const struct model_client *k = &l->s->clients[client];
    if (k->lease)
        add(l, LAPSE, client, 1);
    if (k->queued != 0)
        add(l, CANCEL, client, 1);
    if (is_granted(k))
        add(l, OVERDUE, client, 1);
    bool lapsed = model_grants_lapsed(k); /* the timer would find that first */
    if (!k->renewing && !lapsed && l->s->fake.sessions[k->session].link && model_wants_renewal(k) >= 0)
        add(l, RENEW, client, 1);
    add(l, ABANDON, client, 1);
}

/* The name that a downgrade is about to use. It is not one that the downgrade has used before: no server tells those
 * two nodes apart. */
static void add_stranger(struct list *l, int32_t client) {
    const struct model_client *k = &l->s->clients[client];
    int32_t entry = model_entry_with(k, MODEL_EXCHANGE);
    if (entry >= 0 && !k->entries[entry].removed &&
        !ts_fake_find(&l->s->fake, model_name_given(client, &k->entries[entry])))
        add(l, SQUAT, client, 1);
}

size_t model_enabled(const struct model *m, const struct model_state *s, model_action enabled[SEARCH_ACTIONS]) {
    struct list l = {m, s, enabled, 0};
    for (int32_t i = 0; i < m->config.clients; i++) {
        add_network(&l, i);
        add_threads(&l, i);
    }
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++)
        if (s->fake.sessions[i].alive && !s->fake.sessions[i].open)
            add(&l, TIME_OUT, i, 1);
    for (int32_t i = 0; i < m->config.clients; i++) {
        if (s->clients[i].session < 0 || !model_is_live(&s->clients[i]))
            continue;
        add_server_faults(&l, i);
        add_client_faults(&l, i);
        add_stranger(&l, i);
    }
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++)
        if (s->fake.sessions[i].zombies != 0)
            add(&l, ZOMBIE, i, 1);
    if (s->fake.tree.levels == 1 && s->fake.tree.count == 0)
        add(&l, VANISH, 0, 1);
    return l.count;
}
