/* The number of stripes, on which all clients of a path must agree; and what a striped lock refuses. */
#include <glib.h>
#include <paddock/set.h>
#include <string.h>

#include "refused.h"
#include "stripes.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_expire.h"
#include "ts_observer.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, IN_TIME_MS = 5000 };
#define UNTOUCHED ((void *)&a)

static ts_client *a, *b;
static const char *path;

static void begin(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
    path = ts_fresh_path();
}

static const char *server(void) { return ts_bench_server(); }

static void assert_number(const char *expected) {
    g_autofree char *number = NULL;
    ck_assert_int_eq(ts_get(server(), path, &number, NULL, NULL), 0);
    ck_assert_str_eq(number, expected);
}

static void unref_striped(void *striped) { pdk_striped_unref(striped); }

static pdk_striped *striped_with(const ts_client *client, int32_t stripes) {
    pdk_striped *striped = NULL;
    ck_assert_int_eq(pdk_striped_new(client->session, path, stripes, NULL, &striped), PDK_OK);
    ts_paddock_keep(striped, unref_striped);
    return striped;
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

START_TEST(the_first_one_records_it) {
    begin();
    ck_assert_int_eq(acquire(striped_with(a, N), _i, ts_patience(IN_TIME_MS)), PDK_OK);
    assert_number("8");
    ck_assert_int_eq(acquire(striped_with(b, N), _i, 0), PDK_OK);
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_SET_DATA), 0);
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_CREATE), 0);
    stripes_assert_none(path);
}
END_TEST

START_TEST(another_number_is_a_mismatch) {
    begin();
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_striped_acquire(striped_at(a, path), "a", ts_patience(IN_TIME_MS), &hold), PDK_OK);
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
    stripes_assert_none(path);
}
END_TEST

/* Many begin at once, with two numbers. One of them is recorded, and the others are refused. */
START_TEST(many_begin_at_once) {
    enum { ALL = 6 };
    begin();
    ts_client *clients[ALL];
    for (int i = 0; i < ALL; i++)
        clients[i] = ts_bench_client(SESSION_MS);
    for (int round = 0; round < 5; round++) {
        ts_answer *answers[ALL];
        path = ts_fresh_path();
        for (int i = 0; i < ALL; i++)
            answers[i] = any_async(striped_with(clients[i], 8 + i % 2), 30000);
        g_autofree char *number = NULL;
        for (int i = 0; i < ALL; i++)
            ck_assert(ts_answer_wait(answers[i], ts_patience(IN_TIME_MS)));
        ck_assert_int_eq(ts_get(server(), path, &number, NULL, NULL), 0);
        for (int i = 0; i < ALL; i++) {
            ck_assert_int_eq(ts_answer_status(answers[i]), (i % 2 ? "9" : "8")[0] == number[0] ? PDK_OK : PDK_MISMATCH);
            if (ts_answer_hold(answers[i]))
                ts_answer_release(answers[i]);
        }
    }
}
END_TEST

START_TEST(other_data) {
    static const char *const garbage[] = {
        "08", "8 ", "+8", "8\n", "eight", "\x1b[2J\xff", "888888888888888888888888888888888888"};
    begin();
    ck_assert_int_eq(ts_create(server(), path, "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(acquire(striped_with(a, N), 0, ts_patience(IN_TIME_MS)), PDK_OK); /* an empty node gets it */
    assert_number("8");
    for (size_t i = 0; i < G_N_ELEMENTS(garbage); i++) {
        ck_assert_int_eq(ts_set(server(), path, garbage[i]), 0);
        refused(acquire(striped_with(b, N), 2, PDK_FOREVER), PDK_DAMAGED, path);
        for (const char *c = pdk_last_error(); *c; c++)
            ck_assert(g_ascii_isprint(*c));
        assert_number(garbage[i]);
    }
    stripes_assert_none(path);
}
END_TEST

/* A lock below it has made it, as a container: with a child that stays the servers do not remove it, nor the number. */
START_TEST(a_level_above_a_lock) {
    begin();
    g_autofree char *below = g_strconcat(path, "/jobs", NULL), *child = g_strconcat(path, "/number", NULL);
    pdk_hold_release(ts_bench_acquire(ts_lock(b, below), ts_patience(IN_TIME_MS)));
    ck_assert_int_eq(acquire(striped_with(a, N), _i, ts_patience(IN_TIME_MS)), PDK_OK);
    assert_number("8");
    ck_assert_int_eq(ts_exists(server(), child, NULL), 0);
    refused(acquire(striped_with(b, 7), _i, ts_patience(IN_TIME_MS)), PDK_MISMATCH, "not 7");
}
END_TEST

/* The one who watches hears of it: claims that come later are refused, and admitted once it agrees again. */
START_TEST(it_changes_under_an_object) {
    begin();
    pdk_striped *striped = striped_with(a, N);
    ck_assert_int_eq(acquire(striped, 0, ts_patience(IN_TIME_MS)), PDK_OK);
    ck_assert_int_eq(ts_set(server(), path, "9"), 0);
    int64_t end = ts_now_ms() + ts_patience(IN_TIME_MS);
    while (acquire(striped, 0, ts_patience(IN_TIME_MS)) == PDK_OK) /* until the event has come */
        ck_assert_int_lt(ts_now_ms(), end);
    refused(acquire(striped, 2, ts_patience(IN_TIME_MS)), PDK_MISMATCH, "\"9\"");
    ck_assert_int_eq(ts_set(server(), path, "8"), 0);
    ck_assert_int_eq(acquire(striped, 1, ts_patience(IN_TIME_MS)), PDK_OK);
    stripes_assert_none(path);
}
END_TEST

/* All is deleted, and made again by programs with another number, while a claim waits and its session is over: the claim does not
 * begin in the next session. */
START_TEST(another_session_reads_it_anew) {
    begin();
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_striped_acquire(striped_at(b, path), "a", ts_patience(IN_TIME_MS), &hold), PDK_OK);
    ts_answer *waits = stripe_async(striped_at(a, path), 3, 60000);
    stripes_await(path, 2, 0);
    ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(ts_set(server(), path, "9"), 0);
    ck_assert_int_eq(ts_expire(a->proxy, server()), 0);
    ts_proxy_heal_discard(a->proxy);
    ck_assert(ts_answer_wait(waits, ts_patience(IN_TIME_MS)));
    ck_assert_int_eq(ts_answer_status(waits), PDK_MISMATCH);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_CREATE2), 1);
    pdk_hold_release(hold);
    stripes_assert_none(path);
}
END_TEST

/* 0: it may not be read; 1: written; 2: made. */
START_TEST(permissions_that_are_missing) {
    static const int missing[] = {TS_PERM_READ, TS_PERM_WRITE, TS_PERM_CREATE};
    begin();
    g_autofree char *parent = g_path_get_dirname(path);
    const char *closed = path;
    if (_i < 2) {
        ck_assert_int_eq(ts_create(server(), path, _i == 0 ? "8" : "", TS_PERSISTENT, NULL), 0);
    } else { /* one level more, since the parent is everybody's */
        ck_assert_int_eq(ts_create(server(), path, "", TS_PERSISTENT, NULL), 0);
        g_autofree char *below = g_build_path("/", path, "below", "here", NULL);
        path = g_intern_string(below);
    }
    ts_observer *o = ts_observer_open(server());
    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(ts_observer_set_acl(o, closed, TS_PERM_ALL & ~missing[_i], "world", "anyone"), 0);
    for (int way = 0; way < 3; way++) {
        refused(acquire(striped_with(a, N), way, PDK_FOREVER), PDK_NO_PERMISSION,
                "the number of stripes, here 8, can be neither read nor recorded");
        refused(acquire(striped_with(a, N), way, 0), PDK_NO_PERMISSION, path);
    }
    ck_assert_int_eq(ts_observer_set_acl(o, closed, TS_PERM_ALL, "world", "anyone"), 0);
    ts_observer_close(o);
    ck_assert_int_eq(acquire(striped_with(a, N), 1, ts_patience(IN_TIME_MS)), PDK_OK);
    stripes_assert_none(path);
}
END_TEST

/* The parent is an ephemeral node, or the parent's is. */
START_TEST(a_parent_that_cannot_have_it) {
    begin();
    pdk_hold *hold = ts_bench_acquire(ts_lock(b, path), ts_patience(IN_TIME_MS));
    g_autofree char *below = g_strconcat(pdk_hold_node(hold), _i ? "/deep/striped" : "/striped", NULL);
    path = g_intern_string(below);
    refused(acquire(striped_with(a, N), 0, ts_patience(IN_TIME_MS)), PDK_UNSUPPORTED, "neither read nor recorded");
    pdk_hold_release(hold);
}
END_TEST

/* An object that only looks makes nothing: not when its connection comes back either. */
START_TEST(an_object_without_a_claim_makes_nothing) {
    begin();
    striped_with(a, N);
    ts_proxy_reset(a->proxy);
    pdk_hold_release(ts_bench_acquire(ts_lock(a, ts_fresh_path()), ts_patience(IN_TIME_MS)));
    ck_assert_int_eq(ts_exists(server(), path, NULL), -101);
}
END_TEST

/* ---- what is refused */

START_TEST(keys_and_stripes_have_bounds) {
    begin();
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
    begin();
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
    begin();
    pdk_striped *striped = striped_with(a, N);
    pdk_lock *lock = UNTOUCHED;
    pdk_hold *hold = UNTOUCHED;
    ck_assert_int_ne(pdk_striped_stripe_of("of another stripe", 17, N), pdk_striped_stripe_of("a", 1, N));
    ts_answer *waits = any_async(striped_at(b, path), 30000);
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
    Suite *suite = suite_create("striped_number");
    TCase *cases = ts_bench_case(suite, "striped_number");
    tcase_add_loop_test(cases, the_first_one_records_it, 0, 3);
    tcase_add_test(cases, another_number_is_a_mismatch);
    tcase_add_test(cases, many_begin_at_once);
    tcase_add_test(cases, other_data);
    tcase_add_loop_test(cases, a_level_above_a_lock, 0, 3);
    tcase_add_test(cases, it_changes_under_an_object);
    tcase_add_test(cases, another_session_reads_it_anew);
    tcase_add_loop_test(cases, permissions_that_are_missing, 0, 3);
    tcase_add_loop_test(cases, a_parent_that_cannot_have_it, 0, 2);
    tcase_add_test(cases, an_object_without_a_claim_makes_nothing);
    tcase_add_test(cases, keys_and_stripes_have_bounds);
    tcase_add_test(cases, numbers_paths_and_options);
    tcase_add_test(cases, a_session_that_is_closed);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
