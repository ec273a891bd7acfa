/* A striped lock in simulated time: three processes take keys, sets of keys and any stripe, while links are cut, nodes are deleted and
 * requests are refused. One of them also comes with another number of stripes.
 *
 * The judge looks every 5 ms. No stripe has two valid holds, but for those whose nodes were deleted. In a run without faults nobody
 * waits for any stripe while one stands empty. Nobody is granted with another number. After the faults everybody who waits for ever is
 * served, and nothing is left. */
#include "platform_bench.h"

#include <string.h>

enum { STRIPES = 4, WORKERS = 4, KEYS = 6, STEP_MS = 5, EMPTY_MS = 300 };
enum way { ONE_KEY, SOME_KEYS, ANY, WRONG_NUMBER, WAYS };

static const char *const keys[KEYS] = {"a", "b", "c", "d", "e", "f"};

struct member;

struct worker {
    struct member *member;
    pdk_hold *hold;
    pdk_claim *claim;
    enum way way;
    bool asking, cancelled, is_try;
    int64_t asked_at, limit; /* ns; 0: it waits for ever */
};

static struct member {
    struct rival *rival;
    pdk_session *session;
    pdk_striped *striped, *wrong;
    pdk_lock *lock[STRIPES]; /* of each stripe */
    struct worker workers[WORKERS];
} members[RIVALS];

static GRand *dice;
static bool faulty;         /* something goes wrong in this run */
static GHashTable *deleted; /* nodes that the administrator deleted: their holders believe a little longer */
static unsigned granted[WAYS], busy, refused;
static int64_t empty_since[STRIPES];

static bool one_in(int times) { return g_rand_int_range(dice, 0, times) == 0; }

/* ---- in its process */

static void begin_in(void *subject, void *what) {
    struct member *m = subject;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    (void)what;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK / SIM_MS;
    m->session = sim_session_open(&m->rival->process, "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181/app", &options);
    ck_assert_int_eq(pdk_striped_new(m->session, "/s/striped", STRIPES, NULL, &m->striped), PDK_OK);
    ck_assert_int_eq(pdk_striped_new(m->session, "/s/striped", STRIPES + 1, NULL, &m->wrong), PDK_OK);
    for (int32_t i = 0; i < STRIPES; i++)
        ck_assert_int_eq(pdk_striped_lock(m->striped, i, &m->lock[i]), PDK_OK);
}

static void give_back_in(void *subject, void *what) {
    struct member *m = subject;
    (void)what;
    for (int i = 0; i < STRIPES; i++)
        pdk_lock_unref(m->lock[i]);
    pdk_striped_unref(m->striped);
    pdk_striped_unref(m->wrong);
    pdk_session_unref(m->session);
}

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    struct worker *w = user;
    ck_assert(w->asking);
    w->asking = false;
    pdk_claim_unref(g_steal_pointer(&w->claim));
    ck_assert_int_eq(hold != NULL, status == PDK_OK);
    ck_assert(!w->cancelled || status == PDK_CANCELED);
    ck_assert(!w->limit || platform_agenda.now <= w->asked_at + w->limit + SECOND / 2);
    ck_assert(faulty || !w->is_try || platform_agenda.now <= w->asked_at + SECOND);
    ck_assert(w->way == WRONG_NUMBER ? status != PDK_OK : status != PDK_MISMATCH);
    ck_assert(w->limit || status == PDK_OK || status == PDK_CANCELED || status == PDK_MISMATCH);
    refused += status == PDK_MISMATCH;
    busy += status == PDK_BUSY;
    if (hold) {
        w->hold = hold;
        granted[w->way]++;
        ck_assert(pdk_hold_valid(hold));
    }
}

static pdk_status begin_claim(struct worker *w, int64_t ms) {
    struct member *m = w->member;
    int32_t one = pdk_stripe_of(keys[g_rand_int_range(dice, 0, KEYS)], 1, STRIPES), other = (one + 1) % STRIPES;
    pdk_right rights[] = {pdk_right_lock(m->lock[one]), pdk_right_lock(m->lock[other])};
    switch (w->way) {
    case ONE_KEY:
        return pdk_lock_acquire_async(m->lock[one], ms, on_answer, w, &w->claim);
    case SOME_KEYS:
        return pdk_acquire_all_async(rights, 2, ms, NULL, on_answer, w, &w->claim);
    default:
        return pdk_striped_acquire_any_async(w->way == ANY ? m->striped : m->wrong, ms, on_answer, w, &w->claim);
    }
}

static void ask_in(void *subject, void *what) {
    struct worker *w = subject;
    (void)what;
    int64_t ms = one_in(4) ? 0 : one_in(4) ? 300 : PDK_FOREVER;
    w->way = one_in(10) ? WRONG_NUMBER : (enum way)g_rand_int_range(dice, ONE_KEY, WRONG_NUMBER);
    w->is_try = ms == 0;
    w->limit = ms == PDK_FOREVER ? 0 : (ms == 0 ? 5000 : ms) * SIM_MS; /* a try has request_timeout_ms */
    w->asked_at = platform_agenda.now;
    w->cancelled = false;
    w->asking = true;
    ck_assert_int_eq(begin_claim(w, ms), PDK_OK);
}

static void ask_first_in(void *subject, void *what) {
    (void)what;
    ck_assert_int_eq(begin_claim(subject, PDK_FOREVER), PDK_OK);
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
        pdk_hold *hold = m->workers[k].hold;
        int32_t count = hold ? MAX(pdk_hold_parts(hold), 1) : 0;
        for (int32_t i = 0; i < count; i++) {
            const pdk_hold *part = pdk_hold_parts(hold) ? pdk_hold_part(hold, i) : hold;
            int32_t stripe = pdk_striped_stripe(m->striped, part);
            ck_assert_int_ge(stripe, 0);
            if (!g_hash_table_contains(deleted, pdk_hold_node(part)))
                inside[stripe] += pdk_hold_valid(part);
        }
    }
}

/* ---- a run */

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
    size_t count = children("/app/s/striped/any", names);
    for (int i = 0; i < STRIPES; i++) {
        g_autofree char *path = g_strdup_printf("/app/s/striped/%04d", i);
        size_t queued = children(path, names);
        count += queued;
        if (queued > 0)
            empty_since[i] = platform_agenda.now;
    }
    return count;
}

/* Somebody waits for any stripe, of those who may have one, and since so long. */
static bool somebody_waits_for_any(int64_t ns) {
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++) {
            const struct worker *w = &members[i].workers[k];
            if (w->asking && w->way == ANY && w->asked_at + ns < platform_agenda.now)
                return true;
        }
    return false;
}

static void judge(bool faults) {
    int inside[STRIPES] = {0};
    for (int i = 0; i < RIVALS; i++)
        sim_call_in(&members[i].rival->process, judge_in, &members[i], inside);
    nodes(NULL);
    bool waits = !faults && somebody_waits_for_any(EMPTY_MS * SIM_MS);
    for (int i = 0; i < STRIPES; i++) {
        ck_assert_int_le(inside[i], 1);
        ck_assert_msg(!waits || empty_since[i] + EMPTY_MS * SIM_MS > platform_agenda.now,
                      "a stripe stands empty, and somebody waits for any");
    }
}

static void pass(bool faults) {
    platform_pass(STEP_MS * SIM_MS);
    judge(faults);
}

static void do_something(struct worker *w, bool goes_on) {
    struct sim_process *process = &w->member->rival->process;
    if (w->hold && one_in(20))
        sim_call_in(process, release_in, w, NULL);
    else if (w->asking && goes_on && one_in(200))
        sim_call_in(process, cancel_in, w, NULL);
    else if (goes_on && !w->hold && !w->asking && one_in(8))
        sim_call_in(process, ask_in, w, NULL);
}

static void everybody_does_something(bool goes_on) {
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++)
            do_something(&members[i].workers[k], goes_on);
}

static void delete_one(void) {
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    nodes(names);
    if (names->len == 0)
        return;
    const char *path = g_ptr_array_index(names, (guint)g_rand_int_range(dice, 0, (gint32)names->len));
    struct sim_packet *packet = sim_alloc(&platform_agenda, sizeof *packet);
    *packet = (struct sim_packet){
        .kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = sim_text(&platform_agenda, path), .data = ""};
    if (sim_admin(platform_ensemble, packet))
        g_hash_table_add(deleted, g_strdup(path));
}

static int blocked_for[RIVALS]; /* steps */

static void something_goes_wrong(void) {
    static const enum pdk__op_kind kinds[] = {PDK__OP_CREATE, PDK__OP_LIST, PDK__OP_WATCH, PDK__OP_DELETE,
                                              PDK__OP_MKDIR};
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
    memset(granted, 0, sizeof granted);
    busy = refused = 0;
    memset(members, 0, sizeof members);
    memset(blocked_for, 0, sizeof blocked_for);
    for (int i = 0; i < RIVALS; i++) {
        members[i].rival = &rivals[i];
        for (int k = 0; k < WORKERS; k++)
            members[i].workers[k].member = &members[i];
        sim_call_in(&rivals[i].process, begin_in, &members[i], NULL);
    }
    platform_pass(SECOND);
    struct worker *w = &members[0].workers[0]; /* the right number is recorded first */
    *w = (struct worker){.member = &members[0], .way = ANY, .asking = true, .asked_at = platform_agenda.now};
    sim_call_in(&rivals[0].process, ask_first_in, w, NULL);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(w->hold);
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
        pass(true);
    }
    for (int64_t until = platform_agenda.now + 10 * SECOND; nodes(NULL) > 0; pass(true))
        ck_assert_msg(platform_agenda.now < until, "a node is left");
}

static void run(guint seed, bool faults) {
    faulty = faults;
    platform_end();
    platform_begin(seed);
    begin(seed);
    for (int i = 0; i < STRIPES; i++)
        empty_since[i] = platform_agenda.now;
    for (int i = 0; i < 15000 / STEP_MS; i++) {
        everybody_does_something(true);
        if (faults)
            something_goes_wrong();
        pass(faults);
    }
    come_to_rest();
    for (int way = ONE_KEY; way < WRONG_NUMBER; way++)
        ck_assert_uint_gt(granted[way], 10);
    ck_assert_uint_eq(granted[WRONG_NUMBER], 0);
    ck_assert_uint_gt(refused, 5);
    ck_assert_uint_gt(busy, 10);
    end();
}

START_TEST(stripes) { run((guint)_i + 1, false); }
END_TEST

START_TEST(stripes_while_everything_fails) { run((guint)_i + 100, true); }
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_striped");
    TCase *cases = tcase_create("driver_striped");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_loop_test(cases, stripes, 0, 4);
    tcase_add_loop_test(cases, stripes_while_everything_fails, 0, 8);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
