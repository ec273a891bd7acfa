/* The copies of a request that are kept until it is sent, or answered. */
#ifndef PDK_ZK_REQUEST_H
#define PDK_ZK_REQUEST_H

#include "zk/calls.h"

#include <glib.h>

/* A copy of its data, or NULL. g_free. */
static inline char *pdk__request_data(const struct pdk__request *r) {
    return r->data_size > 0 ? (char *)g_memdup2(r->data, r->data_size) : g_strdup(r->data);
}

#endif
