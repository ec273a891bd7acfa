/*
 * What all C players share: their options, a session that notes what happens to it, a diary and a watchman, and orders on
 * standard input, whose end means the player's.
 *
 * A player is given --hosts --path --identity --log --session, prints "ready", obeys, and prints "done" as the last thing.
 */
#ifndef PLAYER_H
#define PLAYER_H

#include "diary.h"
#include "watchman.h"

#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>

typedef struct player {
    char *hosts, *path, *identity, *log;
    int session_ms;
    bool patient; /* if set before player_open: see there */
    pdk_session *session;
    diary *diary;
    watchman *watchman;
    atomic_bool failed;
} player;

/* Reads the options, and those in more, up to an entry of zeros, when that is not NULL; opens everything; says "ready". False
 * when it could not, with the reason on standard error; player_close is due all the same. The patient say "ready" before they
 * wait for a server, as long as it takes, and do not mind if none answers when they close. */
bool player_open(player *p, int argc, char **argv, const GOptionEntry *more);

/* The next order, free with g_free; NULL at the end. */
char *player_order(void);

/* Complains on standard error, and makes player_close answer that it failed. */
void player_fail(player *p, const char *what, const char *why);
/* The same unless the status is PDK_OK, which it returns. */
bool player_check(player *p, const char *what, pdk_status status);

/* Closes everything, watchman first: holds must have been released. The recipe's objects must be gone. The exit status. */
int player_close(player *p);

#endif
