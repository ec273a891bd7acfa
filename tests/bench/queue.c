/*
 * Processes queue for one lock, each behind a proxy that counts the packets. Two things are counted separately: the
 * requests to queue, and the requests to pass the lock from one process to the next when all are in the queue.
 */
#include "client.h"
#include "parts.h"
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <ts_clock.h>
#include <ts_process.h>

enum { QUIET_MS = 40, LIMIT_MS = 60000 };

/* The packets of all proxies together. */
struct traffic {
    uint64_t creates, deletes, lists, reads, renewals, others, notifications, rounds;
};

struct queue_bench {
    struct bench *bench;
    struct control *control;
    ts_proxy *proxies[CLIENTS];
    pid_t pids[CLIENTS];
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

static uint64_t all_packets(const struct queue_bench *run) {
    uint64_t sum = 0;
    for (int i = 0; i < CLIENTS; i++) {
        ts_proxy_counters c;
        ts_proxy_read(run->proxies[i], &c);
        sum += c.requests + c.replies + c.notifications;
    }
    return sum;
}

/* Waits until no packets pass any more, takes the counts and begins new ones. */
static void take(struct queue_bench *run, struct traffic by_client[CLIENTS]) {
    for (uint64_t before = UINT64_MAX, now; (now = all_packets(run)) != before; before = now)
        ts_sleep_ms(QUIET_MS);
    for (int i = 0; i < CLIENTS; i++) {
        by_client[i] = read_proxy(run->proxies[i]);
        ts_proxy_zero(run->proxies[i]);
    }
}

static bool all_here(void *user) {
    const struct queue_bench *run = user;
    for (int i = 0; i < CLIENTS; i++)
        if (!ts_alive(run->pids[i]))
            g_error("a queued process ended");
    return run->control->arrived == CLIENTS * (run->phase + 1);
}

static void gather(struct queue_bench *run) {
    if (!ts_wait_until(all_here, run, LIMIT_MS))
        g_error("the queued processes do not proceed");
}

static void go_on(struct queue_bench *run) { run->control->phase = ++run->phase; }

static void begin(struct queue_bench *run, enum client_mode mode) {
    run->control->mode = mode;
    run->control->ranks = 0;
    go_on(run);
}

/* One chain. The requests of queueing are added to *queueing, those of the hand-overs to *passing. From the first
 * holder only the release counts, from the last holder all but the release. */
static void chain(struct queue_bench *run, struct traffic *queueing, struct traffic *passing) {
    struct traffic by_client[CLIENTS];
    begin(run, MODE_CHAIN);
    gather(run);
    take(run, by_client);
    for (int i = 0; i < CLIENTS; i++)
        add(queueing, &by_client[i]);
    go_on(run);
    gather(run);
    take(run, by_client);
    for (int i = 0; i < CLIENTS; i++) {
        int rank = run->control->rank[i];
        if (rank <= 1) /* it watches its own node: it held for long, or was second in the queue */
            by_client[i].notifications -= MIN(by_client[i].notifications, 1);
        add(passing, &by_client[i]);
        if (rank == CLIENTS - 1) {
            passing->deletes--;
            passing->rounds--;
        }
    }
}

static void report_chains(struct bench *bench, const struct traffic *q, const struct traffic *p, int chains) {
    double queued = CLIENTS * chains, passed = (CLIENTS - 1) * chains;
    printf("%d queued processes, %d chains of %d hand-overs:\n", CLIENTS, chains, CLIENTS - 1);
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
    bench_at_least(bench, "hand-overs counted", (double)p->deletes, passed, "");
}

static void run_free(struct queue_bench *run, int cycles) {
    struct traffic by_client[CLIENTS], t = {0};
    run->control->cycles = cycles;
    int64_t begun = ts_now_ns();
    begin(run, MODE_FREE);
    gather(run);
    double seconds = (double)(ts_now_ns() - begun) / 1e9, total = CLIENTS * cycles;
    take(run, by_client);
    for (int i = 0; i < CLIENTS; i++)
        add(&t, &by_client[i]);
    printf("  all at once, %.0f acquisitions: %.0f per s; each %.2f creates, %.2f deletes, %.2f lists, %.2f reads, "
           "%.2f notifications\n",
           total, total / seconds, (double)t.creates / total, (double)t.deletes / total, (double)t.lists / total,
           (double)t.reads / total, (double)t.notifications / total);
}

static void start_clients(struct queue_bench *run, const char *control) {
    g_autofree char *program = shared_program();
    for (int i = 0; i < CLIENTS; i++) {
        g_autofree char *index = g_strdup_printf("%d", i);
        run->proxies[i] = ts_proxy_start(ts_ensemble_host(run->bench->ensemble, 0));
        const char *const arguments[] = {
            program, "--client", ts_proxy_address(run->proxies[i]), "--control", control, "--index", index, NULL};
        run->pids[i] = ts_spawn(arguments, NULL);
    }
    gather(run);
}

void bench_queue(struct bench *bench) {
    const int chains = bench->quick ? 5 : 25, cycles = bench->quick ? 50 : 250;
    g_autofree char *path = g_strdup_printf("%s/control", bench->folder);
    struct queue_bench run = {.bench = bench, .control = shared_create(path, sizeof *run.control)};
    struct traffic queueing = {0}, passing = {0};
    start_clients(&run, path);
    chain(&run, &queueing, &passing); /* makes the directory */
    queueing = passing = (struct traffic){0};
    for (int i = 0; i < chains; i++)
        chain(&run, &queueing, &passing);
    report_chains(bench, &queueing, &passing, chains);
    run_free(&run, cycles);
    begin(&run, MODE_END);
    for (int i = 0; i < CLIENTS; i++) {
        if (ts_wait(run.pids[i], LIMIT_MS) != EXIT_SUCCESS)
            g_error("a queued process failed");
        ts_proxy_stop(run.proxies[i]);
    }
    shared_close(run.control, sizeof *run.control);
}
