/* Processes write under one fence in a file, and are killed at random moments: fence_crash [--kills N] [--writers N].
 *
 * Each writer takes a token a little above the mark, or an old one, and writes its pair to a data file with pdk_fence_write. What
 * was confirmed to it stands in memory that all share, so it outlives the writer. The judge is the parent, after each kill, and
 * each writer, at each step:
 *   - the mark is never below what was confirmed before it was read, and never goes back;
 *   - nobody is admitted below what was confirmed before the call;
 *   - the data is never older than what was confirmed, nor than it was before. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <paddock/fence.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 16 };

/* A pair as one number: hand-overs stay below 256 here. */
struct shared {
    _Atomic int64_t confirmed, steps, refused;
    atomic_int wrong;
};

static struct shared *shared;
static char *mark_path, *data_path;
static int kills = 1000, writers = 4;

static void complain(const char *what, int64_t is, int64_t least) {
    fprintf(stderr, "fence_crash: %s: %" G_GINT64_FORMAT ".%d after %" G_GINT64_FORMAT ".%d\n", what, is / 256,
            (int)(is % 256), least / 256, (int)(least % 256));
    atomic_fetch_add(&shared->wrong, 1);
}

static void confirm(int64_t pair) {
    int64_t before = atomic_load(&shared->confirmed);
    while (before < pair && !atomic_compare_exchange_weak(&shared->confirmed, &before, pair))
        ;
}

static int64_t read_mark(pdk_fence *file) {
    int64_t token = 0;
    uint32_t handover = 0;
    if (pdk_fence_mark(file, &token, &handover) != PDK_OK) {
        fprintf(stderr, "fence_crash: %s\n", pdk_last_error());
        atomic_fetch_add(&shared->wrong, 1);
    }
    return token * 256 + handover;
}

static int64_t read_data(int fd) {
    int64_t pair = 0;
    if (pread(fd, &pair, sizeof pair, 0) < 0)
        atomic_fetch_add(&shared->wrong, 1);
    return pair;
}

static void step(pdk_fence *file, int fd, GRand *rand) {
    int64_t least = atomic_load(&shared->confirmed), mark = read_mark(file);
    if (mark < least)
        complain("the mark", mark, least);
    int64_t drawn = mark / 256 + g_rand_int_range(rand, -1, 3), token = MAX(drawn, 1);
    int64_t pair = token * 256 + g_rand_int_range(rand, 0, 4);
    least = atomic_load(&shared->confirmed);
    pdk_status status = pdk_fence_write(file, token, (uint32_t)(pair % 256), fd, &pair, sizeof pair, 0);
    if (status == PDK_OK) {
        confirm(pair);
        if (pair < least)
            complain("admitted", pair, least);
    } else if (status == PDK_STALE) {
        atomic_fetch_add(&shared->refused, 1);
    } else {
        fprintf(stderr, "fence_crash: %s\n", pdk_last_error());
        atomic_fetch_add(&shared->wrong, 1);
    }
    atomic_fetch_add(&shared->steps, 1);
}

static pid_t start_writer(void) {
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    pdk_fence *file;
    int fd = open(data_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || pdk_fence_open(mark_path, PDK_FENCE_CREATE, &file) != PDK_OK) {
        fprintf(stderr, "fence_crash: %s\n", pdk_last_error());
        atomic_fetch_add(&shared->wrong, 1);
        _exit(1);
    }
    for (GRand *rand = g_rand_new();;)
        step(file, fd, rand);
}

/* The mark and the data as somebody who comes now finds them. */
static void judge(int64_t *last_mark, int64_t *last_data) {
    pdk_fence *file;
    int64_t least = atomic_load(&shared->confirmed);
    if (pdk_fence_open(mark_path, PDK_FENCE_CREATE, &file) != PDK_OK) {
        fprintf(stderr, "fence_crash: %s\n", pdk_last_error());
        atomic_fetch_add(&shared->wrong, 1);
        return;
    }
    int64_t mark = read_mark(file);
    if (mark < MAX(least, *last_mark))
        complain("the mark", mark, MAX(least, *last_mark));
    pdk_fence_close(file);
    int fd = open(data_path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
    int64_t data = read_data(fd);
    if (data < MAX(least, *last_data))
        complain("the data", data, MAX(least, *last_data));
    close(fd);
    *last_mark = mark;
    *last_data = data;
}

static int run(void) {
    pid_t pids[MOST];
    int64_t last_mark = 0, last_data = 0;
    for (int i = 0; i < writers; i++)
        pids[i] = start_writer();
    for (int kill_number = 0; kill_number < kills && !atomic_load(&shared->wrong); kill_number++) {
        int victim = g_random_int_range(0, writers);
        g_usleep((gulong)g_random_int_range(0, 15000));
        if (kill(pids[victim], SIGKILL) != 0 || waitpid(pids[victim], NULL, 0) != pids[victim])
            atomic_fetch_add(&shared->wrong, 1);
        judge(&last_mark, &last_data);
        pids[victim] = start_writer();
    }
    /* At least one write of those that remain. */
    for (int64_t steps = atomic_load(&shared->steps), i = 0; atomic_load(&shared->steps) < steps + 10 && i < 20000; i++)
        g_usleep(1000);
    for (int i = 0; i < writers; i++) {
        (void)kill(pids[i], SIGKILL);
        (void)waitpid(pids[i], NULL, 0);
    }
    judge(&last_mark, &last_data);
    printf("%d kills under %d writers: %" G_GINT64_FORMAT " writes and refusals (%" G_GINT64_FORMAT
           " refused), the mark is (%" G_GINT64_FORMAT ", %d): %s\n",
           kills, writers, atomic_load(&shared->steps), atomic_load(&shared->refused), last_mark / 256,
           (int)(last_mark % 256), atomic_load(&shared->wrong) ? "FAILED" : "nothing confirmed was lost");
    return atomic_load(&shared->wrong) || last_mark == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A writer that was killed as it made the file leaves a name of its own beside it. */
static void clean_up(const char *folder) {
    GDir *entries = g_dir_open(folder, 0, NULL);
    for (const char *name; entries && (name = g_dir_read_name(entries));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        (void)g_unlink(path);
    }
    if (entries)
        g_dir_close(entries);
    (void)g_rmdir(folder);
}

int main(int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"kills", 0, 0, G_OPTION_ARG_INT, &kills, "how many kills; 1000", "N"},
        {"writers", 0, 0, G_OPTION_ARG_INT, &writers, "how many processes write, 1 to 16; 4", "N"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("- kills writers under a fence in a file");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, NULL) || writers < 1 || writers > MOST || kills < 1)
        return 2;
    g_autofree char *folder = g_dir_make_tmp("paddock-test-XXXXXX", NULL);
    mark_path = g_build_filename(folder, "mark", NULL);
    data_path = g_build_filename(folder, "data", NULL);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    int result = run();
    clean_up(folder);
    g_free(mark_path);
    g_free(data_path);
    return result;
}
