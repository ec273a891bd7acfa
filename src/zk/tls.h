/* TLS of the client library, which not every build of it has. */
#ifndef PDK_ZK_TLS_H
#define PDK_ZK_TLS_H

#include "zk/calls.h"

#include <zookeeper/zookeeper.h>

/* As zookeeper_init2, with config->tls. NULL and ENOSYS: it has no TLS. */
zhandle_t *pdk__tls_init(const struct pdk__zk_config *config, watcher_fn watcher, void *context);

#endif
