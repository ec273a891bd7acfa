/* See lease_locks.h. */
#include "lease_locks.h"

#include <glib.h>

#include "refused.h"
#include "ts_support.h"

const char lease_secret[] = "the secret of one", lease_other_secret[] = "the secret of another";

struct lease_locks lease;

void lease_make(int session_ms) {
    lease.path = ts_fresh_path();
    lease.record = g_strconcat(lease.path, "/record", NULL);
    ts_paddock_keep(lease.record, g_free);
    lease.a = ts_bench_client(session_ms);
    lease.b = ts_bench_client(session_ms);
}

static void unref_lock(void *lock) { pdk_lease_lock_unref(lock); }

pdk_lease_lock *lease_lock_of(const ts_client *client, const char *with, int64_t duration_ms) {
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

pdk_hold *lease_acquired(pdk_lease_lock *lock) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_lease_lock_acquire(lock, ts_patience(PATIENCE_MS), &hold);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert(pdk_hold_is_valid(hold));
    return hold;
}

void lease_stands(pdk_lease_lock *lock, const char *word) {
    pdk_hold *hold = NULL;
    refused(pdk_lease_lock_acquire(lock, 0, &hold), PDK_BUSY, word);
    ck_assert_ptr_null(hold);
}

void lease_released(pdk_lease_lock *lock, pdk_hold *hold) {
    pdk_status status = pdk_lease_lock_release(lock, hold, ts_patience(PATIENCE_MS));
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
}

char *lease_text(void) {
    char *data = NULL;
    ck_assert_int_eq(ts_get(ts_bench_server(), lease.record, &data, NULL, NULL), 0);
    return data;
}
