/* Can two more threads be started? The client library aborts the process where it cannot start its two. */
#ifndef PDK_ZK_SPARE_H
#define PDK_ZK_SPARE_H

#include <stdbool.h>

/* true: two threads were started just now, and have ended again. Takes the time to start and end them. */
bool pdk__spare_threads(void);

#endif
