/* Majorities: as many locks as are needed, of ensembles that are independent, as one hold. It goes on while enough are left, takes the
 * lost ones again, and is lost in time. */
#include <glib.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "majority_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_expire.h"
#include "ts_observer.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 15000 };

/* ---- all are up */

START_TEST(granted_with_enough_and_completed) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    parts_wait(held, ENSEMBLES); /* the rest comes in the background */
    majority_nodes(path, 1);
    ck_assert_int_eq(pdk_set_count(held), ENSEMBLES);
    for (int i = 0; i < ENSEMBLES; i++) {
        ck_assert_str_eq(pdk_set_part_path(held, i), m->path[i]);
        ck_assert_int_gt(pdk_hold_token(pdk_set_part(held, i)), 0);
    }
    ck_assert_int_eq(pdk_set_ensure(held, 1000), PDK_OK);
    ck_assert_int_ge(pdk_set_remaining_ms(held), 900);
    ck_assert_int_eq(pdk_set_ensure(held, -1), PDK_INVALID);
    ck_assert_int_eq(pdk_set_ensure(held, 3600000), PDK_INVALID);
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_NONE);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

START_TEST(asynchronously) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL);
    ts_answer *answer = member_async(m, PDK_FOREVER);
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_OK);
    parts_wait(ts_answer_set(answer), ENSEMBLES);
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

/* ---- a longer lease */

static void on_ensured(pdk_status status, void *user) { atomic_store((atomic_int *)user, (int)status); }

static bool is_told(void *status) { return atomic_load((atomic_int *)status) >= 0; }

static pdk_status ensure(pdk_set *held, int64_t ms, bool blocks) {
    static atomic_int told;
    atomic_store(&told, -1);
    if (blocks)
        return pdk_set_ensure(held, ms);
    pdk_status status = pdk_set_ensure_async(held, ms, on_ensured, &told);
    if (status != PDK_OK)
        return status;
    ck_assert(ts_wait_until(is_told, &told, ts_patience(PATIENCE_MS)));
    return (pdk_status)atomic_load(&told);
}

/* Those that do not answer do not hold it up. _i: blocking. */
START_TEST(ensured) {
    struct member *m = member_new(ts_fresh_path(), SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    ck_assert_int_eq(ensure(held, 2000, _i), PDK_OK);
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(ensure(held, 0, _i), PDK_OK);
    ck_assert_int_eq(ensure(held, -1, _i), PDK_INVALID);
    ck_assert_int_eq(ensure(held, 3600000, _i), PDK_INVALID);
    member_links(m, 0, 2, TS_BLACKHOLE);
    ts_sleep_ms(1500);
    int64_t begun = ts_now_ms();
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_OK);
    ck_assert_int_ge(pdk_set_remaining_ms(held), 2000);
    ck_assert_int_lt(ts_now_ms() - begun, ts_patience(1000));
    ck_assert_int_eq(pdk_session_close(m->client[4]->session, 5000), PDK_OK);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_LOST); /* two of them are too few */
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
}
END_TEST

/* Short sessions cannot give so much. As many as are needed must be able to. _i: blocking. */
START_TEST(ensured_beside_short_sessions) {
    static const int two[ENSEMBLES] = {2000, SESSION_MS, 2000, SESSION_MS, SESSION_MS};
    static const int three[ENSEMBLES] = {2000, SESSION_MS, 2000, 2000, SESSION_MS};
    pdk_set *held = member_take(member_of(ts_fresh_path(), two, NULL));
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_OK);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    held = member_take(member_of(ts_fresh_path(), three, NULL));
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_INVALID);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
}
END_TEST

/* With a request_timeout_ms that is shorter than the lease. */
START_TEST(not_ensured) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.request_timeout_ms = 300;
    struct member *m = member_new(ts_fresh_path(), SESSION_MS, &options);
    pdk_set *held = member_take(m);
    parts_wait(held, ENSEMBLES);
    member_links(m, 0, 3, TS_BLACKHOLE);
    while (pdk_set_remaining_ms(held) > 2000)
        ts_sleep_ms(5);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_UNAVAILABLE);
    ck_assert(strstr(pdk_last_error(), "request_timeout_ms") || !_i);
    while (pdk_set_is_valid(held))
        ts_sleep_ms(5);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_LOST);
    ck_assert_int_eq(pdk_set_release(pdk_set_ref(held)), PDK_LOST);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_NOT_HELD);
    pdk_set_unref(held);
}
END_TEST

/* ---- some are cut off */

START_TEST(two_of_five_cut_off_goes_on) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    parts_wait(held, ENSEMBLES);
    int64_t before = pdk_hold_token(pdk_set_part(held, _i));
    member_links(m, _i, 2, TS_BLACKHOLE);
    parts_wait(held, ENSEMBLES - 2);
    ck_assert_int_ge(pdk_set_remaining_ms(held), 0);
    ck_assert_int_eq(pdk_set_ensure(held, 1000), PDK_OK);
    ck_assert(pdk_set_is_valid(held));
    ts_sleep_ms(SESSION_MS + 500); /* by now the servers have ended the sessions of the lost parts */
    ck_assert(pdk_set_is_valid(held));
    const pdk_hold *old = pdk_set_part(held, _i);
    ck_assert_int_ne(pdk_hold_reason(old), PDK_REASON_NONE);
    member_links(m, _i, 2, TS_PASS);
    parts_wait(held, ENSEMBLES);
    ck_assert_int_gt(pdk_hold_token(pdk_set_part(held, _i)), before);
    ck_assert(!pdk_hold_is_valid(old));
    ck_assert_int_eq(pdk_hold_token(old), before); /* it lives as long as the whole */
    ck_assert_int_eq(ts_lost_count(told), 0);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

/* In time: before anybody else is granted. What is left is released at once. */
START_TEST(three_of_five_cut_off_is_lost) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL), *other = member_new(path, SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    parts_wait(held, ENSEMBLES);
    ts_answer *answer = _i ? member_thread(other, PDK_FOREVER) : member_async(other, PDK_FOREVER);
    member_links(m, _i, 3, TS_BLACKHOLE);
    ck_assert(ts_lost_wait(told, ts_patience(PATIENCE_MS)));
    ck_assert(!pdk_set_is_valid(held));
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_LEASE);
    ck_assert_int_eq(pdk_set_ensure(held, 0), PDK_LOST);
    ck_assert_int_eq(pdk_set_remaining_ms(held), 0);
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_OK);
    ck_assert_int_lt(ts_lost_at_ns(told), ts_answer_at_ns(answer));
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    ck_assert_int_eq(ts_lost_count(told), 1);
    member_links(m, _i, 3, TS_PASS);
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

/* Not one of the sessions' own threads: the holder looks. */
START_TEST(who_looks_finds_it_invalid_for_good) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    parts_wait(held, ENSEMBLES);
    member_links(m, 0, 3, TS_BLACKHOLE);
    while (pdk_set_is_valid(held))
        ;
    member_links(m, 0, 3, TS_PASS);
    for (int i = 0; i < 100; i++) {
        ck_assert(!pdk_set_is_valid(held));
        ts_sleep_ms(10);
    }
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_LEASE);
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    majority_nodes(path, 0);
}
END_TEST

/* ---- a part is lost by its node, or its session */

static void wait_token_beyond(const pdk_set *held, int i, int64_t before) {
    for (int64_t until = ts_now_ms() + ts_patience(PATIENCE_MS); pdk_hold_token(pdk_set_part(held, i)) == before;) {
        ck_assert_int_lt(ts_now_ms(), until);
        ts_sleep_ms(5);
    }
}

START_TEST(a_part_is_taken_again) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    parts_wait(held, ENSEMBLES);
    for (int i = 0; i < 3; i++) { /* more than may be missing at a time */
        int64_t before = pdk_hold_token(pdk_set_part(held, i));
        if (_i)
            ck_assert_int_eq(ts_expire(m->client[i]->proxy, majority_server(i)), 0);
        else
            ck_assert_int_eq(ts_delete(majority_server(i), pdk_hold_node(pdk_set_part(held, i))), 0);
        wait_token_beyond(held, i, before);
        parts_wait(held, ENSEMBLES);
    }
    ck_assert(pdk_set_is_valid(held));
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

static void act_slowly(pdk_set *held, void *user) {
    (void)user;
    ck_assert(!pdk_set_is_valid(held));
    ts_sleep_ms(100);
}

/* Three nodes are deleted at about the same time: the word of it comes from three sessions. */
START_TEST(lost_once) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL);
    m->options.need = 4; /* so that one that is back soon does not save it */
    pdk_set *held = member_take(m);
    ts_lost *told = ts_lost_watch_set(held, act_slowly, NULL);
    parts_wait(held, ENSEMBLES);
    for (int i = 0; i < ENSEMBLES; i++)
        member_links(m, i, 1, TS_BLACKHOLE);
    ck_assert(ts_lost_wait(told, ts_patience(PATIENCE_MS)));
    for (int i = 0; i < ENSEMBLES; i++)
        member_links(m, i, 1, TS_PASS);
    majority_nodes(path, 0); /* before the release */
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    ck_assert(ts_lost_wait_freed(told, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_lost_count(told), 1);
    ck_assert_int_eq(ts_lost_freed(told), 1);
}
END_TEST

/* ---- some are down from the beginning */

START_TEST(two_are_down) {
    const char *path = ts_fresh_path();
    majority_server_down(0);
    majority_server_down(3);
    struct member *m = member_new(path, SESSION_MS, NULL);
    m->options.patience_ms = 300;
    int64_t begun = ts_now_ms();
    pdk_set *held = member_take(m);
    pdk_hold *none = NULL;
    ck_assert_int_lt(ts_now_ms() - begun, ts_patience(5000));
    ck_assert_ptr_null(pdk_set_part(held, 0));
    ck_assert(!pdk_hold_is_valid(pdk_set_part(held, 0)));
    ck_assert_int_eq(parts_held(held), 3);
    pdk_set_detach_thread(held); /* the parts that there are */
    ck_assert_int_eq(pdk_lock_acquire(m->lock[4], 200, &none), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

START_TEST(three_are_down) {
    const char *path = ts_fresh_path();
    pdk_set *held = NULL;
    struct member *m = member_new(path, SESSION_MS, NULL);
    m->options.patience_ms = 300;
    member_links(m, 1, 3, TS_CUT);
    ck_assert_int_eq(member_acquire(m, 1500, &held), PDK_UNAVAILABLE);
    ck_assert(strstr(pdk_last_error(), path));
    ck_assert_int_eq(member_acquire(m, 0, &held), PDK_UNAVAILABLE);
    majority_nodes(path, 0);
    ts_answer *answer = member_async(m, PDK_FOREVER), *blocked = member_thread(m, PDK_FOREVER);
    ts_sleep_ms(1500);
    ck_assert_int_eq(ts_answer_count(answer), 0);
    member_links(m, 1, 3, TS_PASS);
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)) || ts_answer_wait(blocked, ts_patience(PATIENCE_MS)));
    ts_answer *one = ts_answer_count(answer) > 0 ? answer : blocked, *two = one == answer ? blocked : answer;
    ck_assert_int_eq(ts_answer_release(one), PDK_OK);
    ck_assert(ts_answer_wait(two, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_release(two), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

/* ---- others */

START_TEST(a_try) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL), *other = member_new(path, SESSION_MS, NULL);
    pdk_set *held = NULL, *none = NULL;
    ck_assert_int_eq(member_acquire(m, 0, &held), PDK_OK);
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(member_acquire(other, 0, &none), PDK_BUSY);
    ck_assert_ptr_null(none);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    majority_nodes(path, 0);
    /* somebody has a minority, which is all the same to a try */
    pdk_hold *first = ts_bench_acquire(other->lock[0], 5000), *last = ts_bench_acquire(other->lock[4], 5000);
    ck_assert_int_eq(member_acquire(m, 0, &held), PDK_OK);
    ck_assert_int_eq(parts_held(held), 3);
    pdk_hold_release(first);
    pdk_hold_release(last);
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
}
END_TEST

/* Somebody holds one of the locks alone, and stays. _i: which one, and by a thread or by a callback. */
START_TEST(one_lock_never_comes_free) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL), *other = member_new(path, SESSION_MS, NULL);
    int busy = _i % NEED;
    pdk_hold *alone = ts_bench_acquire(other->lock[busy], 5000);
    int64_t begun = ts_now_ms();
    ts_answer *answer = _i < NEED ? member_thread(m, ts_patience(10000)) : member_async(m, ts_patience(10000));
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_msg(ts_answer_status(answer) == PDK_OK, "lock %d is busy, the others are free: %s", busy,
                  pdk_status_name(ts_answer_status(answer)));
    printf("lock %d is busy: granted after %d ms\n", busy, (int)(ts_now_ms() - begun));
    ck_assert_int_ge(parts_held(ts_answer_set(answer)), NEED);
    pdk_hold_release(alone);
    parts_wait(ts_answer_set(answer), ENSEMBLES);
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

/* Each of them is granted in turn, although one lock never comes free. */
START_TEST(several_beside_a_lock_that_never_comes_free) {
    enum { MEMBERS = 4 };
    const char *path = ts_fresh_path();
    ts_answer *answers[MEMBERS];
    struct member *other = member_new(path, SESSION_MS, NULL);
    pdk_hold *alone = ts_bench_acquire(other->lock[0], 5000);
    for (int i = 0; i < MEMBERS; i++)
        answers[i] = member_async(member_new(path, SESSION_MS, NULL), PDK_FOREVER);
    for (int left = MEMBERS; left > 0; left--) {
        int one = 0;
        for (int64_t until = ts_now_ms() + ts_patience(30000); ts_answer_count(answers[one]) == 0;) {
            ck_assert_msg(ts_now_ms() < until, "%d wait, and none is granted", left);
            one = (one + 1) % left;
            ts_sleep_ms(5);
        }
        ck_assert_int_eq(ts_answer_release(answers[one]), PDK_OK);
        answers[one] = answers[left - 1];
    }
    pdk_hold_release(alone);
    majority_nodes(path, 0);
}
END_TEST

START_TEST(the_deadline) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL), *other = member_new(path, SESSION_MS, NULL);
    pdk_set *held = member_take(m), *none = NULL;
    ck_assert_int_eq(member_acquire(other, 500, &none), PDK_TIMEOUT);
    ck_assert_ptr_null(none);
    ts_answer *answer = member_async(other, PDK_FOREVER);
    int32_t ahead = -1;
    while (ts_answer_position(answer, &ahead) != PDK_OK)
        ts_sleep_ms(5);
    ck_assert_int_eq(ahead, 1);
    ck_assert_int_eq(ts_answer_cancel(answer), PDK_OK);
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_CANCELED);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

/* A thread that holds it is told so, also by a part that was taken again. */
START_TEST(it_belongs_to_its_thread) {
    struct member *m = member_new(ts_fresh_path(), SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    pdk_hold *none = NULL;
    parts_wait(held, ENSEMBLES);
    int64_t before = pdk_hold_token(pdk_set_part(held, 1));
    ck_assert_int_eq(ts_delete(majority_server(1), pdk_hold_node(pdk_set_part(held, 1))), 0);
    wait_token_beyond(held, 1, before);
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(pdk_lock_acquire(m->lock[1], 1000, &none), PDK_DEADLOCK);
    pdk_set_detach_thread(held);
    ck_assert_int_eq(pdk_lock_acquire(m->lock[1], 200, &none), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("majority");
    TCase *all = majority_case(suite, "majority");
    tcase_add_test(all, granted_with_enough_and_completed);
    tcase_add_test(all, asynchronously);
    tcase_add_loop_test(all, ensured, 0, 2);
    tcase_add_loop_test(all, ensured_beside_short_sessions, 0, 2);
    tcase_add_loop_test(all, not_ensured, 0, 2);
    tcase_add_loop_test(all, two_of_five_cut_off_goes_on, 0, 2);
    tcase_add_loop_test(all, three_of_five_cut_off_is_lost, 0, 2);
    tcase_add_test(all, who_looks_finds_it_invalid_for_good);
    tcase_add_loop_test(all, a_part_is_taken_again, 0, 2);
    tcase_add_test(all, lost_once);
    tcase_add_test(all, two_are_down);
    tcase_add_test(all, three_are_down);
    tcase_add_test(all, a_try);
    tcase_add_loop_test(all, one_lock_never_comes_free, 0, 2 * NEED);
    tcase_add_test(all, several_beside_a_lock_that_never_comes_free);
    tcase_add_test(all, the_deadline);
    tcase_add_test(all, it_belongs_to_its_thread);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
