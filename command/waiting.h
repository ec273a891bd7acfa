/*
 * The line of a wait, on the terminal of the one who waits:
 *
 *     waiting for /a: held by web3:1500 for 12 s, 2 ahead
 *
 * It is drawn after 2 s, kept up to date, and taken away at the end. Elsewhere than on a terminal nothing is asked and
 * nothing is drawn. The holder is asked for every 2 s, and more rarely where many wait, since each of them is read. The
 * answers come as callbacks of the session, so no grant waits for one.
 */
#ifndef CMD_WAITING_H
#define CMD_WAITING_H

#include "keeper.h"

typedef struct cmd_waiting cmd_waiting;

/* For the claim of the keeper. NULL, and nothing will be done: standard error is no terminal. */
cmd_waiting *cmd_waiting_begin(const cmd_keeper *keeper);
/* Draws, and asks, when it is time. Returns after how many ms to call it again. */
int64_t cmd_waiting_go_on(cmd_waiting *waiting);
/* The wait is over: the line goes. */
void cmd_waiting_end(cmd_waiting *waiting);
/* The holder's identity, as it was seen last, or NULL. */
const char *cmd_waiting_holder(const cmd_waiting *waiting);
/* When the session is closed: no answer comes any more. */
void cmd_waiting_free(cmd_waiting *waiting);

/* The words of the line, for its tests. Times are in ms. g_free it. */
typedef struct {
    const char *path;    /* all of several */
    const char *part;    /* the one of several that is waited for, or NULL */
    const char *trouble; /* why no server can be asked, or NULL */
    const char *who;     /* the first of those who hold it, or NULL */
    size_t more;         /* so many beside that one */
    int64_t held_ms;
    int32_t ahead; /* negative: not known */
    bool looked, delayed;
} cmd_waiting_state;
char *cmd_waiting_words(const cmd_waiting_state *state);

#endif
