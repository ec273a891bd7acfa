/* Who stands in line on a path: a snapshot, oldest first. Immutable, so any thread may read it. */
#ifndef PADDOCK_CONTENDERS_H
#define PADDOCK_CONTENDERS_H

#include <paddock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PDK_BEGIN_DECLS

typedef struct pdk_contenders pdk_contenders;

PDK_API size_t pdk_contenders_count(const pdk_contenders *list);
/* index below count, else NULL or 0. Identity and node are valid until the list is freed; both were written by others:
 * escape them before they reach a terminal. */
PDK_API const char *pdk_contenders_identity(const pdk_contenders *list, size_t index); /* node data as text */
PDK_API const char *pdk_contenders_node(const pdk_contenders *list, size_t index);     /* name of the znode */
PDK_API int64_t pdk_contenders_session(const pdk_contenders *list, size_t index);      /* ZooKeeper session id */
PDK_API int64_t pdk_contenders_token(const pdk_contenders *list, size_t index);        /* czxid */
PDK_API int64_t pdk_contenders_since_ms(const pdk_contenders *list, size_t index); /* server's clock, ms since 1970 */
/* A reader of a read/write lock. */
PDK_API bool pdk_contenders_is_shared(const pdk_contenders *list, size_t index);
PDK_API void pdk_contenders_free(pdk_contenders *list);

PDK_END_DECLS

#endif
