/* A lock with a lock-delay in simulated time: three processes take turns, while links are cut, nodes are deleted and requests are
 * refused. One of them also comes with another delay.
 *
 * The judge looks every 5 ms. There is one valid hold at most, but for those whose nodes were deleted. Nobody is granted within the
 * delay after an unclean end of one that had a node when it was granted, nor with another delay. Without faults nobody waits for a delay. After the faults everybody who waits for
 * ever is served, and what is left of the nodes is the record. */
#include "contest.h"

#include <string.h>

enum { WORKERS = 3, DELAY_MS = 400 };
#define LOCK "/d/lock"

static struct member {
    pdk_session *session;
    pdk_lock *lock, *wrong;
} members[RIVALS];

static struct turn {
    bool wrong;   /* it comes with another delay */
    bool no_node; /* its node was gone before it was granted: the next one may be granted beside it */
} turns_of[RIVALS][WORKERS];
static unsigned granted, busy, mismatched, delayed;
static int64_t unclean_at; /* the newest end without a release; 0: a release, or none yet */
static bool faulty;

static struct turn *turn_of(const struct worker *w) { return &turns_of[w->process][w->number]; }

/* ---- in its process */

static void open_in(void *subject, void *what) {
    struct member *m = &members[*(const int *)subject];
    pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT;
    (void)what;
    m->session = trouble_open();
    lock.lock_delay_ms = DELAY_MS;
    ck_assert_int_eq(pdk_lock_new(m->session, LOCK, &lock, &m->lock), PDK_OK);
    lock.lock_delay_ms = DELAY_MS + 1;
    ck_assert_int_eq(pdk_lock_new(m->session, LOCK, &lock, &m->wrong), PDK_OK);
}

static void close_in(void *subject, void *what) {
    struct member *m = &members[*(const int *)subject];
    (void)what;
    pdk_lock_unref(m->lock);
    pdk_lock_unref(m->wrong);
    pdk_session_unref(m->session);
}

static void on_lost(struct worker *w) {
    int64_t deleted_at = trouble_deleted(pdk_hold_node(w->hold)); /* the others see it first */
    if (!turn_of(w)->no_node)
        unclean_at = deleted_at ? deleted_at : platform_agenda.now;
}

static void answered(struct worker *w, pdk_status status) {
    bool wrong = turn_of(w)->wrong;
    ck_assert(!wrong || status != PDK_OK);
    ck_assert(faulty || wrong || status == PDK_OK || status == PDK_BUSY || status == PDK_TIMEOUT ||
              status == PDK_CANCELED);
    mismatched += status == PDK_MISMATCH;
    busy += status == PDK_BUSY;
    if (!w->hold)
        return;
    granted++;
    turn_of(w)->no_node = trouble_deleted(pdk_hold_node(w->hold)) != 0;
    /* A holder whose session ends knows it before the servers do: who counts from what they show waits longer. */
    ck_assert(unclean_at == 0 || platform_agenda.now >= unclean_at + DELAY_MS * SIM_MS);
    delayed += unclean_at != 0;
    unclean_at = 0;
}

/* what: the first, who records the delay. */
static void ask_in(void *subject, void *what) {
    struct worker *w = subject;
    const struct member *m = &members[w->process];
    bool wrong = !what && one_in(10);
    int64_t ms = wrong ? 1000 : !what && one_in(4) ? 0 : one_in(4) ? 700 : PDK_FOREVER;
    turn_of(w)->wrong = wrong;
    contest_ask(w, ms);
    ck_assert_int_eq(pdk_lock_acquire_async(wrong ? m->wrong : m->lock, ms, contest_answer, w, &w->claim), PDK_OK);
}

static void judge_in(void *subject, void *what) {
    const struct worker *w = subject;
    *(int *)what += !trouble_deleted(pdk_hold_node(w->hold)) && pdk_hold_is_valid(w->hold);
}

/* ---- a run */

static void judge(void) {
    int inside = 0;
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++)
            if (workers[i][k].hold)
                sim_call_in(&rivals[i].process, judge_in, &workers[i][k], &inside);
    ck_assert_int_le(inside, 1);
}

/* Those of contenders. Whoever deletes pledges ends the promise. */
static void deletable(GPtrArray *paths) {
    trouble_children("/app" LOCK, paths);
    for (guint i = paths->len; i > 0; i--)
        if (!g_str_has_prefix(paths->pdata[i - 1], "/app" LOCK "/_c_"))
            g_ptr_array_remove_index(paths, i - 1);
}

static const struct contest turns_contest = {
    .workers = WORKERS,
    .gives_back = 10,
    .trouble = {.deletes = 150,
                .refuses = 40,
                .cuts = 100,
                .blocks = 800,
                .kinds = {PDK__OP_CREATE, PDK__OP_LIST, PDK__OP_GET, PDK__OP_DELETE, PDK__OP_MKDIR},
                .kinds_count = 5,
                .deletable = deletable},
    .open = open_in,
    .close = close_in,
    .ask = ask_in,
    .answered = answered,
    .lost = on_lost,
    .judge = judge,
};

static void run(guint seed, bool faults) {
    faulty = faults;
    granted = busy = mismatched = delayed = 0;
    unclean_at = 0;
    contest_begin(&turns_contest, seed);
    sim_call_in(&rivals[0].process, ask_in, &workers[0][0], &faulty);
    platform_pass(SECOND);
    contest_play(40000, faults);
    contest_rest();
    platform_pass(3 * TIMEOUT);
    g_autoptr(GPtrArray) left = g_ptr_array_new_with_free_func(g_free);
    deletable(left);
    ck_assert_msg(left->len == 0, "%u nodes are left", left->len);
    ck_assert_uint_gt(granted, faults ? 10 : 100);
    ck_assert_uint_gt(busy, 5);
    ck_assert_uint_gt(mismatched, 0);
    ck_assert_uint_eq(faults, delayed > 0);
    ck_assert(faults ? trouble_count.refused > 10 && trouble_count.deleted > 10 : trouble_count.refused == 0);
    contest_end();
}

START_TEST(turns) { run((guint)_i + 1, false); }
END_TEST

START_TEST(turns_while_everything_fails) { run((guint)_i + 100, true); }
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_delay");
    TCase *cases = tcase_create("driver_delay");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_loop_test(cases, turns, 0, 4);
    tcase_add_loop_test(cases, turns_while_everything_fails, 0, 12);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
