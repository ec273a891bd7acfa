/*
 * Real ZooKeeper servers from Debian's packages (java, /usr/share/java), one or three, on loopback, their data on tmpfs.
 * Node i listens on 127.0.0.(i+1). Every link between servers runs through a ts_proxy, so that it can be silenced; each
 * node's clients may go through a proxy as well. Servers die with the test process.
 */
#ifndef TS_ENSEMBLE_H
#define TS_ENSEMBLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ts_fourletter.h"
#include "ts_proxy.h"

typedef struct ts_ensemble ts_ensemble;

/* Zero or NULL means the default. */
typedef struct {
    int nodes;                          /* 1 (default, standalone) or 3 */
    int tick_ms;                        /* default 500 */
    int init_limit;                     /* in ticks, default 10 */
    int sync_limit;                     /* in ticks, default 5 */
    int min_session_ms;                 /* default 2 ticks */
    int max_session_ms;                 /* default 60000 */
    const char *const *java_properties; /* "zookeeper.extendedTypesEnabled=true", …, NULL-terminated */
    const char *const *config_lines;    /* further lines of zoo.cfg, NULL-terminated */
} ts_ensemble_options;

/* Starts the servers and returns when all of them serve (with three: one leads, two follow). NULL on failure, with the
 * reason and the ends of the servers' logs on standard error. `options` may be NULL. */
ts_ensemble *ts_ensemble_start(const ts_ensemble_options *options);

/* Kills the servers and removes all their files. NULL is allowed. */
void ts_ensemble_stop(ts_ensemble *e);

int ts_ensemble_size(const ts_ensemble *e);

/* Direct: all nodes "ip:port,ip:port,ip:port", and one node "ip:port". Valid until ts_ensemble_stop. */
const char *ts_ensemble_hosts(const ts_ensemble *e);
const char *ts_ensemble_host(const ts_ensemble *e, int i);

/* The same through the nodes' client proxies. */
const char *ts_ensemble_proxied_hosts(const ts_ensemble *e);
const char *ts_ensemble_proxied_host(const ts_ensemble *e, int i);

/* The client proxy of node i; the ensemble's, do not stop it. */
ts_proxy *ts_ensemble_proxy(const ts_ensemble *e, int i);

/* The node's process (for ts_pause, ts_resume), 0 while it is killed. */
pid_t ts_ensemble_pid(const ts_ensemble *e, int i);

/* The node's log file. */
const char *ts_ensemble_log(const ts_ensemble *e, int i);

/* The mode that node i reports. */
ts_server_mode ts_ensemble_mode(const ts_ensemble *e, int i);

/* The index of the leader (or the standalone server), -1 when there is none. An old leader may not have noticed yet
 * that it is deposed. Then this is the new one: the claimant with the highest epoch. */
int ts_ensemble_leader(const ts_ensemble *e);

/* Waits until all nodes that are not killed serve, one of them as leader. */
bool ts_ensemble_wait_ready(const ts_ensemble *e, int64_t timeout_ms);

/* Waits for a leader other than node `not_this` (-1: any). Returns its index, -1 after `timeout_ms`. */
int ts_ensemble_wait_leader(const ts_ensemble *e, int not_this, int64_t timeout_ms);

/* Silences every link between node i and its peers, both ways; clients still reach it. May be called for several nodes. */
void ts_ensemble_isolate(ts_ensemble *e, int i);

/* The same for node i, which sees nothing. If it leads, it goes on for syncLimit ticks. But its peers' ends of these
 * links are hung up at once, and refused from then on. So they elect another leader while it still serves. */
void ts_ensemble_depose(ts_ensemble *e, int i);

/* Ends all isolation. Held bytes are delivered, as retransmission would do. On a deposed node's links they are not: its
 * ends of them are reset. */
void ts_ensemble_heal(ts_ensemble *e);

/* SIGKILL for node i. */
void ts_ensemble_kill(ts_ensemble *e, int i);

/* Starts node i again on its data and its ports, without waiting for it (see ts_ensemble_wait_ready). */
bool ts_ensemble_restart(ts_ensemble *e, int i);

#endif
