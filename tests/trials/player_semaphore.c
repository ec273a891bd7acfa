/*
 * The C player of the semaphore trial. Its threads take permits and give them back, and note when they asked.
 *
 *     granted|valid … kind=permit count=N thread=N asked=NS queued=NS session=ID
 *                  queued: at that time a server had confirmed the entry in the queue, of this session; 0: not observed
 *     mismatch status=NAME                    with --wrong: the answer to another number of permits
 *     turns taken=N gave-up=N lost=N
 *     last status=NAME permits=N holders=N    with --all-at-once: a try for all permits
 */
#include "player_threads.h"

#include <pthread.h>
#include <stdio.h>
#include <ts_clock.h>

enum {
    HOLDERS_MS = 5000,
    WRONG_MS = 1000,
    WRONG_PAUSE_US = 200000,
    LOOK_US = 1000,
    TRY_PERCENT = 5,
    SHORT_PERCENT = 25,
    SHORT_MS = 100
};

typedef struct options {
    int permits, most, threads, hold_us, think_us, max_handovers;
    gboolean observe, wrong, all_at_once;
} options;

/* What the threads share. */
typedef struct shared {
    const options *options;
    pdk_semaphore *semaphore;
    atomic_long taken, gave_up, lost;
} shared;

/* A claim on its way, and its answer. */
typedef struct request {
    pthread_mutex_t mutex;
    pthread_cond_t done;
    bool answered;
    pdk_status status;
    pdk_hold *hold;
    int64_t asked, queued;
} request;

static void answer(pdk_status status, pdk_hold *hold, void *user) {
    request *r = user;
    pthread_mutex_lock(&r->mutex);
    r->answered = true;
    r->status = status;
    r->hold = hold;
    pthread_cond_signal(&r->done);
    pthread_mutex_unlock(&r->mutex);
}

static bool is_answered(request *r) {
    pthread_mutex_lock(&r->mutex);
    bool answered = r->answered;
    pthread_mutex_unlock(&r->mutex);
    return answered;
}

/* Waits for the answer. Looks every millisecond whether the claim is in the queue. */
static void follow(request *r, pdk_claim *claim) {
    int32_t ahead;
    while (r->queued == 0 && !is_answered(r)) {
        if (pdk_claim_position(claim, &ahead) == PDK_OK)
            r->queued = ts_now_ns();
        else
            g_usleep(LOOK_US);
    }
    pthread_mutex_lock(&r->mutex);
    while (!r->answered)
        pthread_cond_wait(&r->done, &r->mutex);
    pthread_mutex_unlock(&r->mutex);
}

static void take_observed(shared *s, int count, int64_t timeout, request *r) {
    pdk_claim *claim = NULL;
    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->done, NULL);
    pdk_status status = pdk_semaphore_acquire_async(s->semaphore, count, timeout, answer, r, &claim);
    if (status == PDK_OK)
        follow(r, claim); /* the answer may have come already */
    else
        r->status = status;
    pdk_claim_unref(claim);
    pthread_cond_destroy(&r->done);
    pthread_mutex_destroy(&r->mutex);
}

static bool turn(player *p, int thread, void *user) {
    shared *s = user;
    int64_t timeout = player_patience(TRY_PERCENT, SHORT_PERCENT, SHORT_MS);
    int count = g_random_int_range(1, s->options->most + 1);
    gint64 session = pdk_session_id(p->session);
    request r = {.asked = ts_now_ns()};
    if (s->options->observe)
        take_observed(s, count, timeout, &r);
    else
        r.status = pdk_semaphore_acquire(s->semaphore, count, timeout, &r.hold);
    if (player_may_give_up(timeout, r.status)) {
        atomic_fetch_add(&s->gave_up, 1);
        return true;
    }
    if (!player_check(p, "acquire", r.status))
        return false;
    /* An entry of an earlier session is gone: it proves nothing about the order. */
    gint64 queued = session == pdk_session_id(p->session) ? r.queued : 0;
    g_autofree char *text = g_strdup_printf("kind=permit count=%d thread=%d asked=%" G_GINT64_FORMAT
                                            " queued=%" G_GINT64_FORMAT " session=%" G_GINT64_FORMAT,
                                            count, thread, (gint64)r.asked, queued, session);
    sampler_add(p->sampler, r.hold, text);
    atomic_fetch_add(&s->taken, 1);
    player_pause(s->options->hold_us);
    pdk_status status = pdk_hold_release(r.hold);
    if (status == PDK_LOST)
        atomic_fetch_add(&s->lost, 1);
    return status == PDK_LOST || player_check(p, "release", status);
}

/* It asks with another number of permits than the others, and is refused. */
static bool wrong_turn(player *p, int thread, void *user) {
    (void)thread;
    const shared *s = user;
    pdk_hold *hold = NULL;
    pdk_status status = pdk_semaphore_acquire(s->semaphore, 1, WRONG_MS, &hold);
    event_log_note(p->log, "mismatch status=%s", pdk_status_name(status));
    if (hold)
        pdk_hold_release(hold);
    g_usleep(WRONG_PAUSE_US);
    return true;
}

static void all_at_once(player *p, const shared *s) {
    g_autofree char *order = player_order();
    pdk_hold *hold = NULL;
    pdk_contenders *holders = NULL;
    pdk_status status = pdk_semaphore_acquire(s->semaphore, s->options->permits, 0, &hold);
    if (status != PDK_OK)
        fprintf(stderr, "all at once: %s\n", pdk_last_error());
    size_t count = 0;
    if (player_check(p, "holders", pdk_semaphore_holders(s->semaphore, HOLDERS_MS, &holders)))
        count = pdk_contenders_count(holders);
    pdk_contenders_free(holders);
    event_log_note(p->log, "last status=%s permits=%d holders=%zu", pdk_status_name(status), s->options->permits,
                   count);
    if (hold)
        player_check(p, "release", pdk_hold_release(hold));
}

static void play(player *p, shared *s) {
    const options *o = s->options;
    pdk_semaphore_options semaphore = PDK_SEMAPHORE_OPTIONS_INIT;
    semaphore.max_handovers = o->max_handovers;
    if (!player_check(p, "semaphore", pdk_semaphore_new(p->session, p->path, o->permits, &semaphore, &s->semaphore)))
        return;
    if (o->all_at_once)
        all_at_once(p, s);
    else
        player_threads_run(p, o->threads, o->think_us, o->wrong ? wrong_turn : turn, NULL, s);
    pdk_semaphore_unref(s->semaphore);
    event_log_note(p->log, "turns taken=%ld gave-up=%ld lost=%ld", s->taken, s->gave_up, s->lost);
}

int main(int argc, char **argv) {
    options o = {.permits = 3, .most = 1, .threads = 1, .hold_us = 30000, .think_us = 10000, .max_handovers = 3};
    const GOptionEntry entries[] = {
        {"permits", 0, 0, G_OPTION_ARG_INT, &o.permits, "how many there are (3)", NULL},
        {"most", 0, 0, G_OPTION_ARG_INT, &o.most, "how many to ask for at once, at most (1)", NULL},
        {"threads", 0, 0, G_OPTION_ARG_INT, &o.threads, "that share the semaphore (1)", NULL},
        {"handovers", 0, 0, G_OPTION_ARG_INT, &o.max_handovers, "between threads in a row (3)", NULL},
        {"observe", 0, 0, G_OPTION_ARG_NONE, &o.observe, "ask asynchronously, and note when the claim is in the queue",
         NULL},
        {"wrong", 0, 0, G_OPTION_ARG_NONE, &o.wrong, "expect to be refused", NULL},
        {"all-at-once", 0, 0, G_OPTION_ARG_NONE, &o.all_at_once, "one try for all permits", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    player p = {0};
    shared s = {.options = &o};
    if (player_open(&p, argc, argv, entries))
        play(&p, &s);
    return player_close(&p);
}
