/* See ts_rwlock.h. */
#include "ts_rwlock.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "ts_clock.h"

static void unref(void *lock) { pdk_rwlock_unref(lock); }

pdk_rwlock *ts_rwlock_with(const ts_client *client, const char *path, const pdk_rwlock_options *options) {
    pdk_rwlock *lock = NULL;

    if (pdk_rwlock_new(client->session, path, options, &lock) != PDK_OK) {
        fprintf(stderr, "pdk_rwlock_new: %s\n", pdk_last_error());
        abort();
    }
    ts_paddock_keep(lock, unref);
    return lock;
}

pdk_rwlock *ts_rwlock(const ts_client *client, const char *path) { return ts_rwlock_with(client, path, NULL); }

pdk_rwlock *ts_rwlock_of_long_handovers(const ts_client *client, const char *path) {
    pdk_rwlock_options options = PDK_RWLOCK_OPTIONS_INIT;

    options.max_handover_ms = 60000;
    return ts_rwlock_with(client, path, &options);
}

static pdk_status start_read(void *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_rwlock_acquire_read_async(lock, timeout_ms, fn, user, out);
}

static pdk_status start_write(void *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_rwlock_acquire_write_async(lock, timeout_ms, fn, user, out);
}

static pdk_status block_read(void *lock, int64_t ms, pdk_hold **out) { return pdk_rwlock_acquire_read(lock, ms, out); }
static pdk_status block_write(void *lock, int64_t ms, pdk_hold **out) {
    return pdk_rwlock_acquire_write(lock, ms, out);
}

ts_answer *ts_read_async(pdk_rwlock *lock, int64_t ms) { return ts_answer_start(start_read, lock, ms); }
ts_answer *ts_read_thread(pdk_rwlock *lock, int64_t ms) { return ts_answer_block(block_read, lock, ms); }
ts_answer *ts_write_async(pdk_rwlock *lock, int64_t ms) { return ts_answer_start(start_write, lock, ms); }
ts_answer *ts_write_thread(pdk_rwlock *lock, int64_t ms) { return ts_answer_block(block_write, lock, ms); }

static pdk_hold *granted(const char *what, pdk_status status, pdk_hold *hold) {
    ck_assert_msg(status == PDK_OK, "%s: %s: %s", what, pdk_status_name(status), pdk_last_error());
    ck_assert_ptr_nonnull(hold);
    return hold;
}

pdk_hold *ts_bench_read(pdk_rwlock *lock, int64_t timeout_ms) {
    pdk_hold *hold = NULL;
    const pdk_status status = pdk_rwlock_acquire_read(lock, timeout_ms, &hold);

    return granted("read", status, hold);
}

pdk_hold *ts_bench_write(pdk_rwlock *lock, int64_t timeout_ms) {
    pdk_hold *hold = NULL;
    const pdk_status status = pdk_rwlock_acquire_write(lock, timeout_ms, &hold);

    return granted("write", status, hold);
}

void ts_assert_granted(ts_answer *answer) {
    ck_assert_msg(ts_answer_wait(answer, ts_patience(5000)), "not granted in time");
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), "PDK_OK");
    ck_assert(pdk_hold_is_valid(ts_answer_hold(answer)));
}

void ts_assert_waits(ts_answer *answer, int64_t for_ms) {
    ck_assert_msg(!ts_answer_wait(answer, for_ms), "answered: %s", pdk_status_name(ts_answer_status(answer)));
}

void ts_await_queued(ts_answer *answer) {
    const int64_t end = ts_now_ms() + ts_patience(5000);
    int32_t ahead;

    while (pdk_claim_position(ts_answer_claim(answer), &ahead) == PDK_UNAVAILABLE) {
        ck_assert_int_lt(ts_now_ms(), end);
        ts_sleep_ms(1);
    }
}
