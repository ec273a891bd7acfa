/* Guarded znodes whose hold, thread or process ends in the middle of a call. */
#include <glib.h>
#include <pthread.h>

#include "elections.h"
#include "guarded_bench.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_clock.h"

struct call {
    pdk_hold *hold;
    pdk_guarded *guarded;
    const char *path;
    pdk_status status;
};

static void *call_get(void *user) {
    struct call *call = user;
    char buffer[8];
    size_t size = 0;
    call->status = pdk_guarded_read(call->guarded, buffer, sizeof buffer, &size, ts_patience(PATIENCE_MS));
    return NULL;
}

static void *call_open(void *user) {
    struct call *call = user;
    call->status = pdk_guarded_open(call->hold, call->path, ts_patience(PATIENCE_MS), &call->guarded);
    return NULL;
}

static void *call_set(void *user) {
    struct call *call = user;
    call->status = pdk_guarded_write(call->guarded, "set", 3, ts_patience(PATIENCE_MS));
    return NULL;
}

/* The answer comes, but to a hold that was released meanwhile. */
START_TEST(a_hold_may_be_released_meanwhile) {
    static const struct {
        int op;
        void *(*run)(void *user);
    } calls[] = {{TS_OP_GET_DATA, call_get}, {TS_OP_MULTI, call_open}, {TS_OP_SET_DATA, call_set}};
    const char *lock = ts_fresh_path(), *path = ts_fresh_path();
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        struct guarded_side a = guarded_opened(lock, path, SLOW_MS);
        struct call call = {.hold = a.hold, .guarded = a.guarded, .path = path};
        pdk_guarded_create(a.guarded, "", 0, PATIENCE_MS);
        pdk_hold_ref(a.hold);
        ts_proxy_arm(a.client->proxy, calls[i].op, TS_LOSE_REPLY, TS_BLACKHOLE);
        GThread *thread = g_thread_new("call", calls[i].run, &call);
        ck_assert(ts_proxy_wait_fired(a.client->proxy, PATIENCE_MS));
        pdk_hold_release(a.hold);
        ts_proxy_heal(a.client->proxy);
        g_thread_join(thread);
        ck_assert_int_eq(call.status, calls[i].run == call_set ? PDK_OK : PDK_NOT_HELD);
        pdk_hold_unref(a.hold);
    }
}
END_TEST

static void be_cancelled(void *(*run)(void *user), struct call *call) {
    pthread_t thread;
    void *result = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, run, call), 0);
    ts_sleep_ms(100);
    ck_assert_int_eq(pthread_cancel(thread), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
}

START_TEST(a_thread_that_is_cancelled_leaves_no_call) {
    const char *lock = ts_fresh_path(), *path = ts_fresh_path();
    struct guarded_side a = guarded_opened(lock, path, SLOW_MS);
    struct call call = {.hold = a.hold, .guarded = a.guarded, .path = path};
    ck_assert_int_eq(guarded_create(a.guarded, "one"), PDK_OK);
    ts_proxy_set_mode(a.client->proxy, TS_BLACKHOLE);
    be_cancelled(call_get, &call);
    be_cancelled(call_set, &call);
    be_cancelled(call_open, &call);
    ts_proxy_heal(a.client->proxy);
    ck_assert_int_eq(guarded_set(a.guarded, "two"), PDK_OK);
    guarded_node(path, "two");
    pdk_hold_release(a.hold);
}
END_TEST

START_TEST(a_leader_and_the_end_of_its_session) {
    const char *path = ts_fresh_path();
    ts_client *client = ts_bench_client(SLOW_MS);
    pdk_election *election = election_on(client, ts_fresh_path(), "me");
    record *office = record_new();
    pdk_election_callbacks callbacks;
    record_callbacks(office, &callbacks);
    ck_assert_int_eq(pdk_election_join(election, &callbacks), PDK_OK);
    ck_assert(record_wait(office, ELECTED, 1, PATIENCE_MS));
    pdk_guarded *g = guarded_open(record_hold(office), path);
    ck_assert_int_eq(guarded_create(g, "led"), PDK_OK);
    ck_assert_int_eq(pdk_session_close(client->session, PATIENCE_MS), PDK_OK);
    refused(guarded_set(g, "x"), PDK_LOST, path);
}
END_TEST

START_TEST(a_downgraded_writer_writes_no_more) {
    g_autofree char *path = g_strdup(ts_fresh_path());
    ts_client *client = ts_bench_client(SLOW_MS);
    pdk_rwlock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_rwlock_new(client->session, ts_fresh_path(), NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, PATIENCE_MS, &hold), PDK_OK);
    pdk_guarded *g = guarded_open(hold, path), *again = NULL;
    ck_assert_int_eq(guarded_create(g, "written"), PDK_OK);
    ck_assert_int_eq(pdk_hold_downgrade(hold), PDK_OK);
    refused(guarded_set(g, "x"), PDK_LOST, "downgraded");
    refused(pdk_guarded_open(hold, path, PATIENCE_MS, &again), PDK_LOST, "downgraded");
    ck_assert(pdk_hold_is_valid(hold));
    guarded_node(path, "written");
    pdk_hold_release(hold);
    pdk_rwlock_unref(lock);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("guarded_exits");
    TCase *all = ts_bench_case(suite, "guarded_exits");
    tcase_add_test(all, a_hold_may_be_released_meanwhile);
    tcase_add_test(all, a_thread_that_is_cancelled_leaves_no_call);
    tcase_add_test(all, a_leader_and_the_end_of_its_session);
    tcase_add_test(all, a_downgraded_writer_writes_no_more);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
