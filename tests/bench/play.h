/*
 * A player of the bench: threads that take a lock in turns, and a gate that every holder passes.
 *
 *     PLAYER HOSTS PATH TIMEOUT_MS SESSIONS OBJECTS THREADS [LINGER_MS]
 *
 * So many sessions, lock objects of each, and threads of each object; with 0 objects the sessions have nothing to do. It
 * prints "ready" when the first holder has come to the gate, which is closed. An order "go MS" opens the gate for so long. The
 * holder that comes after that waits in it, with the lock, and all others behind it. So an acquisition is one step from
 * grant to grant: each is counted once, also the one that crosses the end. Then it prints "slice GRANTS NS P50_NS": the steps,
 * the time from the opening to the last grant, and the median step. At the end of its input it closes the sessions and ends.
 */
#ifndef PLAY_H
#define PLAY_H

#include <stdbool.h>

struct player {
    void *(*open)(const char *hosts, int timeout_ms); /* a session */
    void (*close)(void *session);
    /* alone: no other session or object is on the path; linger_ms: as pdk_lock_options has it */
    void *(*lock)(void *session, const char *path, bool alone, int linger_ms);
    /* The hold, not NULL; NULL when the session is closed. Ends the process when it fails otherwise. */
    void *(*acquire)(void *lock);
    void (*release)(void *lock, void *hold);
};

int play(const struct player *player, int argc, char **argv);

#endif
