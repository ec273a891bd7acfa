/* The test bench of an integration test: one server with a tick of 200 ms for the whole program. All that a test has
 * opened is cleared after it (ts_paddock_clear). */
#ifndef TS_BENCH_H
#define TS_BENCH_H

#include <check.h>

#include "ts_ensemble.h"
#include "ts_paddock.h"

/* A test case of `suite`, with server and clean-up. */
TCase *ts_bench_case(Suite *suite, const char *name);

/* The server, "ip:port". */
const char *ts_bench_server(void);
ts_ensemble *ts_bench_ensemble(void);

/* A session through a proxy of its own, with a timeout of `session_timeout_ms`. Fails the test when it cannot be had. */
ts_client *ts_bench_client(int session_timeout_ms);

/* Acquires, and fails the test when that fails. */
pdk_hold *ts_bench_acquire(pdk_lock *lock, int64_t timeout_ms);

/* A stranger's node, as ts_create makes one, but ephemeral: its session lasts until the end of the test case. */
int ts_bench_stranger(const char *path, const char *data, int flags, char **created);

/* The full path of the znode in a hold's sequencer (g_free). */
char *ts_hold_node(const pdk_hold *hold);

#endif
