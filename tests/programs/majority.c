/* Processes contend for a majority of locks in five ensembles of one server each, while links are cut:
 * majority [--rounds N] [--processes N] [--no-order].
 *
 * In each round one process holds. The others wait for the same. Then the holder is cut off from one, two or three ensembles: N rounds
 * each. With one or two it must go on, for longer than the ensembles keep its sessions; then it releases. With three it must lose
 * the hold in time, once. Either way each of the others must get it, one after the other.
 *
 * The judge is the clock that all processes of a machine share. Each process looks at its hold again and again. A hold never becomes
 * valid again, so it was valid all the time between the first look that said so and the last. No two such stretches may overlap.
 */
#include <glib.h>
#include <paddock/paddock.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ts_support.h>
#include <unistd.h>

enum { ENSEMBLES = 5, NEED = 3, MOST = 8, ROUNDS_MOST = 200, WAYS = 3 };
enum { TICK_MS = 200, SESSION_MS = 3000, GOES_ON_MS = 4500, SLACK_MS = 3000, STUCK_MS = 60000, WORK_MS = 30 };

struct stretch {
    int64_t first_ns, last_ns;
    int round, process;
};

struct shared {
    char hosts[ENSEMBLES][64];
    atomic_int round, held, done, wrong; /* held: the round in which somebody holds, and the others begin */
    atomic_int granted;                  /* the round in which somebody else was granted */
    atomic_int count;                    /* of the stretches */
    struct stretch stretches[WAYS * ROUNDS_MOST * MOST];
    int64_t loss_ms[WAYS * ROUNDS_MOST],
        gap_ms[WAYS * ROUNDS_MOST]; /* from the cut to the loss; from there to the next */
};

static struct shared *shared;
static int rounds = 20, processes = 3;
static gboolean no_order;
static ts_ensemble *ensembles[ENSEMBLES];

static struct {
    int number;
    ts_proxy *proxy[ENSEMBLES];
    pdk_session *session[ENSEMBLES];
    pdk_lock *lock[ENSEMBLES];
    pdk_right rights[ENSEMBLES];
    atomic_int losses;
    GRand *dice;
} me;

static void complain(int round, const char *what, const char *why) {
    fprintf(stderr, "majority: round %d, process %d: %s: %s\n", round, me.number, what, why);
    atomic_fetch_add(&shared->wrong, 1);
}

static void must(pdk_status status, int round, const char *what) {
    if (status == PDK_OK)
        return;
    complain(round, what, pdk_last_error());
    _exit(1);
}

static int links_cut_in(int round) { return round % WAYS + 1; }

/* ---- one process */

static void open_all(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.server_tick_ms = TICK_MS;
    for (int i = 0; i < ENSEMBLES; i++) {
        me.proxy[i] = ts_proxy_start(shared->hosts[i]);
        must(pdk_session_open(ts_proxy_address(me.proxy[i]), &options, &me.session[i]), 0, "open");
        /* The proxies of each process have other names. So the paths make an order that all have in common, or there is none. */
        g_autofree char *path = g_strdup_printf("/majority/%d", no_order ? 0 : i);
        must(pdk_lock_new(me.session[i], path, NULL, &me.lock[i]), 0, "lock");
        me.rights[i] = pdk_right_lock(me.lock[i]);
    }
}

static void close_all(void) {
    for (int i = 0; i < ENSEMBLES; i++) {
        pdk_lock_unref(me.lock[i]);
        must(pdk_session_close(me.session[i], STUCK_MS), 0, "close");
        pdk_session_unref(me.session[i]);
        ts_proxy_stop(me.proxy[i]);
    }
}

static void on_lost(pdk_set *set, pdk_reason reason, void *user) {
    (void)set;
    (void)reason;
    (void)user;
    atomic_fetch_add(&me.losses, 1);
}

static pdk_set *acquire(int round) {
    pdk_set *set = NULL;
    pdk_set_options options = PDK_SET_OPTIONS_INIT;
    options.need = NEED;
    must(pdk_set_acquire(me.rights, ENSEMBLES, STUCK_MS, &options, &set), round, "acquire");
    atomic_store(&me.losses, 0);
    must(pdk_set_on_lost(set, on_lost, NULL, NULL), round, "on_lost");
    return set;
}

static int parts_held(const pdk_set *set) {
    int held = 0;
    for (int i = 0; i < ENSEMBLES; i++)
        held += pdk_hold_is_valid(pdk_set_part(set, i));
    return held;
}

/* Looks for so long, or until it is not valid. first_ns: after a look that found it valid; last_ns: before one. */
static bool watch(const pdk_set *set, int64_t ms, struct stretch *s) {
    for (int64_t until = ts_now_ns() + ms * 1000000, now; (now = ts_now_ns()) < until; g_usleep(200)) {
        if (!pdk_set_is_valid(set))
            return false;
        s->last_ns = now;
        if (s->first_ns == 0)
            s->first_ns = ts_now_ns();
    }
    return true;
}

static void write_down(const struct stretch *s) {
    if (s->first_ns > 0 && s->first_ns < s->last_ns)
        shared->stretches[atomic_fetch_add(&shared->count, 1)] = *s;
}

static void set_links(int round, bool cut) {
    int order[ENSEMBLES] = {0, 1, 2, 3, 4};
    for (int i = 0; i < ENSEMBLES; i++) {
        if (!cut) {
            ts_proxy_heal(me.proxy[i]);
            continue;
        }
        int other = g_rand_int_range(me.dice, i, ENSEMBLES), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
        if (i < links_cut_in(round))
            ts_proxy_set_mode(me.proxy[order[i]], g_rand_boolean(me.dice) ? TS_BLACKHOLE : TS_CUT);
    }
}

static void hold_and_be_cut_off(int round) {
    struct stretch s = {0, 0, round, me.number};
    pdk_set *set = acquire(round);
    for (int64_t until = ts_now_ms() + SLACK_MS; parts_held(set) < ENSEMBLES && ts_now_ms() < until;)
        watch(set, 1, &s);
    if (parts_held(set) < ENSEMBLES)
        complain(round, "the rest of the parts", "not taken in the background");
    atomic_store(&shared->held, round);
    watch(set, 100, &s); /* the others are waiting by now */
    int64_t cut_at = ts_now_ms();
    set_links(round, true);
    bool goes_on = watch(set, links_cut_in(round) < NEED ? GOES_ON_MS : SESSION_MS + SLACK_MS, &s);
    shared->loss_ms[round] = ts_now_ms() - cut_at;
    write_down(&s);
    if (goes_on != (links_cut_in(round) <= ENSEMBLES - NEED))
        complain(round, goes_on ? "still valid" : "lost", pdk_reason_name(pdk_set_reason(set)));
    if (!goes_on) {
        for (int64_t until = ts_now_ms() + SLACK_MS; atomic_load(&me.losses) == 0 && ts_now_ms() < until;)
            g_usleep(1000);
        if (atomic_load(&me.losses) != 1)
            complain(round, "LOST", "not told once");
    }
    for (int64_t until = ts_now_ms() + STUCK_MS; !goes_on && atomic_load(&shared->granted) < round;) {
        if (ts_now_ms() > until)
            complain(round, "the others", "nobody is granted");
        g_usleep(1000); /* the links stay cut until then: the ensembles end the sessions by themselves */
    }
    if (pdk_set_release(set) != (goes_on ? PDK_OK : PDK_LOST))
        complain(round, "release", pdk_last_error());
    set_links(round, false);
}

static void wait_and_work(int round) {
    struct stretch s = {0, 0, round, me.number};
    while (atomic_load(&shared->held) < round)
        g_usleep(1000);
    pdk_set *set = acquire(round);
    atomic_store(&shared->granted, round);
    if (!watch(set, WORK_MS, &s))
        complain(round, "lost without a cut", pdk_reason_name(pdk_set_reason(set)));
    write_down(&s);
    must(pdk_set_release(set), round, "release");
}

static pid_t start(int number) {
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    me.number = number;
    me.dice = g_rand_new_with_seed((guint32)number + 1);
    while (atomic_load(&shared->round) < 0)
        g_usleep(1000);
    open_all();
    for (int round = 0; round < WAYS * rounds; round++) {
        while (atomic_load(&shared->round) < round)
            g_usleep(1000);
        if (round % processes == number)
            hold_and_be_cut_off(round);
        else
            wait_and_work(round);
        atomic_fetch_add(&shared->done, 1);
    }
    close_all();
    g_rand_free(me.dice);
    _exit(0);
}

/* ---- the judge */

static int by_time(const void *a, const void *b) {
    const struct stretch *x = a, *y = b;
    return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

static void judge(void) {
    int count = atomic_load(&shared->count);
    qsort(shared->stretches, (size_t)count, sizeof shared->stretches[0], by_time);
    for (int i = 1; i < count; i++) {
        const struct stretch *x = &shared->stretches[i - 1], *y = &shared->stretches[i];
        if (x->last_ns >= y->first_ns)
            complain(y->round, "two were valid at one moment", "the stretches overlap");
        if (x->round == y->round && links_cut_in(x->round) == WAYS && x->process == x->round % processes)
            shared->gap_ms[x->round] = (y->first_ns - x->last_ns) / 1000000;
    }
    if (count != WAYS * rounds * processes)
        complain(0, "stretches", "some are missing");
}

static void report(int64_t begun_ms) {
    int64_t losses[] = {INT64_MAX, 0}, gaps[] = {INT64_MAX, 0};
    for (int round = WAYS - 1; round < WAYS * rounds; round += WAYS) {
        losses[0] = MIN(losses[0], shared->loss_ms[round]);
        losses[1] = MAX(losses[1], shared->loss_ms[round]);
        gaps[0] = MIN(gaps[0], shared->gap_ms[round]);
        gaps[1] = MAX(gaps[1], shared->gap_ms[round]);
    }
    printf("%d processes, 5 ensembles, 3 needed, %d rounds each, in %.1f s: %d holds\n", processes, rounds,
           (double)(ts_now_ms() - begun_ms) / 1000, atomic_load(&shared->count));
    printf("1 cut off, 2 cut off: goes on. 3 cut off: lost %.1f to %.1f s later (session timeout %.1f s), the next one "
           "valid %.1f to "
           "%.1f s after that\n",
           (double)losses[0] / 1000, (double)losses[1] / 1000, SESSION_MS / 1000.0, (double)gaps[0] / 1000,
           (double)gaps[1] / 1000);
    printf("%s\n",
           atomic_load(&shared->wrong) ? "FAILED" : "none valid beside another, each told in time, nobody stuck");
}

static void check_nothing_is_left(void) {
    for (int i = 0; i < ENSEMBLES; i++) {
        g_autofree char *path = g_strdup_printf("/majority/%d", no_order ? 0 : i);
        if (ts_child_count(ts_ensemble_host(ensembles[i], 0), path) > 0)
            complain(0, ts_ensemble_host(ensembles[i], 0), "a node is left");
    }
}

static void run_rounds(const pid_t *pids) {
    for (int round = 0; round < WAYS * rounds; round++) {
        atomic_store(&shared->round, round);
        while (atomic_load(&shared->done) < (round + 1) * processes) {
            g_usleep(1000);
            for (int i = 0; i < processes; i++)
                if (waitpid(pids[i], NULL, WNOHANG) == pids[i] && round < WAYS * rounds - 1) {
                    complain(round, "a process", "has ended too early");
                    return;
                }
        }
    }
}

static bool start_servers(void) {
    const ts_ensemble_options options = {.nodes = 1, .tick_ms = TICK_MS};
    for (int i = 0; i < ENSEMBLES; i++) {
        if (!(ensembles[i] = ts_ensemble_start(&options)))
            return false;
        g_strlcpy(shared->hosts[i], ts_ensemble_host(ensembles[i], 0), sizeof shared->hosts[i]);
    }
    return true;
}

static int run(void) {
    pid_t pids[MOST];
    for (int i = 0; i < processes; i++)
        pids[i] = start(i); /* before the servers: these have threads in this process */
    if (!start_servers())
        return EXIT_FAILURE; /* the children are killed with it */
    int64_t begun = ts_now_ms();
    run_rounds(pids);
    for (int i = 0; i < processes; i++) {
        if (atomic_load(&shared->wrong))
            kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    judge();
    check_nothing_is_left();
    report(begun);
    for (int i = 0; i < ENSEMBLES; i++)
        ts_ensemble_stop(ensembles[i]);
    return atomic_load(&shared->wrong) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "rounds with one, with two and with three cut off, 1 to 200; 20",
         "N"},
        {"processes", 0, 0, G_OPTION_ARG_INT, &processes, "how many contend, 2 to 8; 3", "N"},
        {"no-order", 0, 0, G_OPTION_ARG_NONE, &no_order, "each process takes the locks in another order", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("- contends for majorities of five ensembles");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, NULL) || argc != 1 || processes < 2 || processes > MOST ||
        rounds < 1 || rounds > ROUNDS_MOST)
        return 2;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return EXIT_FAILURE;
    atomic_store(&shared->round, -1);
    atomic_store(&shared->held, -1);
    atomic_store(&shared->granted, -1);
    return run();
}
