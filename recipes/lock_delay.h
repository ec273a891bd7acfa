/* The lock-delay of a queue, which core/delay.h explains. */
#ifndef PDK_RECIPE_LOCK_DELAY_H
#define PDK_RECIPE_LOCK_DELAY_H

#include "grant/queue.h"

/* INVALID: lock_delay_ms is negative. */
pdk_status pdk__lock_delay_check(int32_t lock_delay_ms);
/* The queue keeps it, before its first claim. 0: there is none, and nothing changes. */
void pdk__lock_delay_keep(struct pdk__queue *queue, int32_t lock_delay_ms);

#endif
