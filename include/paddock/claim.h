/* A claim: one pending acquisition, of whatever recipe. */
#ifndef PADDOCK_CLAIM_H
#define PADDOCK_CLAIM_H

#include <paddock/hold.h>
#include <paddock/status.h>
#include <stdint.h>

PDK_BEGIN_DECLS

typedef struct pdk_claim pdk_claim;

/* status as the blocking call answers it; hold is not NULL exactly when status is PDK_OK, and the callback owns it. Called
 * exactly once, where callbacks run, never from inside the call that made the claim. */
typedef void (*pdk_acquired_fn)(pdk_status status, pdk_hold *hold, void *user);

/* Give up. PDK_OK: fn will be called with CANCELED. NOT_HELD: too late, fn was or will be called with another result,
 * and when that is a hold it is the callback's to release. */
PDK_API pdk_status pdk_claim_cancel(pdk_claim *claim);
/* How many are ahead, other processes and local threads, as of the last listing this claim had reason to make.
 * UNAVAILABLE: no server has confirmed a place in line yet. NOT_HELD: the claim has ended. */
PDK_API pdk_status pdk_claim_position(pdk_claim *claim, int32_t *ahead);
PDK_API pdk_claim *pdk_claim_ref(pdk_claim *claim);
/* Gives the reference back and no more: a claim goes on without it. */
PDK_API void pdk_claim_unref(pdk_claim *claim);

PDK_END_DECLS

#endif
