#include "guard_internal.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_terminal(void) { return open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY); }

pid_t cmd_terminals_group(void) {
    int terminal = open_terminal();
    if (terminal < 0)
        return errno == ENXIO ? -1 : 0;
    pid_t group = tcgetpgrp(terminal);
    close(terminal);
    return group > 0 ? group : 0;
}

void cmd_pass_terminal(pid_t from, pid_t to) {
    int terminal = from > 0 && to > 0 ? open_terminal() : -1;
    if (terminal < 0)
        return;
    if (tcgetpgrp(terminal) == from)
        (void)tcsetpgrp(terminal, to); /* SIGTTOU is blocked, as every signal is */
    close(terminal);
}

/* Become the command. It never returns: on a failure the errno goes to `report`. */
static _Noreturn void become(char **command, pid_t keepers_group, int report) {
    sigset_t none;
    setpgid(0, 0);
    cmd_pass_terminal(keepers_group, getpgrp());
    /* The last resort, for the command alone: the guardian was killed, too. */
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    cmd_signals_hand_on();
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    execvp(command[0], command);
    int why = errno;
    ssize_t written = write(report, &why, sizeof why);
    (void)written;
    _exit(CMD_START);
}

pid_t cmd_spawn(char **command, pid_t keepers_group) {
    int report[2], why = 0;
    if (pipe2(report, O_CLOEXEC))
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        become(command, keepers_group, report[1]);
    int failed = errno;
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        errno = failed;
        return -1;
    }
    setpgid(pid, pid); /* parent or child, whichever is first */
    ssize_t got;
    do
        got = read(report[0], &why, sizeof why);
    while (got < 0 && errno == EINTR);
    close(report[0]);
    if (got != (ssize_t)sizeof why)
        return pid;
    pid_t reaped;
    do
        reaped = waitpid(pid, NULL, 0);
    while (reaped < 0 && errno == EINTR);
    cmd_pass_terminal(pid, keepers_group);
    errno = why;
    return -1;
}
