#include "reap.h"

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

void cmd_reap_all_orphans(void) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

/* The children of one thread of this process. */
static void signal_children_of(const char *thread, int number) {
    char path[300], word[32];
    if (snprintf(path, sizeof path, "/proc/self/task/%s/children", thread) >= (int)sizeof path)
        return;
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    while (fscanf(file, "%31s", word) == 1) {
        pid_t child = (pid_t)strtol(word, NULL, 10);
        if (child > 0)
            kill(child, number);
    }
    fclose(file);
}

void cmd_signal_children(int number) {
    GDir *threads = g_dir_open("/proc/self/task", 0, NULL);
    const char *thread;
    if (!threads)
        return;
    while ((thread = g_dir_read_name(threads)))
        signal_children_of(thread, number);
    g_dir_close(threads);
}

void cmd_kill_below(pid_t group, pid_t first, int *status) {
    siginfo_t info;
    /* While a child is there, so is the group, and its number belongs to nobody else. */
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno == EINTR) {
        int how;
        pid_t reaped;
        if (group > 0)
            kill(-group, SIGKILL);
        cmd_signal_children(SIGKILL);
        while ((reaped = waitpid(-1, &how, WNOHANG)) > 0)
            if (reaped == first)
                *status = how;
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
}
