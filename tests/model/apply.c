/* Something happens in a state of the model. */
#include "model.h"

static void connect_client(struct model *m, int32_t client, bool restore) {
    struct model_client *k = &m->now->clients[client];
    if (!ts_fake_connect(&m->now->fake, &m->names, k->session, restore)) {
        m->seen.expiries++;
        model_session_over(m, client);
        return;
    }
    for (int32_t i = 0; i < k->entries_count && !restore; i++)
        k->entries[i].own_watch = MODEL_NONE;
    model_connected(m, client);
}

static void execute(struct model *m, int32_t session, enum model_action_kind kind) {
    struct ts_fake_effect effect;
    effect.created = false;
    effect.deleted = 0;
    if (kind == EXECUTE)
        ts_fake_execute(&m->now->fake, &m->names, session, &effect);
    else if (kind == DO_UNKNOWN)
        ts_fake_execute_unknown(&m->now->fake, &m->names, session, &effect);
    else
        ts_fake_execute_zombie(&m->now->fake, &m->names, session, &effect);
    model_check_effect(m, session, &effect, true);
}

static void expire(struct model *m, int32_t session) {
    struct ts_fake_effect effect;
    effect.created = false;
    effect.deleted = 0;
    ts_fake_expire(&m->now->fake, session, &effect);
    model_check_effect(m, session, &effect, false);
}

/* An admin deletes one of a client's nodes, or somebody writes to it. */
static void change_node(struct model *m, int32_t client, int32_t which, enum model_action_kind kind) {
    struct ts_fake_tree *tree = &m->now->fake.tree;
    struct model_client *k = &m->now->clients[client];
    struct ts_fake_effect effect;
    int32_t i = 0;
    while (tree->nodes[i].session != k->session || which-- > 0)
        i++;
    struct ts_fake_name name = tree->nodes[i].name;
    if (kind == TOUCH) {
        m->seen.touched += tree->nodes[i].watchers != 0;
        ts_fake_touch(&m->now->fake, name);
        return;
    }
    for (int32_t n = 0; n < k->entries_count; n++)
        if (model_mark(client, k->entries[n].mark) == name.mark) {
            k->entries[n].removed = true;
            k->entries[n].removed_behind = model_is_behind(m, client, &k->entries[n], name);
            m->seen.removed_holds += k->entries[n].c.phase == PDK__HELD;
        }
    effect.created = false;
    effect.deleted = 0;
    ts_fake_remove(&m->now->fake, name, &effect);
    model_check_effect(m, k->session, &effect, false);
}

static void vanish(struct model *m) {
    ts_fake_vanish(&m->now->fake);
    if (m->config.exact)
        m->now->fake.tree.next_sequence = m->config.first_sequence;
}

/* From this instant on the lease is over for everybody who asks. The timer finds out later. */
static void lapse(struct model *m, int32_t client) {
    struct model_client *k = &m->now->clients[client];
    k->lease = false;
    for (int32_t i = 0; i < k->entries_count; i++)
        k->entries[i].grant.valid = false;
}

/* A stranger makes a node. Its session ends some time, and the node goes with it. */
static void squat(struct model *m, int32_t client) {
    const struct model_client *k = &m->now->clients[client];
    const struct model_entry *p = &k->entries[model_entry_with(k, MODEL_EXCHANGE)];
    struct ts_fake_request create = {
        .kind = PDK__OP_CREATE, .name = model_name_given(client, p), .level = 1, .named = true};
    struct ts_fake_reply reply;
    int32_t stranger = ts_fake_open(&m->now->fake);
    ts_fake_transact(&m->now->fake, stranger, &create, &m->names, &reply, NULL);
    ts_fake_forget(&m->now->fake, stranger);
}

static void claim(struct model *m, int32_t client) {
    struct model_client *k = &m->now->clients[client];
    if (k->session < 0)
        k->session = ts_fake_open(&m->now->fake);
    model_queue_push(m, client, k->tickets++);
}

static void apply_fault(struct model *m, model_action a) {
    int32_t client = search_whose(a), session = client < MODEL_CLIENTS ? m->now->clients[client].session : -1;
    switch (model_kind(a)) {
    case CONNECT_BARE:
        connect_client(m, client, false);
        break;
    case ZOMBIE:
        execute(m, search_whose(a), ZOMBIE);
        break;
    case DO_UNKNOWN:
        execute(m, session, DO_UNKNOWN);
        break;
    case CUT:
        model_link_down(m, client);
        break;
    case LAPSE:
        lapse(m, client);
        break;
    case EXPIRE:
        expire(m, session);
        break;
    case CANCEL:
        model_queue_cancel(m, client);
        break;
    case OVERDUE:
        model_queue_receive(m, client, 0, false);
        break;
    case REMOVE:
    case TOUCH:
        change_node(m, client, search_which(a), model_kind(a));
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
        m->seen.abandons++;
        model_session_over(m, client);
        break;
    case VANISH:
        vanish(m);
        break;
    case SQUAT:
        squat(m, client);
        break;
    case GHOST:
        m->seen.ghosts++;
        m->now->clients[client].ghost = model_name(m->now->clients[client].entries[search_which(a)].c.watched);
        break;
    default:
        break;
    }
}

static void apply_ordinary(struct model *m, model_action a) {
    int32_t client = search_whose(a), which = search_which(a);
    struct model_client *k = client < MODEL_CLIENTS ? &m->now->clients[client] : NULL;
    switch (model_kind(a)) {
    case CONNECT:
        connect_client(m, client, true);
        break;
    case EXECUTE:
        execute(m, k->session, EXECUTE);
        break;
    case DELIVER:
        model_receive(m, client);
        break;
    case DROP:
        model_link_down(m, client);
        break;
    case PAUSED:
        k->entries[which].pausing = false;
        model_entry_tell(m, client, which, PDK__PAUSED);
        break;
    case SETTLE:
        model_entry_settle(m, client, which);
        break;
    case ASK:
        model_entry_ask(m, client, which);
        break;
    case NOTICE:
        m->seen.late_notices++;
        model_grants_lose(m, client, false);
        break;
    case RECEIVE:
        model_queue_receive(m, client, which, true);
        break;
    case RELEASE:
        model_grant_release(m, client, which);
        break;
    case DOWNGRADE:
        model_grant_downgrade(m, client);
        break;
    case OUTSTAY:
        m->seen.outstayed++;
        model_queue_stop_lingering(m, client);
        break;
    case CLAIM:
        claim(m, client);
        break;
    default: /* TIME_OUT */
        expire(m, client);
        break;
    }
}

void model_apply(struct model *m, struct model_state *s, model_action a) {
    enum model_budget budget = model_budget_of(model_kind(a));
    m->now = s;
    if (budget != FAULTS) {
        s->budgets[budget]--;
        s->budgets[FAULTS] -= budget < CLAIMS;
    }
    if (model_kind(a) < ORDINARY)
        apply_ordinary(m, a);
    else
        apply_fault(m, a);
    for (int32_t i = 0; i < m->config.clients; i++)
        model_tidy(m, i);
    if (!m->broken)
        model_check_state(m);
}
