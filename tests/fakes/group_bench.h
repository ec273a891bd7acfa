/* A group of which two processes know, in simulated time, where requests of the first go wrong: they are not sent, a server answers
 * them with a code, or the handle is gone before the answer comes. */
#ifndef GROUP_BENCH_H
#define GROUP_BENCH_H

#include "driver_bench.h"

#include <paddock/group.h>

#define GROUP_DIR "/app/group"

enum {
    GROUP_MEMBERS = 8,
    GROUP_LOST = -4,
    GROUP_BAD_ARGUMENTS = -8,
    GROUP_NO_NODE = -101,
    GROUP_NOT_ALLOWED = -102,
    GROUP_NOT_NOW = -127
};

extern struct driver_user *const group_one, *const group_two;

/* What goes wrong with the requests of the first process that are of one kind, about one part of a path. */
extern struct group_fault {
    enum pdk__op_kind kind;
    const char *part;
    int32_t refuse; /* so many are not sent */
    int32_t code;   /* one is answered with it; 0: none is */
    bool always;    /* else once */
    bool executed;  /* that one is carried out all the same */
    void (*act)(void);
    uint32_t seen;
} group_fault;

extern struct group {
    pdk_group_watcher *watcher;
    pdk_member *members[GROUP_MEMBERS];
    size_t count;
    bool exact;
    int views, inexact;
    pdk_status status; /* of the newest member that was seen, in the newest view */
    int freed;
} group;

/* Anew: the second process has so many members. */
void group_begin(int members);
/* Nothing has gone wrong yet. From now on requests of this kind may, if the path has that part: as group_fault says. */
void group_arm(enum pdk__op_kind kind, const char *part);
void group_step(void);
/* Until such a request is sent, or is not. */
void group_step_until_seen(void);

/* Run fn in the process of u, with its rival. */
void group_call(struct driver_user *u, sim_event_fn fn, void *what);
void group_watch_in(void *rival, void *unused);
void group_stop_in(void *rival, void *unused);
void group_join_in(void *rival, void *member);
/* All members leave. */
void group_leave_in(void *rival, void *unused);
/* The handle goes, and the ZooKeeper session. */
void group_reopen_in(void *rival, void *unused);
void group_close_in(void *rival, void *unused);

/* The path of a member's node, which lives as long as the agenda. */
const char *group_node(size_t index);
void group_admin(enum sim_op op, const char *path);

#endif
