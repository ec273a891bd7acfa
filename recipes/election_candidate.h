/* A candidate with callbacks. */
#ifndef PDK_ELECTION_CANDIDATE_H
#define PDK_ELECTION_CANDIDATE_H

#include "election.h"

struct pdk__candidacy;

/* The calls of <paddock/election.h>, with checked arguments. Not under the monitor. */
pdk_status pdk__candidacy_begin(pdk_election *election, const pdk_election_callbacks *calls);
pdk_status pdk__candidacy_leave(pdk_election *election);
pdk_status pdk__candidacy_resign(pdk_election *election);
pdk_status pdk__candidacy_await(pdk_election *election, int64_t timeout_ms, pdk_hold **out);

/* For a call that waits until it leads. A reference, or NULL: it is no candidate. Under the monitor. */
struct pdk__candidacy *pdk__candidacy_of(const pdk_election *election);
/* OK: it leads, and *hold is a reference. TIMEOUT: not yet, and *waiters is what to wait on. NOT_HELD, CANCELED, the session's end.
 * Under the monitor. */
pdk_status pdk__candidacy_look(struct pdk__candidacy *c, pdk_hold **hold, struct pdk__waiters **waiters);
/* NULL is allowed. Not under the monitor. */
void pdk__candidacy_unref(struct pdk__candidacy *c);

#endif
