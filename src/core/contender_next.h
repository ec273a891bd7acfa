/* The next command of a contender, from the known facts alone. For contender.c. */
#ifndef PDK_CORE_CONTENDER_NEXT_H
#define PDK_CORE_CONTENDER_NEXT_H

#include "core/contender.h"

enum pdk__command pdk__contender_next(const struct pdk__contender *c);

#endif
