/* A session with as many locks as one may have. The transaction that ends it lists all of their paths, and a server can reload it. */
#include <glib.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 20000, MOST = 10000, PATIENCE_MS = 60000, EPHEMERAL_MAX = 1000 * 1024 };

static const char *server(void) { return ts_bench_server(); }

/* Its path has 39 bytes: of such there may be 10,000. */
static pdk_lock *lock_of(const ts_client *client, int i) {
    g_autofree char *path = g_strdup_printf("/%031d/%06d", 7, i);
    return ts_lock(client, path);
}

START_TEST(the_end_of_a_session_with_10000_locks_can_be_reloaded) {
    static ts_answer *held[MOST];
    const int64_t end = ts_now_ms() + ts_patience(PATIENCE_MS);
    ts_client *client = ts_bench_client(SESSION_MS);
    size_t bytes = 0;

    for (int i = 0; i < MOST; i++)
        held[i] = ts_acquire_async(lock_of(client, i), PDK_FOREVER);
    for (int i = 0; i < MOST; i++) {
        ck_assert_msg(ts_answer_wait(held[i], MAX(end - ts_now_ms(), 0)), "%d are granted", i);
        ck_assert_int_eq(ts_answer_status(held[i]), PDK_OK);
        bytes += strlen(pdk_hold_node(ts_answer_hold(held[i])));
    }
    ck_assert_uint_gt(bytes, EPHEMERAL_MAX * 9 / 10);
    ck_assert_int_eq(ts_ephemeral_count(server()), MOST);

    ck_assert_int_eq(ts_expire(client->proxy, server()), 0);
    ts_proxy_set_mode(client->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(ts_ephemeral_count(server()), 0);
    ts_ensemble_kill(ts_bench_ensemble(), 0);
    ck_assert(ts_ensemble_restart(ts_bench_ensemble(), 0));
    ck_assert(ts_ensemble_wait_ready(ts_bench_ensemble(), ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_ephemeral_count(server()), 0);
    ts_proxy_heal_discard(client->proxy);
    ck_assert(ts_wait_event(client, PDK_SESSION_REOPENED, 1, ts_patience(PATIENCE_MS)));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("limits");
    TCase *tcase = ts_bench_case(suite, "limits");
    tcase_add_test(tcase, the_end_of_a_session_with_10000_locks_can_be_reloaded);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
