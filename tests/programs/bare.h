/*
 * A lock client written on libzookeeper alone, as one would write it by hand: the yardstick of the benchmark, and the
 * client of the cuts that trusts what its own server says. Asynchronous calls, a numeric address, no name resolution in
 * the client library's IO loop, and a condition variable for the caller. One thread at a time.
 */
#ifndef BARE_H
#define BARE_H

#include <stdbool.h>
#include <stdint.h>

struct bare;

/* Connects to one "ip:port" and waits for it, 10 s at most; NULL when that fails. */
struct bare *bare_open(const char *address, int timeout_ms);
void bare_close(struct bare *bare);

/* create2 and get_children in one go under `directory`; waits for the list. True when the own node is the first. */
bool bare_acquire(struct bare *bare, const char *directory);
/* create2 alone, and its reply. */
bool bare_create(struct bare *bare, const char *directory);
/* Sends the delete of the own node, and does not wait. */
void bare_release(struct bare *bare);
/* Waits until every delete has been answered. */
bool bare_flush(struct bare *bare);

/* Asks the server whether the own node exists, and does not wait. */
void bare_ask(struct bare *bare);
/* When an answer last said that it does, on a connection that stands: ts_now_ns's clock, 0 before the first. */
int64_t bare_believed(struct bare *bare);

#endif
