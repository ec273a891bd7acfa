/* The client library over the fake ensemble: the driver's table of calls, in simulated time.
 *
 * It behaves as libzookeeper does:
 *  - one connection at a time, to one server of its list after the other;
 *  - a ping when nothing was sent for a third of the timeout and nothing is outstanding;
 *  - a connection is given up when nothing was heard on it for two thirds of the timeout;
 *  - on a lost connection CONNECTING comes first, then UNKNOWN for everything outstanding;
 *  - requests made without a connection go out with the next one, or fail with the next attempt that fails;
 *  - watches are set again; the last zxid seen goes along, and a server that is behind it is left;
 *  - EXPIRED comes from a server, never from a clock of its own;
 *  - close sends all that is queued, ends the session if it can, and answers UNKNOWN for the rest.
 *
 * It has two threads: one does the network, one brings answers and events to the driver. Each acts in its process: sim_process.h.
 */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "sim_ensemble.h"
#include "zk/calls.h"

extern const struct pdk__zk_calls sim_client_calls;

struct sim_process;

/* Handles are opened in the process that is current (sim_process_current); "servers" of the configuration are
 * "10.0.0.N:2181" for server N - 1 of the process's ensemble, and "10.0.M.N:2181" for one of more[M - 1]. */

/* The server of the current connection of the process's newest handle, or -1. */
int32_t sim_client_server(const struct sim_process *p);
/* Its session's id at the server; 0: none. */
int64_t sim_client_session(const struct sim_process *p);
/* Sever the connection where it stands; both sides notice. */
void sim_client_cut(struct sim_process *p);
/* For sim_process_kill: the kernel hangs up all that the process had open. Its handles reach nobody from then on:
 * submit answers false, and close answers all that is in flight. */
void sim_client_killed(struct sim_process *p);

#endif
