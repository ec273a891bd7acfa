/* The test bench of an integration test. The first test case that runs starts the server. It is stopped at the end. */
#include "ts_bench.h"

#include <glib.h>
#include <stdlib.h>

#include "ts_observer.h"

static ts_ensemble *server;
static ts_observer *stranger;

static void stop(void) {
    ts_ensemble_stop(server);
    server = NULL;
}

static void start(void) {
    const ts_ensemble_options options = {.nodes = 1, .tick_ms = 200};

    if (server == NULL) {
        server = ts_ensemble_start(&options);
        atexit(stop);
    }
    ck_assert_ptr_nonnull(server);
}

static void clear(void) {
    if (stranger != NULL) {
        ts_observer_close(stranger);
        stranger = NULL;
    }
    ts_paddock_clear();
}

int ts_bench_stranger(const char *path, const char *data, int flags, char **created) {
    g_autofree char *parent = g_path_get_dirname(path);

    if (ts_exists(ts_bench_server(), parent, NULL) != 0)
        ts_create(ts_bench_server(), parent, "", TS_PERSISTENT, NULL);
    if (stranger == NULL)
        stranger = ts_observer_open(ts_bench_server());
    return ts_observer_create(stranger, path, data, flags | TS_EPHEMERAL, created);
}

TCase *ts_bench_case(Suite *suite, const char *name) {
    TCase *tcase = tcase_create(name);

    tcase_add_unchecked_fixture(tcase, start, NULL);
    tcase_add_checked_fixture(tcase, NULL, clear);
    suite_add_tcase(suite, tcase);
    return tcase;
}

const char *ts_bench_server(void) { return ts_ensemble_host(server, 0); }
ts_ensemble *ts_bench_ensemble(void) { return server; }

ts_client *ts_bench_client(int session_timeout_ms) {
    ts_client *client = ts_client_open(ts_bench_server(), session_timeout_ms);

    ck_assert_ptr_nonnull(client);
    return client;
}

pdk_hold *ts_bench_acquire(pdk_lock *lock, int64_t timeout_ms) {
    pdk_hold *hold = NULL;
    const pdk_status status = pdk_lock_acquire(lock, timeout_ms, &hold);

    ck_assert_msg(status == PDK_OK, "acquire: %s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert_ptr_nonnull(hold);
    return hold;
}

char *ts_hold_node(const pdk_hold *hold) {
    g_auto(GStrv) words = g_strsplit(pdk_hold_sequencer(hold), " ", -1);

    return g_strdup(g_strv_length(words) == 5 ? words[1] : "");
}
