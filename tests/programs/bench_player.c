/* A process in line: does what the board says. */
#include "bench_player.h"
#include "bench.h"
#include "shared.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ts_clock.h>

enum { STEP_US = 300, HELD_MS = 1, FLUSH_MS = 10000 };

struct player {
    struct board *board;
    int seat, phase;
    pdk_session *session;
    pdk_lock *lock;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pdk_hold *hold;
};

static void arrive(struct player *p) {
    atomic_fetch_add(&p->board->arrived, 1);
    p->phase++;
    while (p->board->phase < p->phase)
        g_usleep(STEP_US);
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct player *p = user;
    bench_check(status);
    p->board->rank[p->seat] = atomic_fetch_add(&p->board->ranks, 1);
    pthread_mutex_lock(&p->mutex);
    p->hold = hold;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->mutex);
}

static void chain(struct player *p) {
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

static void run_free(struct player *p) {
    for (int i = 0; i < p->board->cycles; i++) {
        pdk_hold *hold;
        bench_check(pdk_lock_acquire(p->lock, PDK_FOREVER, &hold));
        bench_check(pdk_hold_release(hold));
    }
}

int bench_play(const char *path, const char *address, int seat) {
    struct player p = {.board = shared_open(path, sizeof *p.board), .seat = seat};
    pthread_mutex_init(&p.mutex, NULL);
    pthread_cond_init(&p.changed, NULL);
    p.session = bench_open(address, PLAYER_SESSION_MS);
    p.lock = bench_lock(p.session, "/bench/queue");
    for (arrive(&p); p.board->mode != PLAY_OVER; arrive(&p)) {
        if (p.board->mode == PLAY_CHAIN)
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
