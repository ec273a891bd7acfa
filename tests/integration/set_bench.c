/* See set_bench.h. */
#include "set_bench.h"

#include <glib.h>
#include <string.h>

#include "ts_support.h"

enum { IN_TIME_MS = 10000 };

struct set *set_new(const pdk_right *rights, size_t count) {
    struct set *set = g_new0(struct set, 1);
    ck_assert_uint_le(count, G_N_ELEMENTS(set->rights));
    memcpy(set->rights, rights, count * sizeof rights[0]);
    set->count = count;
    ts_paddock_keep(set, g_free);
    return set;
}

struct set *set_backwards(const struct set *set) {
    struct set *other = set_new(set->rights, set->count);
    for (size_t i = 0; i < set->count; i++)
        other->rights[i] = set->rights[set->count - 1 - i];
    return other;
}

static pdk_status start(void *recipe, int64_t timeout_ms, pdk_set_acquired_fn fn, void *user, pdk_set_claim **out) {
    const struct set *set = recipe;
    return pdk_set_acquire_async(set->rights, set->count, timeout_ms, NULL, fn, user, out);
}

static pdk_status block(void *recipe, int64_t timeout_ms, pdk_set **out) {
    const struct set *set = recipe;
    return pdk_set_acquire(set->rights, set->count, timeout_ms, NULL, out);
}

ts_answer *set_async(struct set *set, int64_t timeout_ms) { return ts_answer_start_set(start, set, timeout_ms); }
ts_answer *set_thread(struct set *set, int64_t timeout_ms) { return ts_answer_block_set(block, set, timeout_ms); }

pdk_set *set_take(struct set *set) {
    pdk_set *held = NULL;
    const pdk_status status = pdk_set_acquire(set->rights, set->count, ts_patience(IN_TIME_MS), NULL, &held);
    ck_assert_msg(status == PDK_OK, "acquire: %s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert(pdk_set_is_valid(held));
    return held;
}

void set_await(ts_answer *answer, pdk_status status) {
    ck_assert(ts_answer_wait(answer, ts_patience(IN_TIME_MS)));
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), pdk_status_name(status));
    ck_assert_int_eq(ts_answer_holds(answer), status == PDK_OK);
    ck_assert_int_eq(ts_answer_count(answer), 1);
}

void set_children(const char *path, int count) {
    ck_assert_msg(ts_wait_children(ts_bench_server(), path, count, ts_patience(IN_TIME_MS)),
                  "%s: %d nodes instead of %d", path, ts_child_count(ts_bench_server(), path), count);
}
