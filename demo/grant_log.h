/* All grants that the workers reported: who, with which token, and from when to when the hold was known to be valid. */
#ifndef DEMO_GRANT_LOG_H
#define DEMO_GRANT_LOG_H

#include "channel.h"

#include <glib.h>

struct grant {
    int64_t token;
    uint32_t handover;
    int64_t from_ns, until_ns; /* pdk_hold_is_valid said yes at both moments, so it was valid in between */
    char who[8];
};

struct grant_log {
    GArray *grants;
    GHashTable *by_token;
};

void grant_log_init(struct grant_log *grant_log);
void grant_log_clear(struct grant_log *grant_log);

/* A report of the kind HELD, LINGERS or BEAT. */
void grant_log_note(struct grant_log *grant_log, const struct report *report);

/* Fills cells that begin at from_ns with the letter of the process that held, '.' for none. cells gets a NUL. */
void grant_log_strip(const struct grant_log *grant_log, int64_t from_ns, int64_t cell_ns, char *cells, int count);

/* How many grants began in that time. *token is the latest token before its end, if there was one. */
int grant_log_turns(const struct grant_log *grant_log, int64_t from_ns, int64_t until_ns, int64_t *token);

/* How many different threads of the processes in letters had a grant. */
int grant_log_threads(const struct grant_log *grant_log, const char *letters);

/* The result of a check; problem is "" when all is well. */
struct finding {
    int64_t count; /* of the things that were checked */
    int64_t closest_ns;
    char problem[160];
};

/* Exclusion: no two grants were valid at the same instant. Sorts the grants by time. */
void grant_log_check_exclusion(struct grant_log *grant_log, struct finding *finding);
/* Token order: in time, (token, hand-over) increases strictly. Call it after grant_log_check_exclusion. */
void grant_log_check_tokens(const struct grant_log *grant_log, struct finding *finding);
/* The file: each line was written by the holder of its (token, hand-over), and these never decrease. */
void grant_log_check_file(const struct grant_log *grant_log, const char *path, struct finding *finding);

#endif
