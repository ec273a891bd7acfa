#include "player_threads.h"

#include <stdio.h>
#include <string.h>

struct threads {
    player *player;
    int think_us;
    player_turn_fn turn;
    void *user;
    atomic_bool stop;
    atomic_int numbers; /* given out so far */
};

void player_pause(int longest_us) { g_usleep((gulong)g_random_int_range(0, longest_us + 1)); }

bool player_chance(int percent) { return g_random_int_range(0, 100) < percent; }

int64_t player_patience(int try_percent, int short_percent, int longest_ms) {
    if (player_chance(try_percent))
        return 0;
    return player_chance(short_percent) ? g_random_int_range(1, longest_ms) : PDK_FOREVER;
}

bool player_may_give_up(int64_t timeout_ms, pdk_status status) {
    if (status == PDK_BUSY)
        return timeout_ms == 0;
    return timeout_ms != PDK_FOREVER && (status == PDK_TIMEOUT || status == PDK_UNAVAILABLE);
}

static gpointer work(gpointer data) {
    struct threads *all = data;
    int number = atomic_fetch_add(&all->numbers, 1);
    while (!atomic_load(&all->stop)) {
        player_pause(all->think_us);
        if (!all->turn(all->player, number, all->user))
            atomic_store(&all->stop, true);
    }
    return NULL;
}

/* Passes orders on, up to "rest". False: the input has ended without it. */
static bool hear_orders(struct threads *all, player_order_fn on_order) {
    g_autofree char *order = player_order();
    while (order && strcmp(order, "rest") != 0) {
        if (on_order)
            on_order(all->player, order, all->user);
        else
            player_fail(all->player, "unknown order", order);
        g_free(order);
        order = player_order();
    }
    atomic_store(&all->stop, true);
    if (on_order)
        on_order(all->player, "rest", all->user);
    return order != NULL;
}

void player_threads_run(player *p, int threads, int think_us, player_turn_fn turn, player_order_fn on_order,
                        void *user) {
    g_autofree char *order = player_order();
    if (!order)
        return;
    if (strcmp(order, "go") != 0) {
        player_fail(p, "unknown order", order);
        return;
    }
    struct threads all = {.player = p, .think_us = think_us, .turn = turn, .user = user};
    g_autoptr(GPtrArray) started = g_ptr_array_new();
    for (int i = 0; i < threads; i++)
        g_ptr_array_add(started, g_thread_new("player", work, &all));
    bool rest = hear_orders(&all, on_order);
    for (guint i = 0; i < started->len; i++)
        g_thread_join(g_ptr_array_index(started, i));
    if (!rest)
        return;
    puts("rested");
    for (char *more = player_order(); more; more = player_order())
        g_free(more);
}
