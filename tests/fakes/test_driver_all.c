/* Sets of rights in simulated time: three processes with two sessions each take random sets, named in any order, while links are cut,
 * nodes are deleted and requests are refused.
 *
 * The judge looks every 5 ms, and sees the parts of every hold that was not released. On no path two valid parts exclude each other,
 * but for those whose nodes were deleted.
 * A hold is valid only while all of its parts are. After the faults everybody who waits for ever is served, and nothing is left. */
#include "platform_bench.h"

#include <string.h>

enum { PATHS = 6, WORKERS = 3, SESSIONS = 2, PERMITS = 2, MOST = 4, STEP_MS = 5 };

enum kind { LOCK, RWLOCK, SEMAPHORE, KINDS };
static enum kind kind_of(int path) { return (enum kind)(path % KINDS); }

struct member;

struct worker {
    struct member *member;
    pdk_hold *hold;
    pdk_claim *claim;
    bool asking, cancelled;
    int64_t asked_at, limit;             /* ns; 0: it waits for ever */
    int64_t invalid_since;               /* 0: it was valid when the judge last looked */
    int path[MOST], weight[MOST], count; /* a lock or a writer weighs 1000, a reader or a permit 1 */
    unsigned losses;
};

static struct member {
    struct rival *rival;
    pdk_session *session[SESSIONS];
    pdk_lock *lock[PATHS];
    pdk_rwlock *rwlock[PATHS];
    pdk_semaphore *semaphore[PATHS];
    struct worker workers[WORKERS];
} members[RIVALS];

static GRand *dice;
static GHashTable *deleted; /* nodes that the administrator deleted: their holders believe a little longer */
static unsigned granted, refused, busy, lost;

static bool one_in(int times) { return g_rand_int_range(dice, 0, times) == 0; }

/* ---- in its process */

static void begin_in(void *subject, void *what) {
    struct member *m = subject;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    (void)what;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK / SIM_MS;
    for (int i = 0; i < SESSIONS; i++)
        m->session[i] = sim_session_open(&m->rival->process, "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181/app", &options);
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

static void give_back_in(void *subject, void *what) {
    struct member *m = subject;
    (void)what;
    for (int i = 0; i < PATHS; i++) {
        pdk_lock_unref(m->lock[i]);
        pdk_rwlock_unref(m->rwlock[i]);
        pdk_semaphore_unref(m->semaphore[i]);
    }
    for (int i = 0; i < SESSIONS; i++)
        pdk_session_unref(m->session[i]);
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    struct worker *w = user;
    ck_assert_ptr_eq(hold, w->hold);
    ck_assert(!pdk_hold_valid(hold));
    ck_assert_int_ne(reason, PDK_REASON_NONE);
    ck_assert_uint_eq(++w->losses, 1);
    lost++;
}

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    struct worker *w = user;
    ck_assert(w->asking);
    w->asking = false;
    pdk_claim_unref(g_steal_pointer(&w->claim));
    ck_assert_int_eq(hold != NULL, status == PDK_OK);
    ck_assert(status != PDK_TIMEOUT || w->limit);
    ck_assert(!w->cancelled || status == PDK_CANCELED);
    ck_assert(!w->limit || platform_agenda.now <= w->asked_at + w->limit + SECOND / 2);
    if (!hold) {
        refused++;
        busy += status == PDK_BUSY;
        return;
    }
    granted++;
    w->hold = hold;
    w->losses = 0;
    w->invalid_since = 0;
    ck_assert(pdk_hold_valid(hold));
    ck_assert_int_eq(pdk_hold_parts(hold), w->count);
    ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, w, NULL), PDK_OK);
}

static pdk_right right_on(const struct member *m, int path, int *weight) {
    bool reads = one_in(2);
    *weight = kind_of(path) == LOCK || (kind_of(path) == RWLOCK && !reads) ? 1000 : 1;
    if (kind_of(path) == LOCK)
        return pdk_right_lock(m->lock[path]);
    if (kind_of(path) == RWLOCK)
        return reads ? pdk_right_read(m->rwlock[path]) : pdk_right_write(m->rwlock[path]);
    *weight = g_rand_int_range(dice, 1, PERMITS + 1);
    return pdk_right_permits(m->semaphore[path], *weight);
}

static void ask_in(void *subject, void *what) {
    struct worker *w = subject;
    int path[PATHS] = {0, 1, 2, 3, 4, 5};
    pdk_right rights[MOST];
    (void)what;
    w->count = g_rand_int_range(dice, 1, MOST + 1);
    for (int i = 0; i < w->count; i++) {
        int other = g_rand_int_range(dice, i, PATHS), kept = path[i];
        path[i] = path[other];
        path[other] = kept;
        w->path[i] = path[i];
        rights[i] = right_on(w->member, path[i], &w->weight[i]);
    }
    int64_t ms = one_in(4) ? 0 : one_in(4) ? 300 : PDK_FOREVER;
    w->limit = ms == PDK_FOREVER ? 0 : (ms == 0 ? 5000 : ms) * SIM_MS; /* a try has request_timeout_ms */
    w->asked_at = platform_agenda.now;
    w->cancelled = false;
    w->asking = true;
    ck_assert_int_eq(pdk_acquire_all_async(rights, (size_t)w->count, ms, NULL, on_answer, w, &w->claim), PDK_OK);
}

static void cancel_in(void *subject, void *what) {
    struct worker *w = subject;
    (void)what;
    w->cancelled = pdk_claim_cancel(w->claim) == PDK_OK;
}

static void release_in(void *subject, void *what) {
    struct worker *w = subject;
    pdk_hold *hold = g_steal_pointer(&w->hold);
    (void)what;
    bool valid = pdk_hold_valid(hold);
    ck_assert_int_eq(pdk_hold_release(hold), valid ? PDK_OK : PDK_LOST);
}

static void judge_in(void *subject, void *what) {
    struct member *m = subject;
    int *inside = what;
    for (int k = 0; k < WORKERS; k++) {
        struct worker *w = &m->workers[k];
        bool all = true;
        for (int i = 0; w->hold && i < w->count; i++) {
            const pdk_hold *part = pdk_hold_part(w->hold, i);
            ck_assert_int_eq(pdk_hold_part_path(w->hold, i)[strlen("/app/all/")], '0' + w->path[i]);
            if (!g_hash_table_contains(deleted, pdk_hold_node(part)))
                inside[w->path[i]] += pdk_hold_valid(part) ? w->weight[i] : 0;
            all = all && pdk_hold_valid(part);
        }
        ck_assert(!w->hold || pdk_hold_valid(w->hold) == all);
        if (w->hold && !all && w->invalid_since == 0)
            w->invalid_since = platform_agenda.now;
        ck_assert(!w->hold || all || w->losses == 1 ||
                  platform_agenda.now < w->invalid_since + SECOND / 2); /* it is told */
    }
}

/* ---- a run */

static void judge(void) {
    int inside[PATHS] = {0};
    for (int i = 0; i < RIVALS; i++)
        sim_call_in(&members[i].rival->process, judge_in, &members[i], inside);
    for (int i = 0; i < PATHS; i++)
        ck_assert_int_le(inside[i], kind_of(i) == SEMAPHORE ? PERMITS : 1000);
}

static void pass(void) {
    platform_pass(STEP_MS * SIM_MS);
    judge();
}

static void do_something(struct worker *w, bool goes_on) {
    struct sim_process *process = &w->member->rival->process;
    if (w->hold && one_in(w->invalid_since ? 200 : 8)) /* it takes its time after a loss */
        sim_call_in(process, release_in, w, NULL);
    else if (w->asking && one_in(goes_on ? 200 : 1000000))
        sim_call_in(process, cancel_in, w, NULL);
    else if (goes_on && !w->hold && !w->asking && one_in(8))
        sim_call_in(process, ask_in, w, NULL);
}

static void everybody_does_something(bool goes_on) {
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++)
            do_something(&members[i].workers[k], goes_on);
}

static size_t children(const char *path, GPtrArray *names) {
    size_t count = 0;
    if (!sim_tree_find(sim_truth(platform_ensemble), path))
        return 0;
    const char *const *found = sim_tree_children(sim_truth(platform_ensemble), path, &count);
    for (size_t i = 0; names && i < count; i++)
        g_ptr_array_add(names, g_strdup_printf("%s/%s", path, found[i]));
    return count;
}

static size_t nodes(GPtrArray *names) {
    size_t count = 0;
    for (int i = 0; i < PATHS; i++) {
        static const char *const below[] = {"", "/locks", "/leases"};
        for (int k = kind_of(i) == SEMAPHORE ? 1 : 0; k < (kind_of(i) == SEMAPHORE ? 3 : 1); k++) {
            g_autofree char *path = g_strdup_printf("/app/all/%d%s", i, below[k]);
            count += children(path, names);
        }
    }
    return count;
}

/* Not of a permit: a hold names one of its nodes, and the judge could not tell. */
static void delete_one(void) {
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    nodes(names);
    if (names->len == 0)
        return;
    const char *path = g_ptr_array_index(names, (guint)g_rand_int_range(dice, 0, (gint32)names->len));
    if (strstr(path, "/leases/"))
        return;
    struct sim_packet *packet = sim_alloc(&platform_agenda, sizeof *packet);
    *packet = (struct sim_packet){
        .kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = sim_text(&platform_agenda, path), .data = ""};
    if (sim_admin(platform_ensemble, packet))
        g_hash_table_add(deleted, g_strdup(path));
    for (int i = 0; i < 200; i++) { /* the word of it takes less than a millisecond from session to session */
        platform_pass(SIM_MS / 10);
        judge();
    }
}

static int blocked_for[RIVALS]; /* steps */

static void something_goes_wrong(void) {
    static const enum pdk__op_kind kinds[] = {PDK__OP_CREATE, PDK__OP_LIST, PDK__OP_WATCH, PDK__OP_DELETE};
    if (one_in(60))
        delete_one();
    if (one_in(100))
        platform_refuse(kinds[g_rand_int_range(dice, 0, G_N_ELEMENTS(kinds))], 2);
    for (int i = 0; i < RIVALS; i++) {
        if (blocked_for[i] == 0 && one_in(400)) {
            blocked_for[i] = g_rand_int_range(dice, 10, 700);
            platform_block(members[i].rival, true);
        } else if (blocked_for[i] > 0 && --blocked_for[i] == 0) {
            platform_block(members[i].rival, false);
        }
    }
}

static bool somebody_is_busy(void) {
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++)
            if (members[i].workers[k].hold || members[i].workers[k].asking)
                return true;
    return false;
}

static void begin(guint seed) {
    dice = g_rand_new_with_seed(seed);
    deleted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    granted = refused = busy = lost = 0;
    memset(members, 0, sizeof members);
    memset(blocked_for, 0, sizeof blocked_for);
    for (int i = 0; i < RIVALS; i++) {
        members[i].rival = &rivals[i];
        for (int k = 0; k < WORKERS; k++)
            members[i].workers[k].member = &members[i];
        sim_call_in(&rivals[i].process, begin_in, &members[i], NULL);
    }
    platform_pass(SECOND);
}

static void end(void) {
    for (int i = 0; i < RIVALS; i++)
        sim_call_in(&rivals[i].process, give_back_in, &members[i], NULL);
    g_rand_free(dice);
    g_hash_table_destroy(deleted);
}

/* Everybody is served, and nothing is left. */
static void come_to_rest(void) {
    for (int i = 0; i < RIVALS; i++)
        platform_block(members[i].rival, false);
    for (int64_t until = platform_agenda.now + 60 * SECOND; somebody_is_busy();) {
        ck_assert_msg(platform_agenda.now < until, "somebody waits for ever");
        everybody_does_something(false);
        pass();
    }
    for (int64_t until = platform_agenda.now + 10 * SECOND; nodes(NULL) > 0; pass())
        ck_assert_msg(platform_agenda.now < until, "a node is left");
}

static void run(guint seed, bool faults) {
    platform_end();
    platform_begin(seed);
    begin(seed);
    for (int i = 0; i < 20000 / STEP_MS; i++) {
        everybody_does_something(true);
        if (faults)
            something_goes_wrong();
        pass();
    }
    come_to_rest();
    ck_assert_uint_gt(granted, 20);
    ck_assert_uint_gt(refused, 20);
    ck_assert_uint_gt(busy, 10);
    ck_assert(faults ? lost > 0 : lost == 0);
    end();
}

START_TEST(sets_in_any_order) { run((guint)_i + 1, false); }
END_TEST

START_TEST(sets_while_everything_fails) { run((guint)_i + 100, true); }
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_all");
    TCase *cases = tcase_create("driver_all");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_loop_test(cases, sets_in_any_order, 0, 4);
    tcase_add_loop_test(cases, sets_while_everything_fails, 0, 12);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
