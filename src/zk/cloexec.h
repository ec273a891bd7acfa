/* Sets close-on-exec for the descriptors of the client library, which does not. A child that inherits the socket of a
 * live session could keep it, or write to it.
 *
 * Its pipe is the one pair of pipe ends that appears while a handle is initialised. Another thread may make a pipe in
 * that moment too: then neither is touched. Its sockets are found later: see sockets.h.
 */
#ifndef PDK_ZK_CLOEXEC_H
#define PDK_ZK_CLOEXEC_H

#include <stdbool.h>

/* Around zookeeper_init. One pair of calls runs at a time in the process; the second waits for the first. */
void pdk__cloexec_begin(void);
void pdk__cloexec_end(void);

/* Around a fork: no other thread is between begin and end then. */
void pdk__cloexec_fork(bool begins);

#endif
