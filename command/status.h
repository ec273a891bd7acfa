/*
 * The results by which the code decides, and the exit statuses that are made of them.
 *
 *     pdk_status ──cmd_status──► result (a constant of this file) ──cmd_settings_end──► exit status
 *                                                                        ▲
 *                                               -E: cmd_chosen, any number, 0 too
 *
 * A result below 256 is the exit status, the same for every verb. They are an interface: docs/command.md lists them.
 * CMD_TAKEN is none: the user chooses its exit status. That number has a type of its own, so that no code can take it
 * for a result.
 */
#ifndef CMD_STATUS_H
#define CMD_STATUS_H

#include <paddock/paddock.h>

enum {
    CMD_OK = 0,
    CMD_NOT = 1,    /* `check`: the sequencer holds no more; `ls`, `top`: there is no such path; `doctor`: a finding */
    CMD_USAGE = 64, /* EX_USAGE: the command line, or a file that it names */
    /* EX_UNAVAILABLE: ZooKeeper cannot be reached, or cannot do it; a lock where others have permits. */
    CMD_UNAVAILABLE = 69,
    CMD_SOFTWARE = 70,     /* EX_SOFTWARE: the guardian was killed, or the system refuses a resource */
    CMD_BUSY = 75,         /* EX_TEMPFAIL: the exit status of CMD_TAKEN, unless -E chooses another */
    CMD_LOST = 76,         /* the hold was lost */
    CMD_SKIPPED = 77,      /* `job`: it has run in this period, or runs */
    CMD_OUT_OF_REACH = 78, /* the hold is over, and the command runs on: it belongs to another user */
    CMD_STALE = 79,        /* `fence`: a later hold was admitted already */
    CMD_DENIED = 80,       /* the credentials are refused, or an access control list forbids it */
    CMD_TOO_LONG = 124,    /* --max-hold is over, as timeout(1) says it */
    CMD_CANNOT_EXECUTE = 126,
    CMD_NOT_FOUND = 127,
    CMD_SIGNAL = 128, /* plus the number of the signal */
    CMD_TAKEN = 256,  /* somebody else has it, or -w is over */
};

/* An exit status that the user chooses. */
typedef struct {
    int code;
} cmd_chosen;

/* The result of a call. */
int cmd_status(pdk_status status);

#endif
