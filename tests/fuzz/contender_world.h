/* The world of one contender, small enough to be right: a directory with nodes of ours and of others, and what a server may
 * do to a request. For fuzz_contender.c. */
#ifndef FUZZ_CONTENDER_WORLD_H
#define FUZZ_CONTENDER_WORLD_H

#include "core/contender.h"

enum { WORLD_NODES = 12 };

enum world_owner {
    WORLD_FREE,
    WORLD_OURS,
    WORLD_OLDER, /* of an earlier session, with our mark */
    WORLD_OTHERS,
    WORLD_EXCHANGED, /* ours from before, whose place in line the new one takes over */
};

enum world_fault {
    WORLD_HONEST,  /* executed, and the answer says so */
    WORLD_NOT_NOW, /* not executed, later perhaps */
    WORLD_LOST,    /* executed, or not, or later; the answer is unknown */
    WORLD_REFUSED, /* not executed, for good */
};

struct world {
    struct pdk__contender c;
    enum pdk__command doing; /* in flight */
    bool half;               /* the first of two answers was given */
    bool link, wanted, leaving, expired;
    bool dir;         /* it exists */
    bool refused;     /* something was, for good */
    bool late_create; /* a create whose answer is lost may yet be executed */
    bool may_grant;   /* what is being told allows a grant */
    int64_t own_token;
    int32_t counter;
    bool named; /* our node takes over this place in line, and its number is given */
    int32_t place;
    struct {
        enum world_owner owner;
        int32_t sequence;
    } nodes[WORLD_NODES];
};

/* options: whether the directory and a node of an earlier session are there, whether ours takes over the place of another one
 * of ours, and how far the counter is from its wrap. */
void world_begin(struct world *w, uint8_t options);
/* Does a node of our session exist? */
bool world_own(const struct world *w);
void world_join(struct world *w);
/* Somebody's node goes, ours included; or the directory, when it is empty. */
void world_remove(struct world *w, uint8_t which);
/* A create whose answer was lost is executed, if there is one. */
void world_late(struct world *w);
void world_expire(struct world *w);
/* Execute the command in flight, or its first half, or do not, and fill in the event that answers it. event->view is there
 * to be filled too. chance: whatever else may be one way or the other. */
void world_answer(struct world *w, enum world_fault fault, uint8_t chance, struct pdk__event *event);

#endif
