/* Lists the contenders in a queue. */
#ifndef PDK_CONTENDERS_INSIDE_H
#define PDK_CONTENDERS_INSIDE_H

#include "core/names.h"
#include "session/session.h"
#include "zk/calls.h"

#include <paddock/contenders.h>

/* A question for the children of dir that are in one queue with kind. */
struct pdk__listing {
    pdk_session *s;
    const char *call; /* the public one */
    const char *dir;  /* absolute, chroot included */
    enum pdk__kind kind;
    bool holder_only; /* the first one alone */
    int64_t timeout_ms;
};

/* INVALID: out or fn is NULL. Not under the monitor. */
pdk_status pdk__contenders_list(const struct pdk__listing *of, pdk_contenders **out);
pdk_status pdk__contenders_list_async(const struct pdk__listing *of, pdk_contenders_fn fn, void *user);

/* A pdk_contenders_fn: leaves the list to the caller whose out it gets. */
void pdk__contenders_keep(pdk_status status, pdk_contenders *list, void *out);

/* Lists: of none; of one whose node may not be read; and of one whose node was read. The last under the monitor. */
pdk_contenders *pdk__contenders_none(void);
pdk_contenders *pdk__contenders_hidden(const char *node);
pdk_contenders *pdk__contenders_one(pdk_session *s, const char *node, const char *data, size_t size,
                                    const struct pdk__reply *stat);

#endif
