/* The threads and the gate of a player: see play.h. */
#include "play.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_MOST = 1 << 21, STACK = 256 * 1024, LINE = 64 };

struct worker {
    const struct player *player;
    void *lock;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool waits; /* a holder is at the closed gate */
    int slices; /* begun */
    atomic_bool open, inside;
    /* The holder's alone, while it is inside. */
    int64_t opened, last;
    long grants;
    uint32_t *steps; /* ns */
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void wait_at_gate(void) {
    pthread_mutex_lock(&gate.lock);
    const int before = gate.slices;
    gate.waits = true;
    pthread_cond_broadcast(&gate.changed);
    while (gate.slices == before)
        pthread_cond_wait(&gate.changed, &gate.lock);
    gate.grants = 0;
    gate.opened = gate.last = now_ns();
    pthread_mutex_unlock(&gate.lock);
}

static void pass(void) {
    if (atomic_exchange(&gate.inside, true)) {
        fputs("two threads hold the lock\n", stderr);
        _exit(EXIT_FAILURE);
    }
    const int64_t now = now_ns();
    if (gate.grants < STEPS_MOST)
        gate.steps[gate.grants] = (uint32_t)MIN(now - gate.last, UINT32_MAX);
    gate.grants++;
    gate.last = now;
    if (!atomic_load(&gate.open))
        wait_at_gate();
    atomic_store(&gate.inside, false);
}

static void *work(void *user) {
    const struct worker *worker = user;
    void *hold;
    while ((hold = worker->player->acquire(worker->lock))) {
        pass();
        worker->player->release(worker->lock, hold);
    }
    return NULL;
}

static int compare(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void await_holder(void) {
    while (!gate.waits)
        pthread_cond_wait(&gate.changed, &gate.lock);
}

static void slice(int ms) {
    pthread_mutex_lock(&gate.lock);
    gate.waits = false;
    gate.slices++;
    atomic_store(&gate.open, true);
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
    g_usleep((gulong)ms * 1000);
    pthread_mutex_lock(&gate.lock);
    atomic_store(&gate.open, false);
    await_holder();
    const long known = MIN(gate.grants, STEPS_MOST);
    qsort(gate.steps, (size_t)known, sizeof *gate.steps, compare);
    printf("slice %ld %lld %u\n", gate.grants, (long long)(gate.last - gate.opened), gate.steps[known / 2]);
    pthread_mutex_unlock(&gate.lock);
}

static void obey(void) {
    char line[LINE];
    while (fgets(line, sizeof line, stdin)) {
        int ms;
        if (sscanf(line, "go %d", &ms) == 1)
            slice(ms);
        fflush(stdout);
    }
}

static void start(const struct player *player, void *lock, int threads) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (int i = 0; i < threads; i++) {
        struct worker *worker = g_new(struct worker, 1);
        pthread_t thread;
        *worker = (struct worker){player, lock};
        if (pthread_create(&thread, &attributes, work, worker) != 0)
            g_error("no thread");
        pthread_detach(thread);
    }
    pthread_attr_destroy(&attributes);
}

int play(const struct player *player, int argc, char **argv) {
    if (argc != 7 && argc != 8) {
        fprintf(stderr, "usage: %s HOSTS PATH TIMEOUT_MS SESSIONS OBJECTS THREADS [LINGER_MS]\n", argv[0]);
        return 2;
    }
    const int timeout_ms = atoi(argv[3]), sessions = atoi(argv[4]), objects = atoi(argv[5]), threads = atoi(argv[6]);
    const int linger_ms = argc == 8 ? atoi(argv[7]) : 0;
    g_autofree void **opened = g_new0(void *, (gsize)sessions);
    gate.steps = g_new(uint32_t, STEPS_MOST);
    for (int i = 0; i < sessions; i++)
        opened[i] = player->open(argv[1], timeout_ms);
    for (int i = 0; i < sessions * objects; i++)
        start(player, player->lock(opened[i % sessions], argv[2], sessions * objects == 1, linger_ms), threads);
    pthread_mutex_lock(&gate.lock);
    if (objects)
        await_holder();
    pthread_mutex_unlock(&gate.lock);
    puts("ready");
    fflush(stdout);
    obey();
    for (int i = 0; i < sessions; i++)
        player->close(opened[i]);
    _exit(EXIT_SUCCESS); /* threads may wait for answers that never come */
}
