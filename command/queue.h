/* A queue as `show` and `watch` print it. */
#ifndef CMD_QUEUE_H
#define CMD_QUEUE_H

#include "looker.h"

size_t cmd_queue_count(const cmd_queue *queue);
/* The same nodes stand in both. */
bool cmd_queue_is_same(const cmd_queue *a, const cmd_queue *b);
/* A line of headings, and one for each contender, of which at most `most` are printed. `all`: with the columns for which a
 * terminal has no room. Lines end at the width; 0: nowhere. */
void cmd_queue_print(const cmd_queue *queue, size_t most, bool all, guint width);
/* The member "contenders". */
void cmd_queue_add(GString *out, const cmd_queue *queue);

#endif
