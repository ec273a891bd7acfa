/* The times of `job`: of a day, and of cron. */
#ifndef CMD_JOB_TIMES_H
#define CMD_JOB_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* "01:30", "23:59:59": so long after midnight. NULL: *ms stays. false: no time, having said so. */
bool cmd_job_clock(const char *option, const char *text, int64_t *ms);

/* Is it a text for cron, "30 2 * * *" or "@daily", and no duration? NULL is none. */
bool cmd_job_is_schedule(const char *text);

#endif
