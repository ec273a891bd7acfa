/* Phases and events in words, for log lines: the constant's name in lower case, "link up" for PDK__LINK_UP. */
#ifndef PDK_CORE_CONTENDER_NAMES_H
#define PDK_CORE_CONTENDER_NAMES_H

#include "core/contender.h"

const char *pdk__phase_name(enum pdk__phase phase);
const char *pdk__event_name(enum pdk__event_type type);

#endif
