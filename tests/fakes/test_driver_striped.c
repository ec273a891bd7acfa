/* A striped lock in simulated time: three processes take keys, sets of keys and any stripe, while links are cut, nodes are deleted and
 * requests are refused. One of them also comes with another number of stripes.
 *
 * The judge looks every 5 ms. No stripe has two valid holds, but for those whose nodes were deleted. In a run without faults nobody
 * waits for any stripe while one stands empty. Nobody is granted with another number. After the faults everybody who waits for ever is
 * served, and nothing is left. */
#include "contest.h"

#include <string.h>

enum { STRIPES = 4, WORKERS = 4, KEYS = 6, EMPTY_MS = 300 };
enum way { ONE_KEY, SOME_KEYS, ANY, WRONG_NUMBER, WAYS };

static const char *const keys[KEYS] = {"a", "b", "c", "d", "e", "f"};

static struct member {
    pdk_session *session;
    pdk_striped *striped, *wrong;
    pdk_lock *lock[STRIPES]; /* of each stripe */
} members[RIVALS];

static enum way ways[RIVALS][WORKERS];
static bool faulty; /* something goes wrong in this run */
static unsigned granted[WAYS], busy, refused;
static int64_t empty_since[STRIPES];

static enum way *way_of(const struct worker *w) { return &ways[w->process][w->number]; }

/* ---- in its process */

static void open_in(void *subject, void *what) {
    struct member *m = &members[*(const int *)subject];
    (void)what;
    m->session = trouble_open();
    ck_assert_int_eq(pdk_striped_new(m->session, "/s/striped", STRIPES, NULL, &m->striped), PDK_OK);
    ck_assert_int_eq(pdk_striped_new(m->session, "/s/striped", STRIPES + 1, NULL, &m->wrong), PDK_OK);
    for (int32_t i = 0; i < STRIPES; i++)
        ck_assert_int_eq(pdk_striped_lock(m->striped, i, &m->lock[i]), PDK_OK);
}

static void close_in(void *subject, void *what) {
    struct member *m = &members[*(const int *)subject];
    (void)what;
    for (int i = 0; i < STRIPES; i++)
        pdk_lock_unref(m->lock[i]);
    pdk_striped_unref(m->striped);
    pdk_striped_unref(m->wrong);
    pdk_session_unref(m->session);
}

static void answered(struct worker *w, pdk_status status) {
    enum way way = *way_of(w);
    ck_assert(faulty || !w->is_try || platform_agenda.now <= w->asked_at + SECOND);
    ck_assert(way == WRONG_NUMBER ? status != PDK_OK : status != PDK_MISMATCH);
    ck_assert(w->limit || status == PDK_OK || status == PDK_CANCELED || status == PDK_MISMATCH);
    refused += status == PDK_MISMATCH;
    busy += status == PDK_BUSY;
    granted[way] += status == PDK_OK;
}

static pdk_status begin_claim(struct worker *w, int64_t ms) {
    const struct member *m = &members[w->process];
    int32_t one = pdk_striped_stripe_of(keys[one_of(KEYS)], 1, STRIPES), other = (one + 1) % STRIPES;
    pdk_right rights[] = {pdk_right_lock(m->lock[one]), pdk_right_lock(m->lock[other])};
    contest_ask(w, ms);
    switch (*way_of(w)) {
    case ONE_KEY:
        return pdk_lock_acquire_async(m->lock[one], ms, contest_answer, w, &w->claim);
    case SOME_KEYS:
        return pdk_set_acquire_async(rights, 2, ms, NULL, contest_set_answer, w, &w->set_claim);
    default:
        return pdk_striped_acquire_any_async(*way_of(w) == ANY ? m->striped : m->wrong, ms, contest_answer, w,
                                             &w->claim);
    }
}

static void ask_in(void *subject, void *what) {
    struct worker *w = subject;
    (void)what;
    int64_t ms = one_in(4) ? 0 : one_in(4) ? 300 : PDK_FOREVER;
    *way_of(w) = one_in(10) ? WRONG_NUMBER : (enum way)one_of(WRONG_NUMBER);
    ck_assert_int_eq(begin_claim(w, ms), PDK_OK);
}

static void ask_first_in(void *subject, void *what) {
    (void)what;
    *way_of(subject) = ANY;
    ck_assert_int_eq(begin_claim(subject, PDK_FOREVER), PDK_OK);
}

static void judge_in(void *subject, void *what) {
    const struct worker *w = subject;
    int *inside = what;
    int32_t count = w->set ? pdk_set_count(w->set) : 1;
    for (int32_t i = 0; i < count; i++) {
        const pdk_hold *part = w->set ? pdk_set_part(w->set, i) : w->hold;
        int32_t stripe = pdk_striped_stripe(members[w->process].striped, part);
        ck_assert_int_ge(stripe, 0);
        if (!trouble_deleted(pdk_hold_node(part)))
            inside[stripe] += pdk_hold_is_valid(part);
    }
}

/* ---- a run */

static size_t nodes(GPtrArray *names) {
    size_t count = trouble_children("/app/s/striped/any", names);
    for (int i = 0; i < STRIPES; i++) {
        g_autofree char *path = g_strdup_printf("/app/s/striped/%04d", i);
        size_t queued = trouble_children(path, names);
        count += queued;
        if (queued > 0)
            empty_since[i] = platform_agenda.now;
    }
    return count;
}

static void deletable(GPtrArray *paths) { nodes(paths); }

/* In a run without faults somebody waits for any stripe, of those who may have one, and since so long. */
static bool somebody_waits_for_any(int64_t ns) {
    for (int i = 0; !faulty && i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++) {
            const struct worker *w = &workers[i][k];
            if (w->asking && *way_of(w) == ANY && w->asked_at + ns < platform_agenda.now)
                return true;
        }
    return false;
}

static void judge(void) {
    int inside[STRIPES] = {0};
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++)
            if (contest_holds(&workers[i][k]))
                sim_call_in(&rivals[i].process, judge_in, &workers[i][k], inside);
    nodes(NULL);
    bool waits = somebody_waits_for_any(EMPTY_MS * SIM_MS);
    for (int i = 0; i < STRIPES; i++) {
        ck_assert_int_le(inside[i], 1);
        ck_assert_msg(!waits || empty_since[i] + EMPTY_MS * SIM_MS > platform_agenda.now,
                      "a stripe stands empty, and somebody waits for any");
    }
}

static const struct contest stripes_contest = {
    .workers = WORKERS,
    .gives_back = 20,
    .trouble = {.deletes = 60,
                .refuses = 100,
                .cuts = 400,
                .blocks = 400,
                .kinds = {PDK__OP_CREATE, PDK__OP_LIST, PDK__OP_WATCH, PDK__OP_DELETE, PDK__OP_MKDIR, PDK__OP_GET},
                .kinds_count = 6,
                .deletable = deletable},
    .open = open_in,
    .close = close_in,
    .ask = ask_in,
    .answered = answered,
    .judge = judge,
};

static void run(guint seed, bool faults) {
    faulty = faults;
    memset(granted, 0, sizeof granted);
    busy = refused = 0;
    contest_begin(&stripes_contest, seed);
    sim_call_in(&rivals[0].process, ask_first_in, &workers[0][0], NULL); /* the right number is recorded first */
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(workers[0][0].hold);
    for (int i = 0; i < STRIPES; i++)
        empty_since[i] = platform_agenda.now;
    contest_play(15000, faults);
    faulty = true; /* the last ones may be alone */
    contest_rest();
    for (int64_t until = platform_agenda.now + 10 * SECOND; nodes(NULL) > 0; platform_pass(SIM_MS))
        ck_assert_msg(platform_agenda.now < until, "a node is left");
    for (int way = ONE_KEY; way < WRONG_NUMBER; way++)
        ck_assert_uint_gt(granted[way], 10);
    ck_assert_uint_eq(granted[WRONG_NUMBER], 0);
    ck_assert_uint_gt(refused, 5);
    ck_assert_uint_gt(busy, 10);
    ck_assert(faults ? trouble_count.refused > 10 && trouble_count.deleted > 10 : trouble_count.refused == 0);
    contest_end();
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
    tcase_add_loop_test(cases, stripes_while_everything_fails, 0, trouble_seeds(8));
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
