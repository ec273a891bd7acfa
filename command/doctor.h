/*
 * paddock doctor: tests the assumptions of docs/promises.md about the servers, and looks for trouble in the tree.
 *
 *     each server alone: reachable, its own words (srvr, conf), the session timeouts it gives, a quorum write
 *     all of them:       equal? one ensemble? the leader's clock
 *     the tree:          is its root there? Counters near their end, directories that stay, that others may write, that may not be
 *                        read, that several recipes use, nodes of nobody
 *
 * A finding names the fault, and the fix.
 */
#ifndef CMD_DOCTOR_H
#define CMD_DOCTOR_H

#include "settings.h"
#include "wire.h"

/* The path at which it holds a lock of its own for a moment. */
#define CMD_DOCTOR_PATH "/paddock-doctor"

typedef struct {
    const char *code; /* of docs/command.md */
    char *subject;    /* a server, or a path */
    char *what, *fix;
} cmd_finding;

/* 0 and NULL: not known. */
typedef struct {
    const char *address;
    bool answers, serves;
    bool serves_nobody; /* it says so itself */
    bool hung_up;       /* on a question of four letters, too: without a word */
    char *foreign;      /* a server that is no ZooKeeper: its name, in its own words or in ours */
    guint refusals;     /* sessions that it hung up on, before it gave one */
    char *version, *mode;
    int32_t tick_ms, min_ms, max_ms, granted_ms;
    int64_t write_ms; /* the median of a few; -1: not known */
    cmd_wire wire;    /* open while it serves */
} cmd_server;

typedef struct {
    const cmd_settings *settings;
    const char *path;
    int64_t idle_ms; /* how long a container is empty at most */
    cmd_servers names;
    cmd_server *servers;
    guint count;
    bool timed;       /* the clocks are known */
    int64_t ahead_ms; /* how far our clock is ahead of the leader's */
    int64_t server_now_ms;
    GArray *findings; /* of cmd_finding */
} cmd_doctor;

/* Takes the text `what`. */
void cmd_doctor_find(cmd_doctor *d, const char *code, const char *subject, char *what, const char *fix);

void cmd_doctor_ask_servers(cmd_doctor *d);
void cmd_doctor_compare(cmd_doctor *d);
/* false: the chroot is missing. So there is no tree, and a lock of ours would make one. */
bool cmd_doctor_chroot(cmd_doctor *d);
/* Holds a lock for two seconds: the leader's clock, and whether all servers show the node. */
void cmd_doctor_clocks(cmd_doctor *d);
void cmd_doctor_tree(cmd_doctor *d);

#endif
