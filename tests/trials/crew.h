/* The threads of a player: each takes one turn after the other, from the order "go" to the order "rest". */
#ifndef CREW_H
#define CREW_H

#include "player.h"

/* One turn of the thread with this number, 0 and up. False ends all turns: the player has failed. */
typedef bool (*crew_turn_fn)(player *p, int thread, void *user);

/* An order of the player's own, which came meanwhile, or "rest": no turn begins any more, and who waits in one should not. */
typedef void (*crew_order_fn)(player *p, const char *order, void *user);

/* Before each turn a thread waits for up to think_us. After "rest", once all threads have ended, says "rested"; returns
 * when standard input ends, which is an order to rest as well. on_order may be NULL: then there are no other orders. */
void crew_play(player *p, int threads, int think_us, crew_turn_fn turn, crew_order_fn on_order, void *user);

/* For turns: a random wait of at most that long, and one chance in a hundred, percent times. */
void crew_pause(int longest_us);
bool crew_chance(int percent);

#endif
