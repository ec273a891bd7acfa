/* Lists the contenders in a queue. */
#ifndef PDK_CONTENDERS_INSIDE_H
#define PDK_CONTENDERS_INSIDE_H

#include "core/names.h"
#include "session/session.h"
#include "zk/calls.h"

#include <paddock/contenders.h>

/* List the children of dir (absolute, chroot included) that are in one queue with kind. holder_only: the first one
 * alone. Blocks. */
pdk_status pdk__contenders_query(pdk_session *s, const char *dir, enum pdk__kind kind, int64_t timeout_ms,
                                 const char *call, bool holder_only, pdk_contenders **out);

/* A list of one: what was read of a node. Under the monitor. */
pdk_contenders *pdk__contenders_one(pdk_session *s, const char *node, GBytes *data, const struct pdk__reply *stat);

#endif
