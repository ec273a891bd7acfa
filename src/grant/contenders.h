/* Listing who stands in line. */
#ifndef PDK_CONTENDERS_INSIDE_H
#define PDK_CONTENDERS_INSIDE_H

#include "core/names.h"
#include "session/session.h"

#include <paddock/contenders.h>

/* Of the children of dir (absolute, chroot included), those in one line with kind. Blocks. */
pdk_status pdk__contenders_query(pdk_session *s, const char *dir, enum pdk__kind kind, int64_t timeout_ms,
                                 const char *call, bool holder_only, pdk_contenders **out);

#endif
