/* The checks of every recipe before it makes its object. */
#ifndef PDK_RECIPE_H
#define PDK_RECIPE_H

#include "grant/queue.h"

#include <paddock/naming.h>

/* Are session, path and out usable? INVALID, CLOSED, AUTH, FORKED. */
pdk_status pdk__recipe_check(pdk_session *session, const char *path, const void *out, const char *call);
/* INVALID: not a naming; or max_handovers or max_handover_ms is negative. */
pdk_status pdk__recipe_check_naming(int32_t naming);
pdk_status pdk__recipe_handovers(int32_t max_handovers, int32_t max_handover_ms, struct pdk__handovers *handovers);
/* INVALID: reentrant is neither 0 nor 1. */
pdk_status pdk__recipe_check_reentrant(int32_t reentrant);
/* INVALID: identity is empty, too long or not UTF-8. NULL is fine. */
pdk_status pdk__recipe_check_identity(const char *identity);

static inline enum pdk__profile pdk__recipe_profile(int32_t naming) {
    return naming == PDK_NAMING_KAZOO ? PDK__KAZOO : PDK__CURATOR;
}

#endif
