#include "zk/tls.h"

#include "zk/logs.h"

#include <errno.h>

/* The header declares it only where the library was built with OpenSSL. Elsewhere a weak reference is null, in a shared
 * library as in a static one, which dlsym does not see. */
extern zhandle_t *zookeeper_init_ssl(const char *host, const char *certificates, watcher_fn watcher, int timeout_ms,
                                     const clientid_t *id, void *context, int flags) __attribute__((weak));

bool pdk__zk_has_tls(void) { return zookeeper_init_ssl != NULL; }

zhandle_t *pdk__tls_init(const struct pdk__zk_config *config, watcher_fn watcher, void *context) {
    if (!zookeeper_init_ssl) {
        errno = ENOSYS;
        return NULL;
    }
    zhandle_t *handle = zookeeper_init_ssl(config->servers, config->tls, watcher, config->timeout_ms, NULL, context,
                                           ZOO_NO_LOG_CLIENTENV);
    /* It takes no callback for its log, so earlier lines go to its own stream. */
    if (handle)
        zoo_set_log_callback(handle, pdk__logs_queue);
    return handle;
}
