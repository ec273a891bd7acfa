#include "guarded_bench.h"

#include <glib.h>
#include <string.h>

#include "ts_check.h"
#include "ts_observer.h"

static void close_guarded(void *guarded) { pdk_guarded_close(guarded); }

pdk_guarded *guarded_open(pdk_hold *hold, const char *path) {
    pdk_guarded *guarded = NULL;
    pdk_status status = pdk_guarded_open(hold, path, ts_patience(PATIENCE_MS), &guarded);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ts_paddock_keep(guarded, close_guarded);
    return guarded;
}

struct guarded_side guarded_holder(const char *lock, int session_ms) {
    struct guarded_side side = {.client = ts_bench_client(session_ms)};
    side.lock = ts_lock(side.client, lock);
    side.hold = ts_bench_acquire(side.lock, ts_patience(PATIENCE_MS));
    return side;
}

struct guarded_side guarded_opened(const char *lock, const char *path, int session_ms) {
    struct guarded_side side = guarded_holder(lock, session_ms);
    side.guarded = guarded_open(side.hold, path);
    return side;
}

pdk_status guarded_set(pdk_guarded *g, const char *text) {
    return pdk_guarded_write(g, text, strlen(text), PATIENCE_MS);
}

pdk_status guarded_create(pdk_guarded *g, const char *text) {
    return pdk_guarded_create(g, text, strlen(text), PATIENCE_MS);
}

void guarded_reads(pdk_guarded *g, const char *text) {
    char buffer[64] = "";
    size_t size = 0;
    pdk_status status = pdk_guarded_read(g, buffer, sizeof buffer, &size, PATIENCE_MS);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert_uint_eq(size, strlen(text));
    ck_assert_mem_eq(buffer, text, size);
}

void guarded_node(const char *path, const char *text) {
    g_autofree char *data = NULL;
    int length = 0;
    ck_assert_int_eq(ts_get(ts_bench_server(), path, &data, &length, NULL), 0);
    ck_assert_int_ge(length, HEADER);
    ck_assert_str_eq(data + HEADER, text);
}
