/* A lock with a lock-delay in simulated time: three processes take turns, while links are cut, nodes are deleted and requests are
 * refused. One of them also comes with another delay.
 *
 * The judge looks every 5 ms. There is one valid hold at most, but for those whose nodes were deleted. Nobody is granted within the
 * delay after an unclean end, nor with another delay. Without faults nobody waits for a delay. After the faults everybody who waits for
 * ever is served, and what is left of the nodes is the record. */
#include "platform_bench.h"

#include <string.h>

enum { WORKERS = 3, STEP_MS = 5, DELAY_MS = 400 };
#define LOCK "/d/lock"

struct member;

struct worker {
    struct member *member;
    pdk_hold *hold;
    pdk_claim *claim;
    bool asking, wrong, is_try;
    int64_t asked_at;
};

static struct member {
    struct rival *rival;
    pdk_session *session;
    pdk_lock *lock, *wrong;
    struct worker workers[WORKERS];
} members[RIVALS];

static GRand *dice;
static GHashTable *deleted; /* nodes that the administrator deleted: their holders believe a little longer */
static unsigned granted, busy, mismatched, delayed;
static int64_t unclean_at; /* the newest end without a release, as its holder knew it; 0: a release, or none yet */
static bool faulty;

static bool one_in(int times) { return g_rand_int_range(dice, 0, times) == 0; }

/* ---- in its process */

static void begin_in(void *subject, void *what) {
    struct member *m = subject;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT;
    (void)what;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK / SIM_MS;
    m->session = sim_session_open(&m->rival->process, "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181/app", &options);
    lock.lock_delay_ms = DELAY_MS;
    ck_assert_int_eq(pdk_lock_new(m->session, LOCK, &lock, &m->lock), PDK_OK);
    lock.lock_delay_ms = DELAY_MS + 1;
    ck_assert_int_eq(pdk_lock_new(m->session, LOCK, &lock, &m->wrong), PDK_OK);
}

static void give_back_in(void *subject, void *what) {
    struct member *m = subject;
    (void)what;
    pdk_lock_unref(m->lock);
    pdk_lock_unref(m->wrong);
    pdk_session_unref(m->session);
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    unclean_at = platform_agenda.now;
}

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    struct worker *w = user;
    w->asking = false;
    pdk_claim_unref(g_steal_pointer(&w->claim));
    ck_assert_int_eq(hold != NULL, status == PDK_OK);
    ck_assert(!w->wrong || status != PDK_OK);
    ck_assert(faulty || w->wrong || status == PDK_OK || status == PDK_BUSY || status == PDK_TIMEOUT ||
              status == PDK_CANCELED);
    mismatched += status == PDK_MISMATCH;
    busy += status == PDK_BUSY;
    if (!hold)
        return;
    w->hold = hold;
    granted++;
    /* A holder knows before the servers do: who counts from what they show waits longer. */
    ck_assert(unclean_at == 0 || platform_agenda.now >= unclean_at + DELAY_MS * SIM_MS);
    delayed += unclean_at != 0;
    unclean_at = 0;
    ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, w, NULL), PDK_OK);
}

/* what: the first, who records the delay. */
static void ask_in(void *subject, void *what) {
    struct worker *w = subject;
    w->wrong = !what && one_in(10);
    w->is_try = !what && !w->wrong && one_in(4);
    int64_t ms = w->wrong ? 1000 : w->is_try ? 0 : one_in(4) ? 700 : PDK_FOREVER;
    w->asked_at = platform_agenda.now;
    w->asking = true;
    ck_assert_int_eq(pdk_lock_acquire_async(w->wrong ? w->member->wrong : w->member->lock, ms, on_answer, w, &w->claim),
                     PDK_OK);
}

static void cancel_in(void *subject, void *what) {
    (void)what;
    (void)pdk_claim_cancel(((struct worker *)subject)->claim);
}

static void release_in(void *subject, void *what) {
    struct worker *w = subject;
    (void)what;
    (void)pdk_hold_release(g_steal_pointer(&w->hold));
}

static void judge_in(void *subject, void *what) {
    const struct member *m = subject;
    for (int k = 0; k < WORKERS; k++) {
        const pdk_hold *hold = m->workers[k].hold;
        if (hold && !g_hash_table_contains(deleted, pdk_hold_node(hold)))
            *(int *)what += pdk_hold_valid(hold);
    }
}

/* ---- a run */

/* The nodes of contenders and pledges: all but the record. */
static GPtrArray *nodes(void) {
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    size_t count = 0;
    if (!sim_tree_find(sim_truth(platform_ensemble), "/app" LOCK))
        return names;
    const char *const *found = sim_tree_children(sim_truth(platform_ensemble), "/app" LOCK, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(found[i], "delay") != 0)
            g_ptr_array_add(names, g_strdup(found[i]));
    return names;
}

static void pass(void) {
    int inside = 0;
    platform_pass(STEP_MS * SIM_MS);
    for (int i = 0; i < RIVALS; i++)
        sim_call_in(&members[i].rival->process, judge_in, &members[i], &inside);
    ck_assert_int_le(inside, 1);
}

static void do_something(struct worker *w, bool goes_on) {
    struct sim_process *process = &w->member->rival->process;
    if (w->hold && one_in(10))
        sim_call_in(process, release_in, w, NULL);
    else if (w->asking && goes_on && one_in(200))
        sim_call_in(process, cancel_in, w, NULL);
    else if (goes_on && !w->hold && !w->asking && one_in(8))
        sim_call_in(process, ask_in, w, NULL);
}

static bool everybody_does_something(bool goes_on) {
    bool any = false;
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++) {
            do_something(&members[i].workers[k], goes_on);
            any |= members[i].workers[k].hold || members[i].workers[k].asking;
        }
    return any;
}

static void delete_one(void) {
    g_autoptr(GPtrArray) names = nodes();
    if (names->len == 0)
        return;
    const char *name = g_ptr_array_index(names, (guint)g_rand_int_range(dice, 0, (gint32)names->len));
    if (!g_str_has_prefix(name, "_c_"))
        return; /* whoever deletes pledges ends the promise */
    g_autofree char *path = g_strconcat("/app" LOCK "/", name, NULL);
    struct sim_packet *packet = sim_alloc(&platform_agenda, sizeof *packet);
    *packet = (struct sim_packet){
        .kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = sim_text(&platform_agenda, path), .data = ""};
    if (sim_admin(platform_ensemble, packet))
        g_hash_table_add(deleted, g_steal_pointer(&path));
}

static int blocked_for[RIVALS]; /* steps */

static void something_goes_wrong(void) {
    static const enum pdk__op_kind kinds[] = {PDK__OP_CREATE, PDK__OP_LIST, PDK__OP_GET, PDK__OP_DELETE, PDK__OP_MKDIR};
    if (one_in(150))
        delete_one();
    if (one_in(40))
        platform_refuse(kinds[g_rand_int_range(dice, 0, G_N_ELEMENTS(kinds))], 2);
    if (one_in(100))
        sim_client_cut(&rivals[g_rand_int_range(dice, 0, RIVALS)].process);
    for (int i = 0; i < RIVALS; i++) {
        if (blocked_for[i] == 0 && one_in(800)) {
            blocked_for[i] = g_rand_int_range(dice, 10, 700);
            platform_block(members[i].rival, true);
        } else if (blocked_for[i] > 0 && --blocked_for[i] == 0) {
            platform_block(members[i].rival, false);
        }
    }
}

static void begin(guint seed) {
    platform_end();
    platform_begin(seed);
    dice = g_rand_new_with_seed(seed);
    deleted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    granted = busy = mismatched = delayed = 0;
    unclean_at = 0;
    memset(members, 0, sizeof members);
    memset(blocked_for, 0, sizeof blocked_for);
    for (int i = 0; i < RIVALS; i++) {
        members[i].rival = &rivals[i];
        for (int k = 0; k < WORKERS; k++)
            members[i].workers[k].member = &members[i];
        sim_call_in(&rivals[i].process, begin_in, &members[i], NULL);
    }
    platform_pass(SECOND);
    sim_call_in(&rivals[0].process, ask_in, &members[0].workers[0], dice);
    platform_pass(SECOND);
}

static void end(void) {
    for (int i = 0; i < RIVALS; i++)
        sim_call_in(&rivals[i].process, give_back_in, &members[i], NULL);
    g_rand_free(dice);
    g_hash_table_destroy(deleted);
}

static void come_to_rest(void) {
    for (int i = 0; i < RIVALS; i++)
        platform_block(members[i].rival, false);
    for (int64_t until = platform_agenda.now + 60 * SECOND; everybody_does_something(false); pass())
        ck_assert_msg(platform_agenda.now < until, "somebody waits for ever");
    platform_pass(3 * TIMEOUT);
    g_autoptr(GPtrArray) left = nodes();
    for (guint i = 0; i < left->len; i++)
        ck_assert_msg(!g_str_has_prefix(left->pdata[i], "_c_"), "a node is left: %s", (char *)left->pdata[i]);
}

static void run(guint seed, bool faults) {
    faulty = faults;
    begin(seed);
    for (int i = 0; i < 40000 / STEP_MS; i++) {
        everybody_does_something(true);
        if (faults)
            something_goes_wrong();
        pass();
    }
    come_to_rest();
    ck_assert_uint_gt(granted, faults ? 10 : 100);
    ck_assert_uint_gt(busy, 5);
    ck_assert_uint_gt(mismatched, 0);
    ck_assert_uint_eq(faults, delayed > 0);
    end();
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
