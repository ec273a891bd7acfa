/* A candidate with callbacks. */
#ifndef PDK_ELECTION_CANDIDATE_H
#define PDK_ELECTION_CANDIDATE_H

#include "election.h"

/* pdk_election_join, with checked arguments. Not under the monitor. */
pdk_status pdk__candidate_begin(pdk_election *election, const pdk_election_callbacks *calls);

#endif
