/* The environment of one contender, small enough to be checked by reading: a directory with nodes of ours and of
 * others, and the faults of a server. For fuzz_contender.c. */
#ifndef FUZZ_CONTENDER_ENVIRONMENT_H
#define FUZZ_CONTENDER_ENVIRONMENT_H

#include "core/contender.h"

enum { ENVIRONMENT_NODES = 12 };

enum environment_owner {
    ENVIRONMENT_FREE,
    ENVIRONMENT_OURS,
    ENVIRONMENT_OLDER, /* of an earlier session, with our mark */
    ENVIRONMENT_OTHERS,
    ENVIRONMENT_EXCHANGED, /* ours from before: the new one takes over its position in the queue */
};

enum environment_fault {
    ENVIRONMENT_HONEST,  /* executed, and the answer says so */
    ENVIRONMENT_NOT_NOW, /* not executed, later perhaps */
    ENVIRONMENT_LOST,    /* executed, or not, or later; the answer is unknown */
    ENVIRONMENT_REFUSED, /* not executed, for good */
};

struct environment {
    struct pdk__contender c;
    enum pdk__command doing; /* in flight */
    bool half;               /* the first of two answers was given */
    bool link, wanted, leaving, expired;
    bool dir;         /* it exists */
    bool refused;     /* a request was, for good */
    bool late_create; /* a create whose answer is lost may yet be executed */
    bool may_grant;   /* the event under way allows a grant */
    int64_t own_token;
    int32_t counter;
    bool named; /* our node takes over this position in the queue, and its number is given */
    int32_t position;
    struct {
        enum environment_owner owner;
        int32_t sequence;
    } nodes[ENVIRONMENT_NODES];
};

/* options: whether the directory and a node of an earlier session exist, whether ours takes over from another one of
 * ours, and how far the counter is from its wrap. */
void environment_begin(struct environment *e, uint8_t options);
/* Does a node of our session exist? */
bool environment_own(const struct environment *e);
void environment_join(struct environment *e);
/* Somebody's node goes, ours included; or the directory, when it is empty. */
void environment_remove(struct environment *e, uint8_t which);
/* A create whose answer was lost is executed, if there is one. */
void environment_late(struct environment *e);
void environment_expire(struct environment *e);
/* Execute the command in flight, or its first half, or do not, and fill in the event that answers it. event->view
 * points to a view to be filled in. chance: decides everything else that may go one way or the other. */
void environment_answer(struct environment *e, enum environment_fault fault, uint8_t chance, struct pdk__event *event);

#endif
