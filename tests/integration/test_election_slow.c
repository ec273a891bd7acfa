/* A candidate whose call of join is slow to return. Its claim is answered, and its callbacks run and act, before join
 * returns. The executable's pthread_mutex_unlock replaces the C library's, and delays the chosen thread after each
 * unlock. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "elections.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SOON_MS = 2000, PAUSE_MS = 50, TRIES = 10 };

/* ---- the slow thread */

static _Thread_local bool is_slow;

typedef int unlock_fn(pthread_mutex_t *mutex);

__attribute__((visibility("default"))) int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    unlock_fn *unlock;
    void *symbol = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    memcpy(&unlock, &symbol, sizeof unlock);
    const int result = unlock(mutex);
    if (is_slow)
        ts_sleep_ms(PAUSE_MS);
    return result;
}

/* ---- a candidate that acts in a callback */

static struct {
    const char *path;
    ts_client *client;
    pdk_election *election;
    record *r;
} it;

static atomic_int answered; /* what the act returned; -1 before */

static void act_once(record *r, void *call) {
    pdk_status (*const *act)(pdk_election *election) = call;
    (void)r;
    if (atomic_load(&answered) == -1)
        atomic_store(&answered, (*act)(it.election));
}

static void join_once(enum told where, pdk_status (**act)(pdk_election *election)) {
    pdk_election_callbacks callbacks;
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.election = election_on(it.client, it.path, NULL);
    it.r = record_new();
    record_callbacks(it.r, &callbacks);
    callbacks.leader = record_leader;
    record_act(it.r, where, act_once, act);
    atomic_store(&answered, -1);
    is_slow = true;
    const pdk_status joined = pdk_election_join(it.election, &callbacks);
    is_slow = false;
    ck_assert_int_eq(joined, PDK_OK);
}

/* Repeats until a join was slower than its callback, which has acted by then. */
static void join_slowly(enum told where, pdk_status (**act)(pdk_election *election)) {
    for (int i = 0; i < TRIES; i++) {
        join_once(where, act);
        if (atomic_load(&answered) != -1) {
            ck_assert_int_eq(atomic_load(&answered), PDK_OK);
            return;
        }
        ck_assert_int_eq(pdk_session_close(it.client->session, ts_patience(5000)),
                         PDK_OK); /* no callback runs any more */
    }
    ck_abort_msg("no callback came before join had returned");
}

static void assert_gone(void) {
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_session_flush(it.client->session, ts_patience(5000)), PDK_OK);
    ck_assert_int_le(ts_child_count(ts_bench_server(), it.path), 0); /* there may be no directory */
}

static pdk_status (*leaves)(pdk_election *election) = pdk_election_leave;
static pdk_status (*resigns)(pdk_election *election) = pdk_election_resign;

/* It leaves when it is first told of a leader, or as it is elected; or it resigns then. */
static const struct {
    enum told where;
    pdk_status (**act)(pdk_election *election);
    int terms;
} acts[] = {{LEADER, &leaves, 0}, {ELECTED, &leaves, 1}, {ELECTED, &resigns, 2}};

START_TEST(acts_before_join_returns) {
    join_slowly(acts[_i].where, acts[_i].act);
    if (acts[_i].act == &resigns) {
        assert_told(it.r, ELECTED, 2);
        ck_assert_int_eq(pdk_election_leave(it.election), PDK_OK);
    }
    assert_told(it.r, DEPOSED, acts[_i].terms);
    assert_gone();
    if (acts[_i].where == LEADER)
        ck_assert_int_eq(record_count(it.r, LEADER), 1);
    else
        assert_history(it.r,
                       acts[_i].terms == 1 ? "elected deposed:NONE" : "elected deposed:NONE elected deposed:NONE");
}
END_TEST

static ts_observer *rival;

/* Another candidate queues behind it before it resigns. */
static pdk_status resign_to_a_rival(pdk_election *election) {
    g_autofree char *name = g_strconcat(it.path, "/_c_01234567-89ab-4cde-8f01-23456789abcd-latch-", NULL);
    const int code = ts_observer_create(rival, name, "", TS_EPHEMERAL | TS_SEQUENTIAL, NULL);
    return code == 0 ? pdk_election_resign(election) : PDK_UNAVAILABLE;
}

static pdk_status (*resigns_to_a_rival)(pdk_election *election) = resign_to_a_rival;

/* It leaves its new entry in the queue, whatever became of the entry of its join. */
START_TEST(leaves_the_queue_after_it_resigned) {
    rival = ts_observer_open(ts_bench_server());
    ck_assert_ptr_nonnull(rival);
    join_slowly(ELECTED, &resigns_to_a_rival);
    assert_told(it.r, DEPOSED, 1);
    ck_assert_int_eq(pdk_session_flush(it.client->session, ts_patience(5000)), PDK_OK); /* its first node is gone */
    ck_assert(ts_wait_children(ts_bench_server(), it.path, 2, ts_patience(SOON_MS)));
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_OK);
    const bool is_gone = ts_wait_children(ts_bench_server(), it.path, 1, ts_patience(SOON_MS));
    ts_observer_close(rival);
    ck_assert(is_gone);
    assert_history(it.r, "elected deposed:NONE");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election_slow");
    TCase *tcase = ts_bench_case(suite, "election_slow");

    tcase_add_loop_test(tcase, acts_before_join_returns, 0, (int)G_N_ELEMENTS(acts));
    tcase_add_test(tcase, leaves_the_queue_after_it_resigned);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
