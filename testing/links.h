/*
 * The links between the servers of an ensemble, each through a proxy. Every server gets the proxies' addresses for its
 * peers, and for itself the address that it really binds.
 */
#ifndef TESTING_LINKS_H
#define TESTING_LINKS_H

#include <stdbool.h>

#include "server.h"

enum { PDK__TEST_NODES = 3 };

typedef struct pdk__test_links pdk__test_links;

/* Starts the proxies for all ordered pairs. NULL on failure. */
pdk__test_links *pdk__test_links_start(const pdk__test_server servers[PDK__TEST_NODES]);
void pdk__test_links_stop(pdk__test_links *links);

/* The server.N lines of node i's configuration (g_free). */
char *pdk__test_links_config(const pdk__test_links *links, const pdk__test_server servers[PDK__TEST_NODES], int i);

/* The first silences all links of node i, both ways. The second does so too, but hangs up its peers' ends. The third
 * ends all silence. */
void pdk__test_links_isolate(pdk__test_links *links, int i);
void pdk__test_links_depose(pdk__test_links *links, int i);
void pdk__test_links_heal(pdk__test_links *links);

#endif
