/* Listing who stands in line. */
#ifndef PDK_CONTENDERS_INSIDE_H
#define PDK_CONTENDERS_INSIDE_H

#include "line.h"

#include <paddock/contenders.h>

pdk_status pdk__contenders_query(struct pdk__line *line, int64_t timeout_ms, const char *call, bool holder_only,
                                 pdk_contenders **out);

#endif
