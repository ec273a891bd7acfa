#include "reap.h"

#include "clock.h"
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 4194304, DEEPEST = 64 }; /* PID_MAX_LIMIT of Linux */

bool cmd_reap_all_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0; }

/* ---- the children */

/* Add the children of one thread. false: the system does not tell. */
static bool add_children_of(const char *process, const char *thread, GArray *pids) {
    g_autofree char *path = g_strdup_printf("/proc/%s/task/%s/children", process, thread);
    char word[32];
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (fscanf(file, "%31s", word) == 1) {
        pid_t child = (pid_t)strtol(word, NULL, 10);
        if (child > 0)
            g_array_append_val(pids, child);
    }
    fclose(file);
    return true;
}

/* "self", or a number. NULL: the system does not tell. */
static GArray *children_of(const char *process) {
    g_autofree char *path = g_strdup_printf("/proc/%s/task", process);
    GDir *threads = g_dir_open(path, 0, NULL);
    GArray *pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
    const char *thread;
    bool told = false;
    while (threads && (thread = g_dir_read_name(threads)))
        told = add_children_of(process, thread, pids) || told;
    if (threads)
        g_dir_close(threads);
    if (!told)
        g_array_free(g_steal_pointer(&pids), TRUE);
    return pids;
}

bool cmd_sees_children(void) {
    GArray *pids = children_of("self");
    if (pids)
        g_array_free(pids, TRUE);
    return pids != NULL;
}

/* Is it a child, dead or alive? Only a child can be waited for. */
static bool is_child(pid_t pid, bool *dead) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT))
        return false;
    *dead = info.si_pid != 0;
    return true;
}

/* ---- the group's number */

/* A process that ends at once. Since it sends no signal at its end, a wait sees it only with __WCLONE. */
static pid_t make_pin(void) {
    pid_t pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
    if (pid == 0)
        _exit(0);
    return pid > 0 ? pid : 0;
}

/* Take the pin out, with KILL, since somebody may have stopped it before it ended. */
static void take_out(pid_t pin) {
    if (!pin)
        return;
    (void)kill(pin, SIGKILL);
    (void)waitpid(pin, NULL, (int)__WCLONE);
}

/* 0: the system refuses, or there is no such group in our session. */
static pid_t pin(pid_t group) {
    pid_t pid = make_pin();
    if (pid && setpgid(pid, group) == 0)
        return pid;
    take_out(pid);
    return 0;
}

void cmd_family_begin(cmd_family *f, pid_t leader) { *f = (cmd_family){.group = leader, .leader = leader}; }

void cmd_family_adopt(cmd_family *f, pid_t leader) {
    siginfo_t info;
    *f = (cmd_family){.leader = leader, .pin = leader > 0 ? pin(leader) : 0};
    /* From now on the number stays with its owner. That is us if a child is in the group: at least a dead leader, or an
     * older pin. */
    if (f->pin && waitid(P_PGID, (id_t)leader, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == 0)
        f->group = leader;
}

void cmd_family_end(cmd_family *f) {
    take_out(f->pin);
    f->group = f->pin = 0;
}

/* ---- reaping */

/* Is the leader, which is dead, the only child? When it died, all below it became our children, and only a child could
 * have started another process since: so nothing is left besides. */
static bool is_alone(pid_t leader) {
    GArray *pids = children_of("self");
    bool alone = pids && pids->len == 1 && g_array_index(pids, pid_t, 0) == leader;
    if (pids)
        g_array_free(pids, TRUE);
    return alone;
}

bool cmd_family_reap(cmd_family *f, int *stopped) {
    for (;;) {
        siginfo_t info = {0};
        int how;
        if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT))
            return errno != ECHILD;
        if (info.si_pid == 0)
            return true;
        bool ends = info.si_code != CLD_STOPPED && info.si_code != CLD_TRAPPED, leads = info.si_pid == f->leader;
        if (leads && ends && !f->pin && !is_alone(f->leader) && !(f->pin = pin(f->group)))
            f->group = 0; /* no number is better than somebody else's */
        if (waitpid(info.si_pid, &how, WNOHANG | WUNTRACED) != info.si_pid || !leads)
            continue;
        if (WIFSTOPPED(how)) {
            *stopped = WSTOPSIG(how);
            continue;
        }
        f->ended = true;
        f->status = how;
    }
}

/* ---- signals */

void cmd_family_signal(const cmd_family *f, int number) {
    if (f->group)
        kill(-f->group, number);
}

/* Signal a child, which keeps its number until we reap it. A dead one has no user any more. */
static void signal_child(pid_t pid, int number, pid_t *refused) {
    bool dead;
    if (is_child(pid, &dead) && !dead && kill(pid, number) && errno == EPERM)
        *refused = pid;
}

/* Signal all children by trying numbers. Numbers are given in turn, so the processes below got theirs after the leader,
 * and most of them before the newest process. For KILL all numbers are tried, until nobody is left. */
static void signal_by_number(cmd_family *f, int number, pid_t *refused) {
    enum { LOOK_EACH = 1024 };
    int stopped = 0;
    pid_t newest = make_pin();
    take_out(newest);
    for (pid_t i = 1; i < NUMBERS; i++) {
        pid_t pid = (f->leader + i) % NUMBERS;
        if (pid == newest && number != SIGKILL)
            break;
        if (pid)
            signal_child(pid, number, refused);
        if (i % LOOK_EACH == 0 && !cmd_family_reap(f, &stopped))
            break;
    }
}

pid_t cmd_family_signal_all(cmd_family *f, int number) {
    pid_t refused = 0;
    cmd_family_signal(f, number);
    GArray *pids = children_of("self");
    if (!pids)
        signal_by_number(f, number, &refused);
    for (guint i = 0; pids && i < pids->len; i++)
        signal_child(g_array_index(pids, pid_t, i), number, &refused);
    if (pids)
        g_array_free(pids, TRUE);
    return refused;
}

/* Is it a zombie, which has no user any more? A hidden process lives. */
static bool is_zombie(const char *process) {
    g_autofree char *path = g_strdup_printf("/proc/%s/stat", process), *text = NULL;
    const char *end = g_file_get_contents(path, &text, NULL, NULL) ? strrchr(text, ')') : NULL;
    return end && strlen(end) > 2 && (end[2] == 'Z' || end[2] == 'X');
}

static bool refuses(pid_t pid) { return kill(pid, 0) && errno == EPERM; }

/* A zombie that is reaped before its state is read looks like a hidden process, so the system is asked once more. */
bool cmd_is_out_of_reach(pid_t pid) {
    g_autofree char *number = g_strdup_printf("%d", pid);
    return refuses(pid) && !is_zombie(number) && refuses(pid);
}

static bool is_listed(const char *parent, pid_t pid) {
    GArray *pids = children_of(parent);
    bool found = false;
    for (guint i = 0; pids && i < pids->len; i++)
        found = found || g_array_index(pids, pid_t, i) == pid;
    if (pids)
        g_array_free(pids, TRUE);
    return found;
}

/* The number may have changed hands since it was read. But a process that is a child before and after is the same
 * one. */
static pid_t stranger_below(const char *parent, int depth) {
    GArray *pids = depth < DEEPEST ? children_of(parent) : NULL;
    pid_t found = 0;
    for (guint i = 0; pids && i < pids->len && !found; i++) {
        pid_t pid = g_array_index(pids, pid_t, i);
        g_autofree char *number = g_strdup_printf("%d", pid);
        if (kill(pid, 0) == 0 || errno != EPERM)
            found = stranger_below(number, depth + 1);
        else if (cmd_is_out_of_reach(pid) && is_listed(parent, pid))
            found = pid;
    }
    if (pids)
        g_array_free(pids, TRUE);
    return found;
}

pid_t cmd_family_stranger(const cmd_family *f) {
    bool dead;
    /* Its own number is known without the system's list, too. */
    if (!f->ended && kill(f->leader, 0) && errno == EPERM && is_child(f->leader, &dead) && !dead)
        return f->leader;
    return stranger_below("self", 0);
}

/* ---- the first process of a container */

static pid_t below;

static void pass_on(const siginfo_t *signal) {
    /* The child has got a terminal's signals itself. */
    if (signal->si_code <= 0)
        kill(below, signal->si_signo);
}

/* A keeper that was killed leaves a guardian, which has to end the keeper's command. It has this long. */
enum { LAST_MS = 30000 };

static _Noreturn void reap_until_it_ends(const sigset_t *signals) {
    int64_t last = INT64_MAX;
    int how = 0, death;
    for (;;) {
        siginfo_t info;
        pid_t pid;
        while ((pid = waitpid(-1, &death, WNOHANG)) > 0)
            if (pid == below) {
                how = death;
                last = cmd_now_ms() + (WIFEXITED(how) ? 0 : LAST_MS);
            }
        if (last != INT64_MAX && (pid < 0 || cmd_now_ms() >= last))
            _exit(WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how));
        int number = sigtimedwait(signals, &info, &(struct timespec){.tv_sec = last == INT64_MAX ? 3600 : 1});
        if (number > 0 && number != SIGCHLD && last == INT64_MAX)
            pass_on(&info);
    }
}

/* Let go of the descriptors, so that a program that waits for the end of a pipe waits for the child alone. */
static void let_go_of_descriptors(void) {
    int nothing = open("/dev/null", O_RDWR);
    for (int i = STDIN_FILENO; nothing >= 0 && i <= STDERR_FILENO; i++)
        (void)dup2(nothing, i);
    (void)close_range(STDERR_FILENO + 1, ~0U, 0);
}

void cmd_be_init(void) {
    sigset_t all, before;
    if (getpid() != 1)
        return;
    signal(SIGCHLD, SIG_DFL);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    below = fork();
    if (below > 0) {
        let_go_of_descriptors();
        reap_until_it_ends(&all);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL); /* also where there is no process to be had */
}
