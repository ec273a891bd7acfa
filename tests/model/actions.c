/* What can happen next in a state of the model, and doing it. */
#include "model.h"

#include <string.h>

static const char *const uuids[MODEL_CLIENTS] = {
    "aaaaaaaa-0000-4000-8000-000000000000",
    "bbbbbbbb-0000-4000-8000-000000000000",
    "cccccccc-0000-4000-8000-000000000000",
};

void model_init(struct model *m, const struct model_config *config) {
    memset(m, 0, sizeof *m);
    m->config = *config;
    ts_fake_names_init(&m->names, MODEL_DIRECTORY);
    for (int32_t i = 0; i < MODEL_MARKS; i++) {
        char uuid[37], mark[PDK__MARK_SIZE];
        memcpy(uuid, uuids[i % config->clients], sizeof uuid);
        uuid[35] = (char)('0' + i / config->clients);
        pdk__mark_make(PDK__CURATOR, uuid, mark);
        ts_fake_mark(&m->names, mark);
    }
}

void model_begin(struct model *m, struct model_state *s) {
    memset(s, 0, sizeof *s);
    m->now = s;
    ts_fake_init(&s->fake, m->config.no_directory ? 0 : 1, m->config.first_sequence);
    memcpy(s->budgets, m->config.budgets, sizeof s->budgets);
    for (int32_t i = 0; i < m->config.clients; i++) {
        s->clients[i].session = -1;
        model_client_start(m, i);
    }
}

static bool owns_node(const struct model_state *s, int32_t session) {
    for (int32_t i = 0; i < s->fake.tree.count; i++)
        if (s->fake.tree.nodes[i].session == session)
            return true;
    return false;
}

static bool ordinary_enabled(const struct model_state *s, const struct model_client *k, enum model_action_kind kind) {
    const struct ts_fake_session *at = k->session < 0 ? NULL : &s->fake.sessions[k->session];
    bool live = k->c.phase != PDK__GONE;
    bool idle = !at || (at->requests_count == 0 && at->replies_count == 0);
    switch (kind) {
    case CONNECT:
        return live && at && !at->link && at->replies_count == 0;
    case EXECUTE:
        return at && ts_fake_can_execute(&s->fake, k->session);
    case DELIVER:
        return at && at->replies_count != 0;
    case DROP:
        return live && at && at->link && !at->alive;
    case PAUSED:
        return live && k->pausing;
    case RELEASE:
        return k->c.phase == PDK__HELD;
    case RESTART:
        return !live && idle && s->budgets[RESTARTS] > 0;
    default:
        return false;
    }
}

/* Which budget a fault is paid from; BUDGETS: none. */
static enum model_budget budget_of(enum model_action_kind kind) {
    switch (kind) {
    case CUT:
        return LOSSES;
    case LAPSE:
        return LAPSES;
    case EXPIRE:
        return EXPIRIES;
    case CANCEL:
        return CANCELS;
    case REMOVE:
        return REMOVALS;
    case TOUCH:
        return TOUCHES;
    case SAY_NOT_NOW:
    case SAY_UNKNOWN:
    case DO_UNKNOWN:
        return REFUSALS;
    case RENEW:
        return RENEWALS;
    case RESTART:
        return RESTARTS;
    case ABANDON:
        return ABANDONS;
    case VANISH:
        return VANISHES;
    default:
        return BUDGETS;
    }
}

static bool fault_enabled(const struct model_state *s, const struct model_client *k, enum model_action_kind kind) {
    const struct ts_fake_session *at = k->session < 0 ? NULL : &s->fake.sessions[k->session];
    if (!at || k->c.phase == PDK__GONE)
        return false;
    switch (kind) {
    case CONNECT_BARE:
        return !at->link && at->replies_count == 0 && at->alive && at->watches_count != 0;
    case ZOMBIE:
        return at->zombie;
    case CUT:
        return at->link && at->alive;
    case LAPSE:
        return k->lease;
    case EXPIRE:
        return at->alive && !k->lease;
    case CANCEL:
        return !k->c.leaving && k->c.phase != PDK__HELD;
    case REMOVE:
    case TOUCH:
        return owns_node(s, k->session);
    case SAY_NOT_NOW:
    case SAY_UNKNOWN:
    case DO_UNKNOWN:
        return ts_fake_can_execute(&s->fake, k->session);
    case RENEW:
        return at->link && k->renewing == MODEL_NONE && !k->c.leaving &&
               (k->c.phase == PDK__IN || k->c.phase == PDK__HELD);
    case ABANDON:
        return true;
    default:
        return false;
    }
}

bool model_enabled(const struct model *m, const struct model_state *s, model_action a) {
    enum model_action_kind kind = model_kind(a);
    enum model_budget budget = budget_of(kind);
    if (budget != BUDGETS && s->budgets[budget] == 0)
        return false;
    if (kind == TIME_OUT)
        return s->fake.sessions[model_whose(a)].alive && !s->fake.sessions[model_whose(a)].open;
    if (kind == VANISH)
        return model_whose(a) == 0 && s->fake.tree.levels == 1 && s->fake.tree.count == 0;
    if (model_whose(a) >= m->config.clients || kind == ORDINARY)
        return false;
    const struct model_client *k = &s->clients[model_whose(a)];
    return kind < ORDINARY ? ordinary_enabled(s, k, kind) : fault_enabled(s, k, kind);
}

/* ---- doing it */

static void link_down(struct model *m, int32_t client) {
    struct model_state *s = m->now;
    ts_fake_cut(&s->fake, s->clients[client].session);
    if (s->fake.sessions[s->clients[client].session].replies_count != 0)
        m->seen.losses++;
    model_tell(m, client, PDK__LINK_DOWN);
}

/* The session is no more, as far as this client is concerned. */
static void session_over(struct model *m, int32_t client) {
    struct model_client *k = &m->now->clients[client];
    ts_fake_forget(&m->now->fake, k->session);
    k->session = -1;
    k->lease = k->pausing = false;
    k->renewing = k->own_watch = MODEL_NONE;
    model_tell(m, client, PDK__EXPIRED);
}

static void connect(struct model *m, int32_t client, bool restore) {
    struct model_client *k = &m->now->clients[client];
    if (!ts_fake_connect(&m->now->fake, k->session, restore)) {
        m->seen.expiries++;
        session_over(m, client);
        return;
    }
    if (!restore)
        k->own_watch = MODEL_NONE;
    model_tell(m, client, PDK__LINK_UP);
}

static void deliver(struct model *m, int32_t client) {
    struct ts_fake_reply packet;
    struct model_binding binding = {m, client};
    ts_fake_take(&m->now->fake, m->now->clients[client].session, &packet);
    if (m->transcript)
        model_print_packet(m, client, &packet);
    ts_fake_deliver(&m->names, &packet, &model_sink, &binding, NULL);
}

static void execute(struct model *m, int32_t session, enum model_action_kind kind) {
    struct ts_fake_effect effect = {0};
    if (kind == EXECUTE)
        ts_fake_execute(&m->now->fake, &m->names, session, &effect);
    else if (kind == DO_UNKNOWN)
        ts_fake_execute_unknown(&m->now->fake, &m->names, session, &effect);
    else
        ts_fake_execute_zombie(&m->now->fake, &m->names, session, &effect);
    model_check_effect(m, session, &effect, true);
}

static void expire(struct model *m, int32_t session) {
    struct ts_fake_effect effect = {0};
    ts_fake_expire(&m->now->fake, session, &effect);
    model_check_effect(m, session, &effect, false);
}

/* The hand of an admin, on the newest node of a client. */
static void meddle(struct model *m, int32_t client, enum model_action_kind kind) {
    struct ts_fake_tree *tree = &m->now->fake.tree;
    struct ts_fake_effect effect = {0};
    int32_t i = tree->count - 1;
    while (tree->nodes[i].session != m->now->clients[client].session)
        i--;
    if (kind == TOUCH) {
        ts_fake_touch(&m->now->fake, tree->nodes[i].name);
        return;
    }
    m->now->clients[client].robbed = true;
    ts_fake_remove(&m->now->fake, tree->nodes[i].name, &effect);
    model_check_effect(m, m->now->clients[client].session, &effect, false);
}

static void vanish(struct model *m) {
    m->now->fake.tree.levels = 0;
    if (m->config.exact)
        m->now->fake.tree.next_sequence = m->config.first_sequence;
}

static void restart(struct model *m, int32_t client) {
    m->now->clients[client].incarnation++;
    model_client_start(m, client);
}

static void lapse(struct model *m, int32_t client) {
    struct model_client *k = &m->now->clients[client];
    k->lease = false;
    if (k->c.phase == PDK__HELD) {
        m->seen.lost_holds++;
        model_tell(m, client, PDK__LEAVE);
    }
}

static void apply_fault(struct model *m, model_action a) {
    int32_t client = model_whose(a), session = m->now->clients[client % MODEL_CLIENTS].session;
    switch (model_kind(a)) {
    case ZOMBIE:
    case DO_UNKNOWN:
        execute(m, session, model_kind(a));
        break;
    case CUT:
        link_down(m, client);
        break;
    case LAPSE:
        lapse(m, client);
        break;
    case EXPIRE:
        expire(m, session);
        break;
    case CANCEL:
        model_tell(m, client, PDK__LEAVE);
        break;
    case REMOVE:
    case TOUCH:
        meddle(m, client, model_kind(a));
        break;
    case SAY_NOT_NOW:
        ts_fake_refuse(&m->now->fake, session, PDK__NOT_NOW);
        break;
    case SAY_UNKNOWN:
        ts_fake_refuse(&m->now->fake, session, PDK__UNKNOWN);
        break;
    case RENEW:
        model_renew(m, client);
        break;
    case ABANDON:
        session_over(m, client);
        break;
    case VANISH:
        vanish(m);
        break;
    default:
        break;
    }
}

void model_apply(struct model *m, struct model_state *s, model_action a) {
    int32_t client = model_whose(a);
    enum model_budget budget = budget_of(model_kind(a));
    m->now = s;
    if (budget != BUDGETS)
        s->budgets[budget]--;
    switch (model_kind(a)) {
    case CONNECT:
    case CONNECT_BARE:
        connect(m, client, model_kind(a) == CONNECT);
        break;
    case EXECUTE:
        execute(m, s->clients[client].session, EXECUTE);
        break;
    case DELIVER:
        deliver(m, client);
        break;
    case DROP:
        link_down(m, client);
        break;
    case PAUSED:
        s->clients[client].pausing = false;
        model_tell(m, client, PDK__PAUSED);
        break;
    case RELEASE:
        model_tell(m, client, PDK__LEAVE);
        break;
    case RESTART:
        restart(m, client);
        break;
    case TIME_OUT:
        expire(m, client);
        break;
    default:
        apply_fault(m, a);
        break;
    }
    if (!m->broken)
        model_check_state(m);
}
