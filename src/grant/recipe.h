/* What every recipe checks before it has an object. */
#ifndef PDK_RECIPE_H
#define PDK_RECIPE_H

#include "grant/queue.h"

#include <paddock/naming.h>

/* Session, path and out are usable: INVALID, CLOSED, AUTH, FORKED. */
pdk_status pdk__recipe_check(pdk_session *session, const char *path, const void *out, const char *call);
/* INVALID: no naming; max_handovers or max_handover_ms negative. */
pdk_status pdk__recipe_check_naming(int32_t naming);
pdk_status pdk__recipe_handovers(int32_t max_handovers, int32_t max_handover_ms, struct pdk__handovers *handovers);
/* reserved is 0, or else INVALID. */
pdk_status pdk__recipe_check_reserved(int32_t reserved);

static inline enum pdk__profile pdk__recipe_profile(int32_t naming) {
    return naming == PDK_NAMING_KAZOO ? PDK__KAZOO : PDK__CURATOR;
}

#endif
