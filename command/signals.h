/* Signals that the caller has us ignore: nohup(1), a shell's background job, systemd for SIGPIPE. They stay ignored,
 * and the commands that we start find them so. */
#ifndef CMD_SIGNALS_H
#define CMD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* First of all, before the program has a disposition of its own. */
void cmd_signals_begin(void);
/* Did the caller have us ignore it? */
bool cmd_signal_is_ignored(int number);
/* In a child before its exec, or in place of one: all signals are as the caller left them. */
void cmd_signals_hand_on(void);

#endif
