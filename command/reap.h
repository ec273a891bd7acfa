/* The processes below this one, as their subreaper. */
#ifndef CMD_REAP_H
#define CMD_REAP_H

#include <stdbool.h>
#include <sys/types.h>

/* Makes this process the parent of all orphans below it. */
void cmd_reap_all_orphans(void);

/* Sends a signal to each direct child. Those below come later: they become ours when their parent dies. */
void cmd_signal_children(int number);

/* SIGKILL to all below this process, layer by layer, until none is left and all are reaped. *status gets the status of `first`
 * when that was among them. */
void cmd_kill_below(pid_t group, pid_t first, int *status);

#endif
