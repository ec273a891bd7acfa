/* Would there be two more threads? The client library takes them for granted: where it cannot have them it aborts the process. */
#ifndef PDK_ZK_SPARE_H
#define PDK_ZK_SPARE_H

#include <stdbool.h>

/* There were, a moment ago, and they are free again. Takes the time to start them and to end them. */
bool pdk__spare_threads(void);

#endif
