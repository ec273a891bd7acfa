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

#endif
