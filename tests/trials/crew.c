#include "crew.h"

#include <stdio.h>
#include <string.h>

struct crew {
    player *player;
    int think_us;
    crew_turn_fn turn;
    void *user;
    atomic_bool stop;
    atomic_int numbers; /* given out so far */
};

void crew_pause(int longest_us) { g_usleep((gulong)g_random_int_range(0, longest_us + 1)); }

bool crew_chance(int percent) { return g_random_int_range(0, 100) < percent; }

static gpointer work(gpointer data) {
    struct crew *crew = data;
    int number = atomic_fetch_add(&crew->numbers, 1);
    while (!atomic_load(&crew->stop)) {
        crew_pause(crew->think_us);
        if (!crew->turn(crew->player, number, crew->user))
            atomic_store(&crew->stop, true);
    }
    return NULL;
}

/* Passes orders on until the one to rest. True: it was said, and not just that the input has ended. */
static bool hear_orders(struct crew *crew, crew_order_fn on_order) {
    g_autofree char *order = player_order();
    while (order && strcmp(order, "rest") != 0) {
        if (on_order)
            on_order(crew->player, order, crew->user);
        else
            player_fail(crew->player, "unknown order", order);
        g_free(order);
        order = player_order();
    }
    atomic_store(&crew->stop, true);
    if (on_order)
        on_order(crew->player, "rest", crew->user);
    return order != NULL;
}

void crew_play(player *p, int threads, int think_us, crew_turn_fn turn, crew_order_fn on_order, void *user) {
    g_autofree char *order = player_order();
    if (!order)
        return;
    if (strcmp(order, "go") != 0) {
        player_fail(p, "unknown order", order);
        return;
    }
    struct crew crew = {.player = p, .think_us = think_us, .turn = turn, .user = user};
    g_autoptr(GPtrArray) started = g_ptr_array_new();
    for (int i = 0; i < threads; i++)
        g_ptr_array_add(started, g_thread_new("player", work, &crew));
    bool rest = hear_orders(&crew, on_order);
    for (guint i = 0; i < started->len; i++)
        g_thread_join(g_ptr_array_index(started, i));
    if (!rest)
        return;
    puts("rested");
    for (char *more = player_order(); more; more = player_order())
        g_free(more);
}
