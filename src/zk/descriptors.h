/* The open descriptors of the process. */
#ifndef PDK_ZK_DESCRIPTORS_H
#define PDK_ZK_DESCRIPTORS_H

#include <glib.h>

/* Their numbers (int), as they are while this runs; NULL: the system does not tell. To be freed. */
GArray *pdk__descriptors(void);

#endif
