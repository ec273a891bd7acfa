/*
 * The demo's wires: Unix sockets that keep messages apart, and the two kinds of messages on them.
 *
 *     worker   ── "token handover who seq" ──►  resource     answers "written" or "refused TOKEN HANDOVER" (largest seen)
 *     worker   ── struct report ──►  stage (demo.c)          what happened, for the screen and for the verdict
 *     worker   ◄── one letter ──  stage                      CUE_…
 *     resource ── struct report ──►  stage                   what it refused
 */
#ifndef DEMO_CHANNEL_H
#define DEMO_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CUE_LINGER = 'L', CUE_WRITE = 'W', CUE_RELEASE = 'R', CUE_QUIT = 'Q' };

enum report_kind {
    REPORT_HELLO = 1, /* a process joins; who: its name */
    REPORT_HELD,      /* a turn is over; valid from … until */
    REPORT_LINGERS,   /* a holder will keep the lock until it is told what to do; valid from … */
    REPORT_BEAT,      /* that hold was valid until … */
    REPORT_WOKE,      /* between two questions to that hold the process slept for `number` ms; the answer: word */
    REPORT_NAIVE,     /* that holder wrote without asking; the resource said: word */
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
    int64_t number;
    char who[8]; /* process and thread, "A3" */
    char word[16];
};

/* All of them end the program, with a word on standard error, when the system refuses. */
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
