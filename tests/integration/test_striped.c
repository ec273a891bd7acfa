/* The striped lock: keys, sets of keys, any stripe, what stands on the server, and what it costs; the number of stripes, on which all clients
 * of a path must agree; and what is refused. */
#include <glib.h>
#include <paddock/set.h>
#include <paddock/striped.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_expire.h"
#include "ts_observer.h"
#include "ts_support.h"

enum { N = 8, SESSION_MS = 6000, IN_TIME_MS = 5000 };
#define UNTOUCHED ((void *)&a)

/* Two keys of one stripe, and one of another, of N. */
static const char *const same[] = {"orders", "order-4711"}, *const other = "a";

static ts_client *a, *b;
static const char *path;
static pdk_striped *ours, *theirs; /* of N stripes, of a and b */

static void unref_striped(void *striped) { pdk_striped_unref(striped); }

static pdk_striped *striped_with(const ts_client *client, int32_t stripes) {
    pdk_striped *striped = NULL;
    ck_assert_int_eq(pdk_striped_new(client->session, path, stripes, NULL, &striped), PDK_OK);
    ts_paddock_keep(striped, unref_striped);
    return striped;
}

static void begin(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
    path = ts_fresh_path();
    ours = striped_with(a, N);
    theirs = striped_with(b, N);
}

static pdk_status start_any(void *striped, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_striped_acquire_any_async(striped, timeout_ms, fn, user, out);
}

static ts_answer *any_async(pdk_striped *striped, int64_t timeout_ms) {
    return ts_answer_start(start_any, striped, timeout_ms);
}

static pdk_status start_lock(void *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_lock_acquire_async(lock, timeout_ms, fn, user, out);
}

static void unref_lock(void *lock) { pdk_lock_unref(lock); }

static ts_answer *stripe_async(pdk_striped *striped, int32_t stripe, int64_t timeout_ms) {
    pdk_lock *lock = NULL;
    ck_assert_int_eq(pdk_striped_lock(striped, stripe, &lock), PDK_OK);
    ts_paddock_keep(lock, unref_lock);
    return ts_answer_start(start_lock, lock, timeout_ms);
}

/* How many nodes that stripe has. */
static int stripes_queued(int32_t stripe) {
    g_autofree char *dir = g_strdup_printf("%s/%04d", path, stripe);
    return MAX(ts_child_count(ts_bench_server(), dir), 0);
}

/* Waits until all stripes together have so many nodes, and the queue for any so many. */
static void stripes_await(int standing, int any) {
    g_autofree char *front = g_strconcat(path, "/any", NULL);
    const int64_t end = ts_now_ms() + ts_patience(5000);
    for (;;) {
        int stand = 0, wait = MAX(ts_child_count(ts_bench_server(), front), 0);
        for (int32_t i = 0; i < N; i++)
            stand += stripes_queued(i);
        if (stand == standing && wait == any)
            return;
        ck_assert_msg(ts_now_ms() < end, "%d nodes in the stripes, %d in any; %d and %d were expected", stand, wait,
                      standing, any);
        ts_sleep_ms(5);
    }
}

static void stripes_assert_none(void) { stripes_await(0, 0); }

START_TEST(a_key_is_its_stripe) {
    pdk_hold *hold = NULL, *more = NULL;
    ck_assert_int_eq(pdk_striped_acquire(ours, same[0], ts_patience(5000), &hold), PDK_OK);
    ck_assert_int_eq(pdk_striped_stripe(ours, hold), 1);
    ck_assert_int_eq(pdk_striped_stripe(theirs, hold), -1);
    ck_assert_int_eq(stripes_queued(1), 1);
    ck_assert_int_gt(pdk_hold_token(hold), 0);
    ck_assert_int_eq(pdk_striped_acquire(theirs, same[1], 0, &more), PDK_BUSY);
    ck_assert_int_eq(pdk_striped_acquire(theirs, same[1], ts_patience(500), &more), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_striped_acquire(ours, same[1], 1000, &more), PDK_DEADLOCK);
    ck_assert_int_eq(pdk_striped_acquire(theirs, other, ts_patience(5000), &more), PDK_OK);
    ck_assert_int_eq(pdk_striped_stripe(theirs, more), 3);
    pdk_hold_release(more);
    pdk_hold_release(hold);
    stripes_assert_none();
}
END_TEST

/* The lock of a stripe is a lock, also for a client that knows of no stripes. */
START_TEST(the_lock_of_a_stripe) {
    g_autofree char *third = g_strconcat(path, "/0003", NULL);
    pdk_lock *lock = NULL, *again = NULL;
    pdk_contenders *list = NULL;
    ck_assert_int_eq(pdk_striped_lock(ours, 3, &lock), PDK_OK);
    ck_assert_int_eq(pdk_striped_lock(ours, 3, &again), PDK_OK);
    ck_assert_ptr_eq(lock, again);
    pdk_lock_unref(again);
    pdk_striped_unref(pdk_striped_ref(ours));
    pdk_hold *hold = ts_bench_acquire(ts_lock(b, third), 5000), *none = NULL;
    ck_assert_int_eq(pdk_striped_acquire(ours, other, 0, &none), PDK_BUSY);
    ck_assert_int_eq(pdk_lock_list(lock, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    pdk_contenders_free(list);
    pdk_hold_release(hold);
    pdk_lock_unref(lock);
}
END_TEST

/* Holds of other paths, which are like those of stripes. */
START_TEST(the_stripe_of_another_hold) {
    static const char *const ends[] = {"x/0001", "/any",  "/00001", "/0001x", "/0008", "/9999",
                                       "/-001",  "/-002", "/+001",  "/ 001",  "/001",  "/1"};
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
    ck_assert_int_eq(stripes_queued(1) + stripes_queued(3), 2);
    ck_assert_int_eq(pdk_set_release(set), PDK_OK);
    ck_assert_int_eq(pdk_striped_acquire_keys(ours, keys, 4, 0, NULL, &set), PDK_OK);
    pdk_set_release(set);
    stripes_assert_none();
}
END_TEST

/* In the words of the call that was made, not of that which it makes. */
START_TEST(a_refusal_names_the_key) {
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
    stripes_assert_none();
}
END_TEST

/* ---- any */

/* A thread that took any stripe would wait for itself, if it took the same one by a key. A try does not wait. */
START_TEST(any_and_then_a_key) {
    pdk_striped_options options = PDK_STRIPED_OPTIONS_INIT;
    pdk_striped *nesting = NULL;
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
    stripes_assert_none();
}
END_TEST

/* Of those who wait for any stripe, one stands in the stripes. The stripe that becomes free is that one's, also before a key that came
 * later, and then the next one stands there. */
START_TEST(one_at_a_time_stands_in_the_stripes) {
    enum { WAITING = 3 };
    pdk_hold *taken[N];
    ts_answer *answers[WAITING];
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pdk_striped_acquire_any(ours, ts_patience(5000), &taken[i]), PDK_OK);
    for (int i = 0; i < WAITING; i++) {
        answers[i] = any_async(striped_with(ts_bench_client(SESSION_MS), N), 30000);
        stripes_await(2 * N, i + 1);
    }
    ts_answer *later = stripe_async(theirs, pdk_striped_stripe(ours, taken[2]), 30000);
    stripes_await(2 * N + 1, WAITING);
    for (int i = 0; i < WAITING; i++) {
        const int freed = (3 * i + 2) % N;
        const int32_t stripe = pdk_striped_stripe(ours, taken[freed]);
        ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&taken[freed])), PDK_OK);
        ck_assert(ts_answer_wait(answers[i], ts_patience(5000)));
        ck_assert_int_eq(ts_answer_status(answers[i]), PDK_OK);
        g_autofree char *below = g_strdup_printf("%s/%04d/", path, stripe);
        ck_assert(g_str_has_prefix(pdk_hold_node(ts_answer_hold(answers[i])), below));
        stripes_await(i < WAITING - 1 ? 2 * N + 1 : N + 1, WAITING - 1 - i);
        ck_assert_int_eq(ts_answer_count(answers[WAITING - 1]), i == WAITING - 1);
    }
    ck_assert_int_eq(ts_answer_count(later), 0);
    for (int i = 0; i < WAITING; i++)
        ck_assert_int_eq(ts_answer_release(answers[i]), PDK_OK);
    ck_assert(ts_answer_wait(later, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_release(later), PDK_OK);
    for (int i = 0; i < N; i++)
        pdk_hold_unref(taken[i]);
    stripes_assert_none();
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
    struct got got = {NULL, NULL};
    ck_assert_int_eq(by_any(theirs, &got), PDK_OK); /* the directories */
    pdk_hold_release(got.hold);
    for (int i = 0; i < N; i++) {
        ts_answer *answer = stripe_async(theirs, i, 5000);
        ck_assert(ts_answer_wait(answer, ts_patience(5000)));
        ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    }
    cost(by_key, 1, 1);
    cost(by_keys, 2, 2);
    cost(by_any, 2, 2);
}
END_TEST

static const char *server(void) { return ts_bench_server(); }

static void assert_number(const char *expected) {
    g_autofree char *number = NULL;
    ck_assert_int_eq(ts_get(server(), path, &number, NULL, NULL), 0);
    ck_assert_str_eq(number, expected);
}

/* By a key, by several, and any of them; as a try, too. */
static pdk_status acquire(pdk_striped *striped, int way, int64_t timeout_ms) {
    const char *keys[] = {"a", "b", "c"};
    pdk_hold *hold = NULL;
    pdk_set *set = NULL;
    pdk_status status = way == 0   ? pdk_striped_acquire(striped, "a", timeout_ms, &hold)
                        : way == 1 ? pdk_striped_acquire_keys(striped, keys, 3, timeout_ms, NULL, &set)
                                   : pdk_striped_acquire_any(striped, timeout_ms, &hold);
    ck_assert_int_eq(hold || set, status == PDK_OK);
    pdk_hold_unref(hold);
    pdk_set_unref(set);
    return status;
}

/* ---- the number */

/* The first one records it. */
START_TEST(another_number_is_a_mismatch) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_striped_acquire(ours, "a", ts_patience(IN_TIME_MS), &hold), PDK_OK);
    assert_number("8");
    for (int way = 0; way < 3; way++) {
        refused(acquire(striped_with(b, 7), way, PDK_FOREVER), PDK_MISMATCH,
                "says that there are \"8\" stripes, not 7");
        refused(acquire(striped_with(b, 80), way, 0), PDK_MISMATCH, path);
    }
    ts_answer *answer = any_async(striped_with(b, 9), 30000);
    ck_assert(ts_answer_wait(answer, ts_patience(IN_TIME_MS)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_MISMATCH);
    ck_assert(pdk_hold_is_valid(hold));
    pdk_hold_release(hold);
    assert_number("8");
    stripes_assert_none();
}
END_TEST

/* The one who watches hears of it: claims that come later are refused, and admitted once it agrees again. */
START_TEST(it_changes_under_an_object) {
    pdk_striped *striped = striped_with(a, N);
    ck_assert_int_eq(acquire(striped, 0, ts_patience(IN_TIME_MS)), PDK_OK);
    ck_assert_int_eq(ts_set(server(), path, "9"), 0);
    int64_t end = ts_now_ms() + ts_patience(IN_TIME_MS);
    while (acquire(striped, 0, ts_patience(IN_TIME_MS)) == PDK_OK) /* until the event has come */
        ck_assert_int_lt(ts_now_ms(), end);
    refused(acquire(striped, 2, ts_patience(IN_TIME_MS)), PDK_MISMATCH, "\"9\"");
    ck_assert_int_eq(ts_set(server(), path, "8"), 0);
    ck_assert_int_eq(acquire(striped, 1, ts_patience(IN_TIME_MS)), PDK_OK);
    stripes_assert_none();
}
END_TEST

/* All is deleted, and made again by programs with another number, while a claim waits and its session is over: the claim does not
 * begin in the next session. */
START_TEST(another_session_reads_it_anew) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_striped_acquire(theirs, "a", ts_patience(IN_TIME_MS), &hold), PDK_OK);
    ts_answer *waits = stripe_async(ours, 3, 60000);
    stripes_await(2, 0);
    ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(ts_set(server(), path, "9"), 0);
    ck_assert_int_eq(ts_expire(a->proxy, server()), 0);
    ts_proxy_heal_discard(a->proxy);
    ck_assert(ts_answer_wait(waits, ts_patience(IN_TIME_MS)));
    ck_assert_int_eq(ts_answer_status(waits), PDK_MISMATCH);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_CREATE2), 1);
    pdk_hold_release(hold);
    stripes_assert_none();
}
END_TEST

/* The parent is an ephemeral node, or the parent's is. */
START_TEST(a_parent_that_cannot_have_it) {
    pdk_hold *hold = ts_bench_acquire(ts_lock(b, path), ts_patience(IN_TIME_MS));
    g_autofree char *below = g_strconcat(pdk_hold_node(hold), _i ? "/deep/striped" : "/striped", NULL);
    path = g_intern_string(below);
    refused(acquire(striped_with(a, N), 0, ts_patience(IN_TIME_MS)), PDK_UNSUPPORTED, "neither read nor recorded");
    pdk_hold_release(hold);
}
END_TEST

/* An object that only looks makes nothing: not when its connection comes back either. */
START_TEST(an_object_without_a_claim_makes_nothing) {
    striped_with(a, N);
    ts_proxy_reset(a->proxy);
    pdk_hold_release(ts_bench_acquire(ts_lock(a, ts_fresh_path()), ts_patience(IN_TIME_MS)));
    ck_assert_int_eq(ts_exists(server(), path, NULL), -101);
}
END_TEST

/* ---- what is refused */

START_TEST(keys_and_stripes_have_bounds) {
    pdk_striped *striped = striped_with(a, N);
    pdk_set *set = UNTOUCHED;
    pdk_lock *lock = UNTOUCHED;
    const char *keys[] = {"a", NULL};
    refused(pdk_striped_acquire_keys(striped, keys, 2, 0, NULL, &set), PDK_INVALID, "keys[1]: NULL");
    refused(pdk_striped_acquire_keys(striped, keys, 0, 0, NULL, &set), PDK_INVALID, "count is 0; from 1 to 100");
    refused(pdk_striped_acquire_keys(striped, keys, 101, 0, NULL, &set), PDK_INVALID, "count is 101");
    refused(pdk_striped_lock(striped, N, &lock), PDK_INVALID, "stripe is 8; from 0 to 7");
    refused(pdk_striped_lock(striped, -1, &lock), PDK_INVALID, "stripe is -1");
    ck_assert(set == UNTOUCHED && lock == UNTOUCHED);
    ck_assert_int_eq(pdk_striped_stripe(striped, NULL), -1);
}
END_TEST

START_TEST(numbers_paths_and_options) {
    static const int32_t wrong[] = {0, -1, INT32_MIN, PDK_STRIPED_STRIPES_MAX + 1, INT32_MAX};
    pdk_striped *out = UNTOUCHED;
    g_autofree char *zeros = g_strnfill(506, '0'), *longest = g_strconcat("/", zeros, NULL),
                    *longer = g_strconcat(longest, "0", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        refused(pdk_striped_new(a->session, "/a", wrong[i], NULL, &out), PDK_INVALID, "from 1 to 10000");
    refused(pdk_striped_new(a->session, longer, 8, NULL, &out), PDK_INVALID, "path: is longer than 507 bytes");
    ck_assert_ptr_eq(out, UNTOUCHED);
    pdk_striped_options options;
    ck_assert_int_eq(pdk_striped_options_init(&options, sizeof options), PDK_OK);
    options.identity = "me";
    options.reentrant = 1;
    ck_assert_int_eq(pdk_striped_new(a->session, longest, PDK_STRIPED_STRIPES_MAX, &options, &out), PDK_OK);
    pdk_hold *outer = NULL, *inner = NULL;
    ck_assert_int_eq(pdk_striped_acquire(out, "a", ts_patience(IN_TIME_MS), &outer), PDK_OK);
    ck_assert_int_eq(pdk_striped_acquire(out, "a", 0, &inner), PDK_OK);
    ck_assert_int_eq(pdk_striped_stripe(out, inner), 8315);
    pdk_hold_release(inner);
    pdk_hold_release(outer);
    pdk_striped_unref(out);
}
END_TEST

START_TEST(a_session_that_is_closed) {
    pdk_striped *striped = striped_with(a, N);
    pdk_lock *lock = UNTOUCHED;
    pdk_hold *hold = UNTOUCHED;
    ck_assert_int_ne(pdk_striped_stripe_of("of another stripe", 17, N), pdk_striped_stripe_of("a", 1, N));
    ts_answer *waits = any_async(theirs, 30000);
    ck_assert(ts_answer_wait(waits, ts_patience(IN_TIME_MS)));
    ts_answer_release(waits);
    ck_assert_int_eq(acquire(striped, 0, ts_patience(IN_TIME_MS)), PDK_OK); /* the lock of that stripe is made */
    ck_assert_int_eq(pdk_session_close(a->session, 1000), PDK_OK);
    refused(acquire(striped, 0, 0), PDK_CLOSED, "closed");
    refused(acquire(striped, 1, 0), PDK_CLOSED, "closed");
    refused(acquire(striped, 2, 0), PDK_CLOSED, "closed");
    refused(pdk_striped_acquire(striped, "of another stripe", 0, &hold), PDK_CLOSED, "closed");
    refused(pdk_striped_lock(striped, 0, &lock), PDK_CLOSED, "closed");
    refused(pdk_striped_lock(striped, pdk_striped_stripe_of("a", 1, N), &lock), PDK_CLOSED, "closed");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("striped");
    TCase *cases = ts_bench_case(suite, "striped");
    tcase_add_checked_fixture(cases, begin, NULL);
    tcase_add_test(cases, a_key_is_its_stripe);
    tcase_add_test(cases, the_lock_of_a_stripe);
    tcase_add_test(cases, the_stripe_of_another_hold);
    tcase_add_test(cases, keys_of_one_stripe_share_it);
    tcase_add_test(cases, a_refusal_names_the_key);
    tcase_add_test(cases, any_and_then_a_key);
    tcase_add_test(cases, one_at_a_time_stands_in_the_stripes);
    tcase_add_test(cases, round_trips);
    tcase_add_test(cases, another_number_is_a_mismatch);
    tcase_add_test(cases, it_changes_under_an_object);
    tcase_add_test(cases, another_session_reads_it_anew);
    tcase_add_loop_test(cases, a_parent_that_cannot_have_it, 0, 2);
    tcase_add_test(cases, an_object_without_a_claim_makes_nothing);
    tcase_add_test(cases, keys_and_stripes_have_bounds);
    tcase_add_test(cases, numbers_paths_and_options);
    tcase_add_test(cases, a_session_that_is_closed);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
