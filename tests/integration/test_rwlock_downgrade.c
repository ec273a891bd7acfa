/* A writer that becomes a reader: what stays of the hold, what others see of it, and what is refused: by the call, and by
 * the server. For failures meanwhile see test_rwlock_exchange. */
#include <glib.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SHORT_MS = 300, SCHEDULING_MS = 250 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

static bool is_exchanged(void *hold) { return strstr(pdk_hold_sequencer(hold), " shared/") != NULL; }

static void downgrade(pdk_hold *hold) {
    const int64_t before = ts_now_ms();

    ck_assert_msg(pdk_hold_downgrade(hold) == PDK_OK, "%s", pdk_last_error());
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(SCHEDULING_MS)); /* it never waits for the network */
    ck_assert(pdk_hold_is_valid(hold));
}

static void await_exchange(pdk_hold *hold) { ck_assert(ts_wait_until(is_exchanged, hold, ts_patience(3000))); }

/* ---- what stays, and what others see ---- */

START_TEST(it_stays_the_same_hold) {
    pdk_rwlock *lock = ts_rwlock_of_long_handovers(a, ts_fresh_path());
    pdk_hold *first = ts_bench_write(lock, 5000);
    ts_answer *second = ts_write_async(lock, 5000);
    const int64_t token = pdk_hold_token(first);
    ck_assert_int_eq(pdk_hold_release(first), PDK_OK);
    ts_assert_granted(second); /* handed over: its node is as old as the first one's */
    pdk_hold *hold = ts_answer_hold(second);
    ts_lost *lost = ts_lost_watch(hold);
    const int fd = pdk_hold_fd(hold);

    downgrade(hold);
    for (int i = 0; i < 200; i++) { /* at each moment of the exchange it is held */
        ck_assert(pdk_hold_is_valid(hold));
        ck_assert_int_gt(pdk_hold_remaining_ms(hold), 0);
        ts_sleep_ms(1);
    }
    await_exchange(hold);
    ck_assert_int_eq(pdk_hold_ensure(hold, 1000), PDK_OK);
    ck_assert_int_eq(pdk_hold_token(hold), token);
    ck_assert_uint_eq(pdk_hold_handover(hold), 1);
    ck_assert_int_eq(pdk_hold_fd(hold), fd);
    ck_assert(!ts_fd_readable(fd, 0));
    ck_assert_int_eq(ts_lost_count(lost), 0);
    g_autofree char *node = ts_hold_node(hold); /* its loss is told as usual */
    ck_assert_int_eq(ts_delete(server(), node), 0);
    ck_assert(ts_lost_wait(lost, ts_patience(2000)));
    ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_NODE_GONE);
    ck_assert(ts_fd_readable(fd, ts_patience(1000)));
    ck_assert_int_eq(ts_answer_release(second), PDK_LOST);
    ck_assert_int_eq(ts_lost_count(lost), 1);
}
END_TEST

typedef struct {
    pdk_hold *hold;
    atomic_bool stop;
    atomic_int asked, wrong;
} asker;

static void *ask_main(void *user) {
    asker *it = user;

    while (!atomic_load(&it->stop)) {
        const char *text = pdk_hold_sequencer(it->hold);
        atomic_fetch_add(&it->wrong, text == NULL || !g_str_has_prefix(text, "pdk1 /"));
        atomic_fetch_add(&it->asked, 1);
    }
    return NULL;
}

/* The text changes while another thread reads it. */
START_TEST(the_sequencer_is_read_meanwhile) {
    pdk_rwlock *lock = ts_rwlock(ts_bench_client(SESSION_MS), ts_fresh_path());

    for (int round = 0; round < 50; round++) {
        asker it = {.hold = ts_bench_write(lock, 5000)};
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, ask_main, &it), 0);
        while (atomic_load(&it.asked) == 0) {
            sched_yield();
        }
        const pdk_status status = pdk_hold_downgrade(it.hold);
        const int64_t end = ts_now_ms() + ts_patience(3000);
        while (status == PDK_OK && !strstr(pdk_hold_sequencer(it.hold), "shared/") && ts_now_ms() < end) {
            ts_sleep_ms(1);
        }
        atomic_store(&it.stop, true);
        pthread_join(thread, NULL);
        ck_assert_int_eq(status, PDK_OK);
        ck_assert_int_eq(atomic_load(&it.wrong), 0);
        ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    }
}
END_TEST

static void downgrade_granted(pdk_status status, pdk_hold *hold, void *out) {
    ck_assert_int_eq(status, PDK_OK);
    downgrade(hold);
    g_atomic_pointer_set((pdk_hold **)out, hold);
}

static bool is_there(void *hold) { return g_atomic_pointer_get((pdk_hold **)hold) != NULL; }

/* The call waits for nothing. */
START_TEST(a_callback_may_make_it) {
    static pdk_hold *hold;

    hold = NULL;
    ck_assert_int_eq(
        pdk_rwlock_acquire_write_async(ts_rwlock(a, ts_fresh_path()), 5000, downgrade_granted, &hold, NULL), PDK_OK);
    ck_assert(ts_wait_until(is_there, &hold, ts_patience(5000)));
    await_exchange(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

static const struct {
    pdk_naming naming;
    const char *writer, *reader;
} names[] = {{PDK_NAMING_CURATOR, "-__WRIT__", "-__READ__"}, {PDK_NAMING_KAZOO, "__lock__", "__rlock__"}};

static void assert_listed(pdk_rwlock *lock, const pdk_hold *hold, bool shared) {
    pdk_contenders *list = NULL;

    ck_assert_int_eq(pdk_rwlock_list(lock, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    ck_assert_int_eq(pdk_contenders_is_shared(list, 0), shared);
    ck_assert(!pdk_contenders_is_shared(list, 1));
    ck_assert(shared || pdk_contenders_token(list, 0) == pdk_hold_token(hold));
    pdk_contenders_free(list);
}

/* The reader's node takes the number over, below a chroot, too. */
START_TEST(a_readers_node_has_the_writers_number) {
    const char *root = ts_fresh_path();
    g_autofree char *path = g_strconcat(root, "/lock", NULL), *data = NULL;
    ts_client *below = ts_client_open_with(server(), root, NULL);
    pdk_rwlock_options options = PDK_RWLOCK_OPTIONS_INIT;
    ts_stat stat;

    ck_assert_ptr_nonnull(below);
    options.naming = names[_i].naming;
    pdk_rwlock *lock = ts_rwlock_with(below, "/lock", &options);
    pdk_hold_release(ts_bench_write(lock, 5000)); /* so that the number is not zero */
    pdk_hold *hold = ts_bench_write(lock, 5000);
    g_autofree char *before = ts_hold_node(hold);
    assert_listed(ts_rwlock(b, path), hold, false);
    downgrade(hold);
    await_exchange(hold);
    g_autofree char *after = ts_hold_node(hold);
    g_autofree char *ending = g_strconcat(names[_i].reader, before + strlen(before) - 10, NULL);

    ck_assert_msg(g_str_has_prefix(before, path) && strstr(before, names[_i].writer), "%s", before);
    ck_assert_msg(g_str_has_prefix(after, path) && g_str_has_suffix(after, ending), "%s", after);
    ck_assert(ts_wait_children(server(), path, 1, 2000));
    ck_assert_int_eq(ts_exists(server(), before, NULL), -101);
    ck_assert_int_eq(ts_get(server(), after, &data, NULL, &stat), 0);
    ck_assert_str_eq(data, pdk_session_identity(below->session));
    ck_assert_int_eq(stat.ephemeral_owner, pdk_session_id(below->session));
    ck_assert_int_gt(stat.czxid, pdk_hold_token(hold));
    assert_listed(ts_rwlock(b, path), hold, true);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(ts_wait_children(server(), path, 0, 2000));
}
END_TEST

static char *shared_sequencer(const char *node, int64_t czxid, const pdk_hold *hold) {
    return g_strdup_printf("pdk1 %s shared/%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " 0", node, czxid,
                           pdk_hold_token(hold));
}

static void assert_checked(const char *sequencer, pdk_status status) {
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, sequencer, 5000), status);
}

START_TEST(the_old_sequencer_is_worth_nothing) {
    pdk_hold *hold = ts_bench_write(ts_rwlock(a, ts_fresh_path()), 5000);
    const char *before = pdk_hold_sequencer(hold); /* lives as long as the hold */
    g_autofree char *copy = g_strdup(before);
    ts_stat stat;

    assert_checked(before, PDK_OK);
    downgrade(hold);
    await_exchange(hold);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    g_autofree char *node = ts_hold_node(hold);
    ck_assert_int_eq(ts_exists(server(), node, &stat), 0);
    g_autofree char *after = shared_sequencer(node, stat.czxid, hold);
    g_autofree char *forged = shared_sequencer(node, stat.czxid + 1, hold);
    ck_assert_str_eq(before, copy);
    ck_assert_str_eq(pdk_hold_sequencer(hold), after);
    assert_checked(before, PDK_LOST);
    assert_checked(after, PDK_OK);
    assert_checked(forged, PDK_LOST);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    assert_checked(after, PDK_LOST);
}
END_TEST

/* ---- refused ---- */

/* It is a reader from the moment of the call, whatever the servers know of it. */
static void assert_reader(pdk_rwlock *lock, pdk_hold *hold) {
    pdk_hold *again = NULL;

    refused(pdk_hold_downgrade(hold), PDK_INVALID, "shared");
    refused(pdk_rwlock_acquire_write(lock, 5000, &again), PDK_UPGRADE, "shared");
    refused(pdk_rwlock_acquire_read(lock, 5000, &again), PDK_DEADLOCK, "holds it");
}

START_TEST(holds_that_cannot_be_downgraded) {
    pdk_rwlock *lock = ts_rwlock(a, ts_fresh_path());
    pdk_hold *plain = ts_bench_acquire(ts_lock(a, ts_fresh_path()), 5000);
    pdk_hold *hold = ts_bench_read(lock, 5000);

    refused(pdk_hold_downgrade(plain), PDK_INVALID, "not one of a read/write lock");
    ck_assert_int_eq(pdk_hold_release(plain), PDK_OK);
    assert_reader(lock, hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    hold = pdk_hold_ref(ts_bench_write(lock, 5000));
    downgrade(hold);
    assert_reader(lock, hold);
    await_exchange(hold);
    assert_reader(lock, hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    refused(pdk_hold_downgrade(hold), PDK_NOT_HELD, "released");
    pdk_hold_unref(hold);
    hold = ts_bench_write(lock, 5000);
    g_autofree char *node = ts_hold_node(hold);
    ck_assert_int_eq(ts_delete(server(), node), 0);
    ck_assert(ts_fd_readable(pdk_hold_fd(hold), ts_patience(2000)));
    refused(pdk_hold_downgrade(hold), PDK_LOST, "lost");
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
}
END_TEST

/* No reader's node may be created. The others wait until the release, as if there had been no downgrade. */
START_TEST(when_the_server_refuses_it_others_wait_for_the_release) {
    ts_observer *admin = ts_observer_open(server());
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *reader = ts_read_async(ts_rwlock(b, path), 20000);
    ts_await_queued(reader);

    ck_assert_int_eq(ts_observer_set_acl(admin, path, TS_PERM_READ | TS_PERM_DELETE | TS_PERM_ADMIN, "world", "anyone"),
                     0);
    downgrade(hold);
    ts_assert_waits(reader, SHORT_MS);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(ts_child_count(server(), path), 2);
    ck_assert_ptr_nonnull(strstr(pdk_hold_sequencer(hold), " exclusive "));
    assert_checked(pdk_hold_sequencer(hold), PDK_OK);
    assert_reader(lock, hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_granted(reader);
    ck_assert_int_eq(ts_observer_set_acl(admin, path, TS_PERM_ALL, "world", "anyone"), 0);
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
    pdk_hold *hold = ts_bench_write(ts_rwlock(a, ts_fresh_path()), 5000);

    base[0] = '/';
    ts_proxy_set_mode(a->proxy, TS_CUT); /* a request that waits for a server counts as well */
    for (int i = 0; i < MANY + SHORT; i++) {
        g_autofree char *path = g_strdup_printf("%s/%d", i < MANY ? base : "", i);
        ck_assert_int_eq(pdk_lock_acquire_async(ts_lock(a, path), 60000, ignore, NULL, &claims[i]), PDK_OK);
    }
    refused(pdk_hold_downgrade(hold), PDK_LIMIT, "stays exclusive");
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_ptr_nonnull(strstr(pdk_hold_sequencer(hold), " exclusive "));
    for (int i = 0; i < MANY + SHORT; i++) {
        pdk_claim_cancel(claims[i]);
        pdk_claim_unref(g_steal_pointer(&claims[i]));
    }
    downgrade(hold);
    ts_proxy_heal(a->proxy);
    await_exchange(hold);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock_downgrade");
    TCase *tcase = ts_bench_case(suite, "rwlock_downgrade");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, it_stays_the_same_hold);
    tcase_add_test(tcase, the_sequencer_is_read_meanwhile);
    tcase_add_test(tcase, a_callback_may_make_it);
    tcase_add_loop_test(tcase, a_readers_node_has_the_writers_number, 0, G_N_ELEMENTS(names));
    tcase_add_test(tcase, the_old_sequencer_is_worth_nothing);
    tcase_add_test(tcase, holds_that_cannot_be_downgraded);
    tcase_add_test(tcase, when_the_server_refuses_it_others_wait_for_the_release);
    tcase_add_test(tcase, beyond_the_limit_it_stays_exclusive);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
