/*
 * Many failures at once, for each recipe: sessions whose links fail, threads that acquire and leave in every way. A witness counts what
 * is valid at one instant, and it is never more than may be. Grants come with increasing tokens. When the links work again every
 * waiter is served and nothing is left. A failure prints its seed. PDK_SEED=… repeats the schedule of faults and choices, but not that of
 * the machine.
 */
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "permits.h"
#include "recipes.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 2000, CLIENTS = 4, THREADS = 2, PLAYERS = CLIENTS * THREADS, STORM_MS = 8000, GRANTS_LEAST = 20 };

/* Recipes on one path: what each takes of it, and how much there is. */
static const struct contest {
    struct {
        int recipe, weight;
    } members[2];
    int count, capacity;
} contests[] = {
    {{{RECIPE_LOCK, 1}}, 1, 1},
    {{{RECIPE_DELAYED, 1}}, 1, 1},
    {{{RECIPE_READ, 1}, {RECIPE_WRITE, PLAYERS}}, 2, PLAYERS},
    {{{RECIPE_PERMIT, 1}, {RECIPE_PERMITS, 2}}, 2, 3},
    {{{RECIPE_ANY, 1}, {RECIPE_KEYS, 2}}, 2, 2},
    {{{RECIPE_KEY, 1}, {RECIPE_KEYS, 1}}, 2, 1},
    {{{RECIPE_SET, 1}}, 1, 1},
};
enum { CONTESTS = G_N_ELEMENTS(contests) };

typedef struct player {
    struct storm *storm;
    ts_client *client;
    void *shared[2],
        *alone[2]; /* of each member: shared by the threads of a session; a second object on the same path */
    GRand *random;
    pthread_t thread;
    ts_answer *inside; /* what it holds, and its weight; guarded */
    int weight;
} player;

static struct storm {
    const struct contest *contest;
    const char *path;
    player players[PLAYERS];
    int64_t token, handover; /* of the last one that held all of it */
    int grants, most, backwards, lost;
} storms[CONTESTS];

static ts_client *clients[CLIENTS];
static atomic_bool stop;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int unexpected_count;
static char what_was_unexpected[200];

static const recipe *member(const player *p, int m) { return &recipes[p->storm->contest->members[m].recipe]; }
static int between(const player *p, int least, int end) { return g_rand_int_range(p->random, least, end); }

static void unexpected(const recipe *r, const char *what, pdk_status status) {
    pthread_mutex_lock(&guard);
    unexpected_count++;
    g_snprintf(what_was_unexpected, sizeof what_was_unexpected, "%s: %s: %s: %s", r->name, what,
               pdk_status_name(status), pdk_last_error());
    pthread_mutex_unlock(&guard);
}

/* All of these were granted before the count begins, and what is invalid never becomes valid again. So those that are found valid were
 * valid when the count began. */
static void enter(player *p, ts_answer *held, int weight) {
    struct storm *s = p->storm;
    int valid = 0;

    pthread_mutex_lock(&guard);
    s->grants++;
    p->inside = held;
    p->weight = weight;
    for (int i = 0; i < PLAYERS; i++)
        valid += s->players[i].inside && ts_answer_is_valid(s->players[i].inside) ? s->players[i].weight : 0;
    s->most = MAX(s->most, valid);
    const int64_t token = ts_answer_token(held), handover = pdk_hold_handover(ts_answer_part(held));
    if (ts_answer_is_valid(held)) { /* a later one may have overtaken us on the way here */
        s->backwards += token < s->token || (token == s->token && handover <= s->handover);
        if (weight == s->contest->capacity) {
            s->token = token;
            s->handover = handover;
        }
    }
    pthread_mutex_unlock(&guard);
}

static void leave(player *p) {
    pthread_mutex_lock(&guard);
    p->inside = NULL;
    pthread_mutex_unlock(&guard);
}

static void use(player *p, int m, void *object, ts_answer *held) {
    const recipe *r = member(p, m);
    ts_lost *lost = ts_lost_watch_answer(held);

    enter(p, held, p->storm->contest->members[m].weight);
    if (between(p, 0, 40) == 0) { /* now and then the link fails for long enough to lose it */
        ts_proxy_set_mode(p->client->proxy, TS_BLACKHOLE);
        ts_fd_readable(ts_answer_fd(held), SESSION_MS);
        ts_proxy_heal(p->client->proxy);
    } else {
        ts_sleep_ms(between(p, 0, 10));
    }
    leave(p);
    const pdk_status status = recipe_release(r, object, held);
    if (status != PDK_OK && status != PDK_LOST)
        unexpected(r, "release", status);
    const bool freed = ts_lost_wait_freed(lost, ts_patience(2000));
    const int told = ts_lost_count(lost); /* the callback may have begun before the release, and run on beside it */
    if (!freed || told > 1 || (status == PDK_OK && told))
        unexpected(r, "LOST callbacks", status);
    pthread_mutex_lock(&guard);
    p->storm->lost += status == PDK_LOST;
    pthread_mutex_unlock(&guard);
}

static void play_blocking(player *p, int m, void *object) {
    const recipe *r = member(p, m);
    const int64_t timeout_ms = between(p, 0, 4) ? between(p, 1, 600) : 0, before = ts_now_ms();
    ts_answer *answer = recipe_now(r, object, timeout_ms);
    const pdk_status status = ts_answer_status(answer);

    if (ts_now_ms() - before > (timeout_ms ? timeout_ms : 500) + ts_patience(700))
        unexpected(r, "late return", status);
    if (status == PDK_OK)
        use(p, m, object, answer);
    else if (status != PDK_TIMEOUT && status != PDK_BUSY && status != PDK_UNAVAILABLE)
        unexpected(r, "acquire", status);
}

/* The claim is cancelled; or it has an object of its own, which is dropped. */
static void play_async(player *p, int m, void *object, bool drop) {
    const recipe *r = member(p, m);
    void *own = drop ? r->make(p->client, p->storm->path) : object;
    ts_answer *answer = recipe_async(r, own, between(p, 0, 2) ? PDK_FOREVER : 400);

    ts_sleep_ms(between(p, 0, 60));
    const pdk_status cancelled = drop ? PDK_OK : ts_answer_cancel(answer);
    if (drop)
        r->unref(own);
    if (!ts_answer_wait(answer, ts_patience(3000))) {
        unexpected(r, "no answer", cancelled);
        return;
    }
    const pdk_status status = ts_answer_status(answer);
    if (!drop && (cancelled == PDK_OK) != (status == PDK_CANCELED))
        unexpected(r, "cancel", status);
    if (status == PDK_OK)
        use(p, m, drop ? p->alone[m] : own, answer);
    else if (status != PDK_CANCELED && status != PDK_TIMEOUT && status != PDK_UNAVAILABLE)
        unexpected(r, "async", status);
}

static void *player_main(void *user) {
    player *p = user;

    while (!atomic_load(&stop)) {
        const int m = between(p, 0, p->storm->contest->count), way = between(p, 0, 4);
        void *object = between(p, 0, 3) ? p->shared[m] : p->alone[m];

        if (way < 2 && recipe_is_async(member(p, m)))
            play_async(p, m, object, way == 0);
        else
            play_blocking(p, m, object);
    }
    return NULL;
}

/* ---- the faults ---- */

/* Mostly a short one, now and then one beyond the lease or the session. No fault is an administrator's, who ends a session or deletes a
 * node: that takes the grant away before its holder can know. But the first in the queue of a semaphore holds nothing yet: without its
 * node two may take at once. */
static void cause_fault(GRand *random) {
    static const int opcodes[] = {TS_OP_CREATE2, TS_OP_GET_CHILDREN, TS_OP_GET_DATA, TS_OP_DELETE,
                                  TS_OP_MULTI,   TS_OP_EXISTS,       TS_OP_CREATE,   TS_OP_ANY};
    static const ts_proxy_mode modes[] = {TS_CUT, TS_BLACKHOLE, TS_BLACKHOLE_UP, TS_BLACKHOLE_DOWN, TS_DROP_REPLIES};
    const ts_client *client = clients[g_rand_int_range(random, 0, CLIENTS)];
    const int what = g_rand_int_range(random, 0, 22);

    if (what < 10) {
        ts_proxy_arm(client->proxy, opcodes[g_rand_int_range(random, 0, G_N_ELEMENTS(opcodes))],
                     g_rand_int_range(random, 0, 2) ? TS_LOSE_REQUEST : TS_LOSE_REPLY, TS_PASS);
    } else if (what < 20) {
        ts_proxy_set_mode(client->proxy, modes[g_rand_int_range(random, 0, G_N_ELEMENTS(modes))]);
        ts_sleep_ms(what == 19 ? SESSION_MS + 200 : g_rand_int_range(random, 10, 200));
        if (g_rand_int_range(random, 0, 2))
            ts_proxy_heal(client->proxy);
        else
            ts_proxy_heal_discard(client->proxy);
    } else {
        for (int i = 0; i < CONTESTS; i++) {
            const bool permits = contests[i].members[0].recipe == RECIPE_PERMIT;
            g_autofree char *node = permits ? permits_node(storms[i].path, "locks", 0) : NULL;
            if (node)
                ts_delete(ts_bench_server(), node);
        }
    }
}

static void set_up(guint32 seed) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = 500;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = ts_client_open_with(ts_bench_server(), NULL, &options);
        ck_assert_ptr_nonnull(clients[i]);
    }
    for (struct storm *s = storms; s < storms + CONTESTS; s++) {
        s->contest = &contests[s - storms];
        s->path = ts_fresh_path();
        for (int n = 0; n < PLAYERS; n++) {
            player *p = &s->players[n];
            p->storm = s;
            p->client = clients[n / THREADS];
            p->random = g_rand_new_with_seed(seed + 1 + (guint32)(PLAYERS * (s - storms) + n));
            for (int m = 0; m < s->contest->count; m++) {
                p->alone[m] = recipe_at(member(p, m), p->client, s->path);
                p->shared[m] = n % THREADS ? p[-1].shared[m] : recipe_at(member(p, m), p->client, s->path);
            }
        }
    }
}

static void finish(void) {
    atomic_store(&stop, true);
    for (int i = 0; i < CLIENTS; i++) {
        ts_proxy_disarm(clients[i]->proxy);
        ts_proxy_heal(clients[i]->proxy);
    }
    const int64_t healed = ts_now_ms();
    for (struct storm *s = storms; s < storms + CONTESTS; s++)
        for (int n = 0; n < PLAYERS; n++) {
            pthread_join(s->players[n].thread, NULL);
            g_rand_free(s->players[n].random);
        }
    ck_assert_int_lt(ts_now_ms() - healed, ts_patience(6000));
}

/* Long enough, and with enough grants: a slow machine needs more time for these. */
static bool is_over(int64_t begun) {
    const int64_t passed = ts_now_ms() - begun;
    bool enough = true;
    pthread_mutex_lock(&guard);
    for (int i = 0; i < CONTESTS; i++)
        enough = enough && storms[i].grants > GRANTS_LEAST;
    pthread_mutex_unlock(&guard);
    return passed > ts_patience(5 * STORM_MS) || (enough && passed > STORM_MS);
}

static void judge(const struct storm *s, guint32 seed) {
    const recipe *r = member(&s->players[0], s->contest->count - 1);
    printf("    seed %u: %s: %d grants, %d lost, at most %d of %d at once\n", seed, r->name, s->grants, s->lost,
           s->most, s->contest->capacity);
    ck_assert_msg(s->most <= s->contest->capacity, "seed %u: %s: %d at once", seed, r->name, s->most);
    ck_assert_msg(s->backwards == 0, "seed %u: %s: %d tokens went backwards", seed, r->name, s->backwards);
    for (int i = 0; i < CLIENTS; i++) {
        const player *p = &s->players[i * THREADS];
        const int m = s->contest->count - 1;
        ts_answer *held = recipe_take(r, p->shared[m]);
        ck_assert_int_eq(recipe_release(r, p->shared[m], held), PDK_OK);
    }
    recipe_await_nodes(r, s->path, 0);
    ck_assert_int_gt(s->grants, GRANTS_LEAST); /* otherwise the test has shown nothing */
    ck_assert_int_gt(s->most, s->contest->capacity / 2);
}

START_TEST(a_storm) {
    const char *given = g_getenv("PDK_SEED");
    const guint32 seed = given != NULL ? (guint32)atoi(given) : g_random_int() % 1000000;
    GRand *random = g_rand_new_with_seed(seed);

    set_up(seed);
    for (struct storm *s = storms; s < storms + CONTESTS; s++)
        for (int n = 0; n < PLAYERS; n++)
            ck_assert_int_eq(pthread_create(&s->players[n].thread, NULL, player_main, &s->players[n]), 0);
    for (const int64_t begun = ts_now_ms(); !is_over(begun);) {
        cause_fault(random);
        ts_sleep_ms(g_rand_int_range(random, 0, 200));
    }
    g_rand_free(random);
    finish();
    ck_assert_msg(unexpected_count == 0, "seed %u: %d unexpected, the last: %s", seed, unexpected_count,
                  what_was_unexpected);
    for (int i = 0; i < CONTESTS; i++)
        judge(&storms[i], seed);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("storm");
    TCase *tcase = ts_bench_case(suite, "storm");

    tcase_add_test(tcase, a_storm);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
