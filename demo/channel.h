/*
 * The demo's connections: Unix sockets that keep messages apart, and the two kinds of messages on them.
 *
 *     worker   ── "token handover who seq" ──►  resource     answers "written" or "refused TOKEN HANDOVER" (largest seen)
 *     worker   ── struct report ──►  demo (demo.c)           events, for the screen and for the verdict
 *     worker   ◄── one letter ──  demo                       COMMAND_…
 *     resource ── struct report ──►  demo                    writes that it refused
 */
#ifndef DEMO_CHANNEL_H
#define DEMO_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { COMMAND_LINGER = 'L', COMMAND_WRITE = 'W', COMMAND_RELEASE = 'R', COMMAND_QUIT = 'Q' };

enum report_kind {
    REPORT_HELLO = 1, /* a process joins; who: its name */
    REPORT_HELD,      /* a hold has ended; valid from … until */
    REPORT_LINGERS,   /* a holder keeps the lock until a command comes; valid from … */
    REPORT_BEAT,      /* that hold was valid until … */
    REPORT_WOKE,      /* the process slept for `number` ms between two questions to that hold; the answer: word */
    REPORT_NAIVE,     /* that holder wrote without asking; the resource answered: word */
    REPORT_LOST,      /* a LOST callback ran; the reason: word */
    REPORT_SESSION,   /* a session event: word */
    REPORT_TROUBLE,   /* a call failed; its status: word */
    REPORT_REFUSED,   /* the resource refused who's write with this token; number: the largest token seen */
};

struct report {
    int32_t kind;
    uint32_t handover;
    int64_t token;
    int64_t from_ns, until_ns; /* CLOCK_BOOTTIME */
    int64_t at_ns;             /* when this was reported */
    int64_t number;
    char who[8]; /* process and thread, "A3" */
    char word[16];
};

/* All of them end the program, with a message on standard error, when the system refuses. */
int channel_listen(const char *path);
int channel_accept(int listener);
int channel_connect(const char *path);

/* False when the other side is gone. */
bool channel_send(int fd, const void *message, size_t size);
/* Waits for a message; 0 when the other side is gone. A text that is shorter than the buffer gets its NUL. */
size_t channel_receive(int fd, void *message, size_t size);

/* Nanoseconds of CLOCK_BOOTTIME, the same for all processes of the machine. */
int64_t demo_now(void);

#endif
