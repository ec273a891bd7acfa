/* The demo's servers and processes: a throw-away ZooKeeper, the resource, the workers; and the reports that come from
 * them. */
#ifndef DEMO_DEPLOYMENT_H
#define DEMO_DEPLOYMENT_H

#include "channel.h"

#include <ts_support.h>

enum { DEPLOYMENT_PROCESSES = 8 };

struct process {
    char name[8];
    pid_t pid; /* 0: it has ended */
    int fd;    /* -1: it has not joined, or has gone */
};

struct deployment {
    ts_ensemble *servers;
    ts_tempdir *directory;
    char *file, *resource_socket, *demo_socket;
    int listener;
    int session_ms;
    int count;
    struct process processes[DEPLOYMENT_PROCESSES]; /* the resource first */
};

typedef void (*deployment_report_fn)(const struct report *report, void *user);

/* True after SIGINT, SIGTERM, SIGHUP or SIGPIPE, when deployment_open has run. Then waiting functions return early. */
bool deployment_interrupted(void);

/* Starts the servers and the resource. */
bool deployment_open(struct deployment *deployment, int session_ms, bool sabotage);
bool deployment_add_worker(struct deployment *deployment, const char *name);
struct process *deployment_find(struct deployment *deployment, const char *name);
bool deployment_command(struct process *process, char command);

/* Waits until then for reports, and passes on those that have come. True when there was any event. */
bool deployment_wait(struct deployment *deployment, int64_t until_ns, deployment_report_fn on_report, void *user);

/* Kills a process by SIGKILL, and passes on the reports that it has still sent. */
void deployment_kill(struct deployment *deployment, struct process *process, deployment_report_fn on_report,
                     void *user);
/* Asks the workers to end, and waits for that. Returns the number of those that did not end well. */
int deployment_quit(struct deployment *deployment, deployment_report_fn on_report, void *user);
/* Ends all that still runs, and removes all that was made. */
void deployment_close(struct deployment *deployment);

#endif
