/* Three processes that contend for one lock with the production driver, on a fake ensemble of three servers. Their clocks show the same.
 * What a test does between events is done in the first one, also with the sessions of the others. */
#ifndef PLATFORM_BENCH_H
#define PLATFORM_BENCH_H

#include "sim_client.h"
#include "sim_platform.h"
#include "ts_check.h"

#include <glib.h>
#include <paddock/paddock.h>

#define SECOND (1000 * SIM_MS)
#define TICK (200 * SIM_MS)
#define TIMEOUT_MS 2000
#define TIMEOUT (TIMEOUT_MS * SIM_MS)
#define RIVALS 3
#define PLATFORM_SERVERS 3

/* A process with a session and a lock, its hold, and what it heard. */
struct rival {
    struct sim_process process;
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    pdk_status status; /* of the newest answer, or release */
    int64_t token, granted_at, lost_at;
    pdk_reason reason;
    uint32_t answers, losses;
    GString *events; /* "connected suspended" */
};

extern struct sim_agenda platform_agenda;
extern struct sim_net platform_net;
extern struct sim_ensemble *platform_ensemble;
extern struct rival rivals[RIVALS], *const first, *const second;

/* The fixture of a suite: seed 1. */
void platform_setup(void);
void platform_teardown(void);
/* Anew, with another seed: platform_end goes ahead. */
void platform_begin(uint64_t seed);
void platform_end(void);

void platform_pass(int64_t ns);
/* One event. */
void platform_step(void);
/* In truth: the node, or NULL; how many children it has, or the queue of the rivals; the path of one, which lives as long as the agenda. */
const struct sim_node *platform_node(const char *path);
size_t platform_children(const char *dir);
size_t platform_contenders(void);
const char *platform_child(const char *dir, size_t index);
/* Somebody else makes, writes or deletes a node. */
void platform_admin(enum sim_op op, const char *path);
/* Both ways, between the rival and all servers. */
void platform_block(const struct rival *r, bool blocked);

/* From now on so many requests of that kind cannot be sent: by whomever. How many of them there were. */
void platform_refuse(enum pdk__op_kind kind, int32_t times);
int32_t platform_refused(void);

/* In a process: a session whose requests platform_refuse refuses. */
pdk_session *platform_open(const pdk_session_options *options);

void rival_open(struct rival *r);
void rival_acquire(struct rival *r, int64_t timeout_ms);
void rival_release(struct rival *r);
bool rival_is_valid(struct rival *r);
/* The handle goes, and the ZooKeeper session. */
void rival_reopen(struct rival *r);
/* In its process: gives back session, lock and hold. */
void rival_gives_back(void *subject, void *what);

#endif
