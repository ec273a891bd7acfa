/*
 * What all C players share: the options, a session that notes what happens to it, an event log, a validity sampler, and
 * orders on standard input. When standard input ends, the player ends.
 *
 * The last line of the event log says what the library has counted, with the names of pdk_stats, or of a pdk_reason:
 *
 *     counted closed=S granted=N lapsed=N busy=N timeout=N unavailable=N canceled=N failed=N handovers=N waiting=N holds=N
 *             over=N waited=N EXPIRED=N LEASE=N NODE_GONE=N CLOSED=N OVERDUE=N        S: what the session's close returned
 *
 * A player is given --hosts --path --identity --log --session. It prints "ready", obeys, and prints "done" as the last
 * thing.
 */
#ifndef PLAYER_H
#define PLAYER_H

#include "event_log.h"
#include "validity_sampler.h"

#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>

typedef struct player {
    char *hosts, *path, *identity, *log_file;
    int session_ms, tick_ms;
    bool patient;                   /* set it before player_open, if at all: see there */
    pdk_session *session, *another; /* another: or NULL */
    event_log *log;
    sampler *sampler;
    atomic_bool failed;
} player;

/* Reads the options, and those in more, which ends with an entry of zeros and may be NULL. Opens everything and says
 * "ready". False when that failed; the reason is on standard error then, and player_close is due all the same. A
 * patient player says "ready" before it waits for a server, and waits as long as it takes. It does not fail if no
 * server answers its close. */
bool player_open(player *p, int argc, char **argv, const GOptionEntry *more);

/* Opens another session of the same kind. False when that failed. player_close closes both, and counts for both. */
bool player_open_another(player *p);

/* The next order, free with g_free; NULL at the end. */
char *player_order(void);

/* Complains on standard error, and makes player_close answer that the player failed. */
void player_fail(player *p, const char *what, const char *why);
/* The same unless the status is PDK_OK. True for PDK_OK. */
bool player_check(player *p, const char *what, pdk_status status);

/* Closes everything. Holds must have been released, and the recipe's objects must be gone. The exit status. */
int player_close(player *p);

#endif
