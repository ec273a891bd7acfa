/* Checking somebody else's sequencer, the printable proof of a hold (pdk_hold_sequencer), against ZooKeeper. */
#ifndef PADDOCK_SEQUENCER_H
#define PADDOCK_SEQUENCER_H

#include <paddock/session.h>

PDK_BEGIN_DECLS

/* Does the znode of this sequencer still stand, with this token? Read behind a quorum barrier, so that a cut-off server
 * cannot answer; blocks, at most timeout_ms. The hand-over number is local to the holder's process and is not checked:
 * order by (token, handover) at the resource.
 * PDK_OK: it does. LOST: it does not. INVALID: not a sequencer. UNAVAILABLE, NO_PERMISSION, CLOSED, AUTH,
 * WRONG_THREAD, FORKED. */
PDK_API pdk_status pdk_sequencer_check(pdk_session *session, const char *text, int64_t timeout_ms);

PDK_END_DECLS

#endif
