/*
 * The guardian: a process that runs the command, and ends it in time whatever happens to the keeper, which has the
 * session.
 *
 *     keeper (session, lock) ──orders──► guardian ──► command ──► its children
 *            ◄─────────────────news─────
 *
 * It is given all commands that it may have to run when it is forked, and runs one at a time, as orders say: one in
 * `run`, again and again in `elect`. It is forked before the session is opened: so it has one thread and none of the
 * keeper's descriptors. It is the subreaper of everything that the command starts. It knows the end of the lease from
 * memory that both share, and ends the command by itself when the keeper was killed, is stopped, or hangs.
 *
 *     the keeper is dead ──► all of the command dies ──► nothing of it is left ──► the ZooKeeper session is ended
 *
 * The last step lets the next holder begin at once, and not when the session expires. docs/adr/0040 says why it is
 * safe. The kernel says that the keeper is dead: it closes the last copy of the keeper's end of the channel when no
 * thread of the keeper can run any more. An end in order begins with CMD_BYE.
 */
#ifndef CMD_GUARD_H
#define CMD_GUARD_H

#include <paddock/paddock.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The memory that both share. The moments are by cmd_now_ms, INT64_MAX: never; the keeper writes them all the time.
 * over: the command is ended because of its lease, or nothing of it is left. The guardian sets it before it acts, and
 * the keeper clears it before the next start: a keeper that was held up may find its lease renewed, and its command
 * ended all the same. */
typedef struct {
    _Atomic int64_t term_at, kill_at;
    atomic_bool over;
} cmd_moments;

typedef struct {
    pid_t pid;
    int channel; /* readable: news; at its end: the guardian is dead */
    cmd_moments *moments;
} cmd_guard;

enum {
    /* Orders. */
    CMD_START = 1, /* number: the command's index; text: names and values of the environment, each ended with '\0' */
    CMD_SET,       /* text: more of the environment, before the start */
    CMD_FORWARD,   /* number: a signal for the group of the command */
    CMD_END,       /* TERM now, KILL after number ms */
    CMD_KILL,
    CMD_SECRET, /* text: a cmd_secret, of the ZooKeeper session as it is now */
    CMD_BYE,    /* the channel is closed next, and the session is the keeper's to close */
    /* News. */
    CMD_STARTED,    /* number: the pid, which is the group */
    CMD_REFUSED,    /* number: the errno of the exec; nothing runs */
    CMD_STOPPED,    /* number: the signal that stopped the command. It stands still until something continues it */
    CMD_WENT_ON,    /* a terminal stopped the command, as by Ctrl-Z, and it was continued at once */
    CMD_TERMED,     /* TERM was sent since the lease nears its end */
    CMD_LATE,       /* the lease is near its end, or over, so nothing is started */
    CMD_ENDED,      /* number: the status as by waitpid; processes that the command left behind are being ended */
    CMD_GONE,       /* number: the status as by waitpid; nothing of the command is left */
    CMD_STRANGER,   /* number: the pid of another user's process, which will not be ended when that is due; told once */
    CMD_UNKILLABLE, /* number: its pid; KILL was due, and refused; the next one is told when this one has ended */
};

enum { CMD_TEXT = 8192 };

typedef struct {
    int32_t kind, number;
    char text[CMD_TEXT];
} cmd_message;

/* The secret with which it ends the session. */
typedef struct {
    int64_t session;
    int32_t timeout_ms;
    unsigned char password[16];
    char servers[CMD_TEXT - 32]; /* "address:port,…" */
} cmd_secret;

/* Forks it. Each command ends with NULL. In the background its commands have no standard input and never the terminal.
 * -1 with errno when the system refuses. */
int cmd_guard_start(cmd_guard *guard, char **const *commands, bool background);
/* For `hold`, which has no command. The process that works under the lock has the other end of a pipe: it reads from
 * `ready`, or writes to `input`; -1: there is none. The guardian ends the session when the keeper is dead and that end
 * is closed, and only then: a worker that sees that the keeper is dead has the time of the lease to stop. */
int cmd_guard_start_for_hold(cmd_guard *guard, int ready, int input);
bool cmd_guard_order(const cmd_guard *guard, int kind, int number);
/* An order to start begins empty, and gets one variable after the other. *used is 0 at first. */
void cmd_guard_add(cmd_message *order, size_t *used, const char *name, const char *value);
bool cmd_guard_send(const cmd_guard *guard, const cmd_message *order);
/* false: the guardian is dead. */
bool cmd_guard_news(const cmd_guard *guard, cmd_message *news);
/* Tells it the present ZooKeeper session; to be called whenever that is another one, and when the connection is back,
 * since the servers may have moved. Only over the channel, and wiped after it. */
void cmd_guard_tell_secret(const cmd_guard *guard, pdk_session *session);
/* Lets it end: the session is the keeper's to close from now on. The keeper need not wait for it before the release. */
void cmd_guard_dismiss(cmd_guard *guard);
/* The same, and reaps it. */
void cmd_guard_stop(cmd_guard *guard);

#endif
