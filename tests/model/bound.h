/* How much of a model there is time for. Breadth first, so the part that is walked has every short history. */
#ifndef MODEL_BOUND_H
#define MODEL_BOUND_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#define MODEL_SANITIZED true
#else
#define MODEL_SANITIZED false
#endif

/* How many states of one configuration are walked; 0: all of them. A sanitizer has its own bound. Elsewhere PDK_MODEL_STATES
 * sets one, as the everyday suite does. */
static inline uint64_t model_bound(uint64_t sanitized) {
    const char *text = getenv("PDK_MODEL_STATES");
    return MODEL_SANITIZED ? sanitized : text ? strtoull(text, NULL, 10) : 0;
}

#endif
