/* The fence in memory, step by step: threads take turns at every load and exchange, in every order with few switches. What comes
 * out must be what the same calls give one after the other, in some order that respects which call ended before which began.
 *
 * The code is that of src/fence/cell.c, compiled here once more with atomics that switch. The threads are contexts of one
 * thread. Sanitizers do not follow those, so there they run without switches. */
#include <glib.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/text.h"
#include "fence/cell.h"
#include "ts_check.h"

static void turn(void);
static bool exchange_word(_Atomic int64_t *place, int64_t *old, int64_t new) {
    turn();
    int64_t is = *place;
    bool same = is == *old;
    if (same)
        *place = new;
    *old = is;
    return same;
}

__extension__ typedef unsigned __int128 two_words;
static bool exchange_pair(void *place, two_words old, two_words new) {
    turn();
    bool same = memcmp(place, &old, sizeof old) == 0;
    if (same)
        memcpy(place, &new, sizeof new);
    return same;
}

#undef PDK__CELL_WIDE
#define PDK__CELL_WIDE 1
#undef atomic_load_explicit
#undef atomic_load
#undef atomic_compare_exchange_weak
#define atomic_load_explicit(place, order) (turn(), *(place))
#define atomic_load(place) (turn(), *(place))
#define atomic_compare_exchange_weak exchange_word
#define __sync_bool_compare_and_swap exchange_pair
#include "fence/cell.c"

/* Are there switches at all? */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SWITCHES = 0, SCENES = 10 };
#else
enum { SWITCHES = 1, SCENES = 40 };
#endif
enum { THREADS_MOST = 3, CALLS_EACH = 2, CALLS_MOST = THREADS_MOST * CALLS_EACH, STEPS_MOST = 256, STACK = 65536 };

struct call {
    int64_t token;
    uint32_t handover;
    enum pdk__use use;
    pdk_status status;
    int begun, ended; /* on the clock of the steps */
};

static struct {
    struct pdk__cell cell;
    struct pdk__mark first;
    struct call calls[THREADS_MOST][CALLS_EACH];
    int threads, switches;
    /* of one run */
    ucontext_t main, contexts[THREADS_MOST];
    char *stacks[THREADS_MOST];
    bool done[THREADS_MOST];
    int running, clock;
    struct call *now[THREADS_MOST];
    /* the choices of this run: which of how many */
    int chosen[STEPS_MOST], options[STEPS_MOST], steps;
} play;

static void turn(void) {
    if (play.running < 0)
        return;
    int self = play.running;
    if (SWITCHES > 0)
        swapcontext(&play.contexts[self], &play.main);
    if (play.now[self]->begun == 0)
        play.now[self]->begun = ++play.clock;
}

static void live(void) {
    int self = play.running;
    for (int i = 0; i < CALLS_EACH; i++) {
        struct call *call = play.now[self] = &play.calls[self][i];
        call->begun = 0;
        call->status = pdk__cell_admit(&play.cell, "play", call->token, call->handover, call->use);
        call->ended = ++play.clock;
    }
    play.done[self] = true;
}

static void set_mark(struct pdk__cell *cell, const struct pdk__mark *mark) {
    pdk__cell_init(cell);
    cell->top = mark->top;
    cell->handover = mark->handover;
    cell->floor = mark->floor;
}

/* The threads that may run next, the running one first; a switch away from it costs. */
static int who_may_run(int may[THREADS_MOST], int switches) {
    int count = 0;
    bool goes_on = play.running >= 0 && !play.done[play.running];
    if (goes_on)
        may[count++] = play.running;
    for (int i = 0; i < play.threads; i++)
        if (!play.done[i] && i != play.running && (!goes_on || switches < play.switches))
            may[count++] = i;
    return count;
}

static void run_once(void) {
    play.steps = play.clock = 0;
    play.running = -1;
    set_mark(&play.cell, &play.first);
    for (int i = 0; i < play.threads; i++) {
        play.done[i] = false;
        getcontext(&play.contexts[i]);
        play.contexts[i].uc_stack.ss_sp = play.stacks[i];
        play.contexts[i].uc_stack.ss_size = STACK;
        play.contexts[i].uc_link = &play.main;
        makecontext(&play.contexts[i], live, 0);
    }
    int may[THREADS_MOST], count, switches = 0;
    while ((count = who_may_run(may, switches)) > 0) {
        int choice = play.options[play.steps] ? play.chosen[play.steps] : 0;
        play.chosen[play.steps] = choice;
        play.options[play.steps] = count;
        switches += choice > 0 && may[0] == play.running && !play.done[play.running];
        play.running = may[choice];
        play.steps++;
        g_assert(play.steps < STEPS_MOST);
        if (SWITCHES > 0)
            swapcontext(&play.main, &play.contexts[play.running]);
        else
            live();
    }
    play.running = -1;
}

/* The next run: the last choice that has another option. Later choices begin anew. */
static bool next_run(void) {
    for (int i = play.steps - 1; i >= 0; i--) {
        memset(&play.options[i + 1], 0, sizeof(int) * (size_t)(STEPS_MOST - i - 1));
        if (play.chosen[i] + 1 < play.options[i]) {
            play.chosen[i]++;
            return true;
        }
    }
    return false;
}

static bool same(const struct pdk__mark *a, const struct pdk__mark *b) {
    return a->top == b->top && a->handover == b->handover && (pdk__mark_is_writers(a) || a->floor == b->floor);
}

/* Is there an order of those calls that are left which gives what they gave, and the mark that there is? */
static bool explained(const struct pdk__mark *mark, unsigned left, const struct pdk__mark *last) {
    struct call *calls = &play.calls[0][0];
    if (left == 0)
        return same(mark, last);
    for (int i = 0; i < play.threads * CALLS_EACH; i++) {
        bool first = left >> i & 1;
        for (int k = 0; k < play.threads * CALLS_EACH; k++)
            first = first && (!(left >> k & 1) || calls[k].ended > calls[i].begun);
        struct pdk__mark next = *mark;
        if (first &&
            pdk__mark_admit(&next, calls[i].token, calls[i].handover, calls[i].use) == (calls[i].status == PDK_OK) &&
            explained(&next, left & ~(1u << i), last))
            return true;
    }
    return false;
}

static unsigned long explore(const char *what) {
    unsigned long runs = 0;
    memset(play.options, 0, sizeof play.options);
    do {
        run_once();
        struct pdk__mark last = {play.cell.top, (uint32_t)play.cell.handover, play.cell.floor};
        bool fine = explained(&play.first, (1u << play.threads * CALLS_EACH) - 1, &last);
        ck_assert_msg(fine, "%s, run %lu: no order of the calls explains it", what, runs);
        runs++;
    } while (next_run());
    return runs;
}

static void set_up(void) {
    for (int i = 0; i < THREADS_MOST; i++)
        play.stacks[i] = g_malloc(STACK);
}

static void tear_down(void) {
    for (int i = 0; i < THREADS_MOST; i++)
        g_free(play.stacks[i]);
}

/* Few tokens, so that they meet. Odd ones are readers'. */
static struct call any_call(GRand *rand) {
    struct call call = {.token = g_rand_int_range(rand, 2, 8)};
    call.use = call.token % 2 || g_rand_int_range(rand, 0, 4) == 0 ? PDK__READ : PDK__WRITE;
    call.handover = call.token % 2 ? 0 : (uint32_t)g_rand_int_range(rand, 0, 3);
    return call;
}

static unsigned long scenes(int threads, int switches, guint32 seed) {
    GRand *rand = g_rand_new_with_seed(seed);
    unsigned long runs = 0;
    play.threads = threads;
    play.switches = SWITCHES * switches;
    for (int scene = 0; scene < SCENES; scene++) {
        char what[64];
        play.first = (struct pdk__mark){0};
        for (int i = g_rand_int_range(rand, 0, 3); i > 0; i--) {
            struct call call = any_call(rand);
            (void)pdk__mark_admit(&play.first, call.token, call.handover, call.use);
        }
        for (int i = 0; i < threads * CALLS_EACH; i++)
            play.calls[i / CALLS_EACH][i % CALLS_EACH] = any_call(rand);
        g_snprintf(what, sizeof what, "%d threads, scene %d", threads, scene);
        runs += explore(what);
    }
    g_rand_free(rand);
    return runs;
}

START_TEST(every_order_of_two_threads_is_explained) {
    unsigned long runs = scenes(2, 3, 1);
    g_print("%lu runs of two threads\n", runs);
}
END_TEST

START_TEST(every_order_of_three_threads_is_explained) {
    unsigned long runs = scenes(3, 2, 2);
    g_print("%lu runs of three threads\n", runs);
}
END_TEST

int main(void) {
    return ts_run("fence_turns", set_up, tear_down, every_order_of_two_threads_is_explained,
                  every_order_of_three_threads_is_explained, NULL);
}
