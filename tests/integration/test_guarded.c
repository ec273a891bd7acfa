/* Guarded znodes on a real server: a late write is turned away, foreign ones are noticed, and a hold or a thread may end in the middle of a
 * call. Lost answers and holders that are overtaken are in the model, unit/test_guarded.c and the simulation. */
#include <glib.h>
#include <pthread.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_observer.h"

enum { SLOW_MS = 20000, PATIENCE_MS = 10000, HEADER = 72 };

struct guarded_side {
    ts_client *client;
    pdk_lock *lock;
    pdk_hold *hold;
    pdk_guarded *guarded;
};

static const char *server(void) { return ts_bench_server(); }

static void close_guarded(void *guarded) { pdk_guarded_close(guarded); }

/* They fail the test when they fail. The support closes what they open. guarded_opened opens path with a hold of the lock. */
static pdk_guarded *guarded_open(pdk_hold *hold, const char *path) {
    pdk_guarded *guarded = NULL;
    pdk_status status = pdk_guarded_open(hold, path, ts_patience(PATIENCE_MS), &guarded);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ts_paddock_keep(guarded, close_guarded);
    return guarded;
}

static struct guarded_side guarded_holder(const char *lock, int session_ms) {
    struct guarded_side side = {.client = ts_bench_client(session_ms)};
    side.lock = ts_lock(side.client, lock);
    side.hold = ts_bench_acquire(side.lock, ts_patience(PATIENCE_MS));
    return side;
}

static struct guarded_side guarded_opened(const char *lock, const char *path, int session_ms) {
    struct guarded_side side = guarded_holder(lock, session_ms);
    side.guarded = guarded_open(side.hold, path);
    return side;
}

static pdk_status guarded_set(pdk_guarded *g, const char *text) {
    return pdk_guarded_write(g, text, strlen(text), PATIENCE_MS);
}

static pdk_status guarded_create(pdk_guarded *g, const char *text) {
    return pdk_guarded_create(g, text, strlen(text), PATIENCE_MS);
}

static void guarded_reads(pdk_guarded *g, const char *text) {
    char buffer[64] = "";
    size_t size = 0;
    pdk_status status = pdk_guarded_read(g, buffer, sizeof buffer, &size, PATIENCE_MS);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert_uint_eq(size, strlen(text));
    ck_assert_mem_eq(buffer, text, size);
}

/* The node has this payload, as another client sees it. */
static void guarded_node(const char *path, const char *text) {
    g_autofree char *data = NULL;
    int length = 0;
    ck_assert_int_eq(ts_get(ts_bench_server(), path, &data, &length, NULL), 0);
    ck_assert_int_ge(length, HEADER);
    ck_assert_str_eq(data + HEADER, text);
}

START_TEST(what_is_written_is_read) {
    const char *lock = ts_fresh_path();
    g_autofree char *path = g_strdup_printf("%s-not/there/yet", lock); /* it may begin as the lock's path does */
    struct guarded_side a = guarded_opened(lock, path, SLOW_MS);
    char buffer[8];
    size_t size = 9;
    refused(pdk_guarded_read(a.guarded, NULL, 0, &size, PATIENCE_MS), PDK_ABSENT, path);
    refused(guarded_set(a.guarded, "x"), PDK_ABSENT, path);
    refused(pdk_guarded_delete(a.guarded, PATIENCE_MS), PDK_ABSENT, path);
    ck_assert_int_eq(pdk_guarded_create(a.guarded, "a\0b", 3, PATIENCE_MS), PDK_OK);
    refused(guarded_create(a.guarded, "x"), PDK_EXISTS, path);
    ck_assert_int_eq(pdk_guarded_read(a.guarded, buffer, sizeof buffer, &size, PATIENCE_MS), PDK_OK);
    ck_assert_uint_eq(size, 3);
    ck_assert_mem_eq(buffer, "a\0b", 3);
    size = 0;
    refused(pdk_guarded_read(a.guarded, buffer, 2, &size, PATIENCE_MS), PDK_LIMIT, "room");
    ck_assert_uint_eq(size, 3);
    ck_assert_int_eq(guarded_set(a.guarded, "two"), PDK_OK);
    guarded_node(path, "two");
    ck_assert_int_eq(pdk_guarded_delete(a.guarded, PATIENCE_MS), PDK_OK);
    refused(pdk_guarded_read(a.guarded, buffer, sizeof buffer, &size, PATIENCE_MS), PDK_ABSENT, path);
    ck_assert_int_eq(pdk_guarded_create(a.guarded, NULL, 0, PATIENCE_MS), PDK_OK);
    guarded_reads(a.guarded, "");
    ck_assert_int_eq(guarded_set(a.guarded, "three"), PDK_OK);

    pdk_guarded *again = guarded_open(a.hold, path); /* the first is of no use any more */
    guarded_reads(again, "three");
    ck_assert_int_eq(guarded_set(again, "four"), PDK_OK);
    refused(guarded_set(a.guarded, "x"), PDK_REPLACED, path);
    refused(guarded_set(a.guarded, "x"), PDK_REPLACED, path);
    pdk_hold_release(a.hold);
    refused(guarded_set(again, "x"), PDK_NOT_HELD, path);

    struct guarded_side b = guarded_opened(lock, path, SLOW_MS);
    guarded_reads(b.guarded, "four");
    pdk_hold_release(b.hold);
}
END_TEST

struct late {
    pdk_guarded *guarded;
    pdk_status status;
};

static void *write_late(void *user) {
    struct late *late = user;
    late->status = pdk_guarded_write(late->guarded, "late", 4, ts_patience(PATIENCE_MS));
    return NULL;
}

/* It has checked that it holds, and its request is on its way for as long as another one needs to be granted and to open. Its
 * session lives, so nothing but the version turns the request away. */
START_TEST(a_path_may_begin_like_the_locks) {
    const char *path = ts_fresh_path();
    g_autofree char *lock = g_strconcat(path, "-lock", NULL);
    struct guarded_side a = guarded_opened(lock, path, SLOW_MS);
    ck_assert_int_eq(guarded_create(a.guarded, "it"), PDK_OK);
    guarded_node(path, "it");
    ck_assert_int_eq(pdk_hold_release(a.hold), PDK_OK);
}
END_TEST

START_TEST(a_late_write_is_turned_away) {
    const char *lock = ts_fresh_path(), *path = ts_fresh_path();
    struct guarded_side a = guarded_opened(lock, path, SLOW_MS);
    ck_assert_int_eq(guarded_create(a.guarded, "a"), PDK_OK);
    struct late late = {.guarded = a.guarded};
    g_autofree char *node = ts_hold_node(a.hold);
    ts_proxy_set_mode(a.client->proxy, TS_BLACKHOLE);
    GThread *thread = g_thread_new("late", write_late, &late);
    ts_sleep_ms(100);
    ck_assert_int_eq(ts_delete(server(), node), 0);
    struct guarded_side b = guarded_opened(lock, path, SLOW_MS);
    guarded_reads(b.guarded, "a");
    ts_proxy_heal(a.client->proxy);
    g_thread_join(thread);
    ck_assert_int_eq(late.status, PDK_LOST);
    guarded_reads(b.guarded, "a");
    ck_assert_int_eq(guarded_set(b.guarded, "b"), PDK_OK);
    guarded_node(path, "b");
    refused(guarded_set(a.guarded, "late"), PDK_LOST, path);
    pdk_hold_release(a.hold);
    pdk_hold_release(b.hold);
}
END_TEST

/* The call cannot know. The next one finds out. */
START_TEST(a_write_that_is_not_confirmed_is_settled_later) {
    const char *lock = ts_fresh_path(), *path = ts_fresh_path();
    struct guarded_side a = guarded_opened(lock, path, SLOW_MS);
    size_t size = 0;
    char buffer[8];
    ck_assert_int_eq(guarded_create(a.guarded, "one"), PDK_OK);
    ts_proxy_set_mode(a.client->proxy, TS_BLACKHOLE_DOWN);
    refused(pdk_guarded_write(a.guarded, "two", 3, 200), PDK_UNAVAILABLE, path);
    refused(pdk_guarded_read(a.guarded, buffer, sizeof buffer, &size, 200), PDK_UNAVAILABLE, path);
    ts_proxy_heal(a.client->proxy);
    guarded_reads(a.guarded, "two");
    ts_proxy_set_mode(a.client->proxy, TS_BLACKHOLE);
    refused(pdk_guarded_read(a.guarded, buffer, sizeof buffer, &size, 100), PDK_UNAVAILABLE, path);
    struct late late = {.guarded = a.guarded};
    GThread *thread = g_thread_new("late", write_late, &late);
    ts_sleep_ms(100);
    refused(pdk_guarded_write(a.guarded, "two", 3, 100), PDK_UNAVAILABLE, "another call");
    ts_proxy_heal(a.client->proxy);
    g_thread_join(thread);
    ck_assert_int_eq(late.status, PDK_OK);
    guarded_reads(a.guarded, "late");
    pdk_hold_release(a.hold);
}
END_TEST

START_TEST(a_foreign_writer_is_noticed) {
    const char *lock = ts_fresh_path(), *path = ts_fresh_path(), *deleted = ts_fresh_path(), *alien = ts_fresh_path();
    struct guarded_side a = guarded_opened(lock, path, SLOW_MS);
    g_autofree char *same = NULL;
    size_t size = 0;
    char buffer[8];
    ck_assert_int_eq(guarded_create(a.guarded, "a"), PDK_OK);
    ck_assert_int_eq(ts_get(server(), path, &same, NULL, NULL), 0);
    ck_assert_int_eq(ts_set(server(), path, same), 0); /* as an older holder that opens too late does */
    guarded_reads(a.guarded, "a");
    ck_assert_int_eq(guarded_set(a.guarded, "b"), PDK_OK);
    ck_assert_int_eq(ts_set(server(), path, "alien"), 0);
    refused(guarded_set(a.guarded, "c"), PDK_REPLACED, path);
    refused(pdk_guarded_read(a.guarded, buffer, sizeof buffer, &size, PATIENCE_MS), PDK_REPLACED, path);

    const char *empty = ts_fresh_path();
    pdk_guarded *g = NULL;
    ck_assert_int_eq(ts_create(server(), empty, "", TS_PERSISTENT, NULL), 0);
    refused(pdk_guarded_open(a.hold, empty, PATIENCE_MS, &g), PDK_REPLACED, empty);
    g = guarded_open(a.hold, deleted);
    ck_assert_int_eq(ts_delete(server(), deleted), 0);
    refused(pdk_guarded_read(g, buffer, sizeof buffer, &size, PATIENCE_MS), PDK_REPLACED, deleted);
    g = guarded_open(a.hold, deleted);
    ck_assert_int_eq(ts_delete(server(), deleted), 0);
    refused(guarded_create(g, "x"), PDK_REPLACED, deleted);

    ck_assert_int_eq(ts_create(server(), alien, "no header", TS_PERSISTENT, NULL), 0);
    refused(pdk_guarded_open(a.hold, alien, PATIENCE_MS, &g), PDK_REPLACED, alien);
    pdk_hold_release(a.hold);
}
END_TEST

START_TEST(what_the_server_refuses) {
    const char *lock = ts_fresh_path(), *path = ts_fresh_path(), *closed = ts_fresh_path();
    struct guarded_side a = guarded_opened(lock, path, SLOW_MS);
    g_autofree char *below = g_strdup_printf("%s/a/b", closed), *under = g_strdup_printf("%s/x", pdk_hold_node(a.hold));
    size_t size = 0;
    char buffer[8];
    pdk_guarded *g = NULL;
    ts_observer *admin = ts_observer_open(server());
    ck_assert_ptr_nonnull(admin);
    ck_assert_int_eq(ts_observer_set_acl(admin, path, TS_PERM_READ, "world", "anyone"), 0);
    refused(guarded_create(a.guarded, "x"), PDK_NO_PERMISSION, path);
    refused(guarded_create(a.guarded, "x"), PDK_NO_PERMISSION, path);
    refused(pdk_guarded_read(a.guarded, buffer, sizeof buffer, &size, PATIENCE_MS), PDK_NO_PERMISSION, path);
    const char *unread = ts_fresh_path();
    g = guarded_open(a.hold, unread);
    ck_assert_int_eq(ts_observer_set_acl(admin, unread, TS_PERM_WRITE, "world", "anyone"), 0);
    refused(pdk_guarded_read(g, buffer, sizeof buffer, &size, PATIENCE_MS), PDK_NO_PERMISSION, unread);
    ck_assert_int_eq(ts_create(server(), closed, "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_observer_set_acl(admin, closed, TS_PERM_READ, "world", "anyone"), 0);
    refused(pdk_guarded_open(a.hold, below, PATIENCE_MS, &g), PDK_NO_PERMISSION, below);
    refused(pdk_guarded_open(a.hold, under, PATIENCE_MS, &g), PDK_UNSUPPORTED, "ZNOCHILDRENFOREPHEMERALS");
    ts_observer_close(admin);
    pdk_hold_release(a.hold);
}
END_TEST

START_TEST(a_payload_and_a_hold_have_bounds) {
    const char *lock = ts_fresh_path(), *path = ts_fresh_path();
    struct guarded_side a = guarded_opened(lock, path, SLOW_MS);
    static char large[1000001];
    pdk_guarded *g = NULL;
    pdk_rwlock *rwlock = NULL;
    pdk_hold *reader = NULL;
    refused(pdk_guarded_create(a.guarded, large, 1000001, 0), PDK_LIMIT, "size");
    ck_assert_int_eq(pdk_guarded_create(a.guarded, large, 1000000, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_new(a.client->session, ts_fresh_path(), NULL, &rwlock), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_read(rwlock, PATIENCE_MS, &reader), PDK_OK);
    refused(pdk_guarded_open(reader, path, 0, &g), PDK_INVALID, "shared");
    pdk_hold_release(reader);
    pdk_rwlock_unref(rwlock);
    pdk_hold_release(a.hold);
}
END_TEST

/* ---- in the middle of a call */

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
    Suite *suite = suite_create("guarded");
    TCase *all = ts_bench_case(suite, "guarded");
    tcase_add_test(all, what_is_written_is_read);
    tcase_add_test(all, a_path_may_begin_like_the_locks);
    tcase_add_test(all, a_late_write_is_turned_away);
    tcase_add_test(all, a_write_that_is_not_confirmed_is_settled_later);
    tcase_add_test(all, a_foreign_writer_is_noticed);
    tcase_add_test(all, what_the_server_refuses);
    tcase_add_test(all, a_payload_and_a_hold_have_bounds);
    tcase_add_test(all, a_hold_may_be_released_meanwhile);
    tcase_add_test(all, a_thread_that_is_cancelled_leaves_no_call);
    tcase_add_test(all, a_downgraded_writer_writes_no_more);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
