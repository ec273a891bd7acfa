/* How a wait for a lease lock ends otherwise than by the lock: the thread is cancelled or interrupted, the last reference goes; and where
 * nobody may wait. */
#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lease_locks.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

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

static bool is_one(void *unused) {
    (void)unused;
    return contenders() == 1;
}

static bool is_none(void *unused) {
    (void)unused;
    return contenders() <= 0; /* maybe there is no directory either */
}

static bool are_two(void *unused) {
    (void)unused;
    return contenders() == 2;
}

/* The other client's hold, or NULL: it is gone, and the record stands. The thread waits. */
static pdk_hold *begin(enum wait what, pthread_t *thread) {
    lease_make(SLOW_MS);
    pdk_hold *hold = lease_acquired(lease_lock_of(lease.b, lease_other_secret, LONG_MS));
    if (what == FOR_THE_END)
        pdk_hold_release(g_steal_pointer(&hold));
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    options.secret = lease_secret;
    ck_assert_int_eq(pdk_lease_lock_new(lease.a->session, lease.path, &options, &call.lock), PDK_OK);
    *thread = started(acquire);
    if (what == FOR_A_HOLDER) {
        ck_assert(ts_wait_until(are_two, NULL, ts_patience(5000)));
    } else { /* it has been granted the lock, and has let it go */
        ts_sleep_ms(500);
        ck_assert(ts_wait_until(is_none, NULL, ts_patience(5000)));
    }
    return hold;
}

/* Nothing is left of the wait, and the lock can be used. */
static void finish(pdk_hold *theirs) {
    ck_assert(ts_wait_until(theirs ? is_one : is_none, NULL, ts_patience(5000)));
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
    lease_make(SLOW_MS);
    call.lock = lease_lock_of(lease.a, lease_secret, LONG_MS);
    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++) {
        ts_proxy_arm(lease.a->proxy, ops[i], TS_LOSE_REPLY, TS_BLACKHOLE);
        pthread_t thread = started(acquire);
        ck_assert_msg(ts_proxy_wait_fired(lease.a->proxy, PATIENCE_MS), "request %zu", i);
        cancelled(thread);
        ts_proxy_heal(lease.a->proxy);
        ck_assert(ts_wait_until(is_none, NULL, ts_patience(5000)));
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

static void in_the_child(void) {
    pdk_hold *hold = NULL;
    bool fine = pdk_lease_lock_acquire(call.lock, 0, &hold) == PDK_FORKED &&
                pdk_lease_lock_release(call.lock, call.hold, 0) == PDK_FORKED && !pdk_hold_is_valid(call.hold);
    pdk_lease_lock_unref(pdk_lease_lock_ref(call.lock));
    pdk_lease_lock_unref(call.lock);
    ts_end_child(!fine);
}

/* The child has neither lock nor hold, and the parent's goes on. */
START_TEST(a_forked_child) {
    int status = -1;
    lease_make(SLOW_MS);
    call.lock = lease_lock_of(lease.a, lease_secret, 1000);
    call.hold = lease_acquired(call.lock);
    fflush(NULL);
    pid_t pid = ts_fork();
    if (pid == 0)
        in_the_child();
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ts_sleep_ms(1200);
    ck_assert(pdk_hold_is_valid(call.hold)); /* it is renewed */
    lease_released(call.lock, call.hold);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("lease_lock_exits");
    TCase *all = ts_bench_case(suite, "lease lock exits");
    tcase_add_loop_test(all, a_wait_is_cancelled, 0, WAITS);
    tcase_add_loop_test(all, a_wait_is_interrupted, 0, WAITS);
    tcase_add_loop_test(all, the_last_reference_goes, 0, WAITS);
    tcase_add_test(all, a_call_is_cancelled);
    tcase_add_test(all, a_forked_child);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
