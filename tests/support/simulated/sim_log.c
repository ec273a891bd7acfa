/* One server's log: entries are appended, known to be committed, and applied, in this order.
 *
 *     [ applied | committed, not yet applied (lag) | proposed ]
 *
 * A commit by any server is final: each server's commits are checked against one history.
 */
#include "sim_server.h"

#include <glib.h>
#include <string.h>

#define ENTRY sizeof(const struct sim_txn *)

int64_t sim_log_zxid(const struct sim_server *s) { return s->logged == 0 ? 0 : s->log[s->logged - 1]->zxid; }

void sim_log_append(struct sim_server *s, const struct sim_txn *txn) {
    g_assert(txn->zxid > sim_log_zxid(s));
    s->log = sim_room(s->ensemble->agenda, s->log, s->logged, &s->log_room, ENTRY);
    s->log[s->logged++] = txn;
}

/* ---- commits of the whole ensemble */

static void into_history(struct sim_ensemble *e, size_t index, const struct sim_txn *txn) {
    if (index < e->committed) {
        g_assert(e->history[index] == txn);
        return;
    }
    g_assert(index == e->committed);
    e->history = sim_room(e->agenda, e->history, e->committed, &e->history_room, ENTRY);
    e->history[e->committed++] = txn;
    sim_tree_apply(&e->truth, txn, NULL, NULL);
    if (txn->kind == SIM_TXN_CLOSE)
        sim_session_ended(e, txn);
    if (e->on_committed)
        e->on_committed(e->user, txn);
}

/* ---- applying */

struct applying {
    struct sim_server *server;
    const struct sim_txn *txn;
};

static void on_touched(void *user, const struct sim_node *node, bool deleted) {
    const struct applying *applying = user;
    bool created = applying->txn->kind == SIM_TXN_CREATE;
    bool changed = applying->txn->kind == SIM_TXN_SET && applying->txn->mode == SIM_SET_DATA;
    if (created || deleted || changed)
        sim_watches_fire(applying->server, node, created, deleted);
}

static void answer_syncs(struct sim_server *s) {
    while (s->syncs && s->syncs->after <= s->applied) {
        struct sim_request *r = s->syncs;
        s->syncs = r->next_sync;
        if (!s->syncs)
            s->syncs_last = NULL;
        sim_request_done(r, NULL);
    }
}

static void apply_next(struct sim_server *s) {
    const struct sim_txn *txn = s->log[s->applied++];
    struct sim_request *r = txn->request;
    struct applying applying = {s, txn};
    bool ours = r && r->server == s && r->incarnation == s->incarnation;
    if (txn->kind == SIM_TXN_DELETE && s->keeps > 0) {
        s->keeps--;
        s->tree.zxid = txn->zxid;
    } else {
        sim_tree_apply(&s->tree, txn, on_touched, &applying);
    }
    if (s->role == SIM_LEADING)
        sim_lead_applied(s, txn);
    if (txn->kind == SIM_TXN_CLOSE)
        sim_connections_of(s, txn->session, ours ? r->connection : NULL);
    if (ours)
        sim_request_done(r, txn);
    answer_syncs(s);
}

static void apply_late(struct sim_server *s, bool late) {
    (void)late;
    apply_next(s);
}

void sim_log_commit(struct sim_server *s) {
    int64_t now = s->ensemble->agenda->now;
    g_assert(s->committed < s->logged);
    s->committed++;
    into_history(s->ensemble, s->committed - 1, s->log[s->committed - 1]);
    s->applies_at = MAX(s->applies_at, now + s->lag);
    if (s->applies_at <= now && s->applied + 1 == s->committed)
        apply_next(s);
    else
        sim_timer(s, s->applies_at, apply_late);
}

void sim_log_adopt(struct sim_server *s, const struct sim_server *from, size_t count) {
    g_assert(s->committed <= count && count <= from->logged);
    if (s->log_room < count) {
        s->log_room = from->log_room;
        s->log = sim_alloc(s->ensemble->agenda, s->log_room * ENTRY);
    }
    if (s != from)
        memcpy(s->log, from->log, count * ENTRY);
    for (; s->committed < count; s->committed++)
        into_history(s->ensemble, s->committed, s->log[s->committed]);
    s->logged = count;
    s->applies_at = 0;
    while (s->applied < s->committed)
        apply_next(s);
}
