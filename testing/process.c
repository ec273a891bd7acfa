/* Child processes: start, stop, wait. */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

void pdk__test_fill_standard(void) {
    int fd;

    do {
        fd = open("/dev/null", O_RDWR); /* takes the lowest number that is free */
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        close(fd);
    }
}

/* The plan for a child. */
typedef struct {
    const char *const *argv;
    const char *folder; /* NULL: this process's */
    int out, err;       /* -1: this process's */
    bool own_group;
} plan;

/* Runs in the child, between fork and exec: nothing here may allocate or lock. */
static _Noreturn void become(const plan *p, pid_t parent) {
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127); /* the parent died before the signal was asked for */
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (p->own_group) {
        setpgid(0, 0);
    }
    if (p->out >= 0) {
        dup2(p->out, STDOUT_FILENO);
    }
    if (p->err >= 0) {
        dup2(p->err, STDERR_FILENO);
    }
    if (p->folder != NULL && chdir(p->folder) != 0) {
        _exit(127);
    }
    /* libzookeeper's sockets are not close-on-exec: a child must not keep a session's connection open. */
    close_range(3, ~0U, 0);
    execvp(p->argv[0], (char *const *)(uintptr_t)p->argv);
    _exit(127);
}

static pid_t start(const plan *p) {
    const pid_t parent = getpid();
    const pid_t pid = fork();

    if (pid == 0) {
        become(p, parent);
    }
    return pid;
}

pid_t pdk__test_spawn(const char *const argv[], int *out_fd) {
    plan p = {.argv = argv, .out = -1, .err = -1};
    int ends[2];
    pid_t pid;

    if (out_fd == NULL) {
        return start(&p);
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    p.out = ends[1];
    pid = start(&p);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
    } else {
        *out_fd = ends[0];
    }
    return pid;
}

pid_t pdk__test_spawn_server(const char *const argv[], const char *folder, const char *log_path) {
    const int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const plan p = {.argv = argv, .folder = folder, .out = log, .err = log, .own_group = true};
    pid_t pid;
    int error;

    if (log < 0) {
        return -1;
    }
    pid = start(&p);
    error = errno;
    close(log);
    errno = error;
    return pid;
}

/* The state letter of /proc/PID/task/TID/stat, 0 when there is no such thread. */
static char thread_state(pid_t pid, const char *tid) {
    g_autofree char *path = g_strdup_printf("/proc/%d/task/%s/stat", (int)pid, tid);
    g_autofree char *text = NULL;
    const char *name_end;

    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        return 0;
    }
    name_end = strrchr(text, ')'); /* the name in front may hold anything */
    return name_end != NULL && strlen(name_end) > 2 ? name_end[2] : 0;
}

typedef struct {
    pid_t pid;
    bool want_stopped;
    bool gone;
} stop_check;

/* True once every thread of the process is stopped (or none is), or the process is gone. */
static bool in_wanted_state(void *user) {
    stop_check *check = user;
    g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)check->pid);
    GDir *threads = g_dir_open(path, 0, NULL);
    const char *tid;
    bool all = true;
    int seen = 0;

    while (threads != NULL && (tid = g_dir_read_name(threads)) != NULL) {
        const char state = thread_state(check->pid, tid);

        if (state == 0 || state == 'Z' || state == 'X') {
            continue;
        }
        seen++;
        all = all && (state == 'T') == check->want_stopped;
    }
    if (threads != NULL) {
        g_dir_close(threads);
    }
    check->gone = seen == 0;
    return check->gone || all;
}

bool pdk__test_signal(pid_t pid, int signal_number) {
    siginfo_t info;

    return pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           kill(pid, signal_number) == 0;
}

static bool signal_and_see(pid_t pid, int signal_number, bool want_stopped) {
    stop_check check = {.pid = pid, .want_stopped = want_stopped};

    if (!pdk__test_signal(pid, signal_number)) {
        return false;
    }
    return pdk__test_wait_until(in_wanted_state, &check, 10000) && !check.gone;
}

bool pdk__test_pause(pid_t pid) { return signal_and_see(pid, SIGSTOP, true); }

bool pdk__test_resume(pid_t pid) { return signal_and_see(pid, SIGCONT, false); }

void pdk__test_kill(pid_t pid) {
    if (!pdk__test_signal(pid, SIGKILL)) {
        return;
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

typedef struct {
    pid_t pid;
    pid_t reaped;
    int status;
} reap;

static bool reaped(void *user) {
    reap *r = user;

    r->reaped = waitpid(r->pid, &r->status, WNOHANG);
    return r->reaped != 0;
}

int pdk__test_wait(pid_t pid, int64_t timeout_ms) {
    reap r = {.pid = pid};

    if (pid <= 0 || !pdk__test_wait_until(reaped, &r, timeout_ms) || r.reaped < 0) {
        return -1;
    }
    return WIFSIGNALED(r.status) ? 128 + WTERMSIG(r.status) : WEXITSTATUS(r.status);
}

bool pdk__test_alive(pid_t pid) {
    g_autofree char *tid = g_strdup_printf("%d", (int)pid);
    const char state = pid > 0 ? thread_state(pid, tid) : 0;

    return state != 0 && state != 'Z' && state != 'X';
}
