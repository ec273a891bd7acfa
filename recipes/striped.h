/* A striped lock, from inside. */
#ifndef PDK_RECIPE_STRIPED_H
#define PDK_RECIPE_STRIPED_H

#include "grant/queue.h"

#include <paddock/striped.h>

/* The queue of claims for any stripe, at <path>/any, with the gate of striped_any.c. One reference, the caller's. */
struct pdk__queue *pdk__any_queue(pdk_session *session, const char *path, int32_t stripes,
                                  struct pdk__handovers handovers);
/* The path of a stripe, below that path: g_free. */
char *pdk__stripe_path(const char *path, int32_t stripe);

#endif
