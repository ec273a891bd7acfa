/* Two processes that use every recipe at once, on the bench of platform_bench.h. Requests of the first go wrong: they are not sent, a server
 * answers them with a code, or something happens meanwhile. Calls that block are made by threads of the first. */
#ifndef DRIVER_BENCH_H
#define DRIVER_BENCH_H

#include "platform_bench.h"

#include "session/platform.h"

#include <paddock/group.h>
#include <paddock/job.h>
#include <paddock/lease_lock.h>

/* Codes of a server. */
enum {
    LOST_CODE = -4,
    BAD_ARGUMENTS_CODE = -8,
    NO_NODE_CODE = -101,
    NOT_ALLOWED_CODE = -102,
    BAD_VERSION_CODE = -103,
    NODE_EXISTS_CODE = -110,
    QUOTA_CODE = -125,
    NOT_NOW_CODE = -127
};

/* ---- the two processes */

/* What one process wants, and what it got. */
struct driver_user {
    struct rival *rival;
    pdk_lock *lock;
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    pdk_election *election;
    pdk_hold *holds[8];
    uint32_t holds_count;
    uint32_t wanted, answered; /* claims */
    uint32_t granted, failed;  /* of those that were answered */
    uint32_t elected, deposed, candidacy_failed, told;
    pdk_status status; /* of the newest claim that failed */
    char leader[64];   /* as the observer was told last; "": nobody */
};

extern struct driver_user driver_users[2], *const one, *const two;

/* How late an answer may be where all is well, from now on. 0: no session timeout is refused; so driver_begin leaves it. */
void driver_answers_within(int64_t late);
/* Anew: both have sessions, and nothing else. Every request of the first process passes driver_refuses. */
void driver_begin(void);
/* The end of a fixture that begins with platform_setup. */
void driver_teardown(void);

/* Both claim the lock, two reads, a write and all permits, join the election and observe it. */
void driver_want_all(struct driver_user *u);
void driver_want_lock(struct driver_user *u);
/* Gives back the lock object: its claims are cancelled. */
void driver_drop_lock(struct driver_user *u);
void driver_want_permits(struct driver_user *u, int32_t count, int64_t timeout_ms);
void driver_join(struct driver_user *u);
void driver_leave(struct driver_user *u);
void driver_release_all(struct driver_user *u);
/* Everything, the session last. */
void driver_give_back(struct driver_user *u);
/* The process is killed. give_back: what else it has of Paddock. */
void driver_kill(struct driver_user *u, void (*give_back)(void));
/* Time passes, and every 50 ms both give back what they hold. */
void driver_pass_and_release(int64_t ns);
/* How many nodes there are below all directories of the recipes, in truth. */
size_t driver_nodes(void);
/* So many bytes of watches more. */
void driver_fill_watches(struct driver_user *u, size_t bytes);

/* Any other claim, and its answer. */
struct answer {
    pdk_status status; /* of the newest */
    pdk_hold *hold;
    uint32_t count, granted;
};

void answered(pdk_status status, pdk_hold *hold, void *answer);
void answer_release(struct answer *answer);

/* ---- what goes wrong in the first process */

/* The requests since the beginning, refused or not; and of each kind, since a test has cleared them. */
extern uint32_t driver_requests, driver_seen[PDK__OP_SYNC + 1];
void driver_forget_seen(void);
/* Decides whether a request is sent. NULL: all are. */
extern bool (*driver_refuses)(const struct pdk__request *request);
/* The path that a request is about instead, so that its answer is another node's. NULL: its own. */
extern const char *(*driver_redirects)(const struct pdk__request *request);
/* No name is found, for that reason; no handle is opened, with that status. How many were to be opened since the beginning. */
extern const char *driver_unresolved;
extern pdk_status driver_opening;
extern uint32_t driver_openings;

/* What goes wrong with the requests of one kind, about one part of a path. */
extern struct fault {
    enum pdk__op_kind kind;
    const char *part;
    int32_t refuse; /* so many are not sent */
    int32_t code;   /* one is answered with it; 0: none is */
    bool always;    /* else once */
    bool executed;  /* that one is carried out all the same */
    void (*act)(void);
    uint32_t seen;
} fault;

/* Nothing has gone wrong yet. From now on requests of this kind may, if the path has that part: as fault says. */
void driver_arm(enum pdk__op_kind kind, const char *part);
/* The next one: not sent, if the code is 0, or answered with it, and carried out or not. */
void driver_spoil(enum pdk__op_kind kind, const char *part, int32_t code, bool executed);
/* Until such a request is sent, or is not. */
void driver_step_until_seen(void);
/* Its answers do not come, or do; its requests likewise. */
void driver_hold_answers_back(void);
void driver_let_answers_come(void);
void driver_block_requests(bool blocked);
/* It is held up for so long. */
void driver_hold_up(int64_t ns);

/* ---- a group, of which the first has a watcher, and the second members */

#define GROUP_DIR "/app/group"

enum { GROUP_MEMBERS = 8 };

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
void group_watch(void);
void group_unwatch(void);
void group_join(struct driver_user *u, int member);
/* All members leave. */
void group_leave(void);

/* ---- a member in the first process, whose data are set by threads */

/* What a thread sets, and what it was answered. */
extern struct member_setting {
    const char *text;
    int64_t timeout_ms;
    pdk_status status;
    char why[128]; /* of a failure */
    bool over;
} member_settings[2];

/* Anew: it is registered, with "one". */
void member_begin(void);
/* The setting of that number, begun. */
struct member_setting *member_set(int number, const char *text, int64_t timeout_ms);
void member_assert_set(const struct member_setting *setting, pdk_status status);
/* In truth. */
void member_assert_data(const char *text);
/* It leaves, and no node is left. */
void member_finish(void);

/* ---- what the first process does in threads of its own, in calls that block */

enum { DEED_LEASE_MS = 1000, DEED_AT_MOST_MS = 600 };

/* The objects, and the newest call. */
extern struct deeds {
    pdk_lease_lock *lease; /* "/leased", for DEED_LEASE_MS */
    pdk_job *job;          /* "/job", at most for DEED_AT_MOST_MS */
    pdk_lock *lock;        /* "/one" */
    pdk_hold *hold;
    pdk_status status;
    char why[256]; /* of a failure */
    bool over;
} deeds;

/* Anew, with its objects. */
void deeds_begin(void);
void deeds_end(void);
/* Begins fn in a thread, which leaves its status. */
void deed_start(pdk_status (*fn)(void));
void deed_await(void);
/* Both. */
pdk_status deed(pdk_status (*fn)(void));
/* The lock; the lease lock, or a run of the job: waited for until it is there. */
pdk_status deed_lock(void);
pdk_status deed_lease(void);
pdk_status deed_job(void);
/* Nothing. Then the hold is given back; the session goes on; it has ended. */
pdk_status deed_nothing(void);
pdk_status deed_give_back(void);
pdk_status deed_reopen(void);
pdk_status deed_end_session(void);

#endif
