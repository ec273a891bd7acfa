/* SPDX-License-Identifier: Apache-2.0 */
/* Checking a sequencer, the printable proof of a hold, against ZooKeeper. pdk_hold_sequencer
 * returns one. Any client can check the sequencer of any other. */
#ifndef PADDOCK_SEQUENCER_H
#define PADDOCK_SEQUENCER_H

#include <paddock/answer.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

/* Does the znode of this sequencer still exist, with this token? Blocks, at most timeout_ms. Any
 * thread may call it, but not a callback.
 *
 * The answer is read behind a quorum barrier, so a server that is cut off cannot give it. The
 * hand-over number is local to the holder's process, and is not checked: the resource orders by
 * (token, handover). The token's generation has to be this session's token_base: a sequencer of
 * another generation is LOST. The text names the znode with the holder's chroot, so the chroot of
 * this session does not matter.
 *
 *   session     an open session to the same ensemble
 *   text        as pdk_hold_sequencer returned it, at most 1024 bytes
 *   timeout_ms  0 or more, or PDK_FOREVER. 0 leaves no time for an answer.
 *
 *   PDK_OK             the znode exists and has this token
 *   PDK_LOST           the znode does not exist any more, or another one has its name
 *   PDK_UNAVAILABLE    no server answered behind a barrier within timeout_ms
 *   PDK_NO_PERMISSION  an access control list forbids the check
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_session_check_sequencer(pdk_session *session, const char *text,
                                               int64_t timeout_ms);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h). Any thread may
 * call it, also in a callback.
 *
 *   PDK_OK  fn will be called, with a status above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_session_check_sequencer_async(pdk_session *session, const char *text,
                                                     int64_t timeout_ms, pdk_answered_fn fn,
                                                     void *user);

PDK_END_DECLS

#endif
