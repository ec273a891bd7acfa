/* The transitions of contenders: which were seen, and which the table at the head of core/contender.h allows. */
#ifndef MODEL_TRANSITIONS_H
#define MODEL_TRANSITIONS_H

#include "core/contender.h"

#include <stdio.h>

enum { PHASES = PDK__GONE + 1, EVENTS = PDK__PAUSED + 1 };

/* How often a contender went from one phase to another, or stayed, at an event: [before][event][after]. */
typedef uint64_t transitions_seen[PHASES][EVENTS][PHASES];

/* Those of the model's contenders, since the program began. */
extern transitions_seen model_transitions;

/* A contender alone, without the model: every event in every order that the driver can bring, and every answer, also those
 * that the model's servers never give. Adds what it sees; returns the number of states. */
uint64_t transitions_walk(transitions_seen seen);

/* The meaning of a phase in a cell. */
enum transitions_mark {
    TRANSITION_IMPOSSIBLE,
    TRANSITION_MODEL, /* the model reaches it */
    TRANSITION_ALONE, /* only the contender alone reaches it */
};

struct transitions_table {
    enum transitions_mark marks[PHASES][EVENTS][PHASES];
};

/* Reads the table out of the text of contender.h. false: it is malformed, and why says how. */
bool transitions_parse(const char *text, struct transitions_table *table, char why[256]);
/* Is the table what was seen, by the model and by the contender alone? Otherwise false, and the first difference in words.
 * complete: the model's walk left nothing out, so that what it did not see is missing. */
bool transitions_match(const struct transitions_table *table, transitions_seen model, transitions_seen alone,
                       bool complete, char why[256]);

#endif
