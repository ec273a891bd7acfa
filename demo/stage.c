/* Starting, hearing and ending the demo's processes. */
#include "stage.h"

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

bool stage_interrupted(void) { return interrupted != 0; }

/* No SA_RESTART: waiting ends. The children of a stage that is killed outright die with it. */
static void catch_signals(void) {
    struct sigaction action = {.sa_handler = interrupt};
    const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
        sigaction(signals[i], &action, NULL);
}

/* The demo's other programs lie beside this one. */
static char *program(const char *name) {
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = g_path_get_dirname(self ? self : ".");

    return g_build_filename(folder, name, NULL);
}

static bool add(struct stage *stage, const char *name, const char *const *arguments) {
    struct process *process = &stage->processes[stage->count];

    if (stage->count == STAGE_PROCESSES)
        return false;
    g_strlcpy(process->name, name, sizeof process->name);
    process->fd = -1;
    process->pid = ts_spawn(arguments, NULL);
    stage->count += process->pid > 0;
    return process->pid > 0;
}

static void ignore(const struct report *report, void *user) {
    (void)report;
    (void)user;
}

bool stage_open(struct stage *stage, int session_ms, bool sabotage) {
    ts_ensemble_options options = {.nodes = 1};

    memset(stage, 0, sizeof *stage);
    stage->listener = -1;
    stage->session_ms = session_ms;
    catch_signals();
    stage->directory = ts_tempdir_new();
    stage->servers = ts_ensemble_start(&options);
    if (!stage->directory || !stage->servers)
        return false;
    stage->file = g_build_filename(ts_tempdir_path(stage->directory), "file", NULL);
    stage->resource_socket = g_build_filename(ts_tempdir_path(stage->directory), "resource", NULL);
    stage->stage_socket = g_build_filename(ts_tempdir_path(stage->directory), "stage", NULL);
    stage->listener = channel_listen(stage->stage_socket);

    g_autofree char *path = program("resource");
    const char *arguments[] = {
        path, stage->file, stage->resource_socket, stage->stage_socket, sabotage ? "trust" : "check", NULL};
    if (!add(stage, "file", arguments))
        return false;
    const int64_t deadline = demo_now() + 10 * INT64_C(1000000000);
    while (stage->processes[0].fd < 0 && demo_now() < deadline && !interrupted)
        stage_wait(stage, deadline, ignore, NULL);
    return stage->processes[0].fd >= 0;
}

bool stage_add_worker(struct stage *stage, const char *name) {
    g_autofree char *path = program("worker");
    g_autofree char *session = g_strdup_printf("%d", stage->session_ms);
    const char *arguments[] = {
        path, name, ts_ensemble_hosts(stage->servers), session, stage->resource_socket, stage->stage_socket, NULL};

    return add(stage, name, arguments);
}

struct process *stage_find(struct stage *stage, const char *name) {
    for (int i = 0; i < stage->count; i++)
        if (g_str_equal(stage->processes[i].name, name))
            return &stage->processes[i];
    return NULL;
}

bool stage_cue(struct process *process, char cue) { return process->fd >= 0 && channel_send(process->fd, &cue, 1); }

/* Who connects says first who it is. */
static void welcome(struct stage *stage, stage_report_fn on_report, void *user) {
    struct report report;
    int fd = channel_accept(stage->listener);
    bool said = ts_fd_readable(fd, 5000) && channel_receive(fd, &report, sizeof report) == sizeof report;
    struct process *process = said && report.kind == REPORT_HELLO ? stage_find(stage, report.who) : NULL;

    if (!process) {
        if (said)
            on_report(&report, user); /* trouble on the way in */
        close(fd);
        return;
    }
    process->fd = fd;
    on_report(&report, user);
}

static void hear(struct process *process, stage_report_fn on_report, void *user) {
    struct report report;

    if (channel_receive(process->fd, &report, sizeof report) == sizeof report) {
        on_report(&report, user);
        return;
    }
    close(process->fd);
    process->fd = -1;
}

bool stage_wait(struct stage *stage, int64_t until_ns, stage_report_fn on_report, void *user) {
    struct pollfd polled[STAGE_PROCESSES + 1];
    const int count = stage->count;
    const int64_t left = until_ns - demo_now();

    for (int i = 0; i < count; i++)
        polled[i] = (struct pollfd){.fd = stage->processes[i].fd, .events = POLLIN};
    polled[count] = (struct pollfd){.fd = stage->listener, .events = POLLIN};
    if (left <= 0 || poll(polled, (nfds_t)count + 1, (int)(left / 1000000) + 1) <= 0)
        return false;
    for (int i = 0; i < count; i++)
        if (polled[i].revents != 0)
            hear(&stage->processes[i], on_report, user);
    if (polled[count].revents != 0)
        welcome(stage, on_report, user);
    return true;
}

void stage_kill(struct stage *stage, struct process *process, stage_report_fn on_report, void *user) {
    ts_kill(process->pid);
    process->pid = 0;
    while (process->fd >= 0) /* its end is in the socket already */
        stage_wait(stage, demo_now() + 1000000000, on_report, user);
}

int stage_quit(struct stage *stage, stage_report_fn on_report, void *user) {
    const int64_t deadline = demo_now() + 20 * INT64_C(1000000000);
    int bad = 0;

    for (int i = 1; i < stage->count; i++)
        stage_cue(&stage->processes[i], CUE_QUIT);
    for (int i = 1; i < stage->count; i++) {
        struct process *process = &stage->processes[i];

        while (process->fd >= 0 && demo_now() < deadline && !interrupted)
            stage_wait(stage, deadline, on_report, user);
        if (process->pid == 0)
            continue;
        bad += ts_wait(process->pid, 5000) != 0;
        process->pid = ts_alive(process->pid) ? process->pid : 0;
    }
    return bad;
}

void stage_close(struct stage *stage) {
    for (int i = 0; i < stage->count; i++) {
        ts_kill(stage->processes[i].pid);
        if (stage->processes[i].fd >= 0)
            close(stage->processes[i].fd);
    }
    if (stage->listener >= 0)
        close(stage->listener);
    ts_ensemble_stop(stage->servers);
    ts_tempdir_free(stage->directory);
    g_free(stage->file);
    g_free(stage->resource_socket);
    g_free(stage->stage_socket);
}
