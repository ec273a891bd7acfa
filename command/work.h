/*
 * A command under a hold, as `run` and `elect` have it: its guardian, the lease's moments, signals, the loss.
 *
 *     cmd_work_open ──► (the keeper gets a hold) ──► cmd_work_run: started … gone ──► cmd_work_run with another hold …
 *
 * cmd_work_run returns when nothing of the command is left, whatever happened. Then the hold may go.
 */
#ifndef CMD_WORK_H
#define CMD_WORK_H

#include "guard.h"
#include "keeper.h"
#include "lease.h"

typedef struct {
    cmd_keeper *keeper;
    cmd_guard guard;
    cmd_lease lease;
    pid_t group;
    int64_t deadline; /* of --max-hold */
    bool stopped;
    /* Of the last command. */
    bool gone, lost, too_long, asked;
    bool told, told_kill; /* why it is lost; that KILL was needed */
    bool ending;          /* it got TERM, with a KILL to come; or what it left behind did */
    int refused;          /* errno; 0: it was started */
    int status;           /* as by waitpid */
    int terminated_by;    /* TERM, INT or QUIT, when it got one; 0 */
    pid_t unkillable;     /* of another user: KILL was due, and it runs on; 0 */
} cmd_work;

/* Before the session is opened. Blocks signals, and forks the guardian with all commands that it may have to run.
 * CMD_OK, or the exit status, having said why. */
int cmd_work_open(cmd_work *work, cmd_keeper *keeper, char **const *commands);
/* Runs the command with this index under the keeper's hold. CMD_OK when nothing of it is left; otherwise the program
 * has to end with that status, and nothing of the command is left either. */
int cmd_work_run(cmd_work *work, int index);
/* TERM now, KILL after so many ms; cmd_work_run goes on until all are gone. Nothing happens when no command runs. */
void cmd_work_end(cmd_work *work, int kill_after_ms);
/* The exit status for the end of the last command. `name` is said when it could not be executed. */
int cmd_work_status(const cmd_work *work, const char *name);
/* Lets the guardian end, before the keeper closes: its end and the release go on at the same time. */
void cmd_work_dismiss(cmd_work *work);
/* After the keeper was closed, which may still call back. */
void cmd_work_close(cmd_work *work);

#endif
