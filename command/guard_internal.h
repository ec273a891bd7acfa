/* The side of the guardian's process. */
#ifndef CMD_GUARD_INTERNAL_H
#define CMD_GUARD_INTERNAL_H

#include "guard.h"

/* The work of the guardian. */
typedef struct {
    char **const *commands; /* NULL: none, it is for `hold` */
    bool background;
    int ready, input; /* for `hold` */
} cmd_charge;

/* The main function of the guardian. */
_Noreturn void cmd_guardian(int channel, cmd_moments *moments, const cmd_charge *charge);

/* No command is told of another hold than its own: takes the variables that tell of one out of the environment. */
void cmd_forget_hold(void);

/* Starts the command in a group of its own, in the foreground when the keeper's group is (0: never). Its pid; or -1
 * with errno, also for a command that cannot be executed. */
pid_t cmd_spawn(char **command, pid_t keepers_group);

/* The group that our terminal has in its foreground; 0: it cannot be told; -1: there is no terminal. */
pid_t cmd_terminals_group(void);

/* The terminal goes from one group to the other, if `from` has it. */
void cmd_pass_terminal(pid_t from, pid_t to);

#endif
