/* Time that goes on while the machine sleeps, as servers count it. */
#ifndef CMD_CLOCK_H
#define CMD_CLOCK_H

#include <stdint.h>

int64_t cmd_now_ms(void);

/* A descriptor that turns readable at a moment of cmd_now_ms, also right after a sleep. -1: the system has none
 * left. */
int cmd_alarm_new(void);
/* INT64_MAX: never. A moment that is over: at once. */
void cmd_alarm_set(int alarm, int64_t at_ms);

#endif
