/* The threads of a player. Each takes one turn after another, from the order "go" to the order "rest". */
#ifndef PLAYER_THREADS_H
#define PLAYER_THREADS_H

#include "player.h"

/* One turn of the thread with this number, from 0 on. False ends all turns: the player has failed. */
typedef bool (*player_turn_fn)(player *p, int thread, void *user);

/* An order that only this player knows, or "rest": then no turn begins any more, and a turn that waits should end. */
typedef void (*player_order_fn)(player *p, const char *order, void *user);

/* Before each turn a thread waits for up to think_us. After "rest", when all threads have ended, prints "rested".
 * Returns when standard input ends, which is an order to rest as well. on_order may be NULL: then there are no other
 * orders. */
void player_threads_run(player *p, int threads, int think_us, player_turn_fn turn, player_order_fn on_order,
                        void *user);

/* For turns: waits for a random time up to longest_us; true in that percentage of the calls. */
void player_pause(int longest_us);
bool player_chance(int percent);

/* How long a claim may wait: 0 (a try) in so many percent of the calls, else 1 ms to below longest_ms in so many
 * percent, else for ever. A claim that is given up must leave nothing that blocks the others. */
int64_t player_patience(int try_percent, int short_percent, int longest_ms);
/* Whether such a claim may end like this, without a grant. A try may time out as well: the session's request timeout
 * bounds it. */
bool player_may_give_up(int64_t timeout_ms, pdk_status status);

#endif
