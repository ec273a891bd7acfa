/* All of several: what a set tells of its parts, whom it is refused to, and what it costs. What it shares with other recipes is in
 * test_recipes.c and beside it; what several sessions may do to it, in test_set_loss.c. */
#include <glib.h>
#include <string.h>

#include "permits.h"
#include "set_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_rwlock.h"

enum { SESSION_MS = 4000 };

/* Two clients, with a lock, a read/write lock and a semaphore of two permits each. */
static struct {
    const char *lock_path, *rw_path, *permits_path;
    ts_client *client[2];
    pdk_lock *lock[2];
    pdk_rwlock *rw[2];
    pdk_semaphore *permits[2];
} it;

static const char *below(const char *path, const char *name) {
    char *full = g_strconcat(path, name, NULL);
    ts_paddock_keep(full, g_free);
    return full;
}

static void make_it(void) {
    const char *path = ts_fresh_path();
    it.lock_path = below(path, "/a");
    it.rw_path = below(path, "/b");
    it.permits_path = below(path, "/c");
    for (int i = 0; i < 2; i++) {
        it.client[i] = ts_bench_client(SESSION_MS);
        it.lock[i] = ts_lock(it.client[i], it.lock_path);
        it.rw[i] = ts_rwlock(it.client[i], it.rw_path);
        it.permits[i] = permits_at(it.client[i], it.permits_path, 2);
    }
}

static struct set *set_for(int i) {
    return set_of(pdk_right_permits(it.permits[i], 2), pdk_right_write(it.rw[i]), pdk_right_lock(it.lock[i]));
}

static void nothing_is_left(void) {
    set_children(it.lock_path, 0);
    set_children(it.rw_path, 0);
    ck_assert(permits_wait_taken(it.permits_path, 0));
    ck_assert(permits_wait_queued(it.permits_path, 0));
}

START_TEST(one_set_with_all_parts) {
    make_it();
    pdk_set *held = set_take(set_for(0));
    const char *paths[] = {it.permits_path, it.rw_path, it.lock_path};
    static const char *const modes[] = {"permit", "exclusive", "exclusive"};
    ck_assert_int_eq(pdk_set_count(held), 3);
    for (int i = 0; i < 3; i++) {
        const pdk_hold *part = pdk_set_part(held, i);
        ck_assert_str_eq(pdk_set_part_path(held, i), paths[i]);
        ck_assert(g_str_has_prefix(pdk_hold_node(part), paths[i]));
        ck_assert_int_gt(pdk_hold_token(part), 0);
        ck_assert(pdk_hold_is_valid(part));
        ck_assert_int_ge(pdk_hold_remaining_ms(part), pdk_set_remaining_ms(held));
        g_auto(GStrv) words = g_strsplit(pdk_hold_sequencer(part), " ", -1);
        ck_assert_str_eq(words[2], modes[i]);
    }
    ck_assert_ptr_null(pdk_set_part(held, 3));
    ck_assert_ptr_null(pdk_set_part(held, -1));
    ck_assert_str_eq(pdk_set_part_path(held, 3), "");
    ck_assert_int_gt(pdk_set_remaining_ms(held), 0);
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_NONE);
    ck_assert_int_eq(pdk_set_ensure(held, 500), PDK_OK);

    ck_assert_int_eq(pdk_set_release(pdk_set_ref(held)), PDK_OK);
    ck_assert(!pdk_set_is_valid(held));
    ck_assert_int_eq(pdk_set_remaining_ms(held), 0);
    ck_assert_int_eq(pdk_set_ensure(held, 0), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_NONE);
    ck_assert_int_gt(pdk_hold_token(pdk_set_part(held, 0)), 0);
    ck_assert_int_eq(pdk_set_release(held), PDK_NOT_HELD);
    nothing_is_left();
}
END_TEST

/* Each of them is taken by another client in its turn. */
START_TEST(a_try_takes_all_or_nothing) {
    make_it();
    for (int taken = 0; taken < 3; taken++) {
        pdk_hold *theirs = taken == 0   ? ts_bench_acquire(it.lock[1], 5000)
                           : taken == 1 ? ts_bench_read(it.rw[1], 5000)
                                        : permits_take(it.permits[1], 1);
        pdk_set *held = NULL;
        struct set *set = set_for(0);
        ck_assert_int_eq(pdk_set_acquire(set->rights, set->count, 0, NULL, &held), PDK_BUSY);
        ck_assert(strstr(pdk_last_error(), (const char *[]){it.lock_path, it.rw_path, it.permits_path}[taken]));
        set_await(set_async(set, 0), PDK_BUSY);
        pdk_hold_release(theirs);
        nothing_is_left();
    }
}
END_TEST

/* Each of its parts belongs to the thread that took it, as a hold does. */
START_TEST(the_thread_that_holds_is_refused) {
    make_it();
    pdk_set *more = NULL;
    pdk_hold *one = NULL;
    struct set *set = set_for(0);
    pdk_set *held = set_take(set);
    ck_assert_int_eq(pdk_lock_acquire(it.lock[0], PDK_FOREVER, &one), PDK_DEADLOCK);
    pdk_set_detach_thread(held);
    ck_assert_int_eq(pdk_lock_acquire(it.lock[0], 100, &one), PDK_TIMEOUT);
    pdk_set_release(held);

    for (int i = 0; i < 4; i++) { /* one of them is held alone, by this object or by another one of the session */
        pdk_lock *other = ts_lock(it.client[0], it.lock_path);
        one = i == 0   ? ts_bench_acquire(it.lock[0], 5000)
              : i == 1 ? ts_bench_acquire(other, 5000)
              : i == 2 ? ts_bench_read(it.rw[0], 5000)
                       : permits_take(it.permits[0], 1);
        ck_assert_int_eq(pdk_set_acquire(set->rights, set->count, PDK_FOREVER, NULL, &more), PDK_DEADLOCK);
        ck_assert_int_eq(pdk_set_acquire(set->rights, set->count, 0, NULL, &more), PDK_DEADLOCK);
        ck_assert(strstr(pdk_last_error(), "this thread holds it"));
        pdk_hold_release(one);
    }
    pdk_set_release(set_take(set));
    nothing_is_left();
}
END_TEST

/* A thread's further hold on a part keeps that part, and nothing of the set. */
START_TEST(a_reentrant_part) {
    make_it();
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.reentrant = 1;
    pdk_lock *lock = ts_lock_with(it.client[0], it.lock_path, &options);
    pdk_set *held = set_take(set_of(pdk_right_lock(lock), pdk_right_read(it.rw[0])));
    pdk_hold *more = ts_bench_acquire(lock, 5000);
    ck_assert_int_eq(pdk_hold_token(more), pdk_hold_token(pdk_set_part(held, 0)));
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    ck_assert(pdk_hold_is_valid(more));
    set_children(it.rw_path, 0);
    ck_assert_int_eq(pdk_hold_release(more), PDK_OK);
    nothing_is_left();
}
END_TEST

/* The fewest of some attempts, more on a busy machine: renewals may come in between. */
static uint64_t rounds_of(struct set *set, uint64_t wanted) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 10 || (least > wanted && i < 200); i++) {
        ts_proxy_counters counters;
        ts_proxy_zero(it.client[0]->proxy);
        pdk_set *held = set_take(set);
        ts_proxy_read(it.client[0]->proxy, &counters);
        least = MIN(least, counters.rounds);
        pdk_set_release(held);
        ck_assert_int_eq(pdk_session_flush(it.client[0]->session, ts_patience(5000)), PDK_OK);
    }
    return least;
}

START_TEST(a_free_set_costs_what_its_parts_cost) {
    make_it();
    const uint64_t lock = rounds_of(set_of(pdk_right_lock(it.lock[0])), 1);
    const uint64_t reader = rounds_of(set_of(pdk_right_read(it.rw[0])), 1);
    ck_assert_uint_eq(lock, 1);
    ck_assert_uint_eq(reader, 1);
    ck_assert_uint_eq(rounds_of(set_of(pdk_right_read(it.rw[0]), pdk_right_lock(it.lock[0])), 2), 2);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("set");
    TCase *all = ts_bench_case(suite, "set");
    tcase_add_test(all, one_set_with_all_parts);
    tcase_add_test(all, a_try_takes_all_or_nothing);
    tcase_add_test(all, the_thread_that_holds_is_refused);
    tcase_add_test(all, a_reentrant_part);
    tcase_add_test(all, a_free_set_costs_what_its_parts_cost);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
