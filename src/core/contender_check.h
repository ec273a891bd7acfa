/* The invariants of a contender after every step, as assertions. */
#ifndef PDK_CORE_CONTENDER_CHECK_H
#define PDK_CORE_CONTENDER_CHECK_H

#include "core/contender.h"

void pdk__contender_check(const struct pdk__contender *c);

#endif
