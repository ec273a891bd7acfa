/* An election, from inside: the part that its files share. */
#ifndef PDK_ELECTION_INSIDE_H
#define PDK_ELECTION_INSIDE_H

#include "grant/queue.h"
#include "own_data.h"

#include <paddock/election.h>

struct pdk__candidacy;

struct pdk_election {
    atomic_uint refs;          /* of the users, and of services */
    struct pdk__queue *queue;  /* of candidates */
    enum pdk__kind kind;       /* of their nodes */
    struct pdk__own_data *own; /* of the candidate's node; a reference */
    /* under the monitor: at most one of them */
    struct pdk__candidacy *candidacy; /* NULL: no candidate with callbacks */
    pdk_service *service;
};

/* May this election have a candidate now? Under the monitor. */
pdk_status pdk__election_may_join(const pdk_election *election, const char *call);

#endif
