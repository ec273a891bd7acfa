/* After any faults the fake ensemble's servers agree in the end: random requests and faults of every kind, then
 * everything is healed. sim_log.c asserts that commits never contradict each other. sim_bench.c asserts that no client
 * sees time go back. */
#include "sim_bench.h"
#include "sim_server.h"

#include <string.h>

#define SEEDS INT64_C(300)
#define ACTIONS 200

static struct sim_random chance;
static int32_t servers;

/* How often something happened in all seeds. A storm without it would prove nothing. */
static struct {
    int32_t epochs, expired, errors, replies, refused, fired;
} times;

static int32_t below(int32_t count) { return (int32_t)sim_random_between(&chance, 0, count - 1); }

static struct sim_player *player(int32_t nth) { return nth == 0 ? &sim_a : nth == 1 ? &sim_b : &sim_c; }

static void on_committed(void *user, const struct sim_txn *txn) {
    (void)user;
    times.epochs += txn->kind == SIM_TXN_EPOCH;
    times.expired += txn->kind == SIM_TXN_CLOSE && txn->expired;
    times.errors += txn->kind == SIM_TXN_ERROR;
}

static void on_fired(void *user, int64_t session, const char *path, enum sim_event event) {
    (void)user;
    (void)session;
    (void)path;
    (void)event;
    times.fired++;
}

/* ---- requests */

static void ask(struct sim_player *p) {
    static const char *const paths[] = {"/l", "/l/a", "/l/a", "/l/a", "/l/b", "/l/a/c"};
    static const char *const texts[] = {"x", "y", NULL};
    static const enum sim_op ops[] = {SIM_OP_CREATE, SIM_OP_CREATE, SIM_OP_DELETE, SIM_OP_GET,
                                      SIM_OP_GET,    SIM_OP_GET,    SIM_OP_SET,    SIM_OP_MULTI_CHECK,
                                      SIM_OP_LIST,   SIM_OP_EXISTS, SIM_OP_SYNC};
    struct sim_packet packet = {.kind = SIM_REQUEST,
                                .tag = 1,
                                .op = ops[below(11)],
                                .path = paths[below(6)],
                                .data = texts[below(3)],
                                .watch = true};
    packet.mode = packet.op == SIM_OP_CREATE ? below(SIM_CONTAINER + 1) : 0;
    if (packet.mode & SIM_SEQUENTIAL)
        packet.path = "/l/x-";
    sim_player_send(p, &packet);
}

static void act(struct sim_player *p) {
    int32_t what = below(20);
    if (!p->connected) {
        if (what == 0)
            p->session = p->zxid = 0;
        if (what < 5) /* the others give the answer time to come */
            sim_player_dial(p, below(servers));
    } else if (what == 0 || sim_agenda.now - p->heard_at > 1300 * SIM_MS) {
        sim_player_leave(p);
    } else if (what == 1) {
        sim_player_send(p, &(struct sim_packet){.kind = SIM_CLOSE});
    } else {
        ask(p);
    }
}

/* ---- faults */

static void heal(void) {
    memset(sim_net.extra, 0, sizeof sim_net.extra);
    for (int32_t i = 0; i < servers; i++) {
        for (int32_t k = 0; k < SIM_HOSTS; k++) {
            sim_net_block(&sim_net, i, k, false);
            sim_net_block(&sim_net, k, i, false);
        }
        sim_server_pause(sim_ensemble, i, false);
        sim_server_lag(sim_ensemble, i, 0);
        sim_server_start(sim_ensemble, i);
    }
}

static void fault(void) {
    int32_t a = below(servers), b = below(servers), host = below(2) ? b : SIM_SERVERS + below(3);
    switch (below(9)) {
    case 0:
        sim_net_block(&sim_net, a, host, true);
        break;
    case 1:
        sim_bench_isolate(a, true);
        break;
    case 2:
    case 3:
        heal();
        break;
    case 4:
        sim_net_reset(&sim_net, a, host);
        break;
    case 5:
        if (sim_server_role(sim_ensemble, a) == SIM_DOWN)
            sim_server_start(sim_ensemble, a);
        else
            sim_server_kill(sim_ensemble, a);
        break;
    case 6:
        sim_server_pause(sim_ensemble, a, !sim_ensemble->servers[a].paused);
        break;
    case 7:
        sim_server_lag(sim_ensemble, a, sim_random_between(&chance, 0, 300) * SIM_MS);
        break;
    default:
        sim_net.extra[a][host] = sim_random_between(&chance, 0, 400) * SIM_MS;
    }
}

/* ---- what must be true */

static void check_stat(const struct sim_stat *a, const struct sim_stat *b) {
    ck_assert(a->czxid == b->czxid && a->mzxid == b->mzxid && a->pzxid == b->pzxid && a->owner == b->owner);
    ck_assert(a->ctime_ms == b->ctime_ms && a->version == b->version && a->cversion == b->cversion);
    ck_assert_int_eq(a->children, b->children);
}

static void check_equal(const struct sim_tree *tree, const struct sim_tree *truth) {
    ck_assert_int_eq(tree->zxid, truth->zxid);
    ck_assert_uint_eq(tree->count, truth->count);
    ck_assert_uint_eq(tree->sessions_count, truth->sessions_count);
    for (size_t i = 0; i < tree->count; i++) {
        const struct sim_node *node = &tree->nodes[i], *other = sim_tree_find(truth, node->path);
        ck_assert_ptr_nonnull(other);
        check_stat(&node->stat, &other->stat);
        ck_assert_pstr_eq(node->data, other->data);
        ck_assert_int_eq(node->counter, other->counter);
    }
    for (size_t i = 0; i < tree->sessions_count; i++)
        ck_assert_ptr_nonnull(sim_tree_session(truth, tree->sessions[i].id));
}

/* Nodes of a session go with it, and children are counted right. */
static void check_sound(const struct sim_tree *truth) {
    for (size_t i = 0; i < truth->count; i++) {
        const struct sim_node *node = &truth->nodes[i];
        size_t children;
        sim_tree_children(truth, node->path, &children);
        ck_assert_uint_eq(children, (size_t)node->stat.children);
        if (node->stat.owner != 0)
            ck_assert_ptr_nonnull(sim_tree_session(truth, node->stat.owner));
    }
}

static void step(int64_t ms) {
    int64_t until = sim_agenda.now + ms * SIM_MS;
    while (sim_step(&sim_agenda, until))
        ;
    for (int32_t i = 0; i < 3; i++) {
        times.replies += strstr(player(i)->heard, "1=") != NULL;
        times.refused += strstr(player(i)->heard, "expired") != NULL;
        player(i)->heard[0] = '\0';
    }
}

static void storm(uint64_t seed) {
    sim_random_begin(&chance, seed);
    servers = below(4) == 0 ? 5 : 3;
    struct sim_ensemble_config config = sim_bench_config(servers);
    config.container_interval = 700 * SIM_MS;
    sim_bench_begin_with(&config);
    sim_observe(sim_ensemble, on_committed, on_fired, NULL);
    sim_net.latency_most = 20 * SIM_MS;
    sim_bench_create("/l", SIM_PERSISTENT);
    for (int32_t i = 0; i < ACTIONS; i++) {
        if (below(10) == 0)
            fault();
        else
            act(player(below(3)));
        step(below(6) == 0 ? sim_random_between(&chance, 1, 900) : sim_random_between(&chance, 0, 20));
    }
    heal();
    step(1);
    sim_bench_settle();
    const struct sim_server *leader = &sim_ensemble->servers[sim_bench_leader()];
    for (int32_t i = 0; i < servers; i++)
        check_equal(&sim_ensemble->servers[i].tree, sim_truth(sim_ensemble));
    check_equal(&leader->lead.ahead, sim_truth(sim_ensemble));
    int32_t open = 0; /* between servers: one each way with each follower, nothing is left of former leaders */
    for (const struct sim_pipe *pipe = sim_net.pipes; pipe; pipe = pipe->next)
        open += pipe->from < servers && pipe->to < servers && !pipe->ended;
    ck_assert_int_eq(open / 2, servers - 1);
    check_sound(sim_truth(sim_ensemble));
}

START_TEST(servers_agree_in_the_end) {
    memset(&times, 0, sizeof times);
    for (int64_t seed = 1; seed <= SEEDS; seed++)
        storm((uint64_t)seed);
    ck_assert_int_gt(times.epochs, SEEDS);
    ck_assert_int_gt(times.expired, SEEDS / 4);
    ck_assert_int_gt(times.errors, SEEDS);
    ck_assert_int_gt(times.replies, SEEDS * 4);
    ck_assert_int_gt(times.refused, SEEDS / 10);
    ck_assert_int_gt(times.fired, SEEDS / 2);
}
END_TEST

/* Equal seeds, equal runs, to the last step and zxid. */
START_TEST(a_run_is_repeated_by_its_seed) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        storm(seed);
        uint64_t steps = sim_agenda.steps;
        int64_t now = sim_agenda.now, zxid = sim_truth(sim_ensemble)->zxid;
        storm(seed);
        ck_assert_uint_eq(sim_agenda.steps, steps);
        ck_assert_int_eq(sim_agenda.now, now);
        ck_assert_int_eq(sim_truth(sim_ensemble)->zxid, zxid);
    }
}
END_TEST

int main(void) {
    return ts_run("sim_storm", NULL, sim_bench_end, servers_agree_in_the_end, a_run_is_repeated_by_its_seed, NULL);
}
