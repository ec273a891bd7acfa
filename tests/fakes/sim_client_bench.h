/* Two processes with a client library each, on a fake ensemble of three servers, and drivers that write down what they hear,
 * a word each:
 *
 *     connected connecting expired auth                     states
 *     4=ok 4=none 4=exists 4=no 4=later 4=unknown           the answer to request 4
 *     4=ok:x-0000000003  4=ok,x,y  4=ok"text"               of a create, a list, a read
 *     gone:/a changed:/a children:/a                        watches
 */
#ifndef SIM_CLIENT_BENCH_H
#define SIM_CLIENT_BENCH_H

#include "sim_client.h"
#include "sim_process.h"
#include "ts_check.h"

#include <glib.h>

#define SECOND (1000 * SIM_MS)
#define TICK (200 * SIM_MS)
#define TIMEOUT_MS 3000
#define TIMEOUT (TIMEOUT_MS * SIM_MS)

struct bench_client {
    struct sim_process process;
    pdk__zk *zk;
    GString *heard;
    int64_t session, heard_at, token;
    int32_t asked_ms, timeout_ms; /* the session's timeout: what open asks for, what the servers say */
};

extern struct sim_agenda bench_agenda;
extern struct sim_net bench_net;
extern struct sim_ensemble *bench_ensemble;
extern struct bench_client client_a, client_b;
extern const struct sim_ensemble_config bench_config;

/* The fixture of a suite: bench_config, seed 1. */
void bench_setup(void);
void bench_teardown(void);
/* Anew, where no client is open. */
void bench_begin(uint64_t seed, const struct sim_ensemble_config *config);

void bench_pass(int64_t ns);
/* A second, after which everybody is up to date. */
void bench_settle(void);
/* No packet of the client reaches any server (up), or none of theirs the client (down). */
void bench_block(const struct bench_client *c, bool up, bool down, bool blocked);

/* Open, and connect. */
void client_open(struct bench_client *c);
void client_close(struct bench_client *c);
/* false: refused. */
bool client_try(struct bench_client *c, uint64_t tag, enum pdk__op_kind kind, const char *path);
void client_submit(struct bench_client *c, uint64_t tag, enum pdk__op_kind kind, const char *path);
/* Any request. */
void client_request(struct bench_client *c, struct pdk__request request);
/* Checks what it has heard since the last time. */
void client_heard(struct bench_client *c, const char *text);
/* Until it hears something, at most for ns. */
bool client_awaits(struct bench_client *c, int64_t ns);
/* Both are connected; /l/x-0000000000 is client_b's. */
void clients_and_a_node(void);

#endif
