/* A lease lock on a real server: it stands while its holder is gone, comes back with its secret, and never to two; and how a wait for it
 * ends otherwise: the thread is cancelled or interrupted, the last reference goes. */
#include <glib.h>
#include <paddock/lease_lock.h>
#include <pthread.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_expire.h"
#include "ts_observer.h"
#include "ts_support.h"

enum { SLOW_MS = 20000, PATIENCE_MS = 10000, LONG_MS = 3600000 };

static const char lease_secret[] = "the secret of one", lease_other_secret[] = "the secret of another";

static struct {
    const char *path;
    char *record;
    ts_client *a, *b;
    pdk_lease_lock *mine, *theirs; /* of a and of b, with a secret each; for LONG_MS */
} lease;

static void unref_lock(void *lock) { pdk_lease_lock_unref(lock); }

static pdk_lease_lock *lease_lock_of(const ts_client *client, const char *with, int64_t duration_ms) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *lock = NULL;
    options.secret = with;
    options.duration_ms = duration_ms;
    options.identity = with == lease_secret ? "one" : "another";
    pdk_status status = pdk_lease_lock_new(client->session, lease.path, &options, &lock);
    ck_assert_msg(status == PDK_OK, "%s", pdk_last_error());
    ts_paddock_keep(lock, unref_lock);
    return lock;
}

static void lease_make(void) {
    lease.path = ts_fresh_path();
    lease.record = g_strconcat(lease.path, "/record", NULL);
    ts_paddock_keep(lease.record, g_free);
    lease.a = ts_bench_client(SLOW_MS);
    lease.b = ts_bench_client(SLOW_MS);
    lease.mine = lease_lock_of(lease.a, lease_secret, LONG_MS);
    lease.theirs = lease_lock_of(lease.b, lease_other_secret, LONG_MS);
}

static pdk_hold *lease_acquired(pdk_lease_lock *lock) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_lease_lock_acquire(lock, ts_patience(PATIENCE_MS), &hold);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert(pdk_hold_is_valid(hold));
    return hold;
}

static void lease_stands(pdk_lease_lock *lock, const char *word) {
    pdk_hold *hold = NULL;
    refused(pdk_lease_lock_acquire(lock, 0, &hold), PDK_BUSY, word);
    ck_assert_ptr_null(hold);
}

static void lease_released(pdk_lease_lock *lock, pdk_hold *hold) {
    pdk_status status = pdk_lease_lock_release(lock, hold, ts_patience(PATIENCE_MS));
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
}

static char *lease_text(void) {
    char *data = NULL;
    ck_assert_int_eq(ts_get(ts_bench_server(), lease.record, &data, NULL, NULL), 0);
    return data;
}

START_TEST(held_and_given_up) {
    lease_make();
    pdk_hold *hold = lease_acquired(lease.mine), *again = NULL;
    int64_t token = pdk_hold_token(hold);
    g_autofree char *held = lease_text();
    ck_assert(g_str_has_prefix(held, "paddock-lease 1\nH "));
    ck_assert(g_str_has_suffix(held, " one\n"));
    ck_assert_ptr_null(strstr(held, lease_secret));
    lease_stands(lease.theirs, "");
    refused(pdk_lease_lock_acquire(lease.mine, 0, &again), PDK_DEADLOCK, lease.path);
    lease_released(lease.mine, hold);
    hold = lease_acquired(lease.theirs);
    ck_assert_int_gt(pdk_hold_token(hold), token);
    lease_released(lease.theirs, hold);
    g_autofree char *free = lease_text();
    ck_assert(g_str_has_prefix(free, "paddock-lease 1\nN "));
}
END_TEST

/* Its holder is gone, in whichever way; nobody else comes in; the same secret comes back. */
START_TEST(it_stands_without_its_holder) {
    lease_make();
    pdk_lease_lock *restarted = lease_lock_of(lease.b, lease_secret, LONG_MS);
    pdk_hold *hold = lease_acquired(lease.mine);
    int64_t token = pdk_hold_token(hold);
    ck_assert_int_eq(ts_expire(lease.a->proxy, ts_bench_server()), 0);
    pdk_hold_release(hold);
    lease_stands(lease.theirs, "for one");
    refused(pdk_lease_lock_acquire(lease.theirs, 300, &hold), PDK_TIMEOUT, lease.path);
    hold = lease_acquired(restarted);
    ck_assert_int_gt(pdk_hold_token(hold), token);
    lease_stands(lease.theirs, "");
    pdk_hold_release(hold); /* the lock stays */
    lease_stands(lease.theirs, "for one");
    hold = lease_acquired(lease.mine);
    lease_released(lease.mine, hold);
    lease_released(lease.theirs, lease_acquired(lease.theirs));
}
END_TEST

struct waiter {
    pdk_lease_lock *lock;
    pdk_status status;
    pdk_hold *hold;
};

static void *wait_for_it(void *user) {
    struct waiter *w = user;
    w->status = pdk_lease_lock_acquire(w->lock, ts_patience(PATIENCE_MS), &w->hold);
    return NULL;
}

START_TEST(a_waiter_hears_that_it_is_given_up) {
    lease_make();
    pdk_hold_release(lease_acquired(lease.mine)); /* it stands */
    struct waiter w = {.lock = lease.theirs};
    GThread *thread = g_thread_new("waiter", wait_for_it, &w);
    ts_sleep_ms(100);
    lease_released(lease.mine, lease_acquired(lease.mine));
    g_thread_join(thread);
    ck_assert_int_eq(w.status, PDK_OK);
    lease_released(lease.theirs, w.hold);
}
END_TEST

START_TEST(it_is_renewed) {
    lease_make();
    pdk_lease_lock *a = lease_lock_of(lease.a, lease_secret, 2000);
    ts_stat first, later;
    pdk_hold *hold = lease_acquired(a);
    ck_assert_int_le(pdk_hold_remaining_ms(hold), 2000);
    ck_assert_int_eq(ts_get(ts_bench_server(), lease.record, NULL, NULL, &first), 0);
    ts_proxy_arm(lease.a->proxy, TS_OP_SET_DATA, TS_LOSE_REPLY, TS_PASS);
    ck_assert(ts_proxy_wait_fired(lease.a->proxy, PATIENCE_MS));
    ts_sleep_ms(2500);
    ck_assert_msg(pdk_hold_is_valid(hold), "%s", pdk_reason_name(pdk_hold_reason(hold)));
    ck_assert_int_eq(ts_get(ts_bench_server(), lease.record, NULL, NULL, &later), 0);
    ck_assert_int_gt(later.mtime, first.mtime + 1400);
    lease_released(a, hold);
}
END_TEST

/* The session is well, and the record cannot be written: the hold is lost before the record ends. */
START_TEST(it_cannot_be_renewed) {
    lease_make();
    pdk_lease_lock *a = lease_lock_of(lease.a, lease_secret, 1500);
    pdk_hold *hold = lease_acquired(a);
    ts_lost *lost = ts_lost_watch(hold);
    ts_observer *admin = ts_observer_open(ts_bench_server());
    ck_assert_int_eq(ts_observer_set_acl(admin, lease.record, TS_PERM_READ, "world", "anyone"), 0);
    ts_observer_close(admin);
    ck_assert(ts_lost_wait(lost, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_OVERDUE);
    refused(pdk_lease_lock_release(a, hold, PATIENCE_MS), PDK_LOST, lease.path);
    pdk_hold_release(hold);
    refused(pdk_lease_lock_acquire(a, PATIENCE_MS, &hold), PDK_NO_PERMISSION, lease.path);
}
END_TEST

START_TEST(somebody_else_writes) {
    lease_make();
    pdk_lease_lock *a = lease_lock_of(lease.a, lease_secret, 1500), *b = lease_lock_of(lease.b, lease_secret, LONG_MS);
    pdk_hold *hold = lease_acquired(a);
    ts_lost *lost = ts_lost_watch(hold);
    ck_assert_int_eq(ts_set(ts_bench_server(), lease.record, "alien"), 0);
    ck_assert(ts_lost_wait(lost, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_OVERDUE);
    pdk_hold_release(hold);
    refused(pdk_lease_lock_acquire(a, PATIENCE_MS, &hold), PDK_DAMAGED, lease.path);
    ck_assert_int_eq(ts_set(ts_bench_server(), lease.record, "paddock-lease 2\nx"), 0);
    refused(pdk_lease_lock_acquire(a, PATIENCE_MS, &hold), PDK_UNSUPPORTED, lease.path);
    ck_assert_int_eq(ts_delete(ts_bench_server(), lease.record), 0);
    hold = lease_acquired(b);
    ck_assert_int_eq(ts_set(ts_bench_server(), lease.record, "alien"), 0);
    refused(pdk_lease_lock_release(b, hold, PATIENCE_MS), PDK_DAMAGED, lease.path);
    ck_assert_int_eq(ts_delete(ts_bench_server(), lease.record), 0);
    refused(pdk_lease_lock_release(b, hold, PATIENCE_MS), PDK_REPLACED, lease.path);
    pdk_hold_release(hold);
}
END_TEST

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* What no holder of this path has written, before anybody holds. unit/test_lease_lock.c has the forms of a record. */
START_TEST(records_of_others) {
    g_autofree char *large = g_strnfill(100000, 'x');
    const struct {
        const char *data;
        pdk_status status;
        const char *word;
    } records[] = {
        {large, PDK_DAMAGED, "/record"},
        {"paddock-lease 2\nanything", PDK_UNSUPPORTED, "later version"},
        /* of later tokens than any that the servers give: nobody may come after them */
        {"paddock-lease 1\nH 9223372036854775807 60000 " DIGEST " one\n", PDK_LOST, "came after"},
        {"paddock-lease 1\nN 9223372036854775807\n", PDK_LOST, "came after"},
        /* the longest there is */
        {"paddock-lease 1\nH 1 315576000000 " DIGEST " some one\n", PDK_BUSY, "stands for some one"},
    };
    lease_make();
    lease_released(lease.mine, lease_acquired(lease.mine));
    for (size_t i = 0; i < G_N_ELEMENTS(records); i++) {
        pdk_hold *hold = NULL;
        ck_assert_int_eq(ts_set(ts_bench_server(), lease.record, records[i].data), 0);
        refused(pdk_lease_lock_acquire(lease.mine, 0, &hold), records[i].status, records[i].word);
        refused(pdk_lease_lock_acquire(lease.mine, ts_patience(1000), &hold),
                records[i].status == PDK_BUSY ? PDK_TIMEOUT : records[i].status, lease.path);
        ck_assert_ptr_null(hold);
    }
    ck_assert_int_eq(ts_set(ts_bench_server(), lease.record, ""), 0); /* as one that was never held */
    lease_released(lease.mine, lease_acquired(lease.mine));
}
END_TEST

/* An answer that comes after the hold has ended, and one that finds another's record, or none. */
START_TEST(a_renewal_under_way) {
    static const int ops[] = {TS_OP_GET_DATA, TS_OP_SET_DATA};
    static const char *const records[] = {NULL, "paddock-lease 1\nN 1\n", "",
                                          "paddock-lease 1\nH 9223372036854775807 60000 " DIGEST " one\n"};
    lease_make();
    pdk_lease_lock *a = lease_lock_of(lease.a, lease_secret, 1000);
    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++) {
        pdk_hold *hold = lease_acquired(a);
        ts_proxy_arm(lease.a->proxy, ops[i], TS_LOSE_REPLY, TS_BLACKHOLE);
        ck_assert(ts_proxy_wait_fired(lease.a->proxy, PATIENCE_MS));
        pdk_hold_release(hold);
        ts_proxy_heal(lease.a->proxy);
        ck_assert_int_eq(pdk_session_flush(lease.a->session, ts_patience(PATIENCE_MS)), PDK_OK);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(records); i++) {
        pdk_hold *hold = lease_acquired(a);
        ts_lost *lost = ts_lost_watch(hold);
        ck_assert_int_eq(records[i] ? ts_set(ts_bench_server(), lease.record, records[i])
                                    : ts_delete(ts_bench_server(), lease.record),
                         0);
        ck_assert(ts_lost_wait(lost, ts_patience(PATIENCE_MS)));
        ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_OVERDUE);
        ck_assert_int_ne(pdk_lease_lock_release(a, hold, PATIENCE_MS), PDK_OK);
        pdk_hold_release(hold);
    }
}
END_TEST

struct cost {
    uint64_t rounds, writes;
};

/* What the last call has sent is over by then, also what it has not waited for. A renewal may come in between: the least counts. */
static void count_cost(struct cost *least) {
    ts_proxy_counters counters;
    ts_sleep_ms(50);
    ts_proxy_read(lease.a->proxy, &counters);
    ts_proxy_zero(lease.a->proxy);
    if (least && counters.rounds < least->rounds)
        least->rounds = counters.rounds;
    if (least && counters.writes < least->writes)
        least->writes = counters.writes;
}

/* docs/recipes/lease-lock.md has these numbers. One round more is for what is not waited for: the watch on its own node, or its
 * deletion. */
START_TEST(what_it_costs) {
    struct cost acquire = {99, 99}, release = acquire, back = acquire;
    lease_make();
    pdk_lease_lock *a = lease_lock_of(lease.a, lease_secret, LONG_MS);
    lease_released(a, lease_acquired(a));
    for (int i = 0; i < 12; i++) {
        ck_assert_int_eq(pdk_session_flush(lease.a->session, PATIENCE_MS), PDK_OK);
        count_cost(NULL);
        pdk_hold *hold = lease_acquired(a);
        count_cost(&acquire);
        pdk_hold_release(hold);
        ck_assert_int_eq(pdk_session_flush(lease.a->session, PATIENCE_MS), PDK_OK);
        count_cost(NULL);
        hold = lease_acquired(a);
        count_cost(&back);
        lease_released(a, hold);
        count_cost(&release);
    }
    ck_assert_msg(acquire.rounds <= 4 && acquire.writes == 2, "%d, %d", (int)acquire.rounds, (int)acquire.writes);
    ck_assert_msg(back.rounds <= 4 && back.writes == 2, "%d, %d", (int)back.rounds, (int)back.writes);
    ck_assert_msg(release.rounds <= 3 && release.writes == 2, "%d, %d", (int)release.rounds, (int)release.writes);
}
END_TEST

START_TEST(bad_input) {
    lease_make();
    pdk_lease_lock_options o = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *lock = NULL, *a = lease_lock_of(lease.a, lease_secret, LONG_MS),
                   *b = lease_lock_of(lease.b, lease_other_secret, LONG_MS);
    pdk_session *s = lease.a->session;
    pdk_hold *hold = NULL;
    g_autofree char *large = g_strnfill(1025, 'x'), *path = g_strnfill(501, 'p');
    path[0] = '/';
    o.secret = lease_secret;
    refused(pdk_lease_lock_new(s, path, &o, &lock), PDK_INVALID, "record stands below");
    refused(pdk_lease_lock_new(s, "/a", NULL, &lock), PDK_INVALID, "secret");
    o.secret = "fifteen bytes..";
    refused(pdk_lease_lock_new(s, "/a", &o, &lock), PDK_INVALID, "secret");
    o.secret = large;
    refused(pdk_lease_lock_new(s, "/a", &o, &lock), PDK_INVALID, "secret");
    o.secret = lease_secret;
    o.duration_ms = 999;
    refused(pdk_lease_lock_new(s, "/a", &o, &lock), PDK_INVALID, "duration_ms");
    o.duration_ms = INT64_C(315576000001);
    refused(pdk_lease_lock_new(s, "/a", &o, &lock), PDK_INVALID, "duration_ms");
    ck_assert_int_eq(pdk_lease_lock_options_init(&o, sizeof o), PDK_OK);
    ck_assert_int_eq(o.duration_ms, 60000);
    o.secret = lease_secret;
    ck_assert_int_eq(pdk_lease_lock_new(s, lease.path, &o, &lock), PDK_OK); /* with the session's identity */
    ck_assert_int_eq(pdk_lease_lock_acquire(lock, PDK_FOREVER, &hold), PDK_OK);
    lease_released(lock, hold);
    pdk_lease_lock_unref(lock);
    hold = lease_acquired(a);
    refused(pdk_lease_lock_release(b, hold, 0), PDK_INVALID, "hold");
    lease_released(a, hold);
}
END_TEST

/* ---- a wait that ends otherwise */

/* What the thread waits for. */
enum wait { FOR_A_HOLDER, FOR_THE_END, WAITS };

static pdk_interrupt *interrupt;

static struct call {
    pdk_lease_lock *lock;
    pdk_hold *hold;
    pdk_status status;
    char *why;
} call;

static void *acquire(void *user) {
    (void)user;
    if (interrupt)
        pdk_interrupt_attach(interrupt);
    call.status = pdk_lease_lock_acquire(call.lock, PDK_FOREVER, &call.hold);
    call.why = g_strdup(pdk_last_error());
    pdk_interrupt_detach();
    return NULL;
}

static void *release(void *user) {
    (void)user;
    call.status = pdk_lease_lock_release(call.lock, call.hold, PDK_FOREVER);
    return NULL;
}

static pthread_t started(void *(*fn)(void *user)) {
    pthread_t thread;
    call.status = PDK_SYSTEM;
    g_clear_pointer(&call.why, g_free);
    ck_assert_int_eq(pthread_create(&thread, NULL, fn, NULL), 0);
    return thread;
}

static void cancelled(pthread_t thread) {
    void *result = NULL;
    ck_assert_int_eq(pthread_cancel(thread), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
}

static int contenders(void) {
    g_autofree char *dir = g_strconcat(lease.path, "/lock", NULL);
    return ts_child_count(ts_bench_server(), dir);
}

static bool are_contenders(void *count) { return MAX(contenders(), 0) == GPOINTER_TO_INT(count); }

/* Maybe there is no directory either. */
static void await_contenders(int count) {
    ck_assert(ts_wait_until(are_contenders, GINT_TO_POINTER(count), ts_patience(5000)));
}

/* The other client's hold, or NULL: it is gone, and the record stands. The thread waits. */
static pdk_hold *begin(enum wait what, pthread_t *thread) {
    lease_make();
    pdk_hold *hold = lease_acquired(lease_lock_of(lease.b, lease_other_secret, LONG_MS));
    if (what == FOR_THE_END)
        pdk_hold_release(g_steal_pointer(&hold));
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    options.secret = lease_secret;
    ck_assert_int_eq(pdk_lease_lock_new(lease.a->session, lease.path, &options, &call.lock), PDK_OK);
    *thread = started(acquire);
    if (what == FOR_THE_END)
        ts_sleep_ms(500); /* it has been granted the lock, and has let it go */
    await_contenders(what == FOR_A_HOLDER ? 2 : 0);
    return hold;
}

/* Nothing is left of the wait, and the lock can be used. */
static void finish(pdk_hold *theirs) {
    await_contenders(theirs ? 1 : 0);
    if (theirs)
        pdk_hold_release(theirs);
    pdk_lease_lock *lock = lease_lock_of(lease.b, lease_other_secret, LONG_MS);
    lease_released(lock, lease_acquired(lock));
    lock = lease_lock_of(lease.a, lease_secret, LONG_MS);
    lease_released(lock, lease_acquired(lock));
    pdk_lease_lock_unref(call.lock);
    g_clear_pointer(&call.why, g_free);
}

START_TEST(a_wait_is_cancelled) {
    pthread_t thread;
    pdk_hold *theirs = begin((enum wait)_i, &thread);
    cancelled(thread);
    finish(theirs);
}
END_TEST

START_TEST(a_wait_is_interrupted) {
    pthread_t thread;
    ck_assert_int_eq(pdk_interrupt_new(&interrupt), PDK_OK);
    pdk_hold *theirs = begin((enum wait)_i, &thread);
    pdk_interrupt_raise(interrupt);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(call.status, PDK_CANCELED);
    ck_assert_msg(strstr(call.why, "interrupt") != NULL, "%s", call.why);
    g_clear_pointer(&interrupt, pdk_interrupt_unref);
    finish(theirs);
}
END_TEST

START_TEST(the_last_reference_goes) {
    pthread_t thread;
    pdk_hold *theirs = begin((enum wait)_i, &thread);
    pdk_lease_lock_unref(pdk_lease_lock_ref(call.lock)); /* one more, and not the last */
    pdk_lease_lock_unref(g_steal_pointer(&call.lock));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_str_eq(pdk_status_name(call.status), "PDK_CANCELED");
    ck_assert_msg(strstr(call.why, "dropped") != NULL, "%s", call.why);
    finish(theirs);
}
END_TEST

/* In each of its requests. The sanitizer looks what is left behind. */
START_TEST(a_call_is_cancelled) {
    static const int ops[] = {TS_OP_CREATE2, TS_OP_CREATE, TS_OP_GET_DATA, TS_OP_SET_DATA};
    static const int giving_up[] = {TS_OP_GET_DATA, TS_OP_SET_DATA};
    lease_make();
    call.lock = lease_lock_of(lease.a, lease_secret, LONG_MS);
    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++) {
        ts_proxy_arm(lease.a->proxy, ops[i], TS_LOSE_REPLY, TS_BLACKHOLE);
        pthread_t thread = started(acquire);
        ck_assert_msg(ts_proxy_wait_fired(lease.a->proxy, PATIENCE_MS), "request %zu", i);
        cancelled(thread);
        ts_proxy_heal(lease.a->proxy);
        await_contenders(0);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(giving_up); i++) {
        call.hold = lease_acquired(call.lock); /* the secret takes back what was written, or not */
        ts_proxy_arm(lease.a->proxy, giving_up[i], TS_LOSE_REPLY, TS_BLACKHOLE);
        pthread_t thread = started(release);
        ck_assert(ts_proxy_wait_fired(lease.a->proxy, PATIENCE_MS));
        cancelled(thread);
        ts_proxy_heal(lease.a->proxy);
        lease_released(call.lock, call.hold);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("lease_lock");
    TCase *all = ts_bench_case(suite, "lease_lock");
    tcase_add_test(all, held_and_given_up);
    tcase_add_test(all, it_stands_without_its_holder);
    tcase_add_test(all, a_waiter_hears_that_it_is_given_up);
    tcase_add_test(all, it_is_renewed);
    tcase_add_test(all, it_cannot_be_renewed);
    tcase_add_test(all, somebody_else_writes);
    tcase_add_test(all, records_of_others);
    tcase_add_test(all, a_renewal_under_way);
    tcase_add_test(all, what_it_costs);
    tcase_add_test(all, bad_input);
    tcase_add_loop_test(all, a_wait_is_cancelled, 0, WAITS);
    tcase_add_loop_test(all, a_wait_is_interrupted, 0, WAITS);
    tcase_add_loop_test(all, the_last_reference_goes, 0, WAITS);
    tcase_add_test(all, a_call_is_cancelled);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
