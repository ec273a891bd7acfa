/*
 * A lock client that uses libzookeeper alone, as one would write it by hand. The benchmark compares the library with
 * it. It uses asynchronous calls, a numeric address, no name resolution in the client library's IO loop, and a condition
 * variable for the caller. One thread at a time.
 */
#ifndef BARE_H
#define BARE_H

#include <stdbool.h>

struct bare;

/* Connects to one "ip:port" and waits for it, at most 10 s. NULL when that fails. */
struct bare *bare_open(const char *address, int timeout_ms);
void bare_close(struct bare *bare);

/* Sends create2 and get_children under `directory` together, and waits for the list. True when our node is the
 * first. */
bool bare_acquire(struct bare *bare, const char *directory);
/* Sends create2 alone, and waits for its reply. */
bool bare_create(struct bare *bare, const char *directory);
/* Sends a set of a node's data, and waits for its reply. */
bool bare_set(struct bare *bare, const char *path, const char *data, int size);
/* Sends the delete of our node, and does not wait. */
void bare_release(struct bare *bare);
/* Waits until every delete has been answered. */
bool bare_flush(struct bare *bare);

#endif
