/* The lock-delay in every order of events: nobody is granted sooner than the delay after an end without a release, and where all
 * ends were releases nobody waits.
 *
 *     c  creates its node            l  is listed (its list is executed)   a  reads that list      p  its pledge is executed
 *     q  hears of that               g  is granted                         r  releases             d  deletes its pledge
 *     n  deletes its node            x  its node goes without it           t  time passes
 *
 * Time is counted in ticks. A list, a pledge and a deletion may take any time. One that is next may pledge ahead of its list.
 */
#include "core/delay.h"
#include "ts_check.h"
#include "visited.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 4, KEEPERS = 2, DELAY = 2, DEEPEST = 80 };

enum phase { OUT, QUEUED, FIRST, HOLDS, RELEASED, OVER };

struct contender {
    int8_t phase;
    int8_t node, pledge; /* on the server */
    int8_t pledging;     /* 0: no; 1: executed; 2: it knows */
    int8_t listed;       /* a list is on its way back */
    int8_t shown;        /* the broken pledges in it, a bit each */
};

/* A process, which has one contender after the other. */
struct keeper {
    struct pdk__delay delay;
    int8_t seen; /* the broken pledges in its newest list */
};

struct world {
    struct contender of[MOST];
    struct keeper keepers[KEEPERS];
    int8_t count, now, ticks, unclean; /* ticks and unclean: left */
    int8_t ended;                      /* when the newest holder's node went without a release, or -1 */
    int8_t lost;                       /* an end without a release has happened, of whomever */
};

struct totals {
    uint64_t states, granted, waited;
};

static struct keeper *keeper_of(struct world *w, int i) { return &w->keepers[i % KEEPERS]; }

static bool is_first(const struct world *w, int i) {
    for (int k = 0; k < i; k++)
        if (w->of[k].node)
            return false;
    return w->of[i].node != 0;
}

static bool is_possible(const struct world *w, int i, char kind) {
    const struct contender *c = &w->of[i];
    const struct pdk__delay *delay = &w->keepers[i % KEEPERS].delay;
    switch (kind) {
    case 'c':
        return c->phase == OUT && (i == 0 || w->of[i - 1].phase != OUT) &&
               (i < KEEPERS || w->of[i - KEEPERS].phase >= RELEASED);
    case 'l':
        return c->phase == QUEUED && c->node && !c->listed && is_first(w, i);
    case 'a':
        return c->listed != 0;
    case 'p':
        if (c->phase == QUEUED && !is_first(w, i))
            return false;
        return c->pledging == 0 && (c->phase == QUEUED || (c->phase == FIRST && w->now >= delay->until));
    case 'q':
        return c->pledging == 1;
    case 'g':
        return c->phase == FIRST && pdk__delay_next(delay, c->pledging == 2, w->now) == PDK__DELAY_GRANT;
    case 'r':
        return c->phase == HOLDS;
    case 'd':
        return c->phase == RELEASED && c->pledge;
    case 'n':
        return c->phase == RELEASED && !c->pledge && c->node;
    default:
        return c->node && w->unclean > 0;
    }
}

static int8_t broken(const struct world *w) {
    int8_t bits = 0;
    for (int k = 0; k < w->count; k++)
        if (w->of[k].pledge && !w->of[k].node)
            bits = (int8_t)(bits | 1 << k);
    return bits;
}

static const char *grant(struct world *w, int i, struct totals *totals) {
    struct contender *c = &w->of[i];
    const struct keeper *keeper = keeper_of(w, i);
    c->phase = HOLDS;
    totals->granted++;
    if (w->ended >= 0) {
        totals->waited++;
        if (w->now - w->ended < DELAY)
            return "nobody is granted within the delay";
    }
    if (!w->lost && keeper->delay.until > 0)
        return "nobody waits after a release";
    for (int k = 0; k < w->count; k++) /* who has waited clears them away */
        if (keeper->seen & 1 << k)
            w->of[k].pledge = 0;
    return c->pledge ? NULL : "nobody holds without a pledge";
}

static const char *apply(struct world *w, int i, char kind, struct totals *totals) {
    struct contender *c = &w->of[i];
    struct keeper *keeper = keeper_of(w, i);
    switch (kind) {
    case 'c':
        c->phase = QUEUED;
        c->node = 1;
        break;
    case 'l':
        c->listed = 1;
        c->shown = broken(w);
        break;
    case 'a':
        pdk__delay_listed(&keeper->delay, c->shown != 0, (c->shown & ~keeper->seen) != 0, w->now);
        c->listed = 0;
        keeper->seen = c->shown;
        c->phase = FIRST;
        break;
    case 'p':
        c->pledge = c->pledging = 1;
        break;
    case 'q':
        c->pledging = 2;
        break;
    case 'g':
        return grant(w, i, totals);
    case 'r':
        c->phase = RELEASED;
        break;
    case 'd':
        c->pledge = 0;
        break;
    case 'n':
        c->node = 0;
        c->phase = OVER;
        break;
    default:
        if (c->phase == HOLDS)
            w->ended = w->now;
        w->lost |= c->pledge || c->pledging == 1;
        w->unclean--;
        c->node = 0;
        c->listed = c->pledging = 0;
        c->phase = OVER;
        break;
    }
    return NULL;
}

static uint64_t hash_of(const struct world *w) {
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    const int8_t all[] = {w->now, w->ticks, w->unclean, w->ended, w->lost};
    for (size_t i = 0; i < sizeof all; i++)
        hash = (hash ^ (uint64_t)all[i]) * UINT64_C(0xd6e8feb86659fd93);
    for (int i = 0; i < w->count; i++) {
        const struct contender *c = &w->of[i];
        const int8_t own[] = {c->phase, c->node, c->pledge, c->pledging, c->listed, c->shown};
        for (size_t k = 0; k < sizeof own; k++) {
            hash = (hash ^ (uint64_t)own[k]) * UINT64_C(0xd6e8feb86659fd93);
            hash ^= hash >> 32;
        }
    }
    for (int i = 0; i < KEEPERS; i++)
        hash = (hash ^ (uint64_t)(w->keepers[i].seen * 64 + w->keepers[i].delay.until)) * UINT64_C(0x9fb21c651e98df25);
    return hash == 0 ? 1 : hash;
}

static struct {
    char kind;
    int8_t of;
} way[DEEPEST];

/* Depth first. NULL, or the promise that is broken; `way` leads there. */
static const char *explore(const struct world *w, struct model_visited *visited, struct totals *totals, int depth) {
    static const char kinds[] = "clapqgrdnx";
    ck_assert_int_lt(depth, DEEPEST);
    totals->states++;
    for (int i = 0; i <= w->count; i++) {
        for (const char *kind = i < w->count ? kinds : "t"; *kind; kind++) {
            struct world next = *w;
            const char *wrong = NULL;
            if (*kind == 't') {
                if (w->ticks == 0)
                    continue;
                next.ticks--;
                next.now++;
            } else if (is_possible(w, i, *kind)) {
                wrong = apply(&next, i, *kind, totals);
            } else {
                continue;
            }
            way[depth].kind = *kind;
            way[depth].of = (int8_t)i;
            if (!wrong && model_visited_add(visited, hash_of(&next)))
                wrong = explore(&next, visited, totals, depth + 1);
            if (wrong)
                return wrong;
        }
    }
    way[depth].kind = 0;
    return NULL;
}

static struct totals keeps_promises(int contenders, int unclean, int ticks) {
    struct world w = {
        .count = (int8_t)contenders, .unclean = (int8_t)unclean, .ticks = (int8_t)ticks, .now = 1, .ended = -1};
    for (int i = 0; i < KEEPERS; i++)
        pdk__delay_init(&w.keepers[i].delay, DELAY);
    struct model_visited visited;
    struct totals totals = {0};
    memset(way, 0, sizeof way);
    model_visited_init(&visited);
    const char *wrong = explore(&w, &visited, &totals, 0);
    model_visited_free(&visited);
    for (int i = 0; wrong && i < DEEPEST && way[i].kind; i++)
        printf("%c%d ", way[i].kind, way[i].of);
    ck_assert_msg(!wrong, "%s", wrong);
    printf("%" PRIu64 " states; %" PRIu64 " granted, %" PRIu64 " of them after an end without a release\n",
           totals.states, totals.granted, totals.waited);
    return totals;
}

START_TEST(releases_alone) {
    struct totals totals = keeps_promises(3, 0, 2);
    ck_assert(totals.granted > 0 && totals.waited == 0);
}
END_TEST

START_TEST(one_that_ends_without_a_release) {
    struct totals totals = keeps_promises(4, 1, 5);
    ck_assert(totals.waited > 0);
}
END_TEST

START_TEST(two_that_do_one_after_the_other) {
    struct totals totals = keeps_promises(4, 2, 7);
    ck_assert(totals.waited > 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("delay_model");
    TCase *all = tcase_create("every order");
    tcase_add_test(all, releases_alone);
    tcase_add_test(all, one_that_ends_without_a_release);
    tcase_add_test(all, two_that_do_one_after_the_other);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
