/* The checks at the start of a call that may block: whether it is allowed, and until when. */
#ifndef PDK_SESSION_BLOCKING_H
#define PDK_SESSION_BLOCKING_H

#include "session/session.h"

/* PDK_OK, or the status that the session ended with. Under the monitor, so in the process that opened it. */
pdk_status pdk__session_usable(pdk_session *s, const char *call);
/* The same; and UNAVAILABLE: there is no ZooKeeper session now. Under the monitor. */
pdk_status pdk__session_connected(pdk_session *s, const char *call);
/* INVALID: no session, or a bad timeout. FORKED. Not under the monitor. */
pdk_status pdk__check_call(pdk_session *s, const char *call, int64_t timeout_ms);
/* The same, and WRONG_THREAD in a callback. */
pdk_status pdk__may_block(pdk_session *s, const char *call, int64_t timeout_ms);
/* The moment timeout_ms from now; INT64_MAX for PDK_FOREVER. */
int64_t pdk__deadline(pdk_session *s, int64_t timeout_ms);
/* The same, from a moment that was read before. */
int64_t pdk__deadline_after(int64_t now, int64_t timeout_ms);

#endif
