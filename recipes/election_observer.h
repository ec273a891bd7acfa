/* An observer of an election. */
#ifndef PDK_ELECTION_OBSERVER_H
#define PDK_ELECTION_OBSERVER_H

#include "election.h"

#include <paddock/leader.h>

/* pdk_election_observe, or pdk_election_observe_data where data_fn is not NULL, with checked arguments and a usable
 * session. Under the monitor. */
pdk_observer *pdk__observer_begin(pdk_election *election, pdk_leader_fn fn, pdk_leader_data_fn data_fn, void *user,
                                  void (*user_free)(void *user));
/* A candidate of this session leads. Observers that have nothing to watch, because there was no directory, look now.
 * Under the monitor. */
void pdk__observers_elected(const struct pdk__queue *queue);

#endif
