/*
 * Child processes. Every child gets SIGKILL when the thread that started it ends, so start children from a thread that
 * ends no earlier than they do (the main thread). Descriptors above 2 are closed in the child, whatever their flags.
 */
#ifndef TESTING_PROCESS_H
#define TESTING_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens /dev/null as each of descriptors 0, 1 and 2 that is closed: otherwise a socket or a log of ours would get its
 * number, and with it the words of the program. They stay open. */
void pdk__test_fill_standard(void);

/* Starts argv[0] (looked up in PATH), argv NULL-terminated. With `out_fd` the child's standard output goes to a pipe
 * whose reading end is stored there (the caller closes it); without, it is inherited. Returns the pid, or -1. */
pid_t pdk__test_spawn(const char *const argv[], int *out_fd);

/* Like pdk__test_spawn, in a folder of its own, with standard output and error appended to the file `log_path`. It has
 * a process group of its own: Ctrl-C is not for a server. */
pid_t pdk__test_spawn_server(const char *const argv[], const char *folder, const char *log_path);

/* A signal for a child that nobody has waited for: dead or alive it has its number still. Any other number may be
 * somebody else's by now: false, and nobody gets the signal. The next three functions have the same rule. */
bool pdk__test_signal(pid_t pid, int signal_number);

/* Stops the process (SIGSTOP) and returns once every thread of it is really stopped. False when it is gone. */
bool pdk__test_pause(pid_t pid);

/* Lets it run on (SIGCONT). False when it is gone. */
bool pdk__test_resume(pid_t pid);

/* SIGKILL and reap: returns when the child is gone. Works on a paused child too. */
void pdk__test_kill(pid_t pid);

/* Waits for the child and reaps it. Returns its exit code, 128 + signal when a signal ended it, -1 after `timeout_ms`
 * or when it is not a child. */
int pdk__test_wait(pid_t pid, int64_t timeout_ms);

/* True while the process exists and is no zombie. */
bool pdk__test_alive(pid_t pid);

#endif
