/*
 * paddock elect: a command that runs while we lead, again and again.
 *
 *                     healthy, and rested            elected            --on-elected ends with 0
 *     outside ──────────────────────────► candidate ────────► gate ───────────────────────────► work
 *        ▲                                    ▲                 │                                 │
 *        │                                    └──── lost ───────┼────────────── lost ─────────────┤
 *        └── sick                                               │                                 │
 *        └───────────── it rests --pause ◄──────── refused ─────┴── ended by itself, or --max-hold ┘
 *
 * Gate and work are commands under the leader's hold, as `run` has one. The leadership is given away when nothing of
 * them is left.
 */
#ifndef CMD_ELECT_H
#define CMD_ELECT_H

#include "endpoint.h"
#include "hooks.h"
#include "work.h"

typedef struct {
    /* As given on the command line. */
    char *id, *on_elected, *on_deposed, *on_leader, *check, *listen;
    char *every, *pause; /* durations */
    gboolean observe;
    int64_t every_ms, pause_ms;
    /* These follow from them. */
    cmd_keeper keeper;
    cmd_work work;
    cmd_events events;
    cmd_health health;
    cmd_endpoint endpoint;
    pdk_election *election;
    pdk_hold *granted; /* a term that has not begun yet */
    pdk_status failed; /* it cannot be a candidate */
    int64_t rest_until;
    bool stands;       /* it is a candidate */
    bool told;         /* and that is said */
    bool led;          /* by somebody, as was heard last */
    bool resigns;      /* its work is ended, as it is sick */
    bool broken;       /* a guardian in the background was killed */
    int64_t own_token; /* of the newest term of ours; 0 */
} cmd_election;

/* The exit status. */
int cmd_elect_work(cmd_election *e, char **command);
/* Prints each leader, until a signal ends it. */
int cmd_elect_observe(cmd_election *e);

#endif
