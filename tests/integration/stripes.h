/* A striped lock of N stripes under test: to acquire stripes, and to look at its nodes. All of these live until ts_paddock_clear. */
#ifndef STRIPES_H
#define STRIPES_H

#include <paddock/striped.h>

#include "ts_bench.h"

enum { N = 8 };

/* One of the client's session: the same for the same client and path. */
pdk_striped *striped_at(ts_client *client, const char *path);
/* With a witness: any stripe, and that one. */
ts_answer *any_async(pdk_striped *striped, int64_t timeout_ms);
ts_answer *stripe_async(pdk_striped *striped, int32_t stripe, int64_t timeout_ms);

/* How many nodes that stripe has; the path of the last of them (g_free). */
int stripes_queued(const char *path, int32_t stripe);
char *stripes_last_node(const char *path, int32_t stripe);
/* Waits until all stripes together have so many nodes, and the queue for any so many. Fails the test otherwise. */
void stripes_await(const char *path, int standing, int any);
/* Checks that no node is left, but the directories. */
void stripes_assert_none(const char *path);

#endif
