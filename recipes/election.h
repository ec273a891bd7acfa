/* The election, from inside: what its files share. */
#ifndef PDK_ELECTION_INSIDE_H
#define PDK_ELECTION_INSIDE_H

#include "grant/queue.h"

#include <paddock/election.h>

struct pdk__candidacy;

struct pdk_election {
    atomic_uint refs;         /* of the users, and of services */
    struct pdk__queue *queue; /* of candidates */
    enum pdk__kind kind;      /* of their nodes */
    /* under the monitor: at most one of them */
    struct pdk__candidacy *candidacy;
    pdk_service *service;
};

/* May this election have a candidate now? Under the monitor. */
pdk_status pdk__election_may_join(const pdk_election *election, const char *call);

/* --- election_candidate.c */
/* The same as the calls of election.h, their arguments checked. Not under the monitor. */
pdk_status pdk__candidacy_begin(pdk_election *election, const pdk_election_callbacks *calls);
pdk_status pdk__candidacy_leave(pdk_election *election);
pdk_status pdk__candidacy_resign(pdk_election *election);
pdk_status pdk__candidacy_await(pdk_election *election, int64_t timeout_ms, pdk_hold **out);
/* The line's right ended. Under the monitor. */
void pdk__candidacy_ended(struct pdk__candidacy *candidacy, pdk_reason reason);

/* --- election_observer.c */
/* What pdk_election_observe does, its arguments checked, in a session that is usable. Under the monitor. */
pdk_observer *pdk__observer_begin(pdk_election *election, pdk_leader_fn fn, void *user, void (*user_free)(void *user));

/* --- election_service.c */
/* The same for a service. */
void pdk__service_ended(pdk_service *service);

#endif
