/* The ensemble as a whole: its beginning, the actions of an admin, and the truth. */
#include "sim_server.h"

#include <glib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

struct sim_ensemble *sim_ensemble_new(struct sim_agenda *agenda, struct sim_net *net,
                                      const struct sim_ensemble_config *config) {
    struct sim_ensemble *e = sim_alloc(agenda, sizeof *e);
    g_assert(config->servers >= 1 && config->servers <= SIM_SERVERS && config->servers % 2 == 1);
    e->agenda = agenda;
    e->net = net;
    e->config = *config;
    sim_tree_begin(&e->truth, agenda);
    for (int32_t i = 0; i < config->servers; i++) {
        struct sim_server *s = &e->servers[i];
        s->ensemble = e;
        s->number = i;
        s->phase = sim_random_between(&agenda->chance, 0, config->tick - 1);
        sim_tree_begin(&s->tree, agenda);
    }
    return e;
}

void sim_server_keep(struct sim_ensemble *e, int32_t server, int32_t deletions) {
    e->servers[server].keeps = deletions;
}

void sim_server_lag(struct sim_ensemble *e, int32_t server, int64_t ns) { e->servers[server].lag = ns; }

void sim_answer_next(struct sim_ensemble *e, int64_t session, int32_t code, bool executed) {
    sim_answer_about(e, session, NULL, code, executed);
}

void sim_answer_about(struct sim_ensemble *e, int64_t session, const char *path, int32_t code, bool executed) {
    struct sim_answer *answer = sim_alloc(e->agenda, sizeof *answer), **at = &e->answers;
    *answer = (struct sim_answer){NULL, session, path ? sim_text(e->agenda, path) : NULL, code, executed};
    while (*at)
        at = &(*at)->next;
    *at = answer;
}

/* ---- the truth */

void sim_observe(struct sim_ensemble *e, sim_committed_fn committed, sim_fired_fn fired, void *user) {
    e->on_committed = committed;
    e->on_fired = fired;
    e->user = user;
}

enum sim_role sim_server_role(const struct sim_ensemble *e, int32_t server) { return e->servers[server].role; }

const struct sim_tree *sim_truth(const struct sim_ensemble *e) { return &e->truth; }

/* Each holds the other's end, and it is whole. */
static bool follows(const struct sim_server *s, const struct sim_server *leader) {
    const struct sim_link *link = s->link;
    return s->role == SIM_FOLLOWING && link->leader == leader && leader->lead.links[s->number] == link &&
           !link->up->ended && !link->down->ended;
}

int32_t sim_leader(const struct sim_ensemble *e) {
    for (int32_t i = 0; i < e->config.servers; i++) {
        const struct sim_server *leader = &e->servers[i];
        int32_t count = leader->role == SIM_LEADING && !leader->paused;
        for (int32_t k = 0; count > 0 && k < e->config.servers; k++)
            count += follows(&e->servers[k], leader) && sim_reaches(&e->servers[k], leader);
        if (2 * count > e->config.servers)
            return i;
    }
    return -1;
}

bool sim_settled(const struct sim_ensemble *e) {
    int32_t number = sim_leader(e);
    if (number < 0)
        return false;
    const struct sim_server *leader = &e->servers[number];
    for (int32_t i = 0; i < e->config.servers; i++) {
        const struct sim_server *s = &e->servers[i];
        if (s->role == SIM_DOWN)
            continue;
        bool belongs = s == leader || (follows(s, leader) && sim_reaches(s, leader));
        if (!belongs || s->logged != leader->logged || s->applied != s->logged)
            return false;
    }
    return true;
}

/* ---- an admin */

static struct sim_server *leader_of(struct sim_ensemble *e) {
    int32_t number = sim_leader(e);
    return number < 0 ? NULL : &e->servers[number];
}

bool sim_admin(struct sim_ensemble *e, const struct sim_packet *request) {
    struct sim_server *leader = leader_of(e);
    if (!leader)
        return false;
    struct sim_txn *txn = sim_lead_txn(leader, SIM_TXN_ERROR, 0);
    sim_prepare(&leader->lead.ahead, request, e->config.containers, true, txn);
    sim_lead_propose(leader, txn);
    return true;
}

bool sim_admin_set(struct sim_ensemble *e, const char *path, enum sim_set what, int64_t value) {
    struct sim_server *leader = leader_of(e);
    if (!leader)
        return false;
    struct sim_txn *txn = sim_lead_txn(leader, SIM_TXN_SET, 0);
    txn->path = path;
    txn->mode = what;
    txn->value = value;
    if (!sim_tree_find(&leader->lead.ahead, path)) {
        txn->kind = SIM_TXN_ERROR;
        txn->code = ZNONODE;
    }
    sim_lead_propose(leader, txn);
    return true;
}

bool sim_admin_expire(struct sim_ensemble *e, int64_t session) {
    struct sim_server *leader = leader_of(e);
    struct sim_tracked *tracked = leader ? sim_session_find(leader, session) : NULL;
    if (!leader)
        return false;
    if (tracked && !tracked->closing)
        sim_session_expire(leader, tracked, true);
    return true;
}
