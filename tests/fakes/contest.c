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

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    struct worker *w = user;
    ck_assert_ptr_eq(hold, w->hold);
    ck_assert(!pdk_hold_is_valid(hold));
    ck_assert_int_ne(reason, PDK_REASON_NONE);
    ck_assert_uint_eq(++w->losses, 1);
    if (contest->lost)
        contest->lost(w);
}

void contest_answer(pdk_status status, pdk_hold *hold, void *user) {
    struct worker *w = user;
    ck_assert(w->asking);
    w->asking = false;
    pdk_claim_unref(g_steal_pointer(&w->claim));
    ck_assert_int_eq(hold != NULL, status == PDK_OK);
    ck_assert(!w->cancelled || status == PDK_CANCELED);
    ck_assert(status != PDK_TIMEOUT || w->limit);
    ck_assert(!w->limit || platform_agenda.now <= w->asked_at + w->limit + SECOND / 2);
    w->hold = hold;
    w->losses = 0;
    w->invalid_since = 0;
    if (hold) {
        ck_assert(pdk_hold_is_valid(hold));
        ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, w, NULL), PDK_OK);
    }
    if (contest->answered)
        contest->answered(w, status);
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
    bool valid = pdk_hold_is_valid(hold);
    ck_assert_int_eq(pdk_hold_release(hold), valid ? PDK_OK : PDK_LOST);
}

/* What is not valid any more is told before long. */
static void look_in(void *subject, void *what) {
    struct worker *w = subject;
    (void)what;
    if (pdk_hold_is_valid(w->hold))
        return;
    if (w->invalid_since == 0)
        w->invalid_since = platform_agenda.now;
    ck_assert(w->losses == 1 || platform_agenda.now < w->invalid_since + SECOND / 2);
}

/* ---- a run */

static void judge(void) {
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < contest->workers; k++)
            if (workers[i][k].hold)
                sim_call_in(process_of(&workers[i][k]), look_in, &workers[i][k], NULL);
    contest->judge();
}

void contest_look_closely(void) {
    for (int i = 0; i < 200; i++) {
        platform_pass(SIM_MS / 10);
        judge();
    }
}

static void do_something(struct worker *w, bool goes_on) {
    if (w->hold && one_in(w->invalid_since ? 200 : contest->gives_back)) /* it takes its time after a loss */
        sim_call_in(process_of(w), release_in, w, NULL);
    else if (w->asking && goes_on && one_in(200))
        sim_call_in(process_of(w), cancel_in, w, NULL);
    else if (goes_on && !w->hold && !w->asking && one_in(8))
        sim_call_in(process_of(w), contest->ask, w, NULL);
}

/* One step. Is anybody busy? */
static bool step(bool goes_on, const struct trouble *trouble) {
    bool any = false;
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < contest->workers; k++) {
            do_something(&workers[i][k], goes_on);
            any |= workers[i][k].hold || workers[i][k].asking;
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
