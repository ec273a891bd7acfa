/* Host lists: "host:port,host:port…[/chroot]", in words. names.h has the addresses of the names. */
#ifndef PDK_ZK_HOSTS_H
#define PDK_ZK_HOSTS_H

#include <paddock/status.h>
#include <stdint.h>

struct pdk__hosts {
    char **names; /* of servers; NULL-terminated, parallel to ports */
    uint16_t *ports;
    unsigned count;
    char *chroot; /* "" or "/…" */
};

/* INVALID, with the reason as the error text. */
pdk_status pdk__hosts_parse(const char *text, struct pdk__hosts **out);
void pdk__hosts_free(struct pdk__hosts *hosts);

#endif
