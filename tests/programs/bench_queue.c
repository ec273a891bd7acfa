/*
 * Processes in line for one lock, each behind a proxy that counts what passes. Two things are counted apart: what it takes
 * to queue, and what it takes to pass the lock from one to the next when all stand in line.
 */
#include "bench.h"
#include "bench_player.h"
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <ts_clock.h>
#include <ts_process.h>

enum { QUIET_MS = 40, LIMIT_MS = 60000 };

/* What passed, all proxies together. */
struct traffic {
    uint64_t creates, deletes, lists, reads, renewals, others, notifications, rounds;
};

struct judge {
    struct bench *bench;
    struct board *board;
    ts_proxy *proxies[PLAYERS];
    pid_t pids[PLAYERS];
    int phase;
};

static struct traffic read_proxy(ts_proxy *proxy) {
    ts_proxy_counters c;
    ts_proxy_read(proxy, &c);
    struct traffic t = {
        .creates = ts_proxy_count(proxy, TS_OP_CREATE2),
        .deletes = ts_proxy_count(proxy, TS_OP_DELETE),
        .lists = ts_proxy_count(proxy, TS_OP_GET_CHILDREN) + ts_proxy_count(proxy, TS_OP_GET_CHILDREN2),
        .reads = ts_proxy_count(proxy, TS_OP_GET_DATA),
        .renewals = ts_proxy_count(proxy, TS_OP_MULTI) + ts_proxy_count(proxy, TS_OP_EXISTS),
        .notifications = c.notifications,
        .rounds = c.rounds,
    };
    t.others = c.requests - t.creates - t.deletes - t.lists - t.reads - t.renewals;
    return t;
}

static void add(struct traffic *sum, const struct traffic *t) {
    sum->creates += t->creates;
    sum->deletes += t->deletes;
    sum->lists += t->lists;
    sum->reads += t->reads;
    sum->renewals += t->renewals;
    sum->others += t->others;
    sum->notifications += t->notifications;
    sum->rounds += t->rounds;
}

static uint64_t all_packets(const struct judge *j) {
    uint64_t sum = 0;
    for (int i = 0; i < PLAYERS; i++) {
        ts_proxy_counters c;
        ts_proxy_read(j->proxies[i], &c);
        sum += c.requests + c.replies + c.notifications;
    }
    return sum;
}

/* Waits until nothing passes any more, takes the counts and begins new ones. */
static void take(struct judge *j, struct traffic by_seat[PLAYERS]) {
    for (uint64_t before = UINT64_MAX, now; (now = all_packets(j)) != before; before = now)
        ts_sleep_ms(QUIET_MS);
    for (int i = 0; i < PLAYERS; i++) {
        by_seat[i] = read_proxy(j->proxies[i]);
        ts_proxy_zero(j->proxies[i]);
    }
}

static bool all_here(void *user) {
    const struct judge *j = user;
    for (int i = 0; i < PLAYERS; i++)
        if (!ts_alive(j->pids[i]))
            g_error("a process in line ended");
    return j->board->arrived == PLAYERS * (j->phase + 1);
}

static void gather(struct judge *j) {
    if (!ts_wait_until(all_here, j, LIMIT_MS))
        g_error("the processes in line do not proceed");
}

static void go_on(struct judge *j) { j->board->phase = ++j->phase; }

static void begin(struct judge *j, enum player_mode mode) {
    j->board->mode = mode;
    j->board->ranks = 0;
    go_on(j);
}

/* One chain. What queueing took is added to *queueing; what the hand-overs took, to *passing: of whoever had the lock first
 * only the release, of whoever had it last all but the release. */
static void chain(struct judge *j, struct traffic *queueing, struct traffic *passing) {
    struct traffic by_seat[PLAYERS];
    begin(j, PLAY_CHAIN);
    gather(j);
    take(j, by_seat);
    for (int i = 0; i < PLAYERS; i++)
        add(queueing, &by_seat[i]);
    go_on(j);
    gather(j);
    take(j, by_seat);
    for (int i = 0; i < PLAYERS; i++) {
        int rank = j->board->rank[i];
        if (rank == 0) /* it waited long enough to watch its own node */
            by_seat[i].notifications -= MIN(by_seat[i].notifications, 1);
        add(passing, &by_seat[i]);
        if (rank == PLAYERS - 1) {
            passing->deletes--;
            passing->rounds--;
        }
    }
}

static void report_chains(struct bench *bench, const struct traffic *q, const struct traffic *p, int chains) {
    double queued = PLAYERS * chains, passed = (PLAYERS - 1) * chains;
    printf("%d processes in line, %d chains of %d hand-overs:\n", PLAYERS, chains, PLAYERS - 1);
    printf("  to queue:     %.2f creates, %.2f lists, %.2f reads that watch, %.2f round trips\n",
           (double)q->creates / queued, (double)q->lists / queued, (double)q->reads / queued,
           (double)q->rounds / queued);
    printf("  to pass it:   %.2f deletes, %.2f notifications, %.2f lists, %.2f reads, %.2f others\n",
           (double)p->deletes / passed, (double)p->notifications / passed, (double)p->lists / passed,
           (double)p->reads / passed, (double)(p->others + p->creates) / passed);
    printf("  renewals meanwhile: %d\n", (int)(q->renewals + p->renewals));
    bench_at_most(bench, "a hand-over between processes: writes",
                  (double)(p->deletes + p->creates + p->others) / passed, 1, "");
    bench_at_most(bench, "a hand-over between processes: notifications", (double)p->notifications / passed, 1, "");
    bench_at_most(bench, "a hand-over between processes: lists and reads", (double)(p->lists + p->reads) / passed, 1,
                  "");
    bench_at_most(bench, "a hand-over between processes: round trips awaited",
                  (double)(p->rounds - p->deletes - p->renewals) / passed, 1, "");
    bench_at_least(bench, "hand-overs counted", (double)p->lists, passed, "");
}

static void run_free(struct judge *j, int cycles) {
    struct traffic by_seat[PLAYERS], t = {0};
    j->board->cycles = cycles;
    int64_t begun = ts_now_ns();
    begin(j, PLAY_FREE);
    gather(j);
    double seconds = (double)(ts_now_ns() - begun) / 1e9, total = PLAYERS * cycles;
    take(j, by_seat);
    for (int i = 0; i < PLAYERS; i++)
        add(&t, &by_seat[i]);
    printf("  all at once, %.0f acquisitions: %.0f per s; each %.2f creates, %.2f deletes, %.2f lists, %.2f reads, "
           "%.2f notifications\n",
           total, total / seconds, (double)t.creates / total, (double)t.deletes / total, (double)t.lists / total,
           (double)t.reads / total, (double)t.notifications / total);
}

static void start_players(struct judge *j, const char *board) {
    g_autofree char *program = shared_program();
    for (int i = 0; i < PLAYERS; i++) {
        g_autofree char *seat = g_strdup_printf("%d", i);
        j->proxies[i] = ts_proxy_start(ts_ensemble_host(j->bench->ensemble, 0));
        const char *const arguments[] = {
            program, "--player", ts_proxy_address(j->proxies[i]), "--board", board, "--seat", seat, NULL};
        j->pids[i] = ts_spawn(arguments, NULL);
    }
    gather(j);
}

void bench_queue(struct bench *bench) {
    const int chains = bench->quick ? 5 : 25, cycles = bench->quick ? 50 : 250;
    g_autofree char *path = g_strdup_printf("%s/board", bench->folder);
    struct judge j = {.bench = bench, .board = shared_create(path, sizeof *j.board)};
    struct traffic queueing = {0}, passing = {0};
    start_players(&j, path);
    chain(&j, &queueing, &passing); /* makes the directory */
    queueing = passing = (struct traffic){0};
    for (int i = 0; i < chains; i++)
        chain(&j, &queueing, &passing);
    report_chains(bench, &queueing, &passing, chains);
    run_free(&j, cycles);
    begin(&j, PLAY_OVER);
    for (int i = 0; i < PLAYERS; i++) {
        if (ts_wait(j.pids[i], LIMIT_MS) != EXIT_SUCCESS)
            g_error("a process in line failed");
        ts_proxy_stop(j.proxies[i]);
    }
    shared_close(j.board, sizeof *j.board);
}
