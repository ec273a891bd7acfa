/* Three processes with a session to each of five ensembles, of one server each, in simulated time. What a process has beyond that is
 * the test's: `user`. */
#ifndef ENSEMBLES_BENCH_H
#define ENSEMBLES_BENCH_H

#include "platform_bench.h"

enum { ENSEMBLES = 5 };

struct place {
    struct sim_process process;
    pdk_session *session[ENSEMBLES];
    pdk_lock *lock[ENSEMBLES]; /* on one path */
};

extern struct sim_agenda agenda;
extern struct sim_net nets[ENSEMBLES];
extern struct sim_ensemble *ensembles[ENSEMBLES];
extern struct place places[RIVALS];
extern GRand *dice;
/* Of the sessions that ensembles_begin opens; TIMEOUT_MS again after ensembles_end. */
extern int32_t ensembles_timeout_ms;

void ensembles_begin(guint seed);
/* Holds and claims were given back. */
void ensembles_end(void);
void ensembles_pass(int64_t ns);
/* Both ways, between the process and the ensemble. */
void ensembles_block(const struct place *p, int ensemble, bool blocked);
/* How many nodes there are, in truth: in one of them, with the name of any of them unless one is NULL; in all of them. */
size_t ensembles_nodes_in(int ensemble, const char **one);
size_t ensembles_nodes(void);
/* An administrator deletes one. false: there is none. */
bool ensembles_delete_one(int ensemble);

#endif
