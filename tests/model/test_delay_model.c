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
#include "record_bench.h"

#include <string.h>

enum { MOST = 4, KEEPERS = 2, DELAY = 2 };

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

enum { GRANTED, WAITED, COUNTS };
static const char *const names[] = {"granted", "of them after an end without a release"};

struct config {
    int8_t contenders, unclean, ticks;
    uint64_t counts[COUNTS];
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

static const char *grant(struct world *w, int i, uint64_t *counts) {
    struct contender *c = &w->of[i];
    const struct keeper *keeper = keeper_of(w, i);
    c->phase = HOLDS;
    counts[GRANTED]++;
    if (w->ended >= 0) {
        counts[WAITED]++;
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

static const char *act(struct world *w, int i, char kind, uint64_t *counts) {
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
        return grant(w, i, counts);
    case 'r':
        c->phase = RELEASED;
        break;
    case 'd':
        c->pledge = 0;
        break;
    case 't':
        w->ticks--;
        w->now++;
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

/* ---- the search */

static void begin(void *of, void *world) {
    const struct config *config = of;
    struct world *w = world;
    memset(w, 0, sizeof *w);
    w->count = config->contenders;
    w->unclean = config->unclean;
    w->ticks = config->ticks;
    w->now = 1;
    w->ended = -1;
    for (int i = 0; i < KEEPERS; i++)
        pdk__delay_init(&w->keepers[i].delay, DELAY);
}

static size_t possible(const void *of, const void *world, search_action actions[SEARCH_ACTIONS]) {
    const struct world *w = world;
    size_t count = 0;
    (void)of;
    for (int i = 0; i < w->count; i++)
        for (const char *kind = "clapqgrdnx"; *kind; kind++)
            if (is_possible(w, i, *kind))
                actions[count++] = search_act(*kind, i, 0);
    if (w->ticks > 0)
        actions[count++] = search_act('t', 0, 0);
    return count;
}

static const char *apply(void *of, void *world, search_action action) {
    struct config *config = of;
    return act(world, search_whose(action), (char)search_kind(action), config->counts);
}

static void tell(const void *world, search_action action, FILE *out) {
    const struct world *w = world;
    fprintf(out, "%c%d at %d\n", search_kind(action), search_whose(action), w->now);
}

static const struct {
    const char *name;
    struct config config;
} rows[] = {
    {"releases alone", {.contenders = 3, .unclean = 0, .ticks = 2}},
    {"one that ends without a release", {.contenders = 4, .unclean = 1, .ticks = 5}},
    {"two that do, one after the other", {.contenders = 4, .unclean = 2, .ticks = 7}},
};

START_TEST(every_order) {
    struct config config = rows[_i].config;
    struct search_model model = {.of = &config,
                                 .size = sizeof(struct world),
                                 .begin = begin,
                                 .possible = possible,
                                 .apply = apply,
                                 .tell = tell};
    printf("%s:\n", rows[_i].name);
    keeps_promises(&model, 100, config.counts, names, COUNTS);
    ck_assert(config.counts[GRANTED] > 0);
    ck_assert((config.counts[WAITED] > 0) == (config.unclean > 0));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("delay_model");
    TCase *all = tcase_create("every order");
    tcase_add_loop_test(all, every_order, 0, sizeof rows / sizeof rows[0]);
    suite_add_tcase(suite, all);
    return ts_run_suite(suite);
}
