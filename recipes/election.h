/* An election, from inside: what its files share. */
#ifndef PDK_ELECTION_INSIDE_H
#define PDK_ELECTION_INSIDE_H

#include "grant/queue.h"
#include "own_data.h"

#include <paddock/election.h>

struct pdk__candidacy;

struct pdk_election {
    atomic_uint refs;         /* of the users, and of services */
    struct pdk__queue *queue; /* of candidates */
    enum pdk__kind kind;      /* of their nodes */
    const char *call;         /* the one that joins, for words */
    struct pdk__own_data own; /* of the candidate's node */
    /* Of a member: its node was made with data that were replaced meanwhile. Under the monitor. */
    void (*amend)(pdk_election *election, pdk_hold *hold);
    /* under the monitor: at most one of them */
    struct pdk__candidacy *candidacy;
    pdk_service *service;
};

/* May this election have a candidate now? Under the monitor. */
pdk_status pdk__election_may_join(const pdk_election *election, const char *call);

#endif
