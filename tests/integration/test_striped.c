/* The striped lock: keys, sets of keys, any stripe, what stands on the server, and what it costs. */
#include <glib.h>
#include <paddock/set.h>
#include <paddock/striped.h>
#include <string.h>

#include "refused.h"
#include "stripes.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_support.h"

enum { SESSION_MS = 6000 };

/* Two keys of one stripe, and one of another, of N. */
static const char *const same[] = {"orders", "order-4711"}, *const other = "a";

static ts_client *a, *b;
static const char *path;

static void begin(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
    path = ts_fresh_path();
}

START_TEST(a_key_is_its_stripe) {
    begin();
    pdk_striped *ours = striped_at(a, path), *theirs = striped_at(b, path);
    pdk_hold *hold = NULL, *more = NULL;
    ck_assert_int_eq(pdk_striped_acquire(ours, same[0], ts_patience(5000), &hold), PDK_OK);
    ck_assert_int_eq(pdk_striped_stripe(ours, hold), 1);
    ck_assert_int_eq(pdk_striped_stripe(theirs, hold), -1);
    ck_assert_int_eq(stripes_queued(path, 1), 1);
    ck_assert_int_gt(pdk_hold_token(hold), 0);
    ck_assert_int_eq(pdk_striped_acquire(theirs, same[1], 0, &more), PDK_BUSY);
    ck_assert_int_eq(pdk_striped_acquire(theirs, same[1], ts_patience(500), &more), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_striped_acquire(ours, same[1], 1000, &more), PDK_DEADLOCK);
    ck_assert_int_eq(pdk_striped_acquire(theirs, other, ts_patience(5000), &more), PDK_OK);
    ck_assert_int_eq(pdk_striped_stripe(theirs, more), 3);
    pdk_hold_release(more);
    pdk_hold_release(hold);
    ck_assert_int_eq(pdk_striped_acquire(theirs, same[1], ts_patience(5000), &hold), PDK_OK);
    pdk_hold_release(hold);
    stripes_assert_none(path);
}
END_TEST

/* A lock of a stripe is a lock: its queue, its asynchronous claims, as a right among others, and it outlives the striped lock. */
START_TEST(the_lock_of_a_stripe) {
    begin();
    pdk_striped *ours = striped_at(a, path);
    g_autofree char *third = g_strconcat(path, "/0003", NULL);
    pdk_lock *lock = NULL, *again = NULL, *plain = ts_lock(b, third);
    pdk_contenders *list = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_striped_lock(ours, 3, &lock), PDK_OK);
    ck_assert_int_eq(pdk_striped_lock(ours, 3, &again), PDK_OK);
    ck_assert_ptr_eq(lock, again);
    pdk_lock_unref(again);
    pdk_striped_unref(pdk_striped_ref(ours));
    ck_assert_int_eq(pdk_striped_acquire(ours, other, ts_patience(5000), &hold), PDK_OK);
    ck_assert_int_eq(pdk_lock_list(lock, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    pdk_contenders_free(list);
    pdk_hold_release(hold);
    hold = ts_bench_acquire(plain, 5000); /* of a client that knows of no stripes */
    ck_assert_int_eq(pdk_striped_acquire(ours, other, 0, &hold), PDK_BUSY);
    pdk_hold_release(hold);
    pdk_lock_unref(lock);
}
END_TEST

/* Holds of other paths, which are like those of stripes. */
START_TEST(the_stripe_of_another_hold) {
    static const char *const ends[] = {"x/0001", "/any",  "/00001", "/0001x", "/0008", "/9999",
                                       "/-001",  "/-002", "/+001",  "/ 001",  "/001",  "/1"};
    begin();
    pdk_striped *ours = striped_at(a, path);
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_autofree char *like = g_strconcat(path, ends[i], NULL);
        pdk_hold *hold = ts_bench_acquire(ts_lock(a, like), 5000);
        ck_assert_msg(pdk_striped_stripe(ours, hold) == -1, "%s", like);
        pdk_hold_release(hold);
    }
    pdk_hold *hold = ts_bench_acquire(ts_lock(a, ts_fresh_path()), 5000);
    ck_assert_int_eq(pdk_striped_stripe(ours, hold), -1);
    ck_assert_int_eq(pdk_striped_stripe(ours, NULL), -1);
    ck_assert_int_eq(pdk_striped_stripe(NULL, hold), -1);
    pdk_hold_release(hold);
}
END_TEST

START_TEST(keys_of_one_stripe_share_it) {
    begin();
    pdk_striped *ours = striped_at(a, path);
    const char *keys[] = {other, same[0], same[1], other};
    int32_t parts[4] = {-1, -1, -1, -1};
    pdk_set *set = NULL;
    ck_assert_int_eq(pdk_striped_acquire_keys(ours, keys, 4, ts_patience(5000), parts, &set), PDK_OK);
    ck_assert_int_eq(pdk_set_count(set), 2);
    ck_assert_int_eq(parts[0], 0);
    ck_assert_int_eq(parts[1], 1);
    ck_assert_int_eq(parts[2], 1);
    ck_assert_int_eq(parts[3], 0);
    ck_assert_int_eq(pdk_striped_stripe(ours, pdk_set_part(set, 0)), 3);
    ck_assert_int_eq(pdk_striped_stripe(ours, pdk_set_part(set, 1)), 1);
    ck_assert_int_eq(stripes_queued(path, 1) + stripes_queued(path, 3), 2);
    ck_assert_int_eq(pdk_set_release(set), PDK_OK);
    ck_assert_int_eq(pdk_striped_acquire_keys(ours, keys, 4, 0, NULL, &set), PDK_OK);
    pdk_set_release(set);
    stripes_assert_none(path);
}
END_TEST

/* In the words of the call that was made, not of that which it makes. */
START_TEST(a_refusal_names_the_key) {
    begin();
    pdk_striped *ours = striped_at(a, path), *theirs = striped_at(b, path);
    const char *keys[] = {other, same[1], other, same[0]};
    pdk_hold *hold = NULL;
    pdk_set *more = NULL;
    g_autofree char *text = g_strdup_printf("pdk_striped_acquire_keys: keys[1]: %s/0001: this thread holds it", path);
    ck_assert_int_eq(pdk_striped_acquire(ours, same[0], ts_patience(5000), &hold), PDK_OK);
    int32_t untouched[4] = {77, 77, 77, 77};
    refused(pdk_striped_acquire_keys(ours, keys, 4, 1000, untouched, &more), PDK_DEADLOCK, text);
    refused(pdk_striped_acquire_keys(theirs, keys, 4, 0, untouched, &more), PDK_BUSY, "pdk_striped_acquire_keys: ");
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(untouched[i], 77);
    refused(pdk_striped_acquire_keys(ours, keys, 4, -2, NULL, &more), PDK_INVALID,
            "pdk_striped_acquire_keys: timeout_ms is -2");
    refused(pdk_striped_acquire_keys(theirs, keys, 4, 0, NULL, &more), PDK_BUSY, "pdk_striped_acquire_keys: ");
    ck_assert_ptr_null(more);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    stripes_assert_none(path);
}
END_TEST

/* ---- any */

START_TEST(any_takes_each_stripe_once) {
    begin();
    pdk_striped *ours = striped_at(a, path), *theirs = striped_at(b, path);
    pdk_hold *holds[N], *more = NULL;
    bool seen[N] = {false};
    for (int i = 0; i < N; i++) {
        pdk_striped *striped = i % 2 ? theirs : ours;
        const int64_t ms = i == N - 1 ? 0 : ts_patience(5000); /* a try finds the last one that is free */
        ck_assert_int_eq(pdk_striped_acquire_any(striped, ms, &holds[i]), PDK_OK);
        const int32_t stripe = pdk_striped_stripe(striped, holds[i]);
        ck_assert_int_ge(stripe, 0);
        ck_assert(!seen[stripe]);
        seen[stripe] = true;
        stripes_await(path, i + 1, 0);
    }
    refused(pdk_striped_acquire_any(ours, 0, &more), PDK_BUSY, "somebody is ahead in every stripe");
    ck_assert_int_eq(pdk_striped_acquire_any(theirs, ts_patience(500), &more), PDK_TIMEOUT);
    stripes_await(path, N, 0);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pdk_hold_release(holds[i]), PDK_OK);
    stripes_assert_none(path);
}
END_TEST

/* A thread that took any stripe would wait for itself, if it took the same one by a key. A try does not wait. */
START_TEST(any_and_then_a_key) {
    begin();
    pdk_striped_options options = PDK_STRIPED_OPTIONS_INIT;
    pdk_striped *ours = striped_at(a, path), *nesting = NULL;
    const char *const keys[] = {other, same[0]};
    pdk_lock *lock = NULL, *plain = NULL;
    pdk_hold *holds[N], *more = NULL;
    pdk_set *set = NULL;
    g_autofree char *third = g_strconcat(path, "/0003", NULL);
    options.reentrant = 1;
    ck_assert_int_eq(pdk_striped_new(a->session, path, N, &options, &nesting), PDK_OK);
    ck_assert_int_eq(pdk_striped_lock(ours, 3, &lock), PDK_OK);
    plain = ts_lock(a, third);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pdk_striped_acquire_any(i % 2 ? ours : nesting, ts_patience(5000), &holds[i]), PDK_OK);
    const pdk_right rights[] = {pdk_right_lock(lock)};
    refused(pdk_striped_acquire(ours, other, 1000, &more), PDK_DEADLOCK, "/0003: this thread holds it by another");
    refused(pdk_striped_acquire(nesting, other, 1000, &more), PDK_DEADLOCK, "/0003: this thread holds it by another");
    refused(pdk_striped_acquire_keys(ours, keys, 2, 1000, NULL, &set), PDK_DEADLOCK, ": this thread holds it");
    refused(pdk_set_acquire(rights, 1, 1000, NULL, &set), PDK_DEADLOCK, "/0003: this thread holds it");
    refused(pdk_lock_acquire(lock, 1000, &more), PDK_DEADLOCK, "/0003: this thread holds it");
    refused(pdk_lock_acquire(plain, 1000, &more), PDK_DEADLOCK, "/0003: this thread holds it by another");
    refused(pdk_striped_acquire(ours, other, 0, &more), PDK_BUSY, "");
    refused(pdk_striped_acquire_any(ours, ts_patience(500), &more), PDK_TIMEOUT, "");
    for (int i = 0; i < N; i++)
        pdk_hold_detach_thread(holds[i]);
    refused(pdk_striped_acquire(ours, other, ts_patience(500), &more), PDK_TIMEOUT, "");
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pdk_hold_release(holds[i]), PDK_OK);
    ck_assert_int_eq(pdk_striped_acquire(ours, other, ts_patience(5000), &more), PDK_OK);
    pdk_hold_release(more);
    pdk_lock_unref(lock);
    pdk_striped_unref(nesting);
    stripes_assert_none(path);
}
END_TEST

/* Of those who wait for any stripe, one stands in the stripes. The stripe that becomes free is that one's, and then the next one stands
 * there. */
START_TEST(one_at_a_time_stands_in_the_stripes) {
    enum { WAITING = 3 };
    begin();
    pdk_hold *taken[N];
    ts_answer *answers[WAITING];
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pdk_striped_acquire_any(striped_at(a, path), ts_patience(5000), &taken[i]), PDK_OK);
    for (int i = 0; i < WAITING; i++) {
        answers[i] = any_async(striped_at(ts_bench_client(SESSION_MS), path), 30000);
        stripes_await(path, 2 * N, i + 1);
    }
    for (int i = 0; i < WAITING; i++) {
        const int freed = (3 * i + 2) % N;
        const int32_t stripe = pdk_striped_stripe(striped_at(a, path), taken[freed]);
        ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&taken[freed])), PDK_OK);
        ck_assert(ts_answer_wait(answers[i], ts_patience(5000)));
        ck_assert_int_eq(ts_answer_status(answers[i]), PDK_OK);
        g_autofree char *below = g_strdup_printf("%s/%04d/", path, stripe);
        ck_assert(g_str_has_prefix(pdk_hold_node(ts_answer_hold(answers[i])), below));
        stripes_await(path, i < WAITING - 1 ? 2 * N : N, WAITING - 1 - i);
        ck_assert_int_eq(ts_answer_count(answers[WAITING - 1]), i == WAITING - 1);
    }
    for (int i = 0; i < WAITING; i++)
        ck_assert_int_eq(ts_answer_release(answers[i]), PDK_OK);
    for (int i = 0; i < N; i++)
        pdk_hold_unref(taken[i]);
    stripes_assert_none(path);
}
END_TEST

/* Who comes later for a key does not overtake it, and is woken when it leaves the stripes. */
START_TEST(any_stands_ahead_of_later_keys) {
    begin();
    pdk_striped *ours = striped_at(a, path), *theirs = striped_at(b, path);
    pdk_hold *taken[N];
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pdk_striped_acquire_any(ours, ts_patience(5000), &taken[i]), PDK_OK);
    ts_answer *any = any_async(theirs, 30000);
    stripes_await(path, 2 * N, 1);
    ts_answer *keys[N];
    for (int i = 0; i < N; i++)
        keys[i] = stripe_async(striped_at(ts_bench_client(SESSION_MS), path), i, 30000);
    stripes_await(path, 3 * N, 1);
    const int32_t first = pdk_striped_stripe(ours, taken[0]);
    pdk_hold_release(taken[0]);
    ck_assert(ts_answer_wait(any, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_count(keys[first]), 0);
    for (int i = 1; i < N; i++)
        pdk_hold_release(taken[i]);
    for (int i = 0; i < N; i++) {
        if (i == first)
            ck_assert_int_eq(ts_answer_release(any), PDK_OK);
        ck_assert(ts_answer_wait(keys[i], ts_patience(5000)));
        ck_assert_int_eq(ts_answer_status(keys[i]), PDK_OK);
        ck_assert_int_eq(ts_answer_release(keys[i]), PDK_OK);
    }
    stripes_assert_none(path);
}
END_TEST

/* An administrator deletes the nodes with which it stands there: it stands there again. */
START_TEST(a_node_that_is_deleted) {
    begin();
    pdk_hold *taken[N];
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pdk_striped_acquire_any(striped_at(a, path), ts_patience(5000), &taken[i]), PDK_OK);
    ts_answer *any = any_async(striped_at(b, path), 30000);
    stripes_await(path, 2 * N, 1);
    g_autofree char *node = stripes_last_node(path, 0);
    ck_assert_int_eq(ts_delete(ts_bench_server(), node), 0);
    for (int i = 0; i < N; i++) /* the watch on its predecessor is how it hears of that */
        if (pdk_striped_stripe(striped_at(a, path), taken[i]) == 0)
            pdk_hold_release(g_steal_pointer(&taken[i]));
    ck_assert(ts_answer_wait(any, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_status(any), PDK_OK);
    ck_assert_int_eq(ts_answer_release(any), PDK_OK);
    for (int i = 0; i < N; i++)
        if (taken[i])
            pdk_hold_release(taken[i]);
    stripes_assert_none(path);
}
END_TEST

/* ---- what it costs */

/* One of them. */
struct got {
    pdk_hold *hold;
    pdk_set *set;
};

/* Round trips, and requests that are no pings and barriers. The fewest of some attempts, more on a busy machine: renewals
 * may come in between. */
static void cost(pdk_status (*acquire)(pdk_striped *striped, struct got *got), uint64_t rounds, uint64_t creates) {
    pdk_striped *ours = striped_at(a, path);
    uint64_t least = UINT64_MAX, created = 0;
    for (int i = 0; i < 10 || (least > rounds && i < 200); i++) {
        ts_proxy_counters counters;
        struct got got = {NULL, NULL};
        ts_proxy_zero(a->proxy);
        ck_assert_int_eq(acquire(ours, &got), PDK_OK);
        ts_proxy_read(a->proxy, &counters);
        created = ts_proxy_count(a->proxy, TS_OP_CREATE2);
        least = MIN(least, counters.rounds);
        pdk_hold_unref(got.hold);
        pdk_set_unref(got.set);
        ck_assert_int_eq(pdk_session_flush(a->session, ts_patience(5000)), PDK_OK);
    }
    ck_assert_uint_eq(least, rounds);
    ck_assert_uint_eq(created, creates);
}

static pdk_status by_key(pdk_striped *striped, struct got *got) {
    return pdk_striped_acquire(striped, other, ts_patience(5000), &got->hold);
}

static pdk_status by_keys(pdk_striped *striped, struct got *got) {
    const char *keys[] = {other, same[0]};
    return pdk_striped_acquire_keys(striped, keys, 2, ts_patience(5000), NULL, &got->set);
}

static pdk_status by_any(pdk_striped *striped, struct got *got) {
    return pdk_striped_acquire_any(striped, ts_patience(5000), &got->hold);
}

START_TEST(round_trips) {
    begin();
    struct got got = {NULL, NULL};
    ck_assert_int_eq(by_any(striped_at(b, path), &got), PDK_OK); /* the directories */
    pdk_hold_release(got.hold);
    for (int i = 0; i < N; i++) {
        ts_answer *answer = stripe_async(striped_at(b, path), i, 5000);
        ck_assert(ts_answer_wait(answer, ts_patience(5000)));
        ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    }
    cost(by_key, 1, 1);
    cost(by_keys, 2, 2);
    cost(by_any, 2, 2);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("striped");
    TCase *cases = ts_bench_case(suite, "striped");
    tcase_add_test(cases, a_key_is_its_stripe);
    tcase_add_test(cases, the_lock_of_a_stripe);
    tcase_add_test(cases, the_stripe_of_another_hold);
    tcase_add_test(cases, keys_of_one_stripe_share_it);
    tcase_add_test(cases, a_refusal_names_the_key);
    tcase_add_test(cases, any_takes_each_stripe_once);
    tcase_add_test(cases, any_and_then_a_key);
    tcase_add_test(cases, one_at_a_time_stands_in_the_stripes);
    tcase_add_test(cases, any_stands_ahead_of_later_keys);
    tcase_add_test(cases, a_node_that_is_deleted);
    tcase_add_test(cases, round_trips);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
