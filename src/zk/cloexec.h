/* Close-on-exec for the descriptors of the client library, which sets it on none: a child that inherits the socket of a
 * live session could keep it, or speak on it.
 *
 * Its pipe is the one pair of pipe ends that appears while a handle is initialised; where another thread makes a pipe in
 * that moment too, neither is touched. Its sockets are those connected to one of our servers.
 */
#ifndef PDK_ZK_CLOEXEC_H
#define PDK_ZK_CLOEXEC_H

#include <stdbool.h>

/* Around zookeeper_init; one pair at a time in the process, the second waits for the first. */
void pdk__cloexec_begin(void);
void pdk__cloexec_end(void);

/* Around a fork: no other thread is between begin and end then. */
void pdk__cloexec_fork(bool begins);

/* servers: the numeric list the handle was given. */
void pdk__cloexec_connected(const char *servers);

#endif
