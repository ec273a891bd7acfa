/*
 * The C player of the semaphore trial: threads that take and give back permits, and note when they asked.
 *
 *     granted|valid … kind=permit count=N thread=N asked=NS line=NS session=ID
 *                  line: a server had confirmed the place in line by then, and with this session; 0: not observed
 *     mismatch status=NAME                    with --wrong: what another number of permits is answered
 *     turns taken=N gave-up=N lost=N
 *     last status=NAME permits=N holders=N    with --all-at-once: a try for all of them
 */
#include "crew.h"

#include <pthread.h>
#include <stdio.h>
#include <ts_clock.h>

enum { HOLDERS_MS = 5000, WRONG_MS = 1000, WRONG_PAUSE_US = 200000, LOOK_US = 1000 };

typedef struct options {
    int permits, most, threads, hold_us, think_us, max_handovers;
    gboolean observe, wrong, all_at_once;
} options;

typedef struct stage {
    const options *options;
    pdk_semaphore *semaphore;
    atomic_long taken, gave_up, lost;
} stage;

/* An acquisition on its way, with what its callback brought. */
typedef struct wish {
    pthread_mutex_t mutex;
    pthread_cond_t done;
    bool answered;
    pdk_status status;
    pdk_hold *hold;
    int64_t asked, line;
} wish;

static void answer(pdk_status status, pdk_hold *hold, void *user) {
    wish *w = user;
    pthread_mutex_lock(&w->mutex);
    w->answered = true;
    w->status = status;
    w->hold = hold;
    pthread_cond_signal(&w->done);
    pthread_mutex_unlock(&w->mutex);
}

static bool is_answered(wish *w) {
    pthread_mutex_lock(&w->mutex);
    bool answered = w->answered;
    pthread_mutex_unlock(&w->mutex);
    return answered;
}

/* Waits for the answer, and looks every millisecond whether the claim has got a place in line. */
static void follow(wish *w, pdk_claim *claim) {
    int32_t ahead;
    while (w->line == 0 && !is_answered(w)) {
        if (pdk_claim_position(claim, &ahead) == PDK_OK)
            w->line = ts_now_ns();
        else
            g_usleep(LOOK_US);
    }
    pthread_mutex_lock(&w->mutex);
    while (!w->answered)
        pthread_cond_wait(&w->done, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
}

static void take_observed(stage *s, int count, int64_t timeout, wish *w) {
    pdk_claim *claim = NULL;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->done, NULL);
    w->status = pdk_semaphore_acquire_async(s->semaphore, count, timeout, answer, w, &claim);
    if (w->status == PDK_OK)
        follow(w, claim);
    pdk_claim_unref(claim);
    pthread_cond_destroy(&w->done);
    pthread_mutex_destroy(&w->mutex);
}

/* Most wait as long as it takes; some try, some run out of patience and must not leave anything that is in the way. */
static int64_t patience(void) {
    if (crew_chance(5))
        return 0;
    return crew_chance(25) ? g_random_int_range(1, 100) : PDK_FOREVER;
}

static bool turn(player *p, int thread, void *user) {
    stage *s = user;
    int64_t timeout = patience();
    int count = g_random_int_range(1, s->options->most + 1);
    gint64 session = pdk_session_id(p->session);
    wish w = {.asked = ts_now_ns()};
    if (s->options->observe)
        take_observed(s, count, timeout, &w);
    else
        w.status = pdk_semaphore_acquire(s->semaphore, count, timeout, &w.hold);
    if (timeout != PDK_FOREVER && (w.status == PDK_BUSY || w.status == PDK_TIMEOUT || w.status == PDK_UNAVAILABLE)) {
        atomic_fetch_add(&s->gave_up, 1);
        return true;
    }
    if (!player_check(p, "acquire", w.status))
        return false;
    /* Whoever got a new session in between has lost the place it was seen in. */
    gint64 line = session == pdk_session_id(p->session) ? w.line : 0;
    g_autofree char *text = g_strdup_printf("kind=permit count=%d thread=%d asked=%" G_GINT64_FORMAT
                                            " line=%" G_GINT64_FORMAT " session=%" G_GINT64_FORMAT,
                                            count, thread, (gint64)w.asked, line, session);
    watchman_watch(p->watchman, w.hold, text);
    atomic_fetch_add(&s->taken, 1);
    crew_pause(s->options->hold_us);
    pdk_status status = pdk_hold_release(w.hold);
    if (status == PDK_LOST)
        atomic_fetch_add(&s->lost, 1);
    return status == PDK_LOST || player_check(p, "release", status);
}

/* With another number of permits than everybody else's there is nothing to be had. */
static bool wrong_turn(player *p, int thread, void *user) {
    (void)thread;
    const stage *s = user;
    pdk_hold *hold = NULL;
    pdk_status status = pdk_semaphore_acquire(s->semaphore, 1, WRONG_MS, &hold);
    diary_note(p->diary, "mismatch status=%s", pdk_status_name(status));
    if (hold)
        pdk_hold_release(hold);
    g_usleep(WRONG_PAUSE_US);
    return true;
}

static void all_at_once(player *p, const stage *s) {
    g_autofree char *order = player_order();
    pdk_hold *hold = NULL;
    pdk_contenders *holders = NULL;
    pdk_status status = pdk_semaphore_acquire(s->semaphore, s->options->permits, 0, &hold);
    if (status != PDK_OK)
        fprintf(stderr, "all at once: %s\n", pdk_error_text());
    size_t count = 0;
    if (player_check(p, "holders", pdk_semaphore_holders(s->semaphore, HOLDERS_MS, &holders)))
        count = pdk_contenders_count(holders);
    pdk_contenders_free(holders);
    diary_note(p->diary, "last status=%s permits=%d holders=%zu", pdk_status_name(status), s->options->permits, count);
    if (hold)
        player_check(p, "release", pdk_hold_release(hold));
}

static void play(player *p, stage *s) {
    const options *o = s->options;
    pdk_semaphore_options semaphore = PDK_SEMAPHORE_OPTIONS_INIT;
    semaphore.max_handovers = o->max_handovers;
    if (!player_check(p, "semaphore", pdk_semaphore_new(p->session, p->path, o->permits, &semaphore, &s->semaphore)))
        return;
    if (o->all_at_once)
        all_at_once(p, s);
    else
        crew_play(p, o->threads, o->think_us, o->wrong ? wrong_turn : turn, NULL, s);
    pdk_semaphore_unref(s->semaphore);
    diary_note(p->diary, "turns taken=%ld gave-up=%ld lost=%ld", s->taken, s->gave_up, s->lost);
}

int main(int argc, char **argv) {
    options o = {.permits = 3, .most = 1, .threads = 1, .hold_us = 30000, .think_us = 10000, .max_handovers = 3};
    const GOptionEntry entries[] = {
        {"permits", 0, 0, G_OPTION_ARG_INT, &o.permits, "how many there are (3)", NULL},
        {"most", 0, 0, G_OPTION_ARG_INT, &o.most, "how many to ask for at once, at most (1)", NULL},
        {"threads", 0, 0, G_OPTION_ARG_INT, &o.threads, "that share the semaphore (1)", NULL},
        {"handovers", 0, 0, G_OPTION_ARG_INT, &o.max_handovers, "between threads in a row (3)", NULL},
        {"observe", 0, 0, G_OPTION_ARG_NONE, &o.observe, "ask asynchronously, and look for the place in line", NULL},
        {"wrong", 0, 0, G_OPTION_ARG_NONE, &o.wrong, "expect to be refused", NULL},
        {"all-at-once", 0, 0, G_OPTION_ARG_NONE, &o.all_at_once, "one try for all permits", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    player p = {0};
    stage s = {.options = &o};
    if (player_open(&p, argc, argv, entries))
        play(&p, &s);
    return player_close(&p);
}
