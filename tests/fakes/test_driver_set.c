/* Sets of rights in simulated time: three processes with two sessions each take random sets, named in any order, while links are cut,
 * nodes are deleted and requests are refused.
 *
 * The judge looks every 5 ms, and sees the parts of every hold that was not released. On no path two valid parts exclude each other,
 * but for those whose nodes were deleted.
 * A hold is valid only while all of its parts are. After the faults everybody who waits for ever is served, and nothing is left. */
#include "contest.h"

#include <string.h>

enum { PATHS = 6, WORKERS = 3, SESSIONS = 2, PERMITS = 2, MOST = 4 };

enum kind { LOCK, RWLOCK, SEMAPHORE, KINDS };
static enum kind kind_of(int path) { return (enum kind)(path % KINDS); }

static struct member {
    pdk_session *session[SESSIONS];
    pdk_lock *lock[PATHS];
    pdk_rwlock *rwlock[PATHS];
    pdk_semaphore *semaphore[PATHS];
} members[RIVALS];

static struct set {
    int path[MOST], weight[MOST], count; /* a lock or a writer weighs 1000, a reader or a permit 1 */
} sets[RIVALS][WORKERS];

static unsigned granted, refused, busy, lost;

/* ---- in its process */

static void open_in(void *subject, void *what) {
    struct member *m = &members[*(const int *)subject];
    (void)what;
    memset(m, 0, sizeof *m);
    for (int i = 0; i < SESSIONS; i++)
        m->session[i] = trouble_open();
    for (int i = 0; i < PATHS; i++) {
        g_autofree char *path = g_strdup_printf("/all/%d", i);
        pdk_session *s = m->session[i % SESSIONS];
        if (kind_of(i) == LOCK)
            ck_assert_int_eq(pdk_lock_new(s, path, NULL, &m->lock[i]), PDK_OK);
        else if (kind_of(i) == RWLOCK)
            ck_assert_int_eq(pdk_rwlock_new(s, path, NULL, &m->rwlock[i]), PDK_OK);
        else
            ck_assert_int_eq(pdk_semaphore_new(s, path, PERMITS, NULL, &m->semaphore[i]), PDK_OK);
    }
}

static void close_in(void *subject, void *what) {
    struct member *m = &members[*(const int *)subject];
    (void)what;
    for (int i = 0; i < PATHS; i++) {
        pdk_lock_unref(m->lock[i]);
        pdk_rwlock_unref(m->rwlock[i]);
        pdk_semaphore_unref(m->semaphore[i]);
    }
    for (int i = 0; i < SESSIONS; i++)
        pdk_session_unref(m->session[i]);
}

static void answered(struct worker *w, pdk_status status) {
    granted += status == PDK_OK;
    refused += status != PDK_OK;
    busy += status == PDK_BUSY;
    if (w->set)
        ck_assert_int_eq(pdk_set_count(w->set), sets[w->process][w->number].count);
}

static void on_lost(struct worker *w) {
    (void)w;
    lost++;
}

static pdk_right right_on(const struct member *m, int path, int *weight) {
    bool reads = one_in(2);
    *weight = kind_of(path) == LOCK || (kind_of(path) == RWLOCK && !reads) ? 1000 : 1;
    if (kind_of(path) == LOCK)
        return pdk_right_lock(m->lock[path]);
    if (kind_of(path) == RWLOCK)
        return reads ? pdk_right_read(m->rwlock[path]) : pdk_right_write(m->rwlock[path]);
    *weight = 1 + one_of(PERMITS);
    return pdk_right_permits(m->semaphore[path], *weight);
}

static void ask_in(void *subject, void *what) {
    struct worker *w = subject;
    struct set *set = &sets[w->process][w->number];
    int path[PATHS] = {0, 1, 2, 3, 4, 5};
    pdk_right rights[MOST];
    (void)what;
    set->count = 1 + one_of(MOST);
    for (int i = 0; i < set->count; i++) {
        int other = i + one_of(PATHS - i), kept = path[i];
        path[i] = path[other];
        path[other] = kept;
        set->path[i] = path[i];
        rights[i] = right_on(&members[w->process], path[i], &set->weight[i]);
    }
    int64_t ms = one_in(4) ? 0 : one_in(4) ? 300 : PDK_FOREVER;
    contest_ask(w, ms);
    ck_assert_int_eq(pdk_set_acquire_async(rights, (size_t)set->count, ms, NULL, contest_set_answer, w, &w->set_claim),
                     PDK_OK);
}

static void judge_in(void *subject, void *what) {
    const struct worker *w = subject;
    const struct set *set = &sets[w->process][w->number];
    int *inside = what;
    bool all = true;
    for (int i = 0; i < set->count; i++) {
        const pdk_hold *part = pdk_set_part(w->set, i);
        ck_assert_int_eq(pdk_set_part_path(w->set, i)[strlen("/app/all/")], '0' + set->path[i]);
        if (!trouble_deleted(pdk_hold_node(part)))
            inside[set->path[i]] += pdk_hold_is_valid(part) ? set->weight[i] : 0;
        all = all && pdk_hold_is_valid(part);
    }
    ck_assert(pdk_set_is_valid(w->set) == all);
}

/* ---- a run */

static void judge(void) {
    int inside[PATHS] = {0};
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++)
            if (workers[i][k].set)
                sim_call_in(&rivals[i].process, judge_in, &workers[i][k], inside);
    for (int i = 0; i < PATHS; i++)
        ck_assert_int_le(inside[i], kind_of(i) == SEMAPHORE ? PERMITS : 1000);
}

static size_t nodes(GPtrArray *names, bool permits) {
    static const char *const below[] = {"", "/locks", "/leases"};
    size_t count = 0;
    for (int i = 0; i < PATHS; i++)
        for (int k = kind_of(i) == SEMAPHORE ? 1 : 0; k < (kind_of(i) == SEMAPHORE ? 2 + permits : 1); k++) {
            g_autofree char *path = g_strdup_printf("/app/all/%d%s", i, below[k]);
            count += trouble_children(path, names);
        }
    return count;
}

/* Not of a permit: a hold names one of its nodes, and the judge could not tell. */
static void deletable(GPtrArray *paths) { nodes(paths, false); }

static const struct contest sets_contest = {
    .workers = WORKERS,
    .gives_back = 8,
    .trouble = {.deletes = 60,
                .refuses = 100,
                .cuts = 400,
                .blocks = 400,
                .kinds = {PDK__OP_CREATE, PDK__OP_LIST, PDK__OP_WATCH, PDK__OP_DELETE},
                .kinds_count = 4,
                .deletable = deletable,
                .after_delete = contest_look_closely}, /* the word of it takes less than a ms from session to session */
    .open = open_in,
    .close = close_in,
    .ask = ask_in,
    .answered = answered,
    .lost = on_lost,
    .judge = judge,
};

static void run(guint seed, bool faults) {
    granted = refused = busy = lost = 0;
    contest_begin(&sets_contest, seed);
    contest_play(20000, faults);
    contest_rest();
    for (int64_t until = platform_agenda.now + 10 * SECOND; nodes(NULL, true) > 0; platform_pass(SIM_MS))
        ck_assert_msg(platform_agenda.now < until, "a node is left");
    ck_assert_uint_gt(granted, 20);
    ck_assert_uint_gt(refused, 20);
    ck_assert_uint_gt(busy, 10);
    ck_assert(faults ? lost > 0 : lost == 0);
    ck_assert(faults ? trouble_count.refused > 10 && trouble_count.deleted > 10 : trouble_count.refused == 0);
    contest_end();
}

START_TEST(sets_in_any_order) { run((guint)_i + 1, false); }
END_TEST

START_TEST(sets_while_everything_fails) { run((guint)_i + 100, true); }
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_set");
    TCase *cases = tcase_create("driver_set");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_loop_test(cases, sets_in_any_order, 0, 4);
    tcase_add_loop_test(cases, sets_while_everything_fails, 0, trouble_seeds(40));
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
