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

static const struct ts_fake_node *own_node(const struct model *m, const struct model_entry *p) {
    return p->c.own[0] == '\0' ? NULL : ts_fake_find(&m->now->fake, model_name(p->c.own));
}

/* ---- the order of the queue, as the recipes promise it, and not as the core computes it */

static int32_t distance(struct ts_fake_name from, struct ts_fake_name to) {
    return (int32_t)((uint32_t)to.sequence - (uint32_t)from.sequence);
}

/* Does one have to wait for the other, when the other is ahead? */
static bool conflict(const struct model *m, struct ts_fake_name a, struct ts_fake_name b) {
    return !model_is_shared(m, a.mark) || !model_is_shared(m, b.mark);
}

/* A reader's node on which no grant stands yet has no position of its own in the queue. The writer's node counts, while
 * it exists. */
static bool is_admitted(const struct model *m, const struct ts_fake_node *node) {
    int32_t client = (node->name.mark - 1) / MODEL_MARKS;
    const struct model_client *k = &m->now->clients[client];
    for (int32_t i = 0; i < k->entries_count; i++)
        if (model_mark(client, k->entries[i].mark) == node->name.mark)
            return k->entries[i].c.phase == PDK__HELD;
    return false;
}

/* How many nodes block it. The node that it takes over from does not count. */
static int32_t blockers(const struct model *m, struct ts_fake_name me, struct ts_fake_name exchanged) {
    const struct ts_fake_tree *tree = &m->now->fake.tree;
    int32_t count = 0;
    for (int32_t i = 0; i < tree->count; i++) {
        const struct ts_fake_node *node = &tree->nodes[i];
        bool own = ts_fake_name_equal(node->name, me) || ts_fake_name_equal(node->name, exchanged);
        if (own || distance(node->name, me) < 0 || !conflict(m, node->name, me))
            continue;
        count += !model_is_down(m, node->name.mark) || is_admitted(m, node);
    }
    return count;
}

bool model_is_behind(const struct model *m, int32_t client, const struct model_entry *p, struct ts_fake_name me) {
    return blockers(m, me, p->exchanged) > model_rule(m, client).tolerated;
}

void model_check_blocked(struct model *m, int32_t client, const struct model_entry *p,
                         const struct ts_fake_reply *list) {
    struct ts_fake_name me = model_name(p->c.own);
    int32_t count = 0;
    for (int32_t i = 0; i < list->count; i++) {
        struct ts_fake_name other = list->children[i];
        bool own = ts_fake_name_equal(other, me) || ts_fake_name_equal(other, p->exchanged);
        count += !own && distance(other, me) >= 0 && conflict(m, other, me);
    }
    if (count <= model_rule(m, client).tolerated)
        model_break(m, "nobody waits without need", "client %c is %s though nobody is in its way", 'A' + client,
                    model_never_waits(m, client) ? "refused" : "kept waiting");
}

/* Is there a blocker nearer than the node that it watches? */
static bool is_nearer(const struct model *m, struct ts_fake_name watched, struct ts_fake_name me) {
    const struct ts_fake_tree *tree = &m->now->fake.tree;
    for (int32_t i = 0; i < tree->count; i++) {
        struct ts_fake_name other = tree->nodes[i].name;
        if (distance(other, me) > 0 && distance(watched, other) > 0 && conflict(m, other, me))
            return true;
    }
    return false;
}

/* ---- what the server did */

static bool is_woken(const struct model *m, const struct model_entry *p, const struct ts_fake_node *gone) {
    return p->c.phase == PDK__IN && !p->c.leaving && p->registered && own_node(m, p) &&
           ts_fake_name_equal(model_name(p->c.watched), gone->name);
}

/* Which contenders wait for this node, with a watch on it? At most one, the next in the queue. The end of a writer's
 * node may let in many readers. */
static void check_wake_ups(struct model *m, const struct ts_fake_node *node) {
    int32_t woken = 0, writers = 0;
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &m->now->clients[i];
        if (k->session < 0 || !(node->watchers & 1u << k->session))
            continue;
        for (int32_t n = 0; n < k->entries_count; n++) {
            const struct model_entry *p = &k->entries[n];
            if (!is_woken(m, p, node))
                continue;
            woken++;
            writers += !model_is_shared(m, model_mark(i, p->mark));
            if (is_nearer(m, node->name, model_name(p->c.own)))
                model_break(m, "each watches its nearest blocker", "client %c watched one farther ahead", 'A' + i);
        }
    }
    if (woken > 1 && writers > 0)
        model_break(m, "one wake-up per release", "%d contenders were woken by one deletion", woken);
}

/* An entry has a node again. */
static void note_created(struct model *m, struct ts_fake_name name) {
    for (int32_t i = 0; i < m->config.clients; i++)
        for (int32_t n = 0; n < m->now->clients[i].entries_count; n++)
            if (model_mark(i, m->now->clients[i].entries[n].mark) == name.mark)
                m->now->clients[i].entries[n].removed = m->now->clients[i].entries[n].removed_behind = false;
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

/* Compared as (token, hand-over), each grant is above the earlier grants that it could not have stood beside. */
static void check_token(struct model *m, int32_t client, const struct model_entry *p) {
    struct model_state *s = m->now;
    bool shared = m->config.roles[client] == MODEL_READS;
    int32_t handover = p->grant.handover;
    int64_t token = p->c.token, before = shared ? s->last_exclusive : s->last_token;
    bool above = handover == 0 ? token > before : token == before;
    if (m->config.permits > 1 ? token == 0 : !above)
        model_break(m, "tokens increase", "client %c was granted (%lld, %d) after (%lld, …)", 'A' + client,
                    (long long)token, handover, (long long)before);
    if (token > s->last_token)
        s->last_token = token;
    if (m->readers && !shared && token > s->last_exclusive)
        s->last_exclusive = token;
}

/* With a fresh lease and its own node, and with nobody ahead. false: an admin broke that. The token still protects, and
 * the hold will hear of it. */
static bool check_admitted(struct model *m, int32_t client, int32_t entry) {
    const struct model_client *k = &m->now->clients[client];
    const struct model_entry *p = &k->entries[entry];
    const struct ts_fake_node *node = own_node(m, p);
    if (!k->lease)
        model_break(m, "no grant without a fresh lease", "client %c", 'A' + client);
    if (p->removed_behind)
        model_break(m, "a grant knows that its node was deleted before its turn", "client %c", 'A' + client);
    if (p->removed) {
        m->seen.removed_holds++;
        return false;
    }
    if (!node || node->session != k->session)
        model_break(m, "a grant has its node", "client %c was granted without a node of its own", 'A' + client);
    else if (blockers(m, node->name, p->exchanged) > model_rule(m, client).tolerated)
        model_break(m, "a grant is the first in the queue", "client %c was granted with a node ahead", 'A' + client);
    else if (node->czxid != p->c.token)
        model_break(m, "the token is the czxid", "client %c", 'A' + client);
    return true;
}

void model_check_grant(struct model *m, int32_t client, int32_t entry) {
    m->seen.grants++;
    m->seen.contended += m->now->fake.tree.count > 1;
    if (check_admitted(m, client, entry))
        check_token(m, client, &m->now->clients[client].entries[entry]);
}

/* The hold keeps its token. */
void model_check_taken_over(struct model *m, int32_t client, int32_t entry) {
    if (check_admitted(m, client, entry) && !m->now->clients[client].entries[entry].grant.valid)
        model_break(m, "a lost grant is not taken over", "client %c", 'A' + client);
}

void model_check_handover(struct model *m, int32_t client, int32_t before) {
    const struct model_client *k = &m->now->clients[client];
    int32_t entry = model_grant_of_queue(k), number = entry < 0 ? 0 : k->entries[entry].grant.handover;
    m->seen.handovers++;
    if (entry < 0)
        model_break(m, "a hand-over is to somebody", "client %c", 'A' + client);
    else if (number <= before)
        model_break(m, "tokens increase", "client %c handed over as number %d after %d", 'A' + client, number, before);
    else if (number > m->config.handovers)
        model_break(m, "hand-overs are bounded", "client %c handed over %d times in a row, others waiting or not",
                    'A' + client, number);
}

/* With the rights of a hold, and for nobody who waits here. An admin may have broken that. */
void model_check_lingering(struct model *m, int32_t client, int32_t entry) {
    const struct model_client *k = &m->now->clients[client];
    m->seen.lingered++;
    if (k->queued != 0)
        model_break(m, "no node lingers before a thread that waits", "client %c", 'A' + client);
    if ((int32_t)k->handovers.handovers >= m->config.handovers)
        model_break(m, "hand-overs are bounded", "client %c lingers after %d of them", 'A' + client,
                    (int32_t)k->handovers.handovers);
    check_admitted(m, client, entry);
}

/* ---- after every step */

/* Which threads would be told, at this instant, that they may do what they asked for? */
struct lease_users {
    int32_t all, exclusive, downgraded;
};

static void count_believers(const struct model *m, int32_t client, struct lease_users *b) {
    const struct model_client *k = &m->now->clients[client];
    bool reads = m->config.roles[client] == MODEL_READS, leases = m->config.roles[client] == MODEL_LEASES;
    for (int32_t n = 0; n < k->entries_count; n++) {
        const struct model_grant *grant = &k->entries[n].grant;
        if (grant->hold == MODEL_NO_HOLD || !grant->valid || k->entries[n].removed)
            continue;
        b->all++;
        b->exclusive += !reads && !leases && !grant->downgraded;
        b->downgraded += grant->downgraded;
    }
}

static void check_exclusion(struct model *m) {
    struct lease_users b = {0, 0, 0};
    for (int32_t i = 0; i < m->config.clients; i++)
        count_believers(m, i, &b);
    if (b.exclusive > 0 && b.all > 1)
        model_break(m, "mutual exclusion", "%d clients hold the lock, each with a lease, %d of them for itself alone",
                    b.all, b.exclusive);
    if (m->config.permits != 0 && b.all > m->config.permits)
        model_break(m, "no more holders than permits", "%d hold, each with a lease, of %d permits", b.all,
                    m->config.permits);
    m->seen.shared += b.all > 1;
    m->seen.full += m->config.permits != 0 && b.all == m->config.permits;
    m->seen.let_in += b.downgraded > 0 && b.all > b.downgraded;
}

/* An entry has one node at most. An entry that is gone has none. */
static void check_nodes(struct model *m) {
    const struct ts_fake_tree *tree = &m->now->fake.tree;
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &m->now->clients[i];
        int32_t nodes[MODEL_ENTRIES] = {0};
        for (int32_t n = 0; n < tree->count && k->session >= 0; n++) {
            int32_t entry = k->entries_count - 1;
            if (tree->nodes[n].session != k->session)
                continue;
            while (entry >= 0 && model_mark(i, k->entries[entry].mark) != tree->nodes[n].name.mark)
                entry--;
            if (entry < 0)
                model_break(m, "no orphan", "client %c has left, its node has not", 'A' + i);
            else if (++nodes[entry] > 1)
                model_break(m, "one node at a time", "client %c has two nodes of one contender in the queue", 'A' + i);
        }
    }
}

/* ---- when the network is quiet */

/* The node it waits for, with its watch on it; NULL without. */
static const struct ts_fake_node *waits_for(const struct model *m, const struct model_client *k,
                                            const struct model_entry *p) {
    if (p->c.watched[0] == '\0' || !p->registered)
        return NULL;
    const struct ts_fake_node *node = ts_fake_find(&m->now->fake, model_name(p->c.watched));
    return node && node->watchers & 1u << k->session ? node : NULL;
}

/* Nothing is under way. So a waiter must wait for a node ahead, and hear when that goes. A waiter whose own node an
 * admin deleted hears of that no sooner. */
static void check_quiet_entry(struct model *m, int32_t client, const struct model_client *k,
                              const struct model_entry *p) {
    const struct ts_fake_node *mine = own_node(m, p), *ahead = waits_for(m, k, p);
    if (p->c.leaving)
        model_break(m, "a client that leaves gets away", "client %c is leaving for ever", 'A' + client);
    else if (p->c.phase == PDK__HELD && !mine)
        model_break(m, "a hold does not outlive its node", "client %c never hears of it", 'A' + client);
    else if (p->c.phase != PDK__HELD && (p->c.phase != PDK__IN || (!mine && !p->removed)))
        model_break(m, "no waiter stuck", "client %c is not in the queue and does nothing about it", 'A' + client);
    else if (p->c.phase == PDK__IN && (!ahead || (mine && distance(ahead->name, mine->name) < 0)))
        model_break(m, "no waiter stuck", "client %c waits without a watch on a node ahead", 'A' + client);
    else if (p->c.phase == PDK__IN && mine &&
             (is_nearer(m, ahead->name, mine->name) || !conflict(m, ahead->name, mine->name)))
        model_break(m, "each watches its nearest blocker", "client %c watches one farther ahead", 'A' + client);
    else if (p->owner == MODEL_EXCHANGE || (p->grant.downgraded && p->owner == MODEL_QUEUE))
        model_break(m, "a downgrade comes to its end", "client %c keeps a writer's node", 'A' + client);
}

/* Others come by its watch alone: no alarm is needed. */
static void check_lingering(struct model *m, int32_t client) {
    const struct ts_fake_tree *tree = &m->now->fake.tree;
    for (int32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].session != m->now->clients[client].session)
            model_break(m, "a node that lingers goes when somebody comes", "client %c stays", 'A' + client);
}

static void check_quiet(struct model *m) {
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &m->now->clients[i];
        for (int32_t n = 0; n < k->entries_count; n++)
            check_quiet_entry(m, i, k, &k->entries[n]);
        if (k->lingers)
            check_lingering(m, i);
        if (k->queued != 0 && model_entry_with(k, MODEL_QUEUE) < 0)
            model_break(m, "no waiter stuck", "the threads of client %c have no entry in the queue", 'A' + i);
        if (model_grants_lapsed(k))
            model_break(m, "a lost hold is told", "client %c never hears that its lease was over", 'A' + i);
    }
}

void model_check_state(struct model *m) {
    check_exclusion(m);
    check_nodes(m);
    if (!m->broken && model_is_quiet(m, m->now))
        check_quiet(m);
}
