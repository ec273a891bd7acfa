/* The demo's processes: a throw-away ZooKeeper, the resource, the workers; and the reports that come from them. */
#ifndef DEMO_STAGE_H
#define DEMO_STAGE_H

#include "channel.h"

#include <ts_support.h>

enum { STAGE_PROCESSES = 8 };

struct process {
    char name[8];
    pid_t pid; /* 0: ended */
    int fd;    /* -1: has not joined, or has gone */
};

struct stage {
    ts_ensemble *servers;
    ts_tempdir *directory;
    char *file, *resource_socket, *stage_socket;
    int listener;
    int session_ms;
    int count;
    struct process processes[STAGE_PROCESSES]; /* the resource first */
};

typedef void (*stage_report_fn)(const struct report *report, void *user);

/* Set by SIGINT, SIGTERM, SIGHUP and SIGPIPE, once stage_open has run: waiting functions return early. */
bool stage_interrupted(void);

/* Start the servers and the resource. */
bool stage_open(struct stage *stage, int session_ms, bool sabotage);
bool stage_add_worker(struct stage *stage, const char *name);
struct process *stage_find(struct stage *stage, const char *name);
bool stage_cue(struct process *process, char cue);

/* Wait for reports until then at the latest, and pass on those that are there; true when something was. */
bool stage_wait(struct stage *stage, int64_t until_ns, stage_report_fn on_report, void *user);

/* Kill a process as nobody can refuse, and hear what it still said. */
void stage_kill(struct stage *stage, struct process *process, stage_report_fn on_report, void *user);
/* Ask the workers to end, and wait for it. The number of those that did not end well. */
int stage_quit(struct stage *stage, stage_report_fn on_report, void *user);
/* Stop whatever still runs, and remove all that was made. */
void stage_close(struct stage *stage);

#endif
