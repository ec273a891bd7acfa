/*
 * Commands that `elect` runs beside its work: they tell events, one after the other, or check its health. Each kind has
 * a guardian in the background, so nothing of them outlives the program.
 */
#ifndef CMD_HOOKS_H
#define CMD_HOOKS_H

#include "guard.h"
#include <glib.h>

/* ---- events: told in order, one command at a time
 *
 * Of leaders that are not told yet, only the newest is told. */

typedef enum { CMD_EVENT_DEPOSED, CMD_EVENT_LEADER, CMD_EVENTS } cmd_event;

typedef struct {
    cmd_guard guard;
    char *shell[CMD_EVENTS][4];
    char **commands[CMD_EVENTS];
    GQueue pending; /* of orders */
    bool runs;
    cmd_event newest; /* the one whose command runs, or ran last */
} cmd_events;

/* A command that is NULL is not told. Before the session is opened. false: the system has no process left. */
bool cmd_events_open(cmd_events *events, char *on_deposed, char *on_leader);
/* `variables` are names and values in turn, ended with NULL. */
void cmd_events_tell(cmd_events *events, cmd_event what, const char *const *variables);
/* When guard.channel is readable. false: the guardian is dead. */
bool cmd_events_hear(cmd_events *events);
/* Is there anything that has not ended yet? */
bool cmd_events_busy(const cmd_events *events);
void cmd_events_close(cmd_events *events);

/* ---- health: a command that is run again and again
 *
 * It fails when its status is not 0, or when it takes longer than `every_ms`. */

typedef struct {
    cmd_guard guard;
    char *shell[4];
    char **commands[1];
    int64_t every_ms, at; /* when it begins, or has to have ended */
    bool runs, late, told;
    bool healthy; /* at first not, unless there is no check */
} cmd_health;

bool cmd_health_open(cmd_health *health, char *check, int64_t every_ms);
/* Begins a check that is due, ends one that is late. false: the guardian is dead. */
bool cmd_health_tick(cmd_health *health);
bool cmd_health_hear(cmd_health *health);
void cmd_health_close(cmd_health *health);

#endif
