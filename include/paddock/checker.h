/* SPDX-License-Identifier: Apache-2.0 */
/* Checking the same sequencers, the proofs of holds, often: a checker asks ZooKeeper once, and a
 * watch keeps the answer current. pdk_session_check_sequencer asks each time.
 *
 * How old an answer may be: PDK_OK says that the node stood within the last session timeout of the
 * checker's session, and that no deletion has been heard of since. With a connection a deletion is
 * heard of within a round trip. Without one, PDK_OK is answered as long as the session has a lease,
 * and no longer: until then no server can have given up the checker's own session. PDK_LOST is
 * final.
 *
 * Ownership: a checker is reference counted, and has a reference to its session. Any thread may
 * make every call below, also in a callback.
 */
#ifndef PADDOCK_CHECKER_H
#define PADDOCK_CHECKER_H

#include <paddock/session.h>

PDK_BEGIN_DECLS

typedef struct pdk_checker pdk_checker;

/* The options of a checker. Fill with PDK_CHECKER_OPTIONS_INIT, then change the options that you
 * need. See pdk_session_options about size. */
typedef struct pdk_checker_options {
    /* sizeof(pdk_checker_options), in bytes. */
    size_t size;
    /* How many nodes are remembered. A new one replaces the one that nobody has asked about for
     * longest. Default 1000, 1 to 100000. Each that stands is read again once per session timeout,
     * and after a reconnect, in case a watch was lost; while there is one, the session renews its
     * lease as it does for a hold. */
    int32_t capacity;
} pdk_checker_options;

#define PDK_CHECKER_OPTIONS_INIT {sizeof(pdk_checker_options), 1000}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_checker_options_init(pdk_checker_options *options, size_t size);

/* Make a checker on a session. Does not wait.
 *   options  or NULL for the defaults
 *
 *   PDK_OK  *out is the checker, with one reference. Give it back with pdk_checker_unref.
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_checker_new(pdk_session *session,
                                                const pdk_checker_options *options,
                                                pdk_checker **out);
/* One more reference. Returns checker; NULL is allowed. */
PDK_API pdk_checker *pdk_checker_ref(pdk_checker *checker);
/* Gives a reference back. The last one ends the checker; no thread may be in a call on it then.
 * NULL is allowed. Does nothing in the child of a fork. */
PDK_API void pdk_checker_unref(pdk_checker *checker);

/* Does the znode of this sequencer still exist, with this token? As pdk_session_check_sequencer,
 * but from memory where possible: that takes about a microsecond, and no request. Otherwise it
 * blocks, at most timeout_ms. In a callback timeout_ms has to be 0.
 *   text        as pdk_hold_sequencer returned it, at most 1024 bytes
 *   timeout_ms  0 or more, or PDK_FOREVER. With 0 it does not wait: where the answer is not known,
 *               ZooKeeper is asked in the background, for the next call.
 *
 *   PDK_OK             the znode exists and has this token; see above how old that may be
 *   PDK_LOST           the znode does not exist any more, or another one has its name
 *   PDK_UNAVAILABLE    no server answered behind a barrier within timeout_ms, or the lease of the
 *                      checker's session is over
 *   PDK_NO_PERMISSION  an access control list forbids the check
 *   PDK_LIMIT          more calls wait for different nodes than the checker remembers, or the
 *                      watched paths of the session have 900 kB together
 *   PDK_WRONG_THREAD   called from a callback, with a timeout_ms other than 0
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API pdk_status pdk_checker_check(pdk_checker *checker, const char *text, int64_t timeout_ms);

PDK_END_DECLS

#endif
