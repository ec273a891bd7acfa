#include "sim_bench.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct sim_agenda sim_agenda;
struct sim_net sim_net;
struct sim_ensemble *sim_ensemble;
struct sim_player sim_a, sim_b, sim_c;

static int32_t server_count;

struct sim_ensemble_config sim_bench_config(int32_t servers) {
    return (struct sim_ensemble_config){.servers = servers,
                                        .tick = SIM_TICK,
                                        .sync_limit = 5,
                                        .election_least = 100 * SIM_MS,
                                        .election_most = 200 * SIM_MS,
                                        .session_least = 2 * SIM_TICK,
                                        .session_most = 20 * SIM_TICK,
                                        .containers = true};
}

void sim_bench_end(void) {
    if (sim_agenda.blocks)
        sim_agenda_free(&sim_agenda);
    memset(&sim_agenda, 0, sizeof sim_agenda);
}

void sim_bench_begin_with(const struct sim_ensemble_config *config) {
    struct sim_player *players[] = {&sim_a, &sim_b, &sim_c};
    sim_bench_end();
    sim_agenda_init(&sim_agenda);
    sim_agenda_begin(&sim_agenda, 1);
    sim_net_begin(&sim_net, &sim_agenda, SIM_MS, SIM_MS);
    sim_ensemble = sim_ensemble_new(&sim_agenda, &sim_net, config);
    server_count = config->servers;
    for (int32_t i = 0; i < config->servers; i++)
        sim_server_start(sim_ensemble, i);
    for (int32_t i = 0; i < 3; i++)
        *players[i] = (struct sim_player){.host = SIM_SERVERS + i, .asked_timeout = 2000 * SIM_MS, .pings = true};
    sim_bench_settle();
}

void sim_bench_begin(int32_t servers) {
    struct sim_ensemble_config config = sim_bench_config(servers);
    sim_bench_begin_with(&config);
}

void sim_bench_run(int64_t ms) {
    int64_t until = sim_agenda.now + ms * SIM_MS;
    while (sim_step(&sim_agenda, until))
        ;
}

void sim_bench_settle(void) {
    int64_t until = sim_agenda.now + 60000 * SIM_MS;
    while (!sim_settled(sim_ensemble))
        ck_assert_msg(sim_step(&sim_agenda, until), "the servers did not settle");
}

int32_t sim_bench_leader(void) {
    int32_t leader = sim_leader(sim_ensemble);
    ck_assert_int_ge(leader, 0);
    return leader;
}

int32_t sim_bench_follower(int32_t nth) {
    int32_t leader = sim_bench_leader(), others = 0;
    for (int32_t i = 0; i < server_count; i++)
        if (i != leader && others++ == nth)
            return i;
    ck_abort_msg("no such follower");
    return -1;
}

void sim_bench_await_other_leader(int32_t old) {
    int64_t until = sim_agenda.now + 10000 * SIM_MS;
    while (sim_leader(sim_ensemble) < 0 || sim_leader(sim_ensemble) == old)
        ck_assert_msg(sim_step(&sim_agenda, until), "no other leader");
}

bool sim_bench_exists(const char *path) { return sim_tree_find(sim_truth(sim_ensemble), path) != NULL; }

void sim_bench_isolate(int32_t server, bool isolated) {
    for (int32_t i = 0; i < server_count; i++) {
        if (i == server)
            continue;
        sim_net_block(&sim_net, i, server, isolated);
        sim_net_block(&sim_net, server, i, isolated);
    }
}

/* ---- packets for a player */

static void hear(struct sim_player *p, const char *word) {
    size_t n = strlen(p->heard);
    snprintf(p->heard + n, sizeof p->heard - n, "%s%s", n == 0 ? "" : " ", word);
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static void hear_reply(struct sim_player *p, const struct sim_packet *packet) {
    GString *word = g_string_new(NULL);
    g_string_printf(word, "%d=%d", (int)packet->tag, packet->code);
    if (packet->op == SIM_OP_CREATE && packet->code == 0)
        g_string_append_printf(word, ":%s", packet->path);
    if (packet->op == SIM_OP_GET && packet->data)
        g_string_append_printf(word, "\"%s\"", packet->data);
    const char **names = g_memdup2(packet->paths, packet->count * sizeof *names);
    if (names)
        qsort(names, packet->count, sizeof *names, by_text);
    for (size_t i = 0; names && i < packet->count; i++)
        g_string_append_printf(word, ",%s", names[i]);
    g_free(names);
    if (packet->stat.czxid != 0)
        p->stat = packet->stat;
    hear(p, word->str);
    g_string_free(word, TRUE);
}

static void hear_connected(struct sim_player *p, const struct sim_packet *packet) {
    p->connected = packet->session != 0;
    if (p->connected)
        p->session = packet->session;
    p->timeout = packet->timeout;
    hear(p, p->connected ? "connected" : "expired");
}

static void hear_packet(void *receiver, void *what) {
    struct sim_player *p = receiver;
    const struct sim_packet *packet = what;
    static const char *const events[] = {
        [SIM_CHANGED] = "changed", [SIM_DELETED] = "deleted", [SIM_CHILDREN] = "children"};
    char word[256];
    p->heard_at = sim_agenda.now;
    if (!packet) {
        p->connected = false;
        hear(p, "end");
        return;
    }
    if (packet->zxid != 0) {
        if (packet->zxid < p->zxid) /* from any server */
            ck_abort_msg("time went back: %" PRIx64 " after %" PRIx64, packet->zxid, p->zxid);
        p->zxid = packet->zxid;
    }
    if (packet->kind == SIM_CONNECTED)
        hear_connected(p, packet);
    else if (packet->kind == SIM_REPLY)
        hear_reply(p, packet);
    else if (packet->kind == SIM_PONG)
        p->pongs++;
    else if (packet->kind == SIM_EVENT) {
        snprintf(word, sizeof word, "%s:%s", events[packet->event], packet->path);
        hear(p, word);
    } else {
        hear(p, packet->kind == SIM_CLOSED ? "closed" : "watching");
    }
}

void sim_player_check(struct sim_player *p, const char *text) {
    ck_assert_str_eq(p->heard, text);
    p->heard[0] = '\0';
}

/* ---- actions of a player */

void sim_player_send(struct sim_player *p, const struct sim_packet *packet) {
    struct sim_packet *copy = sim_alloc(&sim_agenda, sizeof *copy);
    *copy = *packet;
    sim_send(p->wire.up, copy);
}

static void ping(void *subject, void *what) {
    struct sim_player *p = subject;
    (void)what;
    if (p->connected && p->pings)
        sim_player_send(p, &(struct sim_packet){.kind = SIM_PING});
    sim_at(&sim_agenda, sim_agenda.now + 300 * SIM_MS, ping, p, NULL);
}

void sim_player_leave(struct sim_player *p) {
    sim_ignore(p->wire.down);
    sim_hang_up(p->wire.up);
    p->connected = false;
}

void sim_player_dial(struct sim_player *p, int32_t server) {
    if (p->wire.up)
        sim_player_leave(p);
    sim_dial(sim_ensemble, p->host, server, hear_packet, p, &p->wire);
    sim_player_send(p, &(struct sim_packet){
                           .kind = SIM_CONNECT, .session = p->session, .timeout = p->asked_timeout, .zxid = p->zxid});
    if (!p->pinging)
        ping(p, NULL);
    p->pinging = true;
}

void sim_player_connect(struct sim_player *p, int32_t server) {
    sim_player_dial(p, server);
    sim_bench_run(20);
    sim_player_check(p, "connected");
}

void sim_player_ask(struct sim_player *p, uint64_t tag, enum sim_op op, const char *path) {
    sim_player_send(p, &(struct sim_packet){.kind = SIM_REQUEST, .tag = tag, .op = op, .path = path});
}

void sim_player_create(struct sim_player *p, uint64_t tag, const char *path, enum sim_mode mode) {
    sim_player_send(
        p, &(struct sim_packet){.kind = SIM_REQUEST, .tag = tag, .op = SIM_OP_CREATE, .path = path, .mode = mode});
}

void sim_player_watch(struct sim_player *p, uint64_t tag, const char *path) {
    sim_player_send(
        p, &(struct sim_packet){.kind = SIM_REQUEST, .tag = tag, .op = SIM_OP_GET, .path = path, .watch = true});
}

void sim_bench_create(const char *path, enum sim_mode mode) {
    ck_assert(sim_admin(sim_ensemble,
                        &(struct sim_packet){.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = path, .mode = mode}));
    sim_bench_run(10);
}
