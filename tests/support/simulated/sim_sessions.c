/* The leader's clock of sessions. Each expires at the first tick after its last touch and its timeout. A session that
 * is closing is refused everything, though its end has yet to be committed.
 *
 *     touch ──── timeout ────► | next tick: the transaction of its end is proposed
 */
#include "sim_server.h"

#include <glib.h>
#include <zookeeper/zookeeper.h>

struct sim_tracked *sim_session_find(struct sim_server *leader, int64_t id) {
    for (size_t i = 0; i < leader->lead.sessions_count; i++)
        if (leader->lead.sessions[i].id == id)
            return &leader->lead.sessions[i];
    return NULL;
}

/* The ticks of different servers do not coincide. */
static int64_t tick_after(const struct sim_server *leader, int64_t at) {
    int64_t tick = leader->ensemble->config.tick;
    return ((at + leader->phase) / tick + 1) * tick - leader->phase;
}

static void on_expiry(struct sim_server *leader, bool late);

static void set_timer(struct sim_server *leader, int64_t at) {
    if (at >= leader->lead.expiry_at)
        return;
    leader->lead.expiry_at = at;
    sim_timer(leader, at, on_expiry);
}

static void arm(struct sim_server *leader, struct sim_tracked *session) {
    session->touched = leader->ensemble->agenda->now;
    session->expires_at = tick_after(leader, session->touched + session->timeout);
    set_timer(leader, session->expires_at);
}

void sim_session_track(struct sim_server *leader, int64_t id, int64_t timeout, const void *owner) {
    struct sim_lead *lead = &leader->lead;
    lead->sessions = sim_room(leader->ensemble->agenda, lead->sessions, lead->sessions_count, &lead->sessions_room,
                              sizeof *lead->sessions);
    struct sim_tracked *session = &lead->sessions[lead->sessions_count++];
    *session = (struct sim_tracked){.id = id, .timeout = timeout, .owner = owner};
    arm(leader, session);
}

void sim_session_forget(struct sim_server *leader, int64_t id) {
    struct sim_tracked *session = sim_session_find(leader, id);
    if (session)
        *session = leader->lead.sessions[--leader->lead.sessions_count];
}

bool sim_session_touch(struct sim_server *leader, int64_t id) {
    struct sim_tracked *session = sim_session_find(leader, id);
    if (!session || session->closing)
        return false;
    arm(leader, session);
    return true;
}

int32_t sim_session_check(struct sim_server *leader, int64_t id, const void *owner) {
    struct sim_tracked *session = sim_session_find(leader, id);
    if (!session || session->closing)
        return ZSESSIONEXPIRED;
    return session->owner == owner ? ZOK : ZSESSIONMOVED;
}

void sim_session_expire(struct sim_server *leader, struct sim_tracked *session, bool by_admin) {
    struct sim_txn *txn = sim_lead_txn(leader, SIM_TXN_CLOSE, session->id);
    session->closing = true;
    session->expired = !by_admin;
    txn->expired = true;
    txn->by_admin = by_admin;
    sim_lead_propose(leader, txn); /* may be applied, and the session forgotten, before this returns */
}

/* The first that is due. Its end may change the order of the others. */
static struct sim_tracked *due(struct sim_server *leader) {
    for (size_t i = 0; i < leader->lead.sessions_count; i++) {
        struct sim_tracked *session = &leader->lead.sessions[i];
        if (!session->closing && session->expires_at <= leader->ensemble->agenda->now)
            return session;
    }
    return NULL;
}

bool sim_sessions_end_due(struct sim_server *leader) {
    struct sim_tracked *session = due(leader);
    bool any = session != NULL;
    for (; session; session = due(leader))
        sim_session_expire(leader, session, false);
    return any;
}

static void on_expiry(struct sim_server *leader, bool late) {
    struct sim_lead *lead = &leader->lead;
    int64_t now = leader->ensemble->agenda->now;
    if (late) { /* after a pause: behind all that came meanwhile, unless it was looked at before */
        sim_timer(leader, now, on_expiry);
        sim_kept_time(leader->ensemble);
        return;
    }
    if (!sim_sessions_end_due(leader))
        sim_kept_time(leader->ensemble);
    if (now < lead->expiry_at)
        return; /* an earlier timer has seen to it */
    lead->expiry_at = INT64_MAX;
    for (size_t i = 0; i < lead->sessions_count; i++)
        if (!lead->sessions[i].closing)
            set_timer(leader, lead->sessions[i].expires_at);
}

/* ---- for the checks */

void sim_session_ended(struct sim_ensemble *e, const struct sim_txn *txn) {
    if (!txn->expired || txn->by_admin)
        return;
    struct sim_ended *ended = sim_alloc(e->agenda, sizeof *ended);
    *ended = (struct sim_ended){e->ended, txn->session, txn->at};
    e->ended = ended;
}

/* Its packets may be blocked at the moment, and it may be paused. */
static const struct sim_server *followed_leader(const struct sim_ensemble *e) {
    for (int32_t i = 0; i < e->config.servers; i++) {
        const struct sim_server *leader = &e->servers[i];
        int32_t count = leader->role == SIM_LEADING;
        for (int32_t k = 0; count > 0 && k < e->config.servers; k++)
            count += e->servers[k].role == SIM_FOLLOWING && e->servers[k].link->leader == leader;
        if (2 * count > e->config.servers)
            return leader;
    }
    return NULL;
}

static int64_t end_of(const struct sim_ensemble *e, int64_t session, bool rounded) {
    const struct sim_server *leader = followed_leader(e);
    for (size_t i = 0; leader && i < leader->lead.sessions_count; i++) {
        const struct sim_tracked *tracked = &leader->lead.sessions[i];
        if (tracked->id != session)
            continue;
        if (tracked->closing && !tracked->expired)
            return INT64_MAX;
        return rounded ? tracked->expires_at : tracked->touched + tracked->timeout;
    }
    for (const struct sim_ended *ended = e->ended; ended; ended = ended->next)
        if (ended->session == session)
            return ended->at;
    return INT64_MAX;
}

int64_t sim_expires_at(const struct sim_ensemble *e, int64_t session) { return end_of(e, session, true); }

int64_t sim_promised_until(const struct sim_ensemble *e, int64_t session) { return end_of(e, session, false); }
