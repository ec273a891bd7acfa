/* Durations, as every option and the configuration write them: 5, 5s, 2m, 1.5h, 1h30m. */
#ifndef CMD_DURATION_H
#define CMD_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* The longest that any option takes: a billion seconds. */
#define CMD_DURATION_MOST INT64_C(1000000000000)

/* A number with ms, s, m, h or d, or several of them in a row, which add up. A number alone has the unit `bare_ms`.
 * *ms is never less than what was written: parts of a millisecond count as a whole one. false: it is no duration, or
 * one of more than thirty thousand years, and *ms stays. */
bool cmd_duration_parse(const char *text, int64_t bare_ms, int64_t *ms);

/* An option's duration; a number alone is seconds. NULL: *ms stays. false: it is no duration, or out of the range,
 * having said so. */
bool cmd_duration(const char *option, const char *text, int64_t least, int64_t most, int64_t *ms);
/* The same, where a number alone is ms. */
bool cmd_duration_in_ms(const char *option, const char *text, int64_t least, int64_t most, int64_t *ms);

#endif
