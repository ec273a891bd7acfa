/*
 * A lock client that uses libzookeeper alone, as one would write it by hand: the floor that the library is compared with.
 * It knows no lease and no loss, and proves nothing. It uses asynchronous calls, a numeric address, no name resolution
 * in the client library's IO loop, and a condition variable for the caller.
 */
#ifndef BARE_H
#define BARE_H

#include <stdbool.h>

struct bare;
struct bare_lock;

/* Connects to one "ip:port" and waits for it, at most 20 s. NULL when that fails. */
struct bare *bare_open(const char *address, int timeout_ms);
/* Ends the session. A thread that waits for an answer waits for ever. */
void bare_close(struct bare *bare);

/* A lock in a directory that exists. Threads that share it hand it over within the process, in their order. After so many
 * hand-overs, or after that time, the node goes and the next thread makes one of its own: as the library has it. A lock
 * that is `alone` knows that nobody else is in its directory, and never lists it. Free it with bare_lock_free. */
struct bare_lock *bare_lock_new(struct bare *bare, const char *directory, bool alone);
void bare_lock_free(struct bare_lock *lock);
/* Sends a create and a list together, and waits until nothing is ahead: at the end of the node ahead, if that was the only
 * one, without another list. False when a request failed. */
bool bare_acquire(struct bare_lock *lock);
/* Hands over, or sends the delete of the node and does not wait. */
void bare_release(struct bare_lock *lock);
/* Waits for the answers to all deletes, when nothing else is going on. */
void bare_flush(struct bare_lock *lock);

/* Sets a node's data, and waits for the answer. One thread at a time. */
bool bare_set(struct bare *bare, const char *path, const char *data, int size);

#endif
