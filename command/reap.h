/*
 * All that a command has started: its process group, and the children of this process, which is the subreaper of them
 * all.
 *
 *     begin ──► it runs ──► its leader has ended: pinned, then reaped ──► killed, layer by layer ──► gone
 *
 * A number belongs to a process until that is reaped, and to a group while somebody is in it. So nobody else has the
 * number of the leader before it is reaped. By then a *pin* is in the group: a process that ends at once, and that a
 * wait for any child does not see. It goes last. So a signal for the group never reaches strangers that got the number
 * meanwhile.
 */
#ifndef CMD_REAP_H
#define CMD_REAP_H

#include <stdbool.h>
#include <sys/types.h>

/* Makes this process the parent of all orphans below it. false: the system refuses, and processes that leave the
 * command are not found. */
bool cmd_reap_all_orphans(void);

/* For the first process of a container: a child goes on from here, and this process stays, reaps orphans, passes
 * signals on, and ends with the child's status. Any other process just goes on. */
void cmd_be_init(void);

/* Can the system tell our children? Otherwise every number is tried, which may take seconds. */
bool cmd_sees_children(void);

typedef struct {
    pid_t group; /* the leader's pid; 0: none of the numbers is known to be the family's */
    pid_t leader, pin;
    int status; /* the leader's as by waitpid, once it has `ended` */
    bool ended;
} cmd_family;

/* The leader is a child of this process, and leads its group. */
void cmd_family_begin(cmd_family *family, pid_t leader);
/* The family of a process below, which is dead: its children are ours. Its leader may have been reaped before, and then
 * its number is nobody's. */
void cmd_family_adopt(cmd_family *family, pid_t leader);
/* Reaps all children that have ended. *stopped gets the signal when the leader has been stopped. false: nothing of the
 * family is left. */
bool cmd_family_reap(cmd_family *family, int *stopped);
/* A signal for the group. */
void cmd_family_signal(const cmd_family *family, int number);
/* A signal for the group, and for each direct child. Processes below come later: they become ours when their parent
 * dies. Returns the pid of a process of another user, which refuses the signal, or 0. */
pid_t cmd_family_signal_all(cmd_family *family, int number);
/* The pid of a process of another user, at any depth, which we cannot end; or 0. */
pid_t cmd_family_stranger(const cmd_family *family);
/* Does it live, and belong to another user, so that we cannot end it? */
bool cmd_is_out_of_reach(pid_t pid);
/* Gives the numbers back. */
void cmd_family_end(cmd_family *family);

#endif
