/*
 * A thread that starts processes. The kernel kills a process when the thread that started it ends, and a thread of the
 * program may end long before the program does. This thread ends with the servers that it has started.
 */
#ifndef TESTING_STARTER_H
#define TESTING_STARTER_H

#include <sys/types.h>

typedef struct pdk__test_starter pdk__test_starter;

/* NULL when the system has no thread left. */
pdk__test_starter *pdk__test_starter_new(void);
/* Ends the thread, and with it the processes that still run. NULL is allowed. */
void pdk__test_starter_free(pdk__test_starter *starter);

/* Starts argv[0] in a folder, as pdk__test_spawn_server does. The pid, or -1 and errno. */
pid_t pdk__test_starter_spawn(pdk__test_starter *starter, const char *const argv[], const char *folder,
                              const char *log);

#endif
