/* Starts the demo's processes, receives their reports, and ends them. */
#include "deployment.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

bool deployment_interrupted(void) { return interrupted != 0; }

/* No SA_RESTART, so that waiting ends. The children of a demo that is killed die with it. */
static void catch_signals(void) {
    struct sigaction action = {.sa_handler = interrupt};
    const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
        sigaction(signals[i], &action, NULL);
}

/* The demo's other programs are in the same folder. */
static char *program(const char *name) {
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = g_path_get_dirname(self ? self : ".");

    return g_build_filename(folder, name, NULL);
}

static bool add(struct deployment *deployment, const char *name, const char *const *arguments) {
    struct process *process = &deployment->processes[deployment->count];

    if (deployment->count == DEPLOYMENT_PROCESSES)
        return false;
    g_strlcpy(process->name, name, sizeof process->name);
    process->fd = -1;
    process->pid = ts_spawn(arguments, NULL);
    deployment->count += process->pid > 0;
    return process->pid > 0;
}

static void ignore(const struct report *report, void *user) {
    (void)report;
    (void)user;
}

bool deployment_open(struct deployment *deployment, int session_ms, bool sabotage) {
    ts_ensemble_options options = {.nodes = 1};

    memset(deployment, 0, sizeof *deployment);
    deployment->listener = -1;
    deployment->session_ms = session_ms;
    catch_signals();
    deployment->directory = ts_tempdir_new();
    deployment->servers = ts_ensemble_start(&options);
    if (!deployment->directory || !deployment->servers)
        return false;
    deployment->file = g_build_filename(ts_tempdir_path(deployment->directory), "file", NULL);
    deployment->resource_socket = g_build_filename(ts_tempdir_path(deployment->directory), "resource", NULL);
    deployment->demo_socket = g_build_filename(ts_tempdir_path(deployment->directory), "demo", NULL);
    deployment->listener = channel_listen(deployment->demo_socket);

    g_autofree char *path = program("resource");
    const char *arguments[] = {
        path, deployment->file, deployment->resource_socket, deployment->demo_socket, sabotage ? "trust" : "check",
        NULL};
    if (!add(deployment, "file", arguments))
        return false;
    const int64_t deadline = demo_now() + 10 * INT64_C(1000000000);
    while (deployment->processes[0].fd < 0 && demo_now() < deadline && !interrupted)
        deployment_wait(deployment, deadline, ignore, NULL);
    return deployment->processes[0].fd >= 0;
}

bool deployment_add_worker(struct deployment *deployment, const char *name) {
    g_autofree char *path = program("worker");
    g_autofree char *session = g_strdup_printf("%d", deployment->session_ms);
    const char *arguments[] = {path,
                               name,
                               ts_ensemble_hosts(deployment->servers),
                               session,
                               deployment->resource_socket,
                               deployment->demo_socket,
                               NULL};

    return add(deployment, name, arguments);
}

struct process *deployment_find(struct deployment *deployment, const char *name) {
    for (int i = 0; i < deployment->count; i++)
        if (g_str_equal(deployment->processes[i].name, name))
            return &deployment->processes[i];
    return NULL;
}

bool deployment_command(struct process *process, char command) {
    return process->fd >= 0 && channel_send(process->fd, &command, 1);
}

/* A process that connects first sends its name. */
static void welcome(struct deployment *deployment, deployment_report_fn on_report, void *user) {
    struct report report;
    int fd = channel_accept(deployment->listener);
    bool said = ts_fd_readable(fd, 5000) && channel_receive(fd, &report, sizeof report) == sizeof report;
    struct process *process = said && report.kind == REPORT_HELLO ? deployment_find(deployment, report.who) : NULL;

    if (!process) {
        if (said)
            on_report(&report, user); /* an error while it starts */
        close(fd);
        return;
    }
    process->fd = fd;
    on_report(&report, user);
}

/* All that has been said, so that the order of the processes matters little. */
static void hear(struct process *process, deployment_report_fn on_report, void *user) {
    struct report report;

    do {
        if (channel_receive(process->fd, &report, sizeof report) != sizeof report) {
            close(process->fd);
            process->fd = -1;
            return;
        }
        on_report(&report, user);
    } while (ts_fd_readable(process->fd, 0));
}

bool deployment_wait(struct deployment *deployment, int64_t until_ns, deployment_report_fn on_report, void *user) {
    struct pollfd polled[DEPLOYMENT_PROCESSES + 1];
    const int count = deployment->count;
    const int64_t left = until_ns - demo_now();

    for (int i = 0; i < count; i++)
        polled[i] = (struct pollfd){.fd = deployment->processes[i].fd, .events = POLLIN};
    polled[count] = (struct pollfd){.fd = deployment->listener, .events = POLLIN};
    if (poll(polled, (nfds_t)count + 1, left > 0 ? (int)(left / 1000000) + 1 : 0) <= 0)
        return false;
    for (int i = 0; i < count; i++)
        if (polled[i].revents != 0)
            hear(&deployment->processes[i], on_report, user);
    if (polled[count].revents != 0)
        welcome(deployment, on_report, user);
    return true;
}

void deployment_kill(struct deployment *deployment, struct process *process, deployment_report_fn on_report,
                     void *user) {
    ts_kill(process->pid);
    process->pid = 0;
    while (process->fd >= 0) /* its last reports are already in the socket */
        deployment_wait(deployment, demo_now() + 1000000000, on_report, user);
}

int deployment_quit(struct deployment *deployment, deployment_report_fn on_report, void *user) {
    const int64_t deadline = demo_now() + 20 * INT64_C(1000000000);
    int bad = 0;

    for (int i = 1; i < deployment->count; i++)
        deployment_command(&deployment->processes[i], COMMAND_QUIT);
    for (int i = 1; i < deployment->count; i++) {
        struct process *process = &deployment->processes[i];

        while (process->fd >= 0 && demo_now() < deadline && !interrupted)
            deployment_wait(deployment, deadline, on_report, user);
        if (process->pid == 0)
            continue;
        bad += ts_wait(process->pid, 5000) != 0;
        process->pid = ts_alive(process->pid) ? process->pid : 0;
    }
    return bad;
}

void deployment_close(struct deployment *deployment) {
    for (int i = 0; i < deployment->count; i++) {
        ts_kill(deployment->processes[i].pid);
        if (deployment->processes[i].fd >= 0)
            close(deployment->processes[i].fd);
    }
    if (deployment->listener >= 0)
        close(deployment->listener);
    ts_ensemble_stop(deployment->servers);
    ts_tempdir_free(deployment->directory);
    g_free(deployment->file);
    g_free(deployment->resource_socket);
    g_free(deployment->demo_socket);
}
