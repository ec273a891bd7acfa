/*
 * The links between the servers of an ensemble, each through a proxy. Every server gets the proxies' addresses for its peers,
 * and for itself the address it really binds.
 */
#ifndef TS_LINKS_H
#define TS_LINKS_H

#include <stdbool.h>

#include "ts_server.h"

enum { TS_NODES = 3 };

typedef struct ts_links ts_links;

/* Starts the proxies for all ordered pairs. NULL on failure. */
ts_links *ts_links_start(const ts_server servers[TS_NODES]);
void ts_links_stop(ts_links *links);

/* The server.N lines of node i's configuration (g_free). */
char *ts_links_config(const ts_links *links, const ts_server servers[TS_NODES], int i);

/* The first silences all links of node i, both ways. The second does so too, but hangs up its peers' ends. The third
 * ends all silence. */
void ts_links_isolate(ts_links *links, int i);
void ts_links_depose(ts_links *links, int i);
void ts_links_heal(ts_links *links);

#endif
