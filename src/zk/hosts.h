/* Host lists: "host:port,host:port…[/chroot]", in words and as numeric addresses. */
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
struct pdk__hosts *pdk__hosts_copy(const struct pdk__hosts *hosts);
void pdk__hosts_free(struct pdk__hosts *hosts);

/* Ask the system's resolver; blocks for as long as that takes. RESOLVE when no name has an address, and the reason in why.
 * The same addresses make the same text, in any order of finding.
 * The list has an odd number of entries: the client library skips every second one of an even list when it reconnects. */
pdk_status pdk__hosts_resolve(const struct pdk__hosts *hosts, char **servers, char **why);

#endif
