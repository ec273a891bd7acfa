/* The times of day of `job`. */
#ifndef CMD_JOB_TIMES_H
#define CMD_JOB_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* "01:30", "23:59:59": so long after midnight. NULL: *ms stays. false: no time, having said so. */
bool cmd_job_clock(const char *option, const char *text, int64_t *ms);

#endif
