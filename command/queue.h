/* A queue as `show` and `watch` print it. */
#ifndef CMD_QUEUE_H
#define CMD_QUEUE_H

#include "looker.h"
#include <json-glib/json-glib.h>

/* A line of headings, and one for each contender, of which at most `most` are printed. */
void cmd_queue_print(const cmd_looker *looker, const pdk_contenders *list, size_t most);
/* The member "contenders". */
void cmd_queue_add(JsonBuilder *builder, const cmd_looker *looker, const pdk_contenders *list);

#endif
