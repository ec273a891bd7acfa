/* What must be true of the model: after every step, whenever the network is quiet, and in the end. */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>

void model_break(struct model *m, const char *check, const char *format, ...) {
    va_list arguments;
    if (m->broken)
        return;
    m->broken = check;
    va_start(arguments, format);
    vsnprintf(m->detail, sizeof m->detail, format, arguments);
    va_end(arguments);
}

/* How many contenders wait for this very node with their watch on it? One, at most: the next in line. */
static void check_wake_ups(struct model *m, const struct ts_fake_node *node) {
    struct ts_fake_name watched, own;
    int32_t woken = 0;
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &m->now->clients[i];
        if (k->session < 0 || !(node->watchers & 1u << k->session) || k->c.phase != PDK__IN || k->c.leaving)
            continue;
        if (!model_own_name(m, k, &own) || !ts_fake_find(&m->now->fake, own) || k->c.watched[0] == '\0')
            continue;
        woken += ts_fake_name_of(&m->names, k->c.watched, &watched) && ts_fake_name_equal(watched, node->name);
    }
    if (woken > 1)
        model_break(m, "one wake-up per release", "%d clients were woken by one deletion", woken);
}

void model_check_effect(struct model *m, int32_t session, const struct ts_fake_effect *effect, bool by_request) {
    for (int32_t i = 0; i < m->config.clients && effect->created; i++)
        if (m->now->clients[i].session == session)
            m->now->clients[i].robbed = false;
    for (int32_t i = 0; i < effect->deleted; i++) {
        const struct ts_fake_node *node = &effect->nodes[i];
        if (by_request && node->session != session)
            model_break(m, "only own nodes deleted", "session %d deleted a node of session %d", session + 1,
                        node->session + 1);
        check_wake_ups(m, node);
    }
}

void model_check_grant(struct model *m, int32_t client) {
    struct model_client *k = &m->now->clients[client];
    const struct ts_fake_tree *tree = &m->now->fake.tree;
    struct ts_fake_name own = {0, 0};
    const struct ts_fake_node *node = model_own_name(m, k, &own) ? ts_fake_find(&m->now->fake, own) : NULL;
    m->seen.grants++;
    m->seen.contended += tree->count > 1;
    if (!k->lease)
        model_break(m, "no grant without a fresh lease", "client %c", 'A' + client);
    if (k->robbed) /* an admin broke it; the token still protects, and the hold will hear of it */
        return;
    if (!node || node->session != k->session)
        model_break(m, "a grant has its node", "client %c was granted without a node of its own", 'A' + client);
    else if (node != &tree->nodes[0])
        model_break(m, "a grant is the first in line", "client %c was granted with a node ahead", 'A' + client);
    else if (node->czxid != k->c.token)
        model_break(m, "the token is the czxid", "client %c", 'A' + client);
    else if (k->c.token <= m->now->last_token)
        model_break(m, "tokens increase", "client %c was granted an older token than the one before", 'A' + client);
    if (k->c.token > m->now->last_token)
        m->now->last_token = k->c.token;
}

static void check_exclusion(struct model *m) {
    int32_t believers = 0;
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &m->now->clients[i];
        believers += k->c.phase == PDK__HELD && k->lease && !k->robbed;
    }
    if (believers > 1)
        model_break(m, "mutual exclusion", "%d clients hold the lock, each with a lease", believers);
}

/* One node for a contender, none for one that is gone. */
static void check_nodes(struct model *m) {
    const struct ts_fake_tree *tree = &m->now->fake.tree;
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &m->now->clients[i];
        int32_t nodes = 0;
        for (int32_t n = 0; n < tree->count && k->session >= 0; n++)
            nodes += tree->nodes[n].session == k->session;
        if (k->c.phase == PDK__GONE && nodes != 0)
            model_break(m, "no orphan", "client %c has left, its node has not", 'A' + i);
        else if (nodes > 1)
            model_break(m, "one node at a time", "client %c has %d nodes in line", 'A' + i, nodes);
    }
}

static bool network_is_quiet(const struct model *m) {
    static const enum model_action_kind network[] = {CONNECT, EXECUTE, DELIVER, DROP, PAUSED};
    for (int32_t i = 0; i < m->config.clients; i++)
        for (size_t n = 0; n < sizeof network / sizeof network[0]; n++)
            if (model_enabled(m, m->now, model_act(network[n], i)))
                return false;
    return true;
}

/* The node it waits for, with its watch on it; NULL without. */
static const struct ts_fake_node *waits_for(struct model *m, const struct model_client *k) {
    struct ts_fake_name watched;
    if (k->c.watched[0] == '\0' || !ts_fake_name_of(&m->names, k->c.watched, &watched))
        return NULL;
    const struct ts_fake_node *node = ts_fake_find(&m->now->fake, watched);
    return node && node->watchers & 1u << k->session ? node : NULL;
}

/* Nothing is under way: whoever waits must wait for a node ahead, and be told when it goes. One whose own node an admin
 * deleted hears of that no sooner. */
static void check_quiet(struct model *m) {
    for (int32_t i = 0; i < m->config.clients; i++) {
        struct model_client *k = &m->now->clients[i];
        struct ts_fake_name own;
        if (k->c.phase == PDK__GONE)
            continue;
        const struct ts_fake_node *mine = model_own_name(m, k, &own) ? ts_fake_find(&m->now->fake, own) : NULL;
        const struct ts_fake_node *ahead = waits_for(m, k);
        if (k->c.phase == PDK__IN && i >= m->config.clients - m->config.tries)
            model_break(m, "a try does not wait", "client %c", 'A' + i);
        if (k->c.leaving)
            model_break(m, "who leaves gets away", "client %c is leaving for ever", 'A' + i);
        else if (k->c.phase == PDK__HELD && !mine)
            model_break(m, "a hold does not outlive its node", "client %c never hears of it", 'A' + i);
        else if (k->c.phase != PDK__HELD && (k->c.phase != PDK__IN || (!mine && !k->robbed)))
            model_break(m, "no waiter stuck", "client %c is not in line and does nothing about it", 'A' + i);
        else if (k->c.phase == PDK__IN && (!ahead || (mine && ahead >= mine)))
            model_break(m, "no waiter stuck", "client %c waits without a watch on a node ahead", 'A' + i);
    }
}

void model_check_state(struct model *m) {
    check_exclusion(m);
    check_nodes(m);
    if (!m->broken && network_is_quiet(m))
        check_quiet(m);
}

void model_check_rest(struct model *m, const struct model_state *s) {
    for (int32_t i = 0; i < m->config.clients; i++)
        if (s->clients[i].c.phase != PDK__GONE)
            model_break(m, "everybody gets his turn", "client %c waits for ever", 'A' + i);
}

void model_check_converges(struct model *m, const struct model_state *s) {
    struct model_state end = *s, *before = m->now;
    int32_t turn = 0, done = 0;
    for (int32_t tried = 0; tried < ORDINARY * 8 && !m->broken && done < 200; turn = (turn + 1) % (ORDINARY * 8)) {
        model_action a = model_act((enum model_action_kind)(turn % ORDINARY), turn / ORDINARY);
        tried++;
        if (!model_enabled(m, &end, a))
            continue;
        if (m->transcript)
            model_print_action(m, &end, done + 1, a);
        done++;
        model_apply(m, &end, a);
        tried = 0;
    }
    m->broken = NULL; /* the search comes there itself, by a shorter way */
    if (done == 200)
        model_break(m, "it comes to rest", "%d ordinary actions later it still goes on", done);
    m->now = before;
}

const char *model_vacuous(const struct model *m) {
    const struct model_seen *seen = &m->seen;
    const int32_t *budgets = m->config.budgets;
    if (seen->contended == 0)
        return "no contended grant";
    if (budgets[LOSSES] != 0 && seen->losses == 0)
        return "no loss";
    if (budgets[LOSSES] != 0 && seen->recovered_found == 0)
        return "no lost create that had been executed";
    if (budgets[LOSSES] != 0 && seen->recovered_absent == 0)
        return "no lost create that had not been executed";
    if (budgets[EXPIRIES] != 0 && seen->expiries == 0)
        return "no expiry";
    if (budgets[LAPSES] != 0 && seen->lost_holds == 0)
        return "no lost hold";
    return NULL;
}
