/* The messages of a service to systemd, as sd_notify(3) sends them. */
#ifndef CMD_NOTIFY_H
#define CMD_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int socket;          /* -1: nobody listens */
    int64_t watchdog_ms; /* how often the watchdog wants to hear from us; INT64_MAX: never */
} cmd_notify;

/* Connects to NOTIFY_SOCKET. false with a word about it when that is not set, or nobody is there. */
bool cmd_notify_open(cmd_notify *notify);
/* Lines like "READY=1". A failure is ignored: systemd has its own timeouts. */
void cmd_notify_send(const cmd_notify *notify, const char *lines);
void cmd_notify_close(cmd_notify *notify);

#endif
