/*
 * Child processes. Every child gets SIGKILL when the thread that started it ends, so start children from a thread that
 * ends no earlier than they do (the main thread). Descriptors above 2 are closed in the child, whatever their flags.
 */
#ifndef TS_PROCESS_H
#define TS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts argv[0] (looked up in PATH), argv NULL-terminated. With `out_fd` the child's standard output goes to a pipe
 * whose reading end is stored there (the caller closes it); without, it is inherited. Returns the pid, or -1. */
pid_t ts_spawn(const char *const argv[], int *out_fd);

/* Like ts_spawn, with standard output and error appended to the file `log_path`. */
pid_t ts_spawn_logged(const char *const argv[], const char *log_path);

/* Stops the process (SIGSTOP) and returns once every thread of it is really stopped. False when it is gone. */
bool ts_pause(pid_t pid);

/* Lets it run on (SIGCONT). False when it is gone. */
bool ts_resume(pid_t pid);

/* SIGKILL and reap: returns when the child is gone. Works on a paused child too. */
void ts_kill(pid_t pid);

/* Waits for the child and reaps it. Returns its exit code, 128 + signal when a signal ended it, -1 after `timeout_ms`
 * or when it is not a child. */
int ts_wait(pid_t pid, int64_t timeout_ms);

/* True while the process exists and is no zombie. */
bool ts_alive(pid_t pid);

#endif
