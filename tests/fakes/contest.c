#include "contest.h"

#include <string.h>

enum { TRY_MS = 5000 }; /* request_timeout_ms is a try's limit */

struct worker workers[RIVALS][CONTEST_WORKERS];

static const struct contest *contest;

static struct sim_process *process_of(const struct worker *w) { return &rivals[w->process].process; }

/* ---- in a process */

void contest_ask(struct worker *w, int64_t timeout_ms) {
    w->is_try = timeout_ms == 0;
    w->limit = timeout_ms == PDK_FOREVER ? 0 : (w->is_try ? TRY_MS : timeout_ms) * SIM_MS;
    w->asked_at = platform_agenda.now;
    w->cancelled = false;
    w->asking = true;
}

bool contest_holds(const struct worker *w) { return w->hold || w->set; }

static bool is_valid(const struct worker *w) { return w->set ? pdk_set_is_valid(w->set) : pdk_hold_is_valid(w->hold); }

static void told_loss(struct worker *w, pdk_reason reason) {
    ck_assert(!is_valid(w));
    ck_assert_int_ne(reason, PDK_REASON_NONE);
    ck_assert_uint_eq(++w->losses, 1);
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    struct worker *w = user;
    ck_assert_ptr_eq(hold, w->hold);
    told_loss(w, reason);
}

static void on_set_lost(pdk_set *set, pdk_reason reason, void *user) {
    struct worker *w = user;
    ck_assert_ptr_eq(set, w->set);
    told_loss(w, reason);
}

static void answer(struct worker *w, pdk_status status) {
    ck_assert(w->asking);
    w->asking = false;
    pdk_claim_unref(g_steal_pointer(&w->claim));
    pdk_set_claim_unref(g_steal_pointer(&w->set_claim));
    ck_assert_int_eq(contest_holds(w), status == PDK_OK);
    ck_assert(!w->cancelled || status == PDK_CANCELED);
    ck_assert(status != PDK_TIMEOUT || w->limit);
    ck_assert(!w->limit || platform_agenda.now <= w->asked_at + w->limit + SECOND / 2);
    w->losses = 0;
    w->invalid_since = 0;
    if (w->hold)
        ck_assert_int_eq(pdk_hold_on_lost(w->hold, on_lost, w, NULL), PDK_OK);
    if (w->set)
        ck_assert_int_eq(pdk_set_on_lost(w->set, on_set_lost, w, NULL), PDK_OK);
    ck_assert_int_eq(is_valid(w), status == PDK_OK);
    if (contest->answered)
        contest->answered(w, status);
}

void contest_answer(pdk_status status, pdk_hold *hold, void *user) {
    struct worker *w = user;
    w->hold = hold;
    answer(w, status);
}

void contest_set_answer(pdk_status status, pdk_set *set, void *user) {
    struct worker *w = user;
    w->set = set;
    answer(w, status);
}

static void cancel_in(void *subject, void *what) {
    struct worker *w = subject;
    (void)what;
    w->cancelled = (w->set_claim ? pdk_set_claim_cancel(w->set_claim) : pdk_claim_cancel(w->claim)) == PDK_OK;
}

static void release_in(void *subject, void *what) {
    struct worker *w = subject;
    (void)what;
    pdk_status due = is_valid(w) ? PDK_OK : PDK_LOST;
    pdk_hold *hold = g_steal_pointer(&w->hold);
    pdk_set *set = g_steal_pointer(&w->set);
    ck_assert_int_eq(set ? pdk_set_release(set) : pdk_hold_release(hold), due);
}

/* What is not valid any more is told before long. */
static void look_in(void *subject, void *what) {
    struct worker *w = subject;
    (void)what;
    if (is_valid(w))
        return;
    if (w->invalid_since == 0)
        w->invalid_since = platform_agenda.now;
    ck_assert(w->losses == 1 || platform_agenda.now < w->invalid_since + SECOND / 2);
}

/* ---- a run */

static void judge(void) {
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < contest->workers; k++)
            if (contest_holds(&workers[i][k]))
                sim_call_in(process_of(&workers[i][k]), look_in, &workers[i][k], NULL);
    contest->judge();
}

static void do_something(struct worker *w, bool goes_on) {
    if (contest_holds(w) && one_in(w->invalid_since ? 200 : contest->gives_back)) /* it takes its time after a loss */
        sim_call_in(process_of(w), release_in, w, NULL);
    else if (w->asking && goes_on && one_in(200))
        sim_call_in(process_of(w), cancel_in, w, NULL);
    else if (goes_on && !contest_holds(w) && !w->asking && one_in(8))
        sim_call_in(process_of(w), contest->ask, w, NULL);
}

/* One step. Is anybody busy? */
static bool step(bool goes_on, const struct trouble *trouble) {
    bool any = false;
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < contest->workers; k++) {
            do_something(&workers[i][k], goes_on);
            any |= contest_holds(&workers[i][k]) || workers[i][k].asking;
        }
    trouble_pass(trouble);
    judge();
    return any;
}

void contest_begin(const struct contest *of, guint seed) {
    contest = of;
    trouble_begin(seed);
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < RIVALS; i++) {
        for (int k = 0; k < contest->workers; k++)
            workers[i][k] = (struct worker){.process = i, .number = k};
        sim_call_in(&rivals[i].process, contest->open, &i, NULL);
    }
    platform_pass(SECOND);
}

void contest_end(void) {
    for (int i = 0; i < RIVALS; i++)
        sim_call_in(&rivals[i].process, contest->close, &i, NULL);
    trouble_end();
}

void contest_play(int ms, bool faults) {
    for (int i = 0; i < ms / TROUBLE_STEP_MS; i++)
        step(true, faults ? &contest->trouble : NULL);
}

void contest_rest(void) {
    trouble_heal();
    for (int64_t until = platform_agenda.now + 60 * SECOND; step(false, NULL);)
        ck_assert_msg(platform_agenda.now < until, "somebody waits for ever");
}
