/* A session on somebody's event loop: the same cases for each adapter. No server is needed: claims that are cancelled make
 * callbacks due. */
#pragma once

#include <paddock/paddock.h>

/* An adapter and its loop, as the cases use them. */
struct loop {
    const char *name;
    /* Makes the session's callbacks run on the loop. Returns what detach takes, or NULL. */
    void *(*attach)(pdk_session *session);
    /* Takes it away, also from inside a callback. The loop may turn once more. */
    void (*detach)(void *attached);
    /* Waits for events for at most ms, and handles those that are there. */
    void (*turn)(int ms);
    /* Has the loop nothing more to wait for, of what attach returned? */
    bool (*is_over)(void *attached);
    /* Runs the loop until it returns by itself. NULL: it is one that does not. */
    void (*run)(void);
    /* Frees the loop. Nothing is attached to it. */
    void (*end)(void);
};

/* Runs all cases; the exit status of the program. */
int loops_play(const struct loop *loop);
