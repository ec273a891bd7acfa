#include "clock.h"
#include "guard_internal.h"
#include "reap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEFTOVERS_MS = 2000 };

typedef struct {
    int channel, alarm, deaths;
    cmd_moments *moments;
    char **const *commands;
    pid_t keepers_group; /* 0: never the terminal */
    pid_t group;         /* of the command that runs, or ran last, and its pid; 0: not started */
    int status;
    bool ended, termed, gone;
    int64_t kill_at; /* by an order, or for what the command left behind */
} guardian;

static void tell(const guardian *g, int kind, int number) {
    cmd_message news = {.kind = kind, .number = number};
    (void)send(g->channel, &news, sizeof news, MSG_NOSIGNAL);
}

/* Everything of the command dies now. */
static void finish(guardian *g) {
    if (!g->group || g->gone)
        return;
    cmd_kill_below(g->group, g->group, &g->status);
    cmd_pass_terminal(g->group, g->keepers_group);
    g->gone = true;
    tell(g, CMD_GONE, g->status);
}

/* CONT: a command that was stopped could not end. */
static void term(guardian *g, int64_t kill_after_ms) {
    int64_t at = cmd_now_ms() + kill_after_ms;
    if (!g->group || g->gone)
        return;
    g->termed = true;
    g->kill_at = at < g->kill_at ? at : g->kill_at;
    kill(-g->group, SIGTERM);
    kill(-g->group, SIGCONT);
    if (g->ended) /* also those that left the group */
        cmd_signal_children(SIGTERM);
}

static void set_environment(cmd_message *order) {
    order->text[sizeof order->text - 1] = '\0';
    for (char *name = order->text; *name;) {
        char *value = name + strlen(name) + 1;
        setenv(name, value, 1);
        name = value + strlen(value) + 1;
    }
}

static void start(guardian *g, cmd_message *order) {
    set_environment(order);
    g->group = 0;
    g->status = 0;
    g->ended = g->termed = g->gone = false;
    g->kill_at = INT64_MAX;
    if (cmd_now_ms() >= atomic_load(&g->moments->term_at)) { /* the order was late: nothing begins now */
        tell(g, CMD_TERMED, 0);
        tell(g, CMD_GONE, 0);
        return;
    }
    pid_t pid = cmd_spawn(g->commands[order->number], g->keepers_group);
    if (pid < 0) {
        tell(g, CMD_REFUSED, errno);
        return;
    }
    g->group = pid;
    tell(g, CMD_STARTED, pid);
}

static void forward(const guardian *g, int number) {
    if (number == SIGCONT) /* it was taken away when the command stopped */
        cmd_pass_terminal(g->keepers_group, g->group);
    kill(-g->group, number);
}

/* false: the keeper is dead, or has done. */
static bool obey(guardian *g) {
    static cmd_message order; /* the environment points into it */
    ssize_t got = recv(g->channel, &order, sizeof order, 0);
    if (got < 0 && errno == EINTR)
        return true;
    if (got != (ssize_t)sizeof order)
        return false;
    switch (order.kind) {
    case CMD_START:
        start(g, &order);
        break;
    case CMD_SET:
        set_environment(&order);
        break;
    case CMD_FORWARD:
        if (g->group && !g->gone)
            forward(g, order.number);
        break;
    case CMD_END:
        term(g, order.number);
        break;
    default:
        finish(g);
        break;
    }
    return true;
}

static void reap(guardian *g) {
    struct signalfd_siginfo info;
    int how;
    pid_t pid;
    ssize_t got;
    do
        got = read(g->deaths, &info, sizeof info);
    while (got > 0);
    while ((pid = waitpid(-1, &how, WNOHANG | WUNTRACED)) > 0) {
        if (pid != g->group)
            continue;
        if (WIFSTOPPED(how)) {
            cmd_pass_terminal(g->group, g->keepers_group);
            tell(g, CMD_STOPPED, 0);
            continue;
        }
        g->ended = true;
        g->status = how;
    }
    if (pid < 0 && errno == ECHILD && g->group && !g->gone) {
        finish(g);
    } else if (g->ended && !g->gone && !g->termed) {
        tell(g, CMD_ENDED, g->status);
        term(g, LEFTOVERS_MS);
    }
}

/* The moments of the lease count only while something of the command is there. */
static void watch_moments(guardian *g) {
    int64_t now = cmd_now_ms(), term_at = atomic_load(&g->moments->term_at),
            kill_at = atomic_load(&g->moments->kill_at);
    if (!g->group || g->gone) {
        cmd_alarm_set(g->alarm, INT64_MAX);
        return;
    }
    if (now >= kill_at || now >= g->kill_at) {
        finish(g);
        return;
    }
    if (now >= term_at && !g->termed) {
        term(g, kill_at - now); /* also when the lease is renewed after all */
        tell(g, CMD_TERMED, 0);
    }
    int64_t next = g->termed || kill_at < term_at ? kill_at : term_at;
    cmd_alarm_set(g->alarm, next < g->kill_at ? next : g->kill_at);
}

/* Without this descriptor the commands read nothing, as intended. */
static void close_input(void) {
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) {
        (void)dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
}

_Noreturn void cmd_guardian(int channel, cmd_moments *moments, char **const *commands, bool background) {
    sigset_t all, deaths;
    guardian g = {.channel = channel,
                  .moments = moments,
                  .commands = commands,
                  .keepers_group = background ? 0 : getpgrp(),
                  .kill_at = INT64_MAX};
    if (background)
        close_input();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    /* A signal to the keeper's whole group is the keeper's to pass on. KILL for that group leaves the guardian. */
    setpgid(0, 0);
    cmd_reap_all_orphans();
    sigemptyset(&deaths);
    sigaddset(&deaths, SIGCHLD);
    signal(SIGCHLD, SIG_DFL); /* not ignored: the command's status is wanted */
    g.deaths = signalfd(-1, &deaths, SFD_CLOEXEC | SFD_NONBLOCK);
    g.alarm = cmd_alarm_new();
    struct pollfd wait[] = {
        {.fd = channel, .events = POLLIN}, {.fd = g.deaths, .events = POLLIN}, {.fd = g.alarm, .events = POLLIN}};
    while (g.deaths >= 0 && g.alarm >= 0) {
        if (poll(wait, 3, -1) < 0)
            continue;
        if (wait[0].revents && !obey(&g))
            break;
        if (wait[1].revents)
            reap(&g);
        uint64_t count;
        if (wait[2].revents && read(g.alarm, &count, sizeof count) < 0)
            continue;
        watch_moments(&g);
    }
    finish(&g);
    _exit(0);
}
