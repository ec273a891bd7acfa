/* Guarded znodes under test. */
#ifndef GUARDED_BENCH_H
#define GUARDED_BENCH_H

#include "ts_bench.h"

enum { SESSION_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000, HEADER = 72 };

struct guarded_side {
    ts_client *client;
    pdk_lock *lock;
    pdk_hold *hold;
    pdk_guarded *guarded;
};

/* They fail the test when they fail. The support closes what they open. guarded_opened opens path with a hold of the lock. */
pdk_guarded *guarded_open(pdk_hold *hold, const char *path);
struct guarded_side guarded_holder(const char *lock, int session_ms);
struct guarded_side guarded_opened(const char *lock, const char *path, int session_ms);
void guarded_reads(pdk_guarded *g, const char *text);
/* A text as the payload. */
pdk_status guarded_set(pdk_guarded *g, const char *text);
pdk_status guarded_create(pdk_guarded *g, const char *text);
/* The node has this payload, as another client sees it. */
void guarded_node(const char *path, const char *text);

#endif
