#include "ts_fork.h"

#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>

#define TRIES 50
#define PATIENCE_MS 3000
#define SIZES_UP_TO 300000 /* beyond the largest size class */

/* A thread of its own has an empty cache, so each size asks the part of the allocator that threads share. */
static void *try_all_sizes(void *unused) {
    for (size_t size = 8; size < SIZES_UP_TO; size += size / 8 + 8) {
        char *volatile block = malloc(size);
        free(block);
    }
    return unused;
}

/* In the child. */
static void report(int pipe_end) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, try_all_sizes, NULL) != 0 || pthread_join(thread, NULL) != 0 ||
        write(pipe_end, "", 1) != 1)
        _exit(1);
    close(pipe_end);
}

static bool has_reported(int pipe_end) {
    struct pollfd end = {.fd = pipe_end, .events = POLLIN};
    char byte;
    return poll(&end, 1, PATIENCE_MS) == 1 && read(pipe_end, &byte, 1) == 1;
}

pid_t ts_fork(void) {
    for (int tries = 0; tries < TRIES; tries++) {
        int ends[2];
        if (pipe(ends) != 0)
            return -1;
        pid_t pid = fork();
        if (pid == 0) {
            close(ends[0]);
            report(ends[1]);
            return 0;
        }
        close(ends[1]);
        bool usable = pid > 0 && has_reported(ends[0]);
        close(ends[0]);
        if (usable || pid < 0)
            return pid;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return -1;
}
#else
pid_t ts_fork(void) { return fork(); }
#endif

#ifdef PDK_COVERAGE
void __gcov_dump(void);
#endif

void ts_end_child(int status) {
#ifdef PDK_COVERAGE
    __gcov_dump();
#endif
    _exit(status);
}
