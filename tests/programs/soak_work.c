/* The work of the soak: acquisitions that succeed, time out, are cancelled, end with their lock, or find it busy; and
 * threads that hand over to one another. */
#include "soak.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SESSION_MS = 20000, THREADS = 8, FLUSH_MS = 20000, BLOCK = 100, ODD = 8 };

static void check(pdk_status status, pdk_status expected, const char *what) {
    if (status == expected)
        return;
    fprintf(stderr, "soak: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
    exit(EXIT_FAILURE);
}

void soak_open(struct soak_work *w) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    check(pdk_session_open(w->address, &options, &w->session), PDK_OK, "open");
    check(pdk_session_open(w->address, &options, &w->rival), PDK_OK, "open");
    check(pdk_lock_new(w->session, "/soak/lock", NULL, &w->lock), PDK_OK, "lock");
    check(pdk_lock_new(w->session, "/soak/crowded", NULL, &w->crowded), PDK_OK, "lock");
    check(pdk_lock_new(w->rival, "/soak/lock", NULL, &w->rival_lock), PDK_OK, "lock");
    w->chance = g_rand_new_with_seed(1);
}

void soak_close(struct soak_work *w) {
    pdk_lock_unref(w->lock);
    pdk_lock_unref(w->crowded);
    pdk_lock_unref(w->rival_lock);
    check(pdk_session_close(w->session, FLUSH_MS), PDK_OK, "close");
    check(pdk_session_close(w->rival, FLUSH_MS), PDK_OK, "close");
    pdk_session_unref(w->session);
    pdk_session_unref(w->rival);
    g_rand_free(w->chance);
}

/* ---- cycles, each with a znode */

static void ignore_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
}

static void plain(struct soak_work *w) {
    pdk_hold *hold;
    check(pdk_lock_acquire(w->lock, PDK_FOREVER, &hold), PDK_OK, "acquire");
    if (g_rand_boolean(w->chance)) { /* all that a hold can have */
        check(pdk_hold_on_lost(hold, ignore_lost, g_strdup("user"), g_free), PDK_OK, "on_lost");
        g_assert(pdk_hold_fd(hold) >= 0 && pdk_hold_is_valid(hold) && pdk_hold_sequencer(hold)[0] != '\0');
    }
    check(pdk_hold_release(hold), PDK_OK, "release");
    w->cycles++;
}

struct answer {
    atomic_int calls;
    _Atomic pdk_status status;
    pdk_hold *hold;
};

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct answer *answer = user;
    answer->status = status;
    answer->hold = hold;
    atomic_fetch_add(&answer->calls, 1);
}

/* Cancelled at a random moment: before, while or after the server answers. */
static void cancel(struct soak_work *w) {
    struct answer answer = {0};
    pdk_claim *claim;
    check(pdk_lock_acquire_async(w->lock, PDK_FOREVER, on_acquired, &answer, &claim), PDK_OK, "acquire");
    g_usleep((gulong)g_rand_int_range(w->chance, 0, 800));
    check(pdk_claim_cancel(claim), PDK_OK, "cancel");
    pdk_claim_unref(claim);
    while (answer.calls == 0)
        g_usleep(20);
    check(answer.status, PDK_CANCELED, "cancelled");
    w->cancelled++;
    w->cycles++;
}

static void time_out(struct soak_work *w) {
    pdk_hold *hold;
    pdk_status status = pdk_lock_acquire(w->lock, 1 + g_rand_int_range(w->chance, 0, 3), &hold);
    check(status == PDK_UNAVAILABLE ? PDK_TIMEOUT : status, PDK_TIMEOUT, "acquire in time");
    w->timed_out++;
    w->cycles++;
}

/* The last reference is dropped while a claim is in the queue. */
static void drop(struct soak_work *w) {
    struct answer answer = {0};
    pdk_lock *lock;
    check(pdk_lock_new(w->session, "/soak/lock", NULL, &lock), PDK_OK, "lock");
    check(pdk_lock_acquire_async(lock, PDK_FOREVER, on_acquired, &answer, NULL), PDK_OK, "acquire");
    g_usleep((gulong)g_rand_int_range(w->chance, 0, 800));
    pdk_lock_unref(lock);
    while (answer.calls == 0)
        g_usleep(20);
    check(answer.status, PDK_CANCELED, "dropped");
    w->dropped++;
    w->cycles++;
}

static void try_it(struct soak_work *w) {
    pdk_hold *hold;
    check(pdk_lock_acquire(w->lock, 0, &hold), PDK_BUSY, "try");
    w->busy++;
}

/* The rival holds the lock. */
static void acquire_behind_rival(struct soak_work *w) {
    pdk_hold *hold;
    check(pdk_lock_acquire(w->rival_lock, PDK_FOREVER, &hold), PDK_OK, "the rival's acquire");
    for (int i = 0; i < ODD; i++) {
        cancel(w);
        time_out(w);
        drop(w);
        try_it(w);
    }
    check(pdk_hold_release(hold), PDK_OK, "the rival's release");
}

/* ---- hand-overs between threads */

struct thread_work {
    struct soak_work *work;
    atomic_long left;
    atomic_long handovers;
};

static void *acquire_and_release(void *user) {
    struct thread_work *shared_work = user;
    while (shared_work->handovers < shared_work->left) {
        pdk_hold *hold;
        check(pdk_lock_acquire(shared_work->work->crowded, PDK_FOREVER, &hold), PDK_OK, "acquire");
        if (pdk_hold_handover(hold) > 0)
            atomic_fetch_add(&shared_work->handovers, 1);
        check(pdk_hold_release(hold), PDK_OK, "release");
    }
    return NULL;
}

static void hand_over(struct soak_work *w, int handovers) {
    struct thread_work shared_work = {.work = w, .left = handovers};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, acquire_and_release, &shared_work);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    w->handovers += shared_work.handovers;
}

void soak_slice(struct soak_work *w, int cycles, int handovers) {
    long end = w->cycles + cycles;
    while (w->cycles < end) {
        for (int i = 0; i < BLOCK; i++)
            plain(w);
        acquire_behind_rival(w);
    }
    hand_over(w, handovers);
}
