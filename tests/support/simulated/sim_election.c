/* Elections. A server that looks for a leader asks around, again and again after a random while:
 *
 *     it reaches a leader, and a majority together with the followers of that leader                  ─► it joins them
 *     enough others look, so that one of them reaches a majority: the one with the longest log        ─► that one leads
 *
 * The rounds of the real election are one moment here. In it the members take over the new leader's log, and all of it counts as
 * committed. The surplus of others is dropped. The beginning of the epoch is appended.
 */
#include "sim_server.h"

static bool majority(const struct sim_ensemble *e, int32_t count) { return 2 * count > e->config.servers; }

/* Nobody is elected the moment it loses its leader. */
static bool looks(const struct sim_server *s) {
    const struct sim_ensemble *e = s->ensemble;
    return s->role == SIM_LOOKING && !s->paused && e->agenda->now - s->looking_since >= e->config.election_least;
}

static bool belongs_to(const struct sim_server *s, const struct sim_server *leader) {
    return s == leader || (s->role == SIM_FOLLOWING && s->link->leader == leader);
}

static bool join(struct sim_server *s) {
    struct sim_ensemble *e = s->ensemble;
    for (int32_t i = 0; i < e->config.servers; i++) {
        struct sim_server *leader = &e->servers[i];
        int32_t count = 0;
        if (leader->role != SIM_LEADING || !sim_reaches(s, leader))
            continue;
        for (int32_t k = 0; k < e->config.servers; k++)
            count += belongs_to(&e->servers[k], leader) && sim_reaches(s, &e->servers[k]);
        if (!majority(e, count))
            continue;
        sim_lead_admit(leader, s);
        return true;
    }
    return false;
}

static bool longer(const struct sim_server *a, const struct sim_server *b) {
    int64_t x = sim_log_zxid(a), y = sim_log_zxid(b);
    return x != y ? x > y : a->number > b->number;
}

/* Its log is not longer, and it reaches the candidate. */
static bool votes_for(const struct sim_server *s, const struct sim_server *candidate) {
    return s == candidate || (looks(s) && !longer(s, candidate) && sim_reaches(s, candidate));
}

static struct sim_server *elected(struct sim_ensemble *e) {
    struct sim_server *best = NULL;
    for (int32_t i = 0; i < e->config.servers; i++) {
        struct sim_server *candidate = &e->servers[i];
        int32_t count = 0;
        if (!looks(candidate))
            continue;
        for (int32_t k = 0; k < e->config.servers; k++)
            count += votes_for(&e->servers[k], candidate);
        if (majority(e, count) && (!best || longer(candidate, best)))
            best = candidate;
    }
    return best;
}

static void begin_epoch(struct sim_server *leader) {
    struct sim_ensemble *e = leader->ensemble;
    bool member[SIM_SERVERS] = {false};
    for (int32_t i = 0; i < e->config.servers; i++)
        member[i] = votes_for(&e->servers[i], leader) && &e->servers[i] != leader;
    struct sim_txn *txn = sim_lead_txn(leader, SIM_TXN_EPOCH, 0);
    int64_t epoch = sim_log_zxid(leader) >> 32; /* the longest log knows the newest epoch */
    txn->zxid = ((epoch == 0 ? (int64_t)e->config.number << 16 : epoch) + 1) << 32;
    sim_log_append(leader, txn);
    sim_log_adopt(leader, leader, leader->logged);
    sim_lead(leader);
    for (int32_t i = 0; i < e->config.servers; i++)
        if (member[i])
            sim_lead_admit(leader, &e->servers[i]);
}

static void look_again(struct sim_server *s);

static void on_look(struct sim_server *s, bool late) {
    struct sim_server *leader;
    (void)late;
    if (join(s))
        return;
    if ((leader = elected(s->ensemble)) != NULL)
        begin_epoch(leader);
    if (s->role != SIM_LOOKING)
        return;
    if (!leader)
        sim_kept_time(s->ensemble);
    look_again(s);
}

static void look_again(struct sim_server *s) {
    const struct sim_ensemble_config *config = &s->ensemble->config;
    struct sim_agenda *agenda = s->ensemble->agenda;
    int64_t wait = sim_random_between(&agenda->chance, config->election_least, config->election_most);
    sim_timer(s, agenda->now + (wait > 0 ? wait : 1), on_look);
}

void sim_look(struct sim_server *s) {
    sim_end_role(s, SIM_LOOKING, false);
    s->looking_since = s->ensemble->agenda->now;
    look_again(s);
}
