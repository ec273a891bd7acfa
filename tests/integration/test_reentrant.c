/* A lock that its holder may acquire again. Each acquisition is a hold of its own, of one grant. The grant ends with the last of these
 * holds, and is lost for all of them: each hold is told once, whatever else happens to the others. */
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SHORT_MS = 200, LEVELS = 3, LOST_LEVELS = 4 };

static ts_client *a, *b;
static const char *path;
static pdk_lock *lock; /* a's lock object, reentrant */

static const char *server(void) { return ts_bench_server(); }

static pdk_lock *reentrant(const ts_client *client, int max_handovers) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;

    options.reentrant = 1;
    options.max_handovers = max_handovers;
    options.max_handover_ms = 60000;
    return ts_lock_with(client, path, &options);
}

static void set_up(void) {
    path = ts_fresh_path();
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
    lock = reentrant(a, 256);
}

static void nest(pdk_hold *holds[], int levels) {
    for (int i = 0; i < levels; i++) {
        holds[i] = ts_bench_acquire(lock, 5000);
        ck_assert_int_eq(pdk_hold_token(holds[i]), pdk_hold_token(holds[0]));
        ck_assert_str_eq(pdk_hold_sequencer(holds[i]), pdk_hold_sequencer(holds[0]));
        ck_assert(i == 0 || (holds[i] != holds[0] && pdk_hold_fd(holds[i]) != pdk_hold_fd(holds[0])));
    }
    ck_assert_int_eq(ts_child_count(server(), path), 1);
}

/* ---- one grant ---- */

static const int orders[][LEVELS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

START_TEST(it_ends_with_the_last_in_any_order) {
    pdk_hold *holds[LEVELS];

    nest(holds, LEVELS);
    ts_answer *theirs = ts_acquire_async(ts_lock(b, path), 20000);
    ck_assert(ts_wait_children(server(), path, 2, 5000));
    for (int i = 0; i < LEVELS; i++) {
        ck_assert(!ts_answer_wait(theirs, 100));
        for (int left = i; left < LEVELS; left++) {
            ck_assert(pdk_hold_is_valid(holds[orders[_i][left]]));
        }
        pdk_hold *kept = pdk_hold_ref(holds[orders[_i][i]]);
        ck_assert_int_eq(pdk_hold_release(kept), PDK_OK);
        ck_assert(!pdk_hold_is_valid(kept));
        refused(pdk_hold_release(kept), PDK_NOT_HELD, "released");
    }
    ck_assert(ts_answer_wait(theirs, ts_patience(2000)));
    ck_assert_int_eq(ts_answer_status(theirs), PDK_OK);
}
END_TEST

START_TEST(very_many_levels) {
#ifdef __SANITIZE_ADDRESS__ /* which unwinds the stack of each allocation */
    enum { MANY = 10000 };
#else
    enum { MANY = 100000 };
#endif
    g_autofree pdk_hold **holds = g_new0(pdk_hold *, MANY);

    for (int i = 0; i < MANY; i++) {
        holds[i] = ts_bench_acquire(lock, 5000);
    }
    ck_assert_int_eq(ts_child_count(server(), path), 1);
    if (_i == 0) { /* all are lost at once, and each is told once */
        g_autofree char *node = ts_hold_node(holds[0]);
        ck_assert_int_eq(ts_delete(server(), node), 0);
        ck_assert(ts_fd_readable(pdk_hold_fd(holds[0]), ts_patience(3000)));
    }
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(pdk_hold_release(holds[i]), _i == 0 ? PDK_LOST : PDK_OK);
    }
    ck_assert(ts_wait_children(server(), path, 0, 2000));
}
END_TEST

/* ---- other claims wait ---- */

START_TEST(other_threads_and_objects_wait_for_the_last) {
    pdk_hold *outer = ts_bench_acquire(lock, 5000), *other = NULL;
    ts_answer *thread = ts_acquire_thread(lock, 20000);
    pdk_hold *inner = ts_bench_acquire(lock, 5000); /* ahead of the waiting thread, which would wait for us for ever */

    ck_assert_int_eq(pdk_lock_acquire(reentrant(a, 256), SHORT_MS, &other),
                     PDK_DEADLOCK); /* holds of its own object alone are shared */
    ck_assert_int_eq(pdk_lock_acquire(reentrant(b, 256), 0, &other), PDK_BUSY);
    ck_assert_int_eq(pdk_hold_release(outer), PDK_OK);
    ck_assert(!ts_answer_wait(thread, SHORT_MS));
    const int64_t token = pdk_hold_token(inner);
    ck_assert_int_eq(pdk_hold_release(inner), PDK_OK);
    ck_assert(ts_answer_wait(thread, ts_patience(2000))); /* handed over */
    ck_assert_int_eq(ts_answer_status(thread), PDK_OK);
    ck_assert_int_eq(pdk_hold_token(ts_answer_hold(thread)), token);
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(thread)), 1);
}
END_TEST

/* A level of a grant that was handed over has the same hand-over number. Without hand-overs the next claim queues
 * again. */
START_TEST(levels_and_hand_overs) {
    pdk_lock *it = _i ? reentrant(a, 0) : lock;
    ts_answer *async = ts_acquire_async(it, 5000);
    ck_assert(ts_answer_wait(async, ts_patience(5000)));
    const int64_t token = pdk_hold_token(ts_answer_hold(async));
    ts_answer *next = ts_acquire_async(it, 20000);
    pdk_hold *outer = NULL;

    ck_assert_int_eq(ts_answer_release(async), PDK_OK);
    ck_assert(ts_answer_wait(next, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
    outer = ts_bench_acquire(it, 5000);
    ts_answer *waiting = ts_acquire_async(it, 20000);
    pdk_hold *inner = ts_bench_acquire(it, 5000);
    ck_assert_int_eq(pdk_hold_token(inner), pdk_hold_token(outer));
    ck_assert_uint_eq(pdk_hold_handover(inner), pdk_hold_handover(outer));
    const int64_t last = pdk_hold_token(outer);
    ck_assert_int_gt(last, token);
    ck_assert_int_eq(pdk_hold_release(inner), PDK_OK);
    ck_assert(!ts_answer_wait(waiting, SHORT_MS));
    ck_assert_int_eq(pdk_hold_release(outer), PDK_OK);
    ck_assert(ts_answer_wait(waiting, ts_patience(5000)));
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(waiting)), _i ? 0 : 1);
    ck_assert_int_eq(pdk_hold_token(ts_answer_hold(waiting)) == last, _i == 0);
}
END_TEST

/* ---- which claims nest ---- */

/* At once and without a server, as long as the lease lasts. Also with others in the queue. */
START_TEST(a_level_needs_no_server) {
    pdk_hold *outer = ts_bench_acquire(lock, 5000), *inner = NULL, *tried = NULL;
    ts_answer *theirs = ts_acquire_async(ts_lock(b, path), 20000);

    ck_assert(ts_wait_children(server(), path, 2, 5000));
    ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_lock_acquire(lock, PDK_FOREVER, &inner), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 0, &tried), PDK_OK); /* a thread's own hold does not make its try busy */
    ck_assert(pdk_hold_is_valid(inner) && pdk_hold_is_valid(tried));
    const int64_t left = pdk_hold_remaining_ms(outer); /* it goes on decreasing before the next check */
    ck_assert_int_le(pdk_hold_remaining_ms(inner), left);
    ts_proxy_heal(a->proxy);
    ck_assert_int_eq(pdk_hold_release(outer), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(tried), PDK_OK);
    ck_assert(!ts_answer_wait(theirs, SHORT_MS));
    ck_assert_int_eq(pdk_hold_release(inner), PDK_OK);
    ck_assert(ts_answer_wait(theirs, ts_patience(2000)));
}
END_TEST

START_TEST(asynchronous_claims_never_nest) {
    pdk_hold *outer = ts_bench_acquire(lock, 5000), *again = NULL;
    ts_answer *tried = ts_acquire_async(lock, 0), *async = ts_acquire_async(lock, 20000);

    ck_assert(ts_answer_wait(tried, ts_patience(1000)));
    ck_assert_int_eq(ts_answer_status(tried), PDK_BUSY);
    ck_assert(!ts_answer_wait(async, SHORT_MS));
    ck_assert_int_eq(pdk_hold_release(outer), PDK_OK);
    ck_assert(ts_answer_wait(async, ts_patience(2000)));
    ck_assert_int_eq(ts_answer_status(async), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, SHORT_MS, &again), PDK_TIMEOUT); /* it belongs to no thread */
    ck_assert_int_eq(pdk_lock_acquire(lock, 0, &again), PDK_BUSY);
    ck_assert_int_eq(ts_answer_release(async), PDK_OK);
}
END_TEST

START_TEST(a_level_that_is_given_away) {
    pdk_hold *outer = ts_bench_acquire(lock, 5000), *inner = ts_bench_acquire(lock, 5000), *again = NULL;

    pdk_hold_detach_thread(outer);
    again = ts_bench_acquire(lock, 5000); /* by the other thread */
    pdk_hold_detach_thread(inner);
    ck_assert_int_eq(pdk_hold_release(again), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, SHORT_MS, &again), PDK_TIMEOUT); /* this thread has no hold of it */
    ck_assert(pdk_hold_is_valid(outer) && pdk_hold_is_valid(inner));
    ck_assert_int_eq(pdk_hold_release(outer), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 0, &again), PDK_BUSY);
    ck_assert_int_eq(pdk_hold_release(inner), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(ts_bench_acquire(lock, 5000)), PDK_OK);
}
END_TEST

/* ---- threads at work ---- */

static struct {
    pdk_lock *locks[2];
    atomic_int inside, faults; /* the number of the thread inside, 0: none */
} work;

static void go_deeper(pdk_lock *it, int me, int depth) {
    pdk_hold *hold = NULL;
    int none = 0;

    if (pdk_lock_acquire(it, 60000, &hold) != PDK_OK) {
        atomic_fetch_add(&work.faults, 1);
        return;
    }
    if (!atomic_compare_exchange_strong(&work.inside, &none, me) && none != me) {
        atomic_fetch_add(&work.faults, 1);
    }
    if (depth > 0) {
        go_deeper(it, me, depth - 1);
    }
    const bool outermost = none == 0;
    if (outermost) {
        atomic_store(&work.inside, 0);
    }
    if (pdk_hold_release(hold) != PDK_OK) {
        atomic_fetch_add(&work.faults, 1);
    }
}

static void *work_main(void *number) {
    const int me = GPOINTER_TO_INT(number);

    for (int i = 0; i < 60; i++) {
        go_deeper(work.locks[me % 2], me, (i + me) % 4);
    }
    return NULL;
}

START_TEST(threads_nest_one_at_a_time) {
    enum { THREADS = 6 };
    pthread_t threads[THREADS];

    memset(&work, 0, sizeof work);
    work.locks[0] = lock;
    work.locks[1] = reentrant(b, 4);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work_main, GINT_TO_POINTER(i + 1)), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(atomic_load(&work.faults), 0);
    ck_assert(ts_wait_children(server(), path, 0, ts_patience(2000)));
}
END_TEST

/* ---- the grant is lost */

static struct {
    pdk_hold *holds[LOST_LEVELS];
    ts_lost *lost[LOST_LEVELS];
} it;

static void drop_holds(void) {
    for (int i = 0; i < LOST_LEVELS; i++) /* those of a failed test */
        pdk_hold_unref(g_steal_pointer(&it.holds[i]));
}

static pdk_status release(int i) { return pdk_hold_release(g_steal_pointer(&it.holds[i])); }

enum { EXPIRED, NODE_GONE, LEASE, CLOSED, WAYS };

static const pdk_reason reasons[] = {PDK_REASON_EXPIRED, PDK_REASON_NODE_GONE, PDK_REASON_LEASE, PDK_REASON_CLOSED};

static void lose(int way) {
    g_autofree char *node = ts_hold_node(it.holds[LOST_LEVELS - 1]);

    if (way == EXPIRED) {
        ck_assert_int_eq(ts_expire(a->proxy, server()), 0);
    } else if (way == NODE_GONE) {
        ck_assert_int_eq(ts_delete(server(), node), 0);
    } else if (way == LEASE) {
        ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
    } else {
        ck_assert_int_eq(pdk_session_close(a->session, 5000), PDK_OK);
    }
    ck_assert(ts_fd_readable(pdk_hold_fd(it.holds[LOST_LEVELS - 1]), SESSION_MS + ts_patience(1000)));
}

/* The first was released before, and is told nothing. */
START_TEST(each_hold_is_told_once) {
    nest(it.holds, LOST_LEVELS);
    for (int i = 0; i < LOST_LEVELS; i++)
        it.lost[i] = ts_lost_watch(it.holds[i]);
    ck_assert_int_eq(release(0), PDK_OK);
    lose(_i);
    for (int i = 1; i < LOST_LEVELS; i++) {
        ck_assert(!pdk_hold_is_valid(it.holds[i]));
        ck_assert_int_eq(pdk_hold_remaining_ms(it.holds[i]), 0);
        ck_assert(ts_fd_readable(pdk_hold_fd(it.holds[i]), 0));
        refused(pdk_hold_ensure(it.holds[i], 0), PDK_LOST, "lost");
        ck_assert(ts_lost_wait(it.lost[i], ts_patience(1000)));
        ck_assert_str_eq(pdk_reason_name(ts_lost_reason(it.lost[i])), pdk_reason_name(reasons[_i]));
        ck_assert_int_eq(pdk_hold_reason(it.holds[i]), reasons[_i]);
    }
    for (int i = 0; i < LOST_LEVELS; i++) {
        ck_assert(i == 0 || release(i) == PDK_LOST);
        ck_assert(ts_lost_wait_freed(it.lost[i], ts_patience(1000)));
        ck_assert_int_eq(ts_lost_count(it.lost[i]), i > 0);
        ck_assert_int_eq(ts_lost_freed(it.lost[i]), 1);
    }
}
END_TEST

/* The thread has lost the grant. It queues like any other, also before it has released the old holds. */
START_TEST(a_lost_grant_is_not_nested_on) {
    pdk_hold *next = NULL;

    nest(it.holds, LOST_LEVELS);
    const int64_t token = pdk_hold_token(it.holds[0]);
    ts_answer *theirs = ts_acquire_async(ts_lock(b, path), 60000);
    ck_assert(ts_wait_children(server(), path, 2, 5000));
    lose(NODE_GONE);
    ck_assert(ts_answer_wait(theirs, ts_patience(5000)));
    ck_assert_int_eq(pdk_lock_acquire(lock, 100, &next), PDK_TIMEOUT);
    ck_assert_int_eq(ts_answer_release(theirs), PDK_OK);
    next = ts_bench_acquire(lock, 10000);
    ck_assert_int_gt(pdk_hold_token(next), token);
    pdk_hold *inner = ts_bench_acquire(lock, 1000);
    ck_assert_int_eq(pdk_hold_token(inner), pdk_hold_token(next));
    for (int i = 0; i < LOST_LEVELS; i++) {
        ck_assert_int_eq(release(i), PDK_LOST);
    }
    ck_assert(pdk_hold_is_valid(next) && pdk_hold_is_valid(inner));
    ck_assert_int_eq(pdk_hold_release(next), PDK_OK);
    ck_assert(pdk_hold_is_valid(inner));
    ck_assert_int_eq(pdk_hold_release(inner), PDK_OK);
}
END_TEST

static void release_the_others(pdk_hold *hold, void *user) {
    (void)hold;
    (void)user;
    for (int i = 1; i < LOST_LEVELS; i++) {
        release(i);
    }
}

/* The first callback releases the other holds. None of their callbacks begins after that. */
START_TEST(a_callback_releases_the_others) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    const int64_t end = ts_now_ms() + ts_patience(3000);

    options.dispatch = PDK_DISPATCH_MANUAL;
    options.session_timeout_ms = SESSION_MS;
    a = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(a);
    lock = reentrant(a, 256);
    nest(it.holds, LOST_LEVELS);
    for (int i = 0; i < LOST_LEVELS; i++)
        it.lost[i] = i ? ts_lost_watch(it.holds[i]) : ts_lost_watch_with(it.holds[0], release_the_others, NULL);
    lose(NODE_GONE);
    while (ts_lost_count(it.lost[0]) == 0 && ts_now_ms() < end) {
        ts_fd_readable(pdk_session_fd(a->session), 100);
        ck_assert_int_eq(pdk_session_dispatch(a->session, NULL), PDK_OK);
    }
    ts_sleep_ms(100);
    ck_assert_int_eq(pdk_session_dispatch(a->session, NULL), PDK_OK);
    ck_assert_int_eq(ts_lost_count(it.lost[0]), 1);
    for (int i = 1; i < LOST_LEVELS; i++) {
        ck_assert_int_eq(ts_lost_count(it.lost[i]), 0);
        ck_assert_int_eq(ts_lost_freed(it.lost[i]), 1);
    }
    ck_assert_int_eq(release(0), PDK_LOST);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("reentrant");
    TCase *tcase = ts_bench_case(suite, "reentrant");

    tcase_add_checked_fixture(tcase, set_up, drop_holds);
    tcase_add_loop_test(tcase, it_ends_with_the_last_in_any_order, 0, G_N_ELEMENTS(orders));
    tcase_add_loop_test(tcase, very_many_levels, 0, 2);
    tcase_add_test(tcase, other_threads_and_objects_wait_for_the_last);
    tcase_add_loop_test(tcase, levels_and_hand_overs, 0, 2);
    tcase_add_test(tcase, a_level_needs_no_server);
    tcase_add_test(tcase, asynchronous_claims_never_nest);
    tcase_add_test(tcase, a_level_that_is_given_away);
    tcase_add_test(tcase, threads_nest_one_at_a_time);
    tcase_add_loop_test(tcase, each_hold_is_told_once, 0, WAYS);
    tcase_add_test(tcase, a_lost_grant_is_not_nested_on);
    tcase_add_test(tcase, a_callback_releases_the_others);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
