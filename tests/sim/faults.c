/* Faults of servers and links, and the actions of an admin. Each fault ends by itself, and all end at the healing. */
#include "deployment.h"

#include "zk/errors.h"

#include <glib.h>
#include <paddock/status.h>
#include <string.h>

/* ---- hosts */

static int32_t follower(const struct deployment *d, int32_t in, bool last) {
    int32_t found = -1;
    for (int32_t i = 0; i < d->plan->servers; i++)
        if (sim_server_role(d->ensembles[in], i) == SIM_FOLLOWING && (last || found < 0))
            found = i;
    return found;
}

/* -1: none, at the moment. */
static int32_t host_of(const struct deployment *d, int32_t in, int32_t host) {
    if (host == PLAN_HOST_LEADER)
        return sim_leader(d->ensembles[in]);
    if (host == PLAN_HOST_FOLLOWER || host == PLAN_HOST_OTHER)
        return follower(d, in, host == PLAN_HOST_OTHER);
    if (host >= PLAN_HOST_OF) {
        const struct player *player = &d->players[(host - PLAN_HOST_OF) % PLAN_PROCESSES];
        return !player->process ? -1 : d->plan->ensembles > 1 ? 0 : sim_client_server(player->process);
    }
    int32_t most = host < SIM_SERVERS ? d->plan->servers : SIM_SERVERS + d->plan->processes;
    return host >= 0 && host < most ? host : -1;
}

static int32_t server_of(const struct deployment *d, int32_t in, int32_t host) {
    int32_t server = host_of(d, in, host);
    return server < d->plan->servers ? server : -1;
}

/* ---- the end of faults: an undo is a small thing to be done later */

struct undo {
    struct deployment *d;
    int32_t in, from, to;
    const char *path;
};

static void later(struct deployment *d, int32_t in, int32_t ms, sim_event_fn fn, int32_t from, int32_t to) {
    struct undo *undo = sim_alloc(&d->agenda, sizeof *undo);
    *undo = (struct undo){.d = d, .in = in, .from = from, .to = to};
    sim_at(&d->agenda, d->agenda.now + ms * SIM_MS, fn, undo, NULL);
}

static void unblock(void *subject, void *what) {
    struct undo *undo = subject;
    (void)what;
    sim_net_block(&undo->d->nets[undo->in], undo->from, undo->to, false);
}

static void block(struct deployment *d, int32_t in, int32_t from, int32_t to, int32_t ms) {
    sim_net_block(&d->nets[in], from, to, true);
    later(d, in, ms, unblock, from, to);
}

static void start_server(void *subject, void *what) {
    struct undo *undo = subject;
    (void)what;
    sim_server_start(undo->d->ensembles[undo->in], undo->from);
}

static void resume_server(void *subject, void *what) {
    struct undo *undo = subject;
    (void)what;
    sim_server_pause(undo->d->ensembles[undo->in], undo->from, false);
}

static void keep_up(void *subject, void *what) {
    struct undo *undo = subject;
    (void)what;
    sim_server_lag(undo->d->ensembles[undo->in], undo->from, 0);
}

static void quicken(void *subject, void *what) {
    struct undo *undo = subject;
    (void)what;
    undo->d->nets[undo->in].extra[undo->from][undo->to] = 0;
}

/* Until it is committed: there may be no leader at the moment, or one that is being deposed. */
static void permit(void *subject, void *what) {
    struct undo *undo = subject;
    const struct sim_node *node = sim_tree_find(sim_truth(undo->d->ensembles[undo->in]), undo->path);
    (void)what;
    if (sim_settled(undo->d->ensembles[undo->in]) && (!node || node->acl == 0))
        return;
    if (node && node->acl != 0)
        sim_admin_set(undo->d->ensembles[undo->in], undo->path, SIM_SET_ACL, 0);
    sim_at(&undo->d->agenda, undo->d->agenda.now + 100 * SIM_MS, permit, undo, NULL);
}

/* ---- links and servers */

static bool isolate(struct deployment *d, int32_t in, int32_t server, int32_t ms) {
    if (server < 0)
        return false;
    for (int32_t i = 0; i < d->plan->servers; i++)
        if (i != server) {
            block(d, in, i, server, ms);
            block(d, in, server, i, ms);
        }
    return true;
}

static bool lose(struct deployment *d, int32_t in, int32_t process, int32_t ms) {
    for (int32_t i = 0; i < d->plan->servers; i++) {
        block(d, in, SIM_SERVERS + process, i, ms);
        block(d, in, i, SIM_SERVERS + process, ms);
    }
    return true;
}

/* A stall of servers, or of links between them. */
static void note_stall(struct deployment *d, int32_t in, int32_t ms) {
    if (d->stalls_count < (int32_t)G_N_ELEMENTS(d->stalls))
        d->stalls[d->stalls_count++] = (struct stall){d->agenda.now, d->agenda.now + ms * SIM_MS, in};
}

static bool link_fault(struct deployment *d, const struct plan_action *action) {
    const int32_t *value = action->value;
    int32_t in = plan_fault_in(d->plan, action), from = host_of(d, in, value[0]), to = host_of(d, in, value[1]);
    if (from < 0 || to < 0 || from == to)
        return false;
    if (from < SIM_SERVERS && to < SIM_SERVERS && action->kind != PLAN_RESET)
        note_stall(d, in, action->kind == PLAN_BLOCK ? value[2] : value[2] + value[3]);
    if (action->kind == PLAN_BLOCK) {
        block(d, in, from, to, value[2]);
    } else if (action->kind == PLAN_RESET) {
        sim_net_reset(&d->nets[in], from, to);
    } else {
        d->nets[in].extra[from][to] = value[2] * SIM_MS;
        later(d, in, value[3], quicken, from, to);
    }
    return true;
}

static bool server_fault(struct deployment *d, const struct plan_action *action) {
    const int32_t *value = action->value;
    int32_t in = plan_fault_in(d->plan, action), server = server_of(d, in, value[0]);
    struct sim_ensemble *e = d->ensembles[in];
    if (server < 0 || sim_server_role(e, server) == SIM_DOWN)
        return false;
    if (action->kind == PLAN_STOP_SERVER || action->kind == PLAN_ISOLATE)
        note_stall(d, in, value[1]);
    if (action->kind == PLAN_STOP_SERVER) {
        sim_server_pause(e, server, true);
        later(d, in, value[1], resume_server, server, 0);
    } else if (action->kind == PLAN_KILL_SERVER) {
        sim_server_kill(e, server);
        later(d, in, value[1], start_server, server, 0);
    } else if (action->kind == PLAN_LAG) {
        sim_server_lag(e, server, value[1] * SIM_MS);
        later(d, in, value[2], keep_up, server, 0);
    } else {
        return isolate(d, in, server, value[1]);
    }
    return true;
}

/* ---- answers made up by a server */

/* Of its newest handle, which is that of the last ensemble; 0: it has none. */
static int64_t session_of(const struct player *player) {
    return player->process ? sim_client_session(player->process) : 0;
}

static bool answer(struct deployment *d, struct player *player, int32_t code, bool executed) {
    enum pdk__result result = pdk__zk_result(code);
    int64_t session = session_of(player);
    if (session == 0 || result == PDK__OK)
        return false;
    if (result == PDK__NO_NODE || result == PDK__NODE_EXISTS) {
        struct history_event *event = note(d, HISTORY_MISLED, 0, player->client);
        player->misled = true;
        if (event)
            event->a = session;
    }
    if (result == PDK__NODE_EXISTS)
        taint(d, player->client, PDK_EXHAUSTED);
    if (result == PDK__NOT_ALLOWED)
        taint(d, player->client, PDK_NO_PERMISSION);
    /* these answers make no sense to most requests */
    if (result == PDK__REFUSED || result == PDK__NODE_EXISTS || result == PDK__BAD_VERSION)
        taint(d, player->client, PDK_UNSUPPORTED);
    sim_answer_next(d->ensembles[d->plan->ensembles - 1], session, code, executed && result == PDK__UNKNOWN);
    return true;
}

/* ---- the actions of an admin */

static bool request(struct deployment *d, int32_t queue, enum sim_op op, const char *path) {
    struct sim_packet *packet = sim_alloc(&d->agenda, sizeof *packet);
    *packet = (struct sim_packet){.kind = SIM_REQUEST, .op = op, .path = path, .data = "by hand"};
    return path && sim_admin(deployment_ensemble(d, queue), packet);
}

static bool refuse(struct deployment *d, int32_t path, int32_t position, int32_t bits, int32_t ms) {
    const char *node = position >= 0 ? observe_contender(d, path, position)
                       : position == PLAN_POSITION_LEASES && plan_leases(d->plan, path) ? plan_leases(d->plan, path)
                                                                                        : plan_queue(d->plan, path);
    if (!node || !sim_tree_find(sim_truth(deployment_ensemble(d, path)), node) ||
        !sim_admin_set(deployment_ensemble(d, path), node, SIM_SET_ACL, bits))
        return false;
    d->refused = true;
    for (int32_t i = 0; i < d->plan->processes; i++)
        if (d->players[i].client)
            taint(d, d->players[i].client, PDK_NO_PERMISSION);
    struct undo *undo = sim_alloc(&d->agenda, sizeof *undo);
    *undo = (struct undo){.d = d, .in = plan_ensemble(d->plan, path), .path = node};
    sim_at(&d->agenda, d->agenda.now + ms * SIM_MS, permit, undo, NULL);
    return true;
}

static bool foreign(struct deployment *d, int32_t path, int32_t name) {
    static const char *const names[] = {"README",          "0000000000", "lock-1",       "_c_x-lock-",
                                        "note-0000000001", "\xc3\xbc",   "x__lock__123", "lock--00000000001"};
    static const char *const strange[] = {"_c_00000000-0000-4000-8000-000000000001-member-0000000001",
                                          "_c_00000000-0000-4000-8000-000000000002-lock-0000000001"};
    bool is_strange = name % 2 && plan_recipe(d->plan, path) == PLAN_RECIPE_GROUP;
    const char *dir = name % 2 && plan_leases(d->plan, path) ? plan_leases(d->plan, path) : plan_queue(d->plan, path);
    char *text = g_strconcat(
        dir, "/", is_strange ? strange[(uint32_t)name / 2 % 2] : names[(uint32_t)name % G_N_ELEMENTS(names)], NULL);
    bool done = request(d, path, SIM_OP_CREATE, sim_text(&d->agenda, text));
    g_free(text);
    return done;
}

static bool remove_empty(struct deployment *d, int32_t queue, const char *path) {
    const struct sim_node *node = path ? sim_tree_find(sim_truth(deployment_ensemble(d, queue)), path) : NULL;
    return node && node->stat.children == 0 && request(d, queue, SIM_OP_DELETE, path);
}

static bool remove_directory(struct deployment *d, int32_t path) {
    return remove_empty(d, path, plan_leases(d->plan, path)) || remove_empty(d, path, plan_queue(d->plan, path));
}

static bool expire(struct deployment *d, struct player *player) {
    int64_t session = session_of(player);
    if (session == 0 || d->expired_count == (int32_t)G_N_ELEMENTS(d->expired))
        return false;
    d->expired[d->expired_count++] = session;
    return sim_admin_expire(d->ensembles[d->plan->ensembles - 1], session);
}

bool faults_do(struct deployment *d, const struct plan_action *action) {
    const int32_t *value = action->value;
    struct player *player = &d->players[value[0] >= 0 && value[0] < d->plan->processes ? value[0] : 0];
    switch (action->kind) {
    case PLAN_BLOCK:
    case PLAN_RESET:
    case PLAN_SLOW:
        return link_fault(d, action);
    case PLAN_ISOLATE:
    case PLAN_STOP_SERVER:
    case PLAN_KILL_SERVER:
    case PLAN_LAG:
        return server_fault(d, action);
    case PLAN_LOSE:
        return lose(d, plan_fault_in(d->plan, action), player->number, value[1]);
    case PLAN_ANSWER:
        return answer(d, player, value[1], value[2] != 0);
    case PLAN_ADMIN_DELETE:
        return request(d, value[0], SIM_OP_DELETE, observe_contender(d, value[0], value[1]));
    case PLAN_ADMIN_WRITE:
        return request(d, value[0], SIM_OP_SET, observe_contender(d, value[0], value[1]));
    case PLAN_ADMIN_RMDIR:
        return remove_directory(d, value[0]);
    case PLAN_ADMIN_EXPIRE:
        return expire(d, player);
    case PLAN_FOREIGN:
        return foreign(d, value[0], value[1]);
    case PLAN_ACL:
        return refuse(d, value[0], value[1], value[2], value[3]);
    default:
        return false;
    }
}

static void heal_ensemble(struct deployment *d, int32_t in) {
    int32_t hosts = SIM_SERVERS + d->plan->processes;
    struct sim_net *net = &d->nets[in];
    memset(net->extra, 0, sizeof net->extra);
    net->latency_most = MIN(net->latency_most, MAX(net->latency_least, 2 * SIM_MS));
    for (int32_t from = 0; from < hosts; from++)
        for (int32_t to = 0; to < hosts; to++)
            if (net->blocked[from][to])
                sim_net_block(net, from, to, false);
    for (int32_t i = 0; i < d->plan->servers; i++) {
        sim_server_pause(d->ensembles[in], i, false);
        sim_server_lag(d->ensembles[in], i, 0);
        sim_server_start(d->ensembles[in], i);
    }
}

void faults_heal(struct deployment *d) {
    for (int32_t i = 0; i < d->plan->ensembles; i++)
        heal_ensemble(d, i);
    for (int32_t i = 0; i < 2 * PLAN_PATHS; i++) {
        struct undo *undo = sim_alloc(&d->agenda, sizeof *undo);
        *undo = (struct undo){.d = d,
                              .in = plan_ensemble(d->plan, i / 2),
                              .path = i % 2 ? plan_leases(d->plan, i / 2) : plan_queue(d->plan, i / 2)};
        if (undo->path)
            sim_at(&d->agenda, d->agenda.now, permit, undo, NULL);
    }
}
