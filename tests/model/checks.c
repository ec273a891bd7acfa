/* What must be true of the model after every step, and whenever the network is quiet. */
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

static const struct ts_fake_node *own_node(const struct model *m, const struct model_place *p) {
    return p->c.own[0] == '\0' ? NULL : ts_fake_find(&m->now->fake, model_name(p->c.own));
}

/* ---- what the server did */

/* How many places wait for this very node with their watch on it? One, at most: the next in line. */
static void check_wake_ups(struct model *m, const struct ts_fake_node *node) {
    int32_t woken = 0;
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &m->now->clients[i];
        if (k->session < 0 || !(node->watchers & 1u << k->session))
            continue;
        for (int32_t n = 0; n < k->places_count; n++) {
            const struct model_place *p = &k->places[n];
            woken += p->c.phase == PDK__IN && !p->c.leaving && p->registered && own_node(m, p) &&
                     ts_fake_name_equal(model_name(p->c.watched), node->name);
        }
    }
    if (woken > 1)
        model_break(m, "one wake-up per release", "%d contenders were woken by one deletion", woken);
}

/* A place has a node again. */
static void note_created(struct model *m, struct ts_fake_name name) {
    for (int32_t i = 0; i < m->config.clients; i++)
        for (int32_t n = 0; n < m->now->clients[i].places_count; n++)
            if (model_mark(i, m->now->clients[i].places[n].mark) == name.mark)
                m->now->clients[i].places[n].robbed = false;
}

void model_check_effect(struct model *m, int32_t session, const struct ts_fake_effect *effect, bool by_request) {
    if (effect->created)
        note_created(m, m->now->fake.tree.nodes[m->now->fake.tree.count - 1].name);
    for (int32_t i = 0; i < effect->deleted; i++) {
        const struct ts_fake_node *node = &effect->nodes[i];
        if (by_request && node->session != session)
            model_break(m, "only own nodes deleted", "session %d deleted a node of session %d", session + 1,
                        node->session + 1);
        check_wake_ups(m, node);
    }
}

/* ---- grants */

/* Compared as (token, hand-over), each grant is above the one before it. */
static void check_token(struct model *m, int32_t client, int64_t token) {
    int32_t handover = m->now->clients[client].handover;
    bool above = handover == 0 ? token > m->now->last_token : token == m->now->last_token;
    if (!above)
        model_break(m, "tokens increase", "client %c was granted (%lld, %d) after (%lld, …)", 'A' + client,
                    (long long)token, handover, (long long)m->now->last_token);
    if (token > m->now->last_token)
        m->now->last_token = token;
}

void model_check_grant(struct model *m, int32_t client) {
    struct model_client *k = &m->now->clients[client];
    const struct model_place *p = &k->places[k->places_count - 1];
    const struct ts_fake_tree *tree = &m->now->fake.tree;
    const struct ts_fake_node *node = own_node(m, p);
    m->seen.grants++;
    m->seen.contended += tree->count > 1;
    if (!k->lease)
        model_break(m, "no grant without a fresh lease", "client %c", 'A' + client);
    if (p->robbed) { /* an admin broke it; the token still protects, and the hold will hear of it */
        m->seen.robbed_holds++;
        return;
    }
    if (!node || node->session != k->session)
        model_break(m, "a grant has its node", "client %c was granted without a node of its own", 'A' + client);
    else if (node != &tree->nodes[0])
        model_break(m, "a grant is the first in line", "client %c was granted with a node ahead", 'A' + client);
    else if (node->czxid != p->c.token)
        model_break(m, "the token is the czxid", "client %c", 'A' + client);
    else
        check_token(m, client, p->c.token);
}

void model_check_handover(struct model *m, int32_t client, int32_t before) {
    const struct model_client *k = &m->now->clients[client];
    m->seen.handovers++;
    if (k->hold == MODEL_NO_HOLD)
        model_break(m, "a hand-over is to somebody", "client %c", 'A' + client);
    else if (k->handover <= before)
        model_break(m, "tokens increase", "client %c handed over as number %d after %d", 'A' + client, k->handover,
                    before);
    else if (k->handover > m->config.handovers)
        model_break(m, "hand-overs are bounded", "client %c handed over %d times in a row, others waiting or not",
                    'A' + client, k->handover);
}

/* ---- after every step */

/* Who would be told, at this instant, that the lock is theirs? */
static void check_exclusion(struct model *m) {
    int32_t believers = 0;
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &m->now->clients[i];
        believers += k->hold != MODEL_NO_HOLD && k->valid && !k->places[k->places_count - 1].robbed;
    }
    if (believers > 1)
        model_break(m, "mutual exclusion", "%d clients hold the lock, each with a lease", believers);
}

/* One node for a place, none for one that is gone. */
static void check_nodes(struct model *m) {
    const struct ts_fake_tree *tree = &m->now->fake.tree;
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &m->now->clients[i];
        int32_t nodes[MODEL_PLACES] = {0};
        for (int32_t n = 0; n < tree->count && k->session >= 0; n++) {
            int32_t place = k->places_count - 1;
            if (tree->nodes[n].session != k->session)
                continue;
            while (place >= 0 && model_mark(i, k->places[place].mark) != tree->nodes[n].name.mark)
                place--;
            if (place < 0)
                model_break(m, "no orphan", "client %c has left, its node has not", 'A' + i);
            else if (++nodes[place] > 1)
                model_break(m, "one node at a time", "client %c has two nodes of one contender in line", 'A' + i);
        }
    }
}

/* ---- when the network is quiet */

/* The node it waits for, with its watch on it; NULL without. */
static const struct ts_fake_node *waits_for(const struct model *m, const struct model_client *k,
                                            const struct model_place *p) {
    if (p->c.watched[0] == '\0' || !p->registered)
        return NULL;
    const struct ts_fake_node *node = ts_fake_find(&m->now->fake, model_name(p->c.watched));
    return node && node->watchers & 1u << k->session ? node : NULL;
}

/* Nothing is under way: whoever waits must wait for a node ahead, and be told when it goes. One whose own node an admin
 * deleted hears of that no sooner. */
static void check_quiet_place(struct model *m, int32_t client, const struct model_client *k,
                              const struct model_place *p) {
    const struct ts_fake_node *mine = own_node(m, p), *ahead = waits_for(m, k, p);
    if (p->c.leaving)
        model_break(m, "who leaves gets away", "client %c is leaving for ever", 'A' + client);
    else if (p->c.phase == PDK__HELD && !mine)
        model_break(m, "a hold does not outlive its node", "client %c never hears of it", 'A' + client);
    else if (p->c.phase != PDK__HELD && (p->c.phase != PDK__IN || (!mine && !p->robbed)))
        model_break(m, "no waiter stuck", "client %c is not in line and does nothing about it", 'A' + client);
    else if (p->c.phase == PDK__IN && (!ahead || (mine && ahead >= mine)))
        model_break(m, "no waiter stuck", "client %c waits without a watch on a node ahead", 'A' + client);
}

static void check_quiet(struct model *m) {
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &m->now->clients[i];
        for (int32_t n = 0; n < k->places_count; n++)
            check_quiet_place(m, i, k, &k->places[n]);
        if (k->queued != 0 && !k->has_place)
            model_break(m, "no waiter stuck", "the threads of client %c have no place in line", 'A' + i);
        if (k->hold != MODEL_NO_HOLD && !k->valid)
            model_break(m, "a lost hold is told", "client %c never hears that its lease was over", 'A' + i);
    }
}

void model_check_state(struct model *m) {
    check_exclusion(m);
    check_nodes(m);
    if (!m->broken && model_is_quiet(m, m->now))
        check_quiet(m);
}
