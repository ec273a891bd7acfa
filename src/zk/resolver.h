/* Looks up names by the system's resolver. getaddrinfo may take minutes and cannot be interrupted, so each look-up runs
 * on a thread of its own. The address of a number is known at once. */
#ifndef PDK_ZK_RESOLVER_H
#define PDK_ZK_RESOLVER_H

#include "zk/names.h"

/* A pdk__look_up. */
bool pdk__resolve(struct pdk__names *names, unsigned index, const char *name);

#endif
