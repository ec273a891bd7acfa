/* Nodes that have a contender's name, and that no session owns: the directory of a lock below a lock, or what somebody has made. Nobody
 * waits for them, and nobody is shown them. */
#include <glib.h>
#include <paddock/revoke.h>
#include <paddock/rwlock.h>
#include <string.h>

#include "elections.h"
#include "permits.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_observer.h"

enum { SESSION_MS = 4000, WAIT_MS = 10000 };

static char *below(const char *path, const char *name) {
    char *child = g_strdup_printf("%s/%s", path, name);
    ts_paddock_keep(child, g_free);
    return child;
}

static void make(const char *path) { ck_assert_int_eq(ts_create(ts_bench_server(), path, "", 0, NULL), 0); }

static pdk_lock *lock_at(const ts_client *client, const char *path) {
    pdk_lock *lock = NULL;
    ck_assert_int_eq(pdk_lock_new(client->session, path, NULL, &lock), PDK_OK);
    ts_paddock_keep(lock, (void (*)(void *))pdk_lock_unref);
    return lock;
}

static void take_and_release(pdk_lock *lock, int64_t timeout_ms) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_lock_acquire(lock, timeout_ms, &hold);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    pdk_contenders *list = NULL, *holder = NULL;
    ck_assert_int_eq(pdk_lock_list(lock, WAIT_MS, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    ck_assert_int_eq(pdk_lock_holder(lock, WAIT_MS, &holder), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(holder), 1);
    ck_assert_int_eq(pdk_contenders_token(holder, 0), pdk_hold_token(hold));
    pdk_contenders_free(list);
    pdk_contenders_free(holder);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}

/* The lock below is a container, which stands while something is in it. _i: it is waited for, or tried. */
START_TEST(a_lock_below_a_lock) {
    const char *path = ts_fresh_path();
    const ts_client *client = ts_bench_client(SESSION_MS), *other = ts_bench_client(SESSION_MS);
    pdk_hold *hold = ts_bench_acquire(lock_at(other, below(path, "lock-0000000000")), WAIT_MS);
    take_and_release(lock_at(client, path), _i ? 0 : WAIT_MS);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* All permits are nobody's, and somebody's is one. _i: it is waited for, or tried. */
START_TEST(a_semaphore) {
    const char *path = ts_fresh_path();
    pdk_hold *hold = NULL, *none = NULL;
    pdk_semaphore *semaphore = permits_at(ts_bench_client(SESSION_MS), path, 2);
    hold = permits_take(semaphore, 2); /* which makes the directory */
    make(below(path, "leases/lease-0000000000"));
    make(below(path, "leases/lease-0000000001"));
    make(below(path, "leases/lease-0000000002"));
    make(below(path, "leases/other")); /* no lease either */
    make(below(path, "leases/_c_1-lock-0000000001"));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 2, _i ? 0 : WAIT_MS, &hold), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 1, _i ? 0 : 300, &none), _i ? PDK_BUSY : PDK_TIMEOUT);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* A wish is not written over the data of somebody's own node. */
START_TEST(nobody_is_asked) {
    const char *path = ts_fresh_path();
    const ts_client *client = ts_bench_client(SESSION_MS);
    const char *node = below(path, "lock-0000000000");
    char *data = NULL;
    ck_assert_int_eq(ts_create(ts_bench_server(), node, "precious", 0, NULL), 0);
    make(below(path, "lock-0000000001"));
    ck_assert_int_eq(pdk_session_request_release(client->session, path, NULL, "me", 100, WAIT_MS), PDK_GONE);
    pdk_hold *hold = ts_bench_acquire(lock_at(client, path), WAIT_MS);
    ck_assert_int_eq(pdk_session_request_release(client->session, path, NULL, "me", 100, WAIT_MS), PDK_OK);
    ck_assert_int_eq(pdk_session_request_release(client->session, path, "lock-0000000000", "me", 100, WAIT_MS),
                     PDK_GONE);
    ck_assert_int_eq(ts_get(ts_bench_server(), node, &data, NULL, NULL), 0);
    ck_assert_str_eq(data, "precious");
    g_free(data);
    pdk_hold_release(hold);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("unowned");
    TCase *all = ts_bench_case(suite, "unowned");
    tcase_add_loop_test(all, a_lock_below_a_lock, 0, 2);
    tcase_add_loop_test(all, a_semaphore, 0, 2);
    tcase_add_test(all, nobody_is_asked);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
