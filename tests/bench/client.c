/* A process of queue.c: does what the control block says. */
#include "client.h"
#include "parts.h"
#include "shared.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ts_clock.h>

enum { STEP_US = 300, HELD_MS = 1, FLUSH_MS = 10000 };

struct client {
    struct control *control;
    int index, phase;
    pdk_session *session;
    pdk_lock *lock;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pdk_hold *hold;
};

static void arrive(struct client *p) {
    atomic_fetch_add(&p->control->arrived, 1);
    p->phase++;
    while (p->control->phase < p->phase)
        g_usleep(STEP_US);
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct client *p = user;
    bench_check(status);
    p->control->rank[p->index] = atomic_fetch_add(&p->control->ranks, 1);
    pthread_mutex_lock(&p->mutex);
    p->hold = hold;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->mutex);
}

static void chain(struct client *p) {
    pdk_claim *claim;
    int32_t ahead;
    bench_check(pdk_lock_acquire_async(p->lock, PDK_FOREVER, on_acquired, p, &claim));
    while (pdk_claim_position(claim, &ahead) == PDK_UNAVAILABLE)
        g_usleep(STEP_US);
    arrive(p);
    pthread_mutex_lock(&p->mutex);
    while (!p->hold)
        pthread_cond_wait(&p->changed, &p->mutex);
    pdk_hold *hold = g_steal_pointer(&p->hold);
    pthread_mutex_unlock(&p->mutex);
    ts_sleep_ms(HELD_MS);
    bench_check(pdk_hold_release(hold));
    pdk_claim_unref(claim);
}

static void run_free(struct client *p) {
    for (int i = 0; i < p->control->cycles; i++) {
        pdk_hold *hold;
        bench_check(pdk_lock_acquire(p->lock, PDK_FOREVER, &hold));
        bench_check(pdk_hold_release(hold));
    }
}

int bench_client_run(const char *path, const char *address, int index) {
    struct client p = {.control = shared_open(path, sizeof *p.control), .index = index};
    pthread_mutex_init(&p.mutex, NULL);
    pthread_cond_init(&p.changed, NULL);
    p.session = bench_open(address, CLIENT_SESSION_MS);
    p.lock = bench_lock(p.session, "/bench/queue");
    for (arrive(&p); p.control->mode != MODE_END; arrive(&p)) {
        if (p.control->mode == MODE_CHAIN)
            chain(&p);
        else
            run_free(&p);
        bench_check(pdk_session_flush(p.session, FLUSH_MS));
    }
    pdk_lock_unref(p.lock);
    pdk_session_close(p.session, FLUSH_MS);
    pdk_session_unref(p.session);
    return EXIT_SUCCESS;
}
