/* The simulated platform: the production driver in simulated time, its three threads as events of a process.
 *
 *     arm  ──► timer       pdk__tick                when the process's clock shows the moment
 *     wake ──► dispatcher  pdk__outbox_run_one      one callback after the other
 *     work ──► connector   pdk__connector_run       until there is nothing to do
 *
 * Each is late as the process's threads are, every time. A session is used from inside its process only: in callbacks, in
 * events of sim_run_in, in sim_call_in, or after sim_process_enter. Blocking calls are not for this platform. A session is closed by
 * dropping its last reference, or by pdk_session_close from inside a callback. It is freed when its connector has closed
 * the last handle.
 */
#ifndef SIM_PLATFORM_H
#define SIM_PLATFORM_H

#include "session/platform.h"
#include "sim_process.h"

#include <paddock/session.h>

extern const struct pdk__platform sim_platform;

/* As pdk_session_open, without waiting for the first lease. The process runs. hosts: "10.0.0.1:2181,…[/chroot]", server
 * 0 and so on. The process runs the callbacks, for any options->dispatch except PDK_DISPATCH_MANUAL, which is not for
 * this platform. NULL where pdk_session_open fails. */
pdk_session *sim_session_open(struct sim_process *p, const char *hosts, const pdk_session_options *options);

/* The end of a process, dead or at the end of a run (then it is killed here). Its sessions end at once and without the
 * network, and none of their callbacks runs any more. give_back, which may be NULL, runs in the process's name, to give
 * back all that the workload still has of them. Sessions without a reference are then freed. Not from an event of the
 * process. */
void sim_dispose(struct sim_process *p, sim_event_fn give_back, void *subject, void *what);

#endif
