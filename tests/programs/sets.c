/* Processes acquire random sets of rights, named in any order: sets [--sets N] [--processes N] HOSTS.
 *
 * Each has two sessions, and on them a dozen paths: locks, read/write locks and semaphores of three permits. A set is some of them,
 * in a random order. Most are waited for, and must be granted: a circle of callers would be there for ever. Some are tried, and
 * some have little time; both may leave with nothing.
 *
 * The judge is memory that all share: who is on each path, counted by who holds it. A hold that is still valid after it was counted
 * must not stand beside one that excludes it. At the end nothing is left on the server.
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
#include <ts_clock.h>
#include <ts_observer.h>
#include <unistd.h>

enum { MOST = 32, PATHS = 12, LARGEST = 5, PERMITS = 3, SESSIONS = 2, STUCK_MS = 120000, SESSION_MS = 30000 };

struct shared {
    atomic_int inside[PATHS]; /* a lock or a writer counts as 1000, a reader or a permit as 1 */
    atomic_int granted, busy, late, wrong;
    _Atomic int64_t longest_ms;
};

static struct shared *shared;
static int sets = 125, processes = 8;
static const char *hosts;
static pdk_session *session[SESSIONS];
static pdk_lock *lock[PATHS];
static pdk_rwlock *rwlock[PATHS];
static pdk_semaphore *semaphore[PATHS];

static void complain(const char *what, const char *why) {
    fprintf(stderr, "sets: %s: %s\n", what, why);
    atomic_fetch_add(&shared->wrong, 1);
}

static void need(pdk_status status, const char *what) {
    if (status == PDK_OK)
        return;
    complain(what, pdk_last_error());
    _exit(1);
}

static void open_all(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    for (int i = 0; i < SESSIONS; i++)
        need(pdk_session_open(hosts, &options, &session[i]), "open");
    for (int i = 0; i < PATHS; i++) {
        g_autofree char *path = g_strdup_printf("/sets/%02d", i);
        pdk_session *s = session[i % SESSIONS];
        need(i % 3 == 0   ? pdk_lock_new(s, path, NULL, &lock[i])
             : i % 3 == 1 ? pdk_rwlock_new(s, path, NULL, &rwlock[i])
                          : pdk_semaphore_new(s, path, PERMITS, NULL, &semaphore[i]),
             path);
    }
}

static void close_all(void) {
    for (int i = 0; i < PATHS; i++) {
        pdk_lock_unref(lock[i]);
        pdk_rwlock_unref(rwlock[i]);
        pdk_semaphore_unref(semaphore[i]);
    }
    for (int i = 0; i < SESSIONS; i++) {
        need(pdk_session_close(session[i], 20000), "close");
        pdk_session_unref(session[i]);
    }
}

/* A random right on that path, and what it counts as. */
static pdk_right right_on(int path, GRand *rand, int *weight) {
    bool reads = g_rand_boolean(rand);
    *weight = path % 3 == 0 || (path % 3 == 1 && !reads) ? 1000 : 1;
    if (path % 3 == 0)
        return pdk_right_lock(lock[path]);
    if (path % 3 == 1)
        return reads ? pdk_right_read(rwlock[path]) : pdk_right_write(rwlock[path]);
    *weight = g_rand_int_range(rand, 1, PERMITS + 1);
    return pdk_right_permits(semaphore[path], *weight);
}

static bool too_many(int path, int inside) { return inside > (path % 3 == 2 ? PERMITS : 1000); }

static void judge(pdk_set *set, const int *path, const int *weight, int count, GRand *rand) {
    for (int i = 0; i < count; i++) {
        int inside = atomic_fetch_add(&shared->inside[path[i]], weight[i]) + weight[i];
        if (too_many(path[i], inside) && pdk_set_is_valid(set))
            complain(pdk_set_part_path(set, i), "two that exclude each other hold it");
        if (pdk_hold_token(pdk_set_part(set, i)) <= 0)
            complain(pdk_set_part_path(set, i), "no token");
    }
    g_usleep((gulong)g_rand_int_range(rand, 0, 3000));
    if (!pdk_set_is_valid(set))
        complain("a set", pdk_reason_name(pdk_set_reason(set)));
    for (int i = 0; i < count; i++)
        atomic_fetch_sub(&shared->inside[path[i]], weight[i]);
    need(pdk_set_release(set), "release");
}

static void waited(int64_t ms) {
    int64_t before = atomic_load(&shared->longest_ms);
    while (ms > before && !atomic_compare_exchange_weak(&shared->longest_ms, &before, ms))
        ;
}

static void one_set(GRand *rand, int number) {
    int path[PATHS], weight[LARGEST], count = g_rand_int_range(rand, 1, LARGEST + 1);
    pdk_right rights[LARGEST];
    pdk_set *set = NULL;
    for (int i = 0; i < PATHS; i++)
        path[i] = i;
    for (int i = 0; i < count; i++) {
        int other = g_rand_int_range(rand, i, PATHS), kept = path[i];
        path[i] = path[other];
        path[other] = kept;
        rights[i] = right_on(path[i], rand, &weight[i]);
    }
    int64_t ms = number % 8 == 6 ? 0 : number % 8 == 7 ? 20 : STUCK_MS, begun = ts_now_ms();
    pdk_status status = pdk_set_acquire(rights, (size_t)count, ms, NULL, &set);
    waited(ts_now_ms() - begun);
    if (status == PDK_OK) {
        atomic_fetch_add(&shared->granted, 1);
        judge(set, path, weight, count, rand);
    } else if (status == PDK_BUSY && ms == 0) {
        atomic_fetch_add(&shared->busy, 1);
    } else if ((status == PDK_TIMEOUT || status == PDK_UNAVAILABLE) && ms == 20) {
        atomic_fetch_add(&shared->late, 1);
    } else {
        complain(pdk_status_name(status), pdk_last_error());
    }
}

static pid_t start(int number) {
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)number + 1);
    open_all();
    for (int i = 0; i < sets && !atomic_load(&shared->wrong); i++)
        one_set(rand, i);
    close_all();
    _exit(0);
}

static void check_nothing_is_left(void) {
    static const char *const below[] = {"", "", "/locks", "", "", "/leases"};
    for (int i = 0; i < PATHS; i++)
        for (int k = i % 3; k < 6; k += 3) {
            g_autofree char *path = g_strdup_printf("/sets/%02d%s", i, below[k]);
            if (ts_child_count(hosts, path) > 0)
                complain(path, "a node is left");
        }
}

static int run(void) {
    pid_t pids[MOST];
    int64_t begun = ts_now_ms();
    for (int i = 0; i < processes; i++)
        pids[i] = start(i);
    for (int i = 0; i < processes; i++) {
        int status = 1;
        if (waitpid(pids[i], &status, 0) != pids[i] || status != 0)
            complain("a process", "did not come to its end");
    }
    check_nothing_is_left();
    int granted = atomic_load(&shared->granted), busy = atomic_load(&shared->busy), late = atomic_load(&shared->late);
    int wrong =
        atomic_load(&shared->wrong) || granted + busy + late != sets * processes || granted < sets * processes / 2;
    printf("%d processes, %d sets in any order, in %.1f s: %d granted, %d busy, %d late; the longest call took %.1f s: "
           "%s\n",
           processes, sets * processes, (double)(ts_now_ms() - begun) / 1000, granted, busy, late,
           (double)atomic_load(&shared->longest_ms) / 1000, wrong ? "FAILED" : "none stuck, none beside another");
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"sets", 0, 0, G_OPTION_ARG_INT, &sets, "how many sets each process acquires; 125", "N"},
        {"processes", 0, 0, G_OPTION_ARG_INT, &processes, "how many processes, 1 to 32; 8", "N"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("HOSTS - acquires random sets of rights");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, NULL) || argc != 2 || processes < 1 || processes > MOST ||
        sets < 1)
        return 2;
    hosts = argv[1];
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? EXIT_FAILURE : run();
}
