/* What /proc says of this process: its threads, their signal masks, its descriptors. */
#ifndef SELF_H
#define SELF_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The ids of all threads; g_hash_table_unref. */
GHashTable *self_threads(void);
int self_thread_count(void);
/* Waits until there are at most `count` threads. */
bool self_wait_threads(int count, int64_t timeout_ms);

/* Threads that are not in `before` and do not block a signal that comes from outside, as "name: mask …"; "" when there is
 * none. *found gets the number of new threads. g_free. */
char *self_threads_open_to_signals(GHashTable *before, int *found);

/* How many descriptors are open. */
int self_descriptor_count(void);

/* Descriptors that an exec passes on; g_hash_table_unref. */
GHashTable *self_inheritable(void);
/* Those that are not in `before`, as "7: socket:[123] …"; g_free. */
char *self_new_inheritable(GHashTable *before);

#endif
