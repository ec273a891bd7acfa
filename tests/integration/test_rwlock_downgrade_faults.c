/* Downgrades that meet another event: an administrator, a refusal, a limit, a second failure, a callback. */
#include <glib.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SHORT_MS = 300 };

static const char *server(void) { return ts_bench_server(); }

/* A writer that holds, and behind it a reader and a writer of another session. */
static struct {
    const char *path;
    ts_client *client, *other;
    pdk_rwlock *lock;
    pdk_hold *hold;
    char *node; /* the writer's */
    ts_answer *reader, *writer;
} it;

static void set_up(void) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.other = ts_bench_client(SESSION_MS);
    it.lock = ts_rwlock(it.client, it.path);
    it.hold = ts_bench_write(it.lock, 5000);
    it.node = ts_hold_node(it.hold);
    it.reader = ts_read_async(ts_rwlock(it.other, it.path), 60000);
    ts_await_queued(it.reader);
    it.writer = ts_write_async(ts_rwlock(it.other, it.path), 60000);
    ts_await_queued(it.writer);
}

static void tear_down(void) {
    pdk_hold_unref(g_steal_pointer(&it.hold)); /* that of a failed test */
    g_free(it.node);
    memset(&it, 0, sizeof it);
}

static bool is_exchanged(void *hold) { return strstr(pdk_hold_sequencer(hold), " shared/") != NULL; }

/* The reader is granted. When it and our hold, if there is one, are gone, the writer is. Then nothing is left. */
static void check_others(void) {
    ts_assert_granted(it.reader);
    ck_assert_int_eq(ts_answer_count(it.writer), 0);
    ck_assert_int_eq(ts_answer_release(it.reader), PDK_OK);
    if (it.hold) {
        ts_assert_waits(it.writer, SHORT_MS);
        ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), PDK_OK);
    }
    ts_assert_granted(it.writer);
    ck_assert_int_eq(ts_answer_release(it.writer), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(2000)));
}

static void check_exchanged(void) {
    ck_assert(ts_wait_until(is_exchanged, it.hold, ts_patience(4000)));
    ck_assert(ts_wait_children(server(), it.path, 3, ts_patience(2000)));
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(ts_exists(server(), it.node, NULL), -101);
    check_others();
}

static void check_lost(void) {
    ck_assert(ts_fd_readable(pdk_hold_fd(it.hold), ts_patience(2000)));
    ck_assert_str_eq(pdk_reason_name(pdk_hold_reason(it.hold)), "NODE_GONE");
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), PDK_LOST);
    check_others();
}

/* ---- an administrator ---- */

/* The writer's node is deleted. The remaining node belongs to nobody, and the hold is lost. An exchange counts only
 * when a server has seen it before. */
enum { DELETED_FIRST, DELETED_ON_THE_WAY, DELETED_AFTERWARDS, DELETIONS };

START_TEST(the_writers_node_is_deleted) {
    if (_i == DELETED_ON_THE_WAY) {
        ts_proxy_set_delay(it.client->proxy, 60000, 0); /* the delete overtakes all our requests */
    }
    if (_i == DELETED_FIRST) {
        ck_assert_int_eq(ts_delete(server(), it.node), 0);
    }
    const pdk_status status = pdk_hold_downgrade(it.hold);
    ck_assert(status == PDK_OK || (_i == DELETED_FIRST && status == PDK_LOST)); /* we may know of it already */
    if (_i != DELETED_FIRST) {
        ck_assert_int_ne(ts_delete(server(), it.node), -4);
    }
    ts_proxy_set_delay(it.client->proxy, 0, 0);
    if (_i == DELETED_AFTERWARDS && ts_wait_until(is_exchanged, it.hold, SHORT_MS)) {
        check_exchanged();
    } else {
        check_lost();
    }
}
END_TEST

static char *readers_node(void) {
    g_auto(GStrv) children = ts_children(server(), it.path, NULL);
    g_autofree char *ending = g_strconcat("__READ__", it.node + strlen(it.node) - 10, NULL);

    for (char **child = children; child && *child; child++) {
        if (g_str_has_suffix(*child, ending)) {
            return g_strconcat(it.path, "/", *child, NULL);
        }
    }
    return NULL;
}

/* The reader's node is deleted before we know that it exists. Then it is created again. But a late answer may say that
 * it was in the queue, and a new list may not be needed. Then the hold stands on that node, and is lost. */
START_TEST(the_new_node_is_deleted) {
    ts_proxy_arm(it.client->proxy, TS_OP_CREATE2, TS_LOSE_REPLY, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_downgrade(it.hold), PDK_OK);
    ck_assert(ts_proxy_wait_fired(it.client->proxy, ts_patience(2000)));
    g_autofree char *node = readers_node();
    ck_assert_ptr_nonnull(node);
    ck_assert_int_eq(ts_delete(server(), node), 0);
    if (_i == 0) {
        ts_proxy_heal_discard(it.client->proxy);
        check_exchanged();
    } else {
        ts_proxy_heal(it.client->proxy);
        if (ts_fd_readable(pdk_hold_fd(it.hold), ts_patience(1000))) {
            check_lost();
        } else {
            check_exchanged();
        }
    }
}
END_TEST

/* ---- refusals ---- */

/* No reader's node may be created. The others wait until the release, as if there had been no downgrade. */
START_TEST(when_it_is_refused_others_wait_for_the_release) {
    ts_observer *admin = ts_observer_open(server());
    pdk_hold *again = NULL;

    ck_assert_int_eq(
        ts_observer_set_acl(admin, it.path, TS_PERM_READ | TS_PERM_DELETE | TS_PERM_ADMIN, "world", "anyone"), 0);
    ck_assert_int_eq(pdk_hold_downgrade(it.hold), PDK_OK);
    ts_assert_waits(it.reader, SHORT_MS);
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(ts_child_count(server(), it.path), 3);
    ck_assert_ptr_nonnull(strstr(pdk_hold_sequencer(it.hold), " exclusive "));
    ck_assert_int_eq(pdk_session_check_sequencer(it.other->session, pdk_hold_sequencer(it.hold), 5000), PDK_OK);
    refused(pdk_hold_downgrade(it.hold), PDK_INVALID, "shared");
    refused(pdk_rwlock_acquire_write(it.lock, 1000, &again), PDK_UPGRADE, "shared");
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), PDK_OK);
    check_others();
    ck_assert_int_eq(ts_observer_set_acl(admin, it.path, TS_PERM_ALL, "world", "anyone"), 0);
    ts_observer_close(admin);
}
END_TEST

static void ignore(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    pdk_hold_unref(hold);
}

/* There is no room for another node. Nothing happens, and the call can be repeated. */
START_TEST(beyond_the_limit_it_stays_exclusive) {
    enum { MANY = 2000, SHORT = 20 }; /* the short ones fill what is left */
    static pdk_claim *claims[MANY + SHORT];
    g_autofree char *base = g_strnfill(480, 'b');
    ts_lost *lost = ts_lost_watch(it.hold);

    base[0] = '/';
    ts_proxy_set_mode(it.client->proxy, TS_CUT); /* a request that waits for a server counts as well */
    for (int i = 0; i < MANY + SHORT; i++) {
        g_autofree char *path = g_strdup_printf("%s/%d", i < MANY ? base : "", i);
        ck_assert_int_eq(pdk_lock_acquire_async(ts_lock(it.client, path), 60000, ignore, NULL, &claims[i]), PDK_OK);
    }
    refused(pdk_hold_downgrade(it.hold), PDK_LIMIT, "stays exclusive");
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_ptr_nonnull(strstr(pdk_hold_sequencer(it.hold), " exclusive "));
    for (int i = 0; i < MANY + SHORT; i++) {
        pdk_claim_cancel(claims[i]);
        pdk_claim_unref(g_steal_pointer(&claims[i]));
    }
    ck_assert_int_eq(pdk_hold_downgrade(it.hold), PDK_OK);
    ts_proxy_heal(it.client->proxy);
    ck_assert_int_eq(ts_lost_count(lost), 0);
    check_exchanged();
}
END_TEST

/* ---- the connection ---- */

START_TEST(downgraded_while_disconnected) {
    const ts_proxy_mode modes[] = {TS_CUT, TS_BLACKHOLE};
    const int64_t before = ts_now_ms();

    ts_proxy_set_mode(it.client->proxy, modes[_i]);
    ts_sleep_ms(100);
    ck_assert_int_eq(pdk_hold_downgrade(it.hold), PDK_OK);
    ck_assert_int_lt(ts_now_ms() - before, 100 + ts_patience(250));
    ts_assert_waits(it.reader, SHORT_MS);
    ck_assert_int_eq(ts_child_count(server(), it.path), 3);
    ts_proxy_heal(it.client->proxy);
    check_exchanged();
}
END_TEST

/* The answer to the create is lost. Then another answer is lost during the recovery. */
START_TEST(lost_again_during_recovery) {
    const int second[] = {TS_OP_MULTI, TS_OP_GET_CHILDREN, TS_OP_EXISTS};

    ts_proxy_arm(it.client->proxy, TS_OP_CREATE2, TS_LOSE_REPLY, TS_CUT);
    ck_assert_int_eq(pdk_hold_downgrade(it.hold), PDK_OK);
    ck_assert(ts_proxy_wait_fired(it.client->proxy, ts_patience(2000)));
    ts_proxy_arm(it.client->proxy, second[_i], TS_LOSE_REPLY, TS_CUT);
    ts_proxy_heal(it.client->proxy);
    ck_assert(ts_proxy_wait_fired(it.client->proxy, ts_patience(3000)));
    ts_proxy_heal(it.client->proxy);
    check_exchanged();
}
END_TEST

/* ---- objects and callbacks ---- */

START_TEST(the_object_goes_meanwhile) {
    pdk_rwlock *lock = NULL;
    const char *path = ts_fresh_path();

    ck_assert_int_eq(pdk_rwlock_new(it.client->session, path, NULL, &lock), PDK_OK);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *local = ts_write_async(lock, 20000), *reader = ts_read_async(ts_rwlock(it.other, path), 20000);
    ck_assert_int_eq(pdk_hold_downgrade(hold), PDK_OK);
    pdk_rwlock_unref(lock);
    ck_assert(ts_answer_wait(local, ts_patience(1000)));
    ck_assert_int_eq(ts_answer_status(local), PDK_CANCELED);
    ts_assert_granted(reader);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(ts_wait_children(server(), path, 1, 2000));
}
END_TEST

static void downgrade_at_once(pdk_status status, pdk_hold *hold, void *user) {
    pdk_status *result = user;

    *result = status == PDK_OK ? pdk_hold_downgrade(hold) : status;
    pdk_hold_unref(g_steal_pointer(&it.hold));
    it.hold = hold;
}

/* It does not block, so a callback may call it. */
START_TEST(downgraded_in_a_callback) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_status result = PDK_SYSTEM;

    tear_down();
    options.dispatch = PDK_DISPATCH_MANUAL;
    it.path = ts_fresh_path();
    it.client = ts_client_open_with(server(), NULL, &options);
    it.other = ts_bench_client(SESSION_MS);
    ck_assert_ptr_nonnull(it.client);
    it.lock = ts_rwlock(it.client, it.path);
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(it.lock, 5000, downgrade_at_once, &result, NULL), PDK_OK);
    while (it.hold == NULL) {
        ck_assert(ts_fd_readable(pdk_session_fd(it.client->session), ts_patience(5000)));
        ck_assert_int_eq(pdk_session_dispatch(it.client->session, NULL), PDK_OK);
    }
    ck_assert_int_eq(result, PDK_OK);
    it.reader = ts_read_async(ts_rwlock(it.other, it.path), 20000);
    ts_assert_granted(it.reader);
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock_downgrade_faults");
    TCase *tcase = ts_bench_case(suite, "rwlock_downgrade_faults");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, the_writers_node_is_deleted, 0, DELETIONS);
    tcase_add_loop_test(tcase, the_new_node_is_deleted, 0, 2);
    tcase_add_test(tcase, when_it_is_refused_others_wait_for_the_release);
    tcase_add_test(tcase, beyond_the_limit_it_stays_exclusive);
    tcase_add_loop_test(tcase, downgraded_while_disconnected, 0, 2);
    tcase_add_loop_test(tcase, lost_again_during_recovery, 0, 3);
    tcase_add_test(tcase, the_object_goes_meanwhile);
    tcase_add_test(tcase, downgraded_in_a_callback);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
