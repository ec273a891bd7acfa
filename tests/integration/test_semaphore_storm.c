/*
 * Many failures at once: sessions whose links fail, threads that ask for some permits and leave in every way. The
 * witness counts the permits of all holds that are valid at one instant. They are never more than the semaphore has.
 * When the links work again nothing is left, and each session gets all permits. A failure prints its seed. PDK_SEED=…
 * repeats the schedule of faults and choices, but not that of the machine.
 */
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "permits.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 2000, CLIENTS = 4, THREADS = 3, PERMITS = 5, STORM_MS = 8000 };

typedef struct {
    int number;
    ts_client *client;
    pdk_semaphore *shared, *alone; /* shared: by the threads of a session; alone: a second object on the same path */
    GRand *random;
    pthread_t thread;
    pdk_hold *hold; /* its hold, and the number of its permits; guarded by the lock */
    int32_t count;
} player;

static player players[CLIENTS * THREADS];

static struct {
    const char *path;
    atomic_bool stop;
    pthread_mutex_t guard;
    int grants, most, unexpected, lost;
    char what[160];
} storm;

static void unexpected(const char *what, pdk_status status) {
    pthread_mutex_lock(&storm.guard);
    storm.unexpected++;
    g_snprintf(storm.what, sizeof storm.what, "%s: %s: %s", what, pdk_status_name(status), pdk_last_error());
    pthread_mutex_unlock(&storm.guard);
}

/* All holds were granted before the count begins. An invalid hold never becomes valid. So the holds that are found
 * valid were valid when the count began. */
static void enter(player *p, pdk_hold *hold, int32_t count) {
    int32_t valid = 0;

    pthread_mutex_lock(&storm.guard);
    storm.grants++;
    p->hold = hold;
    p->count = count;
    for (int i = 0; i < CLIENTS * THREADS; i++) {
        valid += players[i].hold != NULL && pdk_hold_is_valid(players[i].hold) ? players[i].count : 0;
    }
    storm.most = MAX(storm.most, valid);
    pthread_mutex_unlock(&storm.guard);
}

static void leave(player *p) {
    pthread_mutex_lock(&storm.guard);
    p->hold = NULL;
    pthread_mutex_unlock(&storm.guard);
}

static void use(player *p, pdk_hold *hold, int32_t count) {
    ts_lost *lost = ts_lost_watch(hold);

    enter(p, hold, count);
    if (g_rand_int_range(p->random, 0, 40) == 0) { /* now and then the link fails for long enough to lose the hold */
        ts_proxy_set_mode(p->client->proxy, TS_BLACKHOLE);
        ts_fd_readable(pdk_hold_fd(hold), SESSION_MS);
        ts_proxy_heal(p->client->proxy);
    } else {
        ts_sleep_ms(g_rand_int_range(p->random, 0, 20));
    }
    leave(p);
    const pdk_status status = pdk_hold_release(hold);
    if (status != PDK_OK && status != PDK_LOST) {
        unexpected("release", status);
    }
    const bool freed = ts_lost_wait_freed(lost, ts_patience(2000));
    const int told = ts_lost_count(lost); /* the callback may have begun before the release, and run on beside it */
    if (!freed || told > 1 || (status == PDK_OK && told)) {
        unexpected("LOST callbacks", status);
    }
    pthread_mutex_lock(&storm.guard);
    storm.lost += status == PDK_LOST;
    pthread_mutex_unlock(&storm.guard);
}

static void play_blocking(player *p, pdk_semaphore *semaphore, int32_t count) {
    const int64_t timeout_ms = g_rand_int_range(p->random, 0, 4) ? g_rand_int_range(p->random, 1, 600) : 0;
    pdk_hold *hold = NULL;
    const int64_t before = ts_now_ms();
    const pdk_status status = pdk_semaphore_acquire(semaphore, count, timeout_ms, &hold);

    if (ts_now_ms() - before > (timeout_ms ? timeout_ms : 500) + ts_patience(700)) {
        unexpected("late return", status);
    }
    if (status == PDK_OK) {
        use(p, hold, count);
    } else if (status != PDK_TIMEOUT && status != PDK_BUSY && status != PDK_UNAVAILABLE) {
        unexpected("acquire", status);
    }
}

/* The claim is cancelled, or its semaphore is dropped. */
static void play_async(player *p, pdk_semaphore *semaphore, int32_t count, bool drop) {
    pdk_semaphore *own = NULL;

    if (drop && pdk_semaphore_new(p->client->session, storm.path, PERMITS, NULL, &own) != PDK_OK) {
        unexpected("semaphore_new", PDK_SYSTEM);
        return;
    }
    ts_answer *answer =
        permits_async(drop ? own : semaphore, count, g_rand_int_range(p->random, 0, 2) ? PDK_FOREVER : 400);
    ts_sleep_ms(g_rand_int_range(p->random, 0, 60));
    const pdk_status cancelled = drop ? PDK_OK : pdk_claim_cancel(ts_answer_claim(answer));
    pdk_semaphore_unref(own);
    if (!ts_answer_wait(answer, ts_patience(3000))) {
        unexpected("no answer", cancelled);
        return;
    }
    const pdk_status status = ts_answer_status(answer);
    if (!drop && (cancelled == PDK_OK) != (status == PDK_CANCELED)) {
        unexpected("cancel", status);
    }
    if (status == PDK_OK) {
        use(p, ts_answer_take(answer), count);
    } else if (status != PDK_CANCELED && status != PDK_TIMEOUT && status != PDK_UNAVAILABLE) {
        unexpected("async", status);
    }
}

static void *player_main(void *user) {
    player *p = user;

    while (!atomic_load(&storm.stop)) {
        pdk_semaphore *semaphore = g_rand_int_range(p->random, 0, 3) ? p->shared : p->alone;
        const int32_t count = g_rand_int_range(p->random, 0, 3) ? 1 : g_rand_int_range(p->random, 1, PERMITS + 1);
        const int way = g_rand_int_range(p->random, 0, 4);

        if (way < 2) {
            play_async(p, semaphore, count, way == 0);
        } else {
            play_blocking(p, semaphore, count);
        }
    }
    return NULL;
}

/* ---- the faults ---- */

static void cause_fault(GRand *random, const ts_client *client) {
    static const int opcodes[] = {TS_OP_CREATE2, TS_OP_GET_CHILDREN, TS_OP_GET_DATA,
                                  TS_OP_DELETE,  TS_OP_MULTI,        TS_OP_EXISTS};
    static const ts_proxy_mode modes[] = {TS_BLACKHOLE, TS_BLACKHOLE_UP, TS_BLACKHOLE_DOWN, TS_CUT, TS_DROP_REPLIES};
    const int what = g_rand_int_range(random, 0, 20);

    if (what < 12) {
        ts_proxy_arm(client->proxy, opcodes[g_rand_int_range(random, 0, G_N_ELEMENTS(opcodes))],
                     g_rand_int_range(random, 0, 2) ? TS_LOSE_REQUEST : TS_LOSE_REPLY, TS_PASS);
    } else if (what < 14) { /* an administrator deletes the first node in the queue: two may take at once then */
        g_autofree char *node = permits_node(storm.path, "locks", 0);
        if (node != NULL) {
            ts_delete(ts_bench_server(), node);
        }
    } else {
        ts_proxy_set_mode(client->proxy, modes[g_rand_int_range(random, 0, G_N_ELEMENTS(modes))]);
        ts_sleep_ms(what == 19 ? SESSION_MS + 200 : g_rand_int_range(random, 10, 200));
        if (g_rand_int_range(random, 0, 2)) {
            ts_proxy_heal(client->proxy);
        } else {
            ts_proxy_heal_discard(client->proxy);
        }
    }
}

static void set_up(guint32 seed) {
    storm.path = ts_fresh_path();
    pthread_mutex_init(&storm.guard, NULL);
    for (int i = 0; i < CLIENTS; i++) {
        pdk_session_options options = PDK_SESSION_OPTIONS_INIT;

        options.session_timeout_ms = SESSION_MS;
        options.request_timeout_ms = 500;
        ts_client *client = ts_client_open_with(ts_bench_server(), NULL, &options);
        ck_assert_ptr_nonnull(client);
        pdk_semaphore *shared = permits_at(client, storm.path, PERMITS);
        for (int n = i * THREADS; n < (i + 1) * THREADS; n++) {
            players[n] = (player){.number = n, .client = client, .shared = shared};
            players[n].alone = permits_at(client, storm.path, PERMITS);
            players[n].random = g_rand_new_with_seed(seed + 1 + (guint32)n);
        }
    }
}

static void finish(void) {
    atomic_store(&storm.stop, true);
    for (int i = 0; i < CLIENTS; i++) {
        ts_proxy_disarm(players[i * THREADS].client->proxy);
        ts_proxy_heal(players[i * THREADS].client->proxy);
    }
    const int64_t healed = ts_now_ms();
    for (int i = 0; i < CLIENTS * THREADS; i++) {
        pthread_join(players[i].thread, NULL);
        g_rand_free(players[i].random);
    }
    ck_assert_int_lt(ts_now_ms() - healed, ts_patience(6000));
}

START_TEST(a_storm) {
    const char *given = g_getenv("PDK_SEED");
    const guint32 seed = given != NULL ? (guint32)atoi(given) : g_random_int() % 1000000;
    GRand *random = g_rand_new_with_seed(seed);

    set_up(seed);
    for (int i = 0; i < CLIENTS * THREADS; i++) {
        ck_assert_int_eq(pthread_create(&players[i].thread, NULL, player_main, &players[i]), 0);
    }
    for (const int64_t end = ts_now_ms() + STORM_MS; ts_now_ms() < end;) {
        cause_fault(random, players[g_rand_int_range(random, 0, CLIENTS) * THREADS].client);
        ts_sleep_ms(g_rand_int_range(random, 0, 200));
    }
    g_rand_free(random);
    finish();
    printf("    seed %u: %d grants, %d lost, at most %d of %d at once\n", seed, storm.grants, storm.lost, storm.most,
           PERMITS);
    ck_assert_msg(storm.most <= PERMITS, "seed %u: %d permits at once", seed, storm.most);
    ck_assert_msg(storm.unexpected == 0, "seed %u: %d unexpected, the last: %s", seed, storm.unexpected, storm.what);
    ck_assert_msg(permits_wait_queued(storm.path, 0) && permits_wait_taken(storm.path, 0),
                  "seed %u: %d in the queue and %d leases are left", seed, permits_queued(storm.path),
                  permits_taken(storm.path));
    for (int i = 0; i < CLIENTS; i++) {
        pdk_hold_release(permits_take(players[i * THREADS].shared, PERMITS));
    }
    permits_assert_none(storm.path);
    ck_assert_int_gt(storm.grants, 30); /* otherwise the test has shown nothing */
    ck_assert_int_gt(storm.most, 2);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("semaphore_storm");
    TCase *tcase = ts_bench_case(suite, "semaphore_storm");

    tcase_add_test(tcase, a_storm);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
