/* Name resolution that can be given up. getaddrinfo may take minutes and cannot be interrupted, so it runs on a thread of its
 * own. A caller that gives up leaves that thread behind, which finishes alone. */
#ifndef PDK_ZK_RESOLVER_H
#define PDK_ZK_RESOLVER_H

#include "zk/hosts.h"

#include <stdbool.h>

/* As pdk__hosts_resolve. give_up is asked every few milliseconds, on this thread; UNAVAILABLE when it said yes, SYSTEM when
 * no thread could be started. *servers and *why are the caller's to g_free; both NULL unless set. */
pdk_status pdk__resolve(const struct pdk__hosts *hosts, bool (*give_up)(void *user), void *user, char **servers,
                        char **why);

#endif
