#include "cancel_bench.h"

#include <check.h>
#include <glib.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

ts_ensemble *cancel_server;
ts_proxy *cancel_proxy;

void cancel_begin(void) {
    cancel_server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(cancel_server);
    cancel_proxy = ts_ensemble_proxy(cancel_server, 0);
}

void cancel_end(void) { ts_ensemble_stop(cancel_server); }

struct cancel_user cancel_ours, cancel_others;

void cancel_use(struct cancel_user *user, const char *hosts, pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    memset(user, 0, sizeof *user);
    options.dispatch = dispatch;
    options.session_timeout_ms = 30000;
    ck_assert_int_eq(pdk_session_open(hosts, &options, &user->s), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(user->s, "/cancel/lock", NULL, &user->lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(user->s, "/cancel/busy", NULL, &user->busy), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_new(user->s, "/cancel/rwlock", NULL, &user->rwlock), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_new(user->s, "/cancel/semaphore", PERMITS, NULL, &user->semaphore), PDK_OK);
    ck_assert_int_eq(pdk_election_new(user->s, "/cancel/election", NULL, &user->election), PDK_OK);
}

static void release(pdk_hold *hold) {
    if (hold)
        pdk_hold_release(hold);
}

void cancel_drop(struct cancel_user *user) {
    release(user->hold);
    release(user->writer);
    release(user->permits);
    pdk_lock_unref(user->lock);
    pdk_lock_unref(user->busy);
    pdk_rwlock_unref(user->rwlock);
    pdk_semaphore_unref(user->semaphore);
    pdk_election_unref(user->election);
    pdk_session_close(user->s, 10000);
    pdk_session_unref(user->s);
}

void cancel_set_up(void) {
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    pdk_hold *leading = NULL;
    ts_proxy_heal(cancel_proxy);
    cancel_use(&cancel_others, ts_ensemble_hosts(cancel_server), PDK_DISPATCH_THREAD);
    cancel_use(&cancel_ours, ts_ensemble_proxied_hosts(cancel_server), PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_lock_acquire(cancel_others.busy, 10000, &cancel_others.hold), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write(cancel_others.rwlock, 10000, &cancel_others.writer), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_acquire(cancel_others.semaphore, PERMITS, 10000, &cancel_others.permits), PDK_OK);
    ck_assert_int_eq(pdk_election_join(cancel_others.election, &callbacks), PDK_OK);
    ck_assert_int_eq(pdk_election_wait(cancel_others.election, 10000, &leading), PDK_OK);
    pdk_hold_unref(leading);
}

void cancel_tear_down(void) {
    ts_proxy_heal(cancel_proxy);
    cancel_drop(&cancel_ours);
    cancel_drop(&cancel_others);
}

void cancel_pause(long ms) { g_usleep((gulong)ms * 1000); }

bool cancel_join(pthread_t thread, void **result) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    return pthread_timedjoin_np(thread, result, &until) == 0;
}

/* The session works, and no node of cancel_ours is left. */
void cancel_check(const char *name) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_lock_acquire(cancel_ours.lock, 10000, &hold);
    ck_assert_msg(status == PDK_OK, "after %s: %s", name, pdk_last_error());
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(cancel_ours.s, 10000), PDK_OK);
    const char *hosts = ts_ensemble_hosts(cancel_server);
    ck_assert_msg(ts_wait_children(hosts, "/cancel/busy", 1, 5000), "after %s: a node of the lock", name);
    ck_assert_msg(ts_wait_children(hosts, "/cancel/rwlock", 1, 5000), "after %s: a node of the rwlock", name);
}

void cancel_be_slow(pdk_session_event event, int64_t time_left_ms, void *user) {
    (void)event;
    (void)time_left_ms;
    atomic_store((atomic_bool *)user, true);
    cancel_pause(1500);
}
