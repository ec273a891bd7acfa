/* The client library over the fake ensemble: the driver's table of calls, in simulated time.
 *
 * It does what libzookeeper does: one connection at a time, to the servers of its list in turn; a ping when nothing was sent
 * for a third of the timeout and nothing is outstanding; a connection on which nothing was heard for two thirds of it is
 * given up; on a lost connection CONNECTING first, then UNKNOWN for everything outstanding; requests made while there is no
 * connection go out with the next, or fail with the next attempt that fails; watches are set again; the last zxid seen goes
 * along, and a server that is behind it is left; EXPIRED comes from a server, never from a clock of its own; close sends what
 * is queued and ends the session if it can, and answers UNKNOWN for the rest.
 *
 * Two threads are played: one does the network, one brings what came to the driver. Each acts in its process: sim_process.h.
 */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "sim_ensemble.h"
#include "zk/calls.h"

extern const struct pdk__zk_calls sim_client_calls;

struct sim_process;

/* Handles are opened in the process that is current (sim_process_current); "servers" of the configuration are
 * "10.0.0.N:2181" for server N - 1. */

/* The current connection of the process's newest handle: which server, or -1. */
int32_t sim_client_server(const struct sim_process *p);
/* Its session's id at the server; 0: none. */
int64_t sim_client_session(const struct sim_process *p);
/* Sever the connection where it stands; both sides notice. */
void sim_client_cut(struct sim_process *p);
/* Of sim_process_kill: the kernel hangs up what the process had open. Its handles reach nobody from then on: submit answers
 * false, and close what is in flight. */
void sim_client_killed(struct sim_process *p);

#endif
