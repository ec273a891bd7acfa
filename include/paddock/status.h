/* SPDX-License-Identifier: Apache-2.0 */
/* The statuses that calls answer, and the reason of a failure in words.
 *
 * A status tells the caller how to go on, and not the event on the wire that it came from. Ask the
 * predicates below first, and the value after that. The comment, and the manual page, of each call
 * names all statuses that the call can answer. It explains what is special about them there; the
 * general meaning stands here.
 *
 * Any thread may call every function of this header, also in a callback and after a fork.
 */
#ifndef PADDOCK_STATUS_H
#define PADDOCK_STATUS_H

#include <paddock/version.h>
#include <stdbool.h>

PDK_BEGIN_DECLS

/* ---- the statuses that every call may have
 *
 * The comment of a call names those of them that it can answer in one line, "Common". A row of its
 * own says what is special: in place of the meaning here, or beside it where the line has the name
 * as well. PDK_WRONG_THREAD in that line goes with the word "Blocks".
 *
 *   PDK_INVALID       an argument is NULL where that is not allowed, or outside the range or form
 *                     that is stated for it; a time is negative, and not PDK_FOREVER. The error
 *                     text names the argument. Nothing was done
 *   PDK_CLOSED        the session is closed: it was when the call was made, or was closed while the
 *                     call waited
 *   PDK_AUTH          the server refused the credentials, which ends the session: before the call,
 *                     or while it waited
 *   PDK_FORKED        the handle belongs to the parent process. After a fork the child opens a
 *                     session of its own
 *   PDK_WRONG_THREAD  called from a callback, of whichever session */

/* All statuses: X(NAME, value, text). A value never changes once it is released. These are not
 * above:
 *
 *   PDK_OK             the call has done its work; one with a callback has taken the request
 *   PDK_TIMEOUT        the time is over, and the call waited in vain, or the event came too late: a
 *                      grant, the end of a close
 *   PDK_BUSY           the right is not free at this moment: somebody has it or is ahead, or a
 *                      delay runs
 *   PDK_CANCELED       the wait was given up: by a cancel, an interrupt, or the last unref of the
 *                      object
 *   PDK_LOST           the hold is no longer valid, and its owner has not released it; of a
 *                      sequencer: its znode is gone
 *   PDK_NOT_HELD       the call came too late, or too early: it is released, left, resigned,
 *                      decided, or was never joined
 *   PDK_DEADLOCK       this thread would wait for itself
 *   PDK_UNAVAILABLE    no server has confirmed it in time, or so far. A change may have been made
 *   PDK_RESOLVE        not one host name of the servers could be resolved
 *   PDK_NO_PERMISSION  an access control list forbids this session to read, list, write, create or
 *                      delete a node
 *   PDK_UNSUPPORTED    it cannot be done: by this build, by the servers as they are, or with this
 *                      object
 *   PDK_LIMIT          it would be more than a limit allows: one that the comment states, or the
 *                      room that the caller has given
 *   PDK_EXHAUSTED      a directory has given out all of its sequence numbers
 *   PDK_SYSTEM         the operating system refused something or failed: a thread, a descriptor, a
 *                      file, the disk, memory of a fence
 *   PDK_UPGRADE        this thread reads, and wants to write: it has to release first
 *   PDK_MISMATCH       the path is in use with another number of permits or stripes, or with
 *                      another lock-delay
 *   PDK_STALE          the fence has admitted a later hold, so this one is over
 *   PDK_DAMAGED        a file or a znode has content that does not belong there
 *   PDK_REWOUND        the servers were wiped or restored, and give smaller tokens than before: see
 *                      pdk_session_token_seen
 *   PDK_ABSENT         there is no data to read, replace or delete
 *   PDK_EXISTS         there is data where none may be
 *   PDK_REPLACED       somebody else wrote or deleted data that only the holder, or the member,
 *                      writes
 *   PDK_GONE           nobody holds it, or the contender that was named is not there
 *   PDK_SKIPPED        no run of the job is due now
 *   PDK_UNPROTECTED    others than the session's access allows may change a node that it relies on:
 *                      see access.h, "Existing nodes" */
#define PDK_STATUS_MAP(X)                                                                          \
    X(OK, 0, "success")                                                                            \
    X(TIMEOUT, 1, "the deadline passed")                                                           \
    X(BUSY, 2, "it is not free now")                                                               \
    X(CANCELED, 3, "the wait was cancelled or interrupted")                                        \
    X(LOST, 4, "the hold is lost or over")                                                         \
    X(NOT_HELD, 5, "it is not held: released, ended or never begun")                               \
    X(DEADLOCK, 6, "this thread would wait for itself")                                            \
    X(WRONG_THREAD, 7, "the call is not allowed in a callback")                                    \
    X(UNAVAILABLE, 8, "no server has confirmed it in time, or yet")                                \
    X(RESOLVE, 9, "no host name could be resolved")                                                \
    X(AUTH, 10, "the server refused the credentials")                                              \
    X(NO_PERMISSION, 11, "an access control list forbids it")                                      \
    X(INVALID, 12, "an argument is not valid")                                                     \
    X(UNSUPPORTED, 13, "this build, server or object cannot do it")                                \
    X(LIMIT, 14, "a limit would be crossed")                                                       \
    X(EXHAUSTED, 15, "the directory's sequence numbers are used up")                               \
    X(CLOSED, 16, "the session is closed")                                                         \
    X(FORKED, 17, "the handle belongs to the parent process")                                      \
    X(SYSTEM, 18, "the operating system refused it, or failed")                                    \
    X(UPGRADE, 19, "a reader cannot become a writer in place")                                     \
    X(MISMATCH, 20, "the path is used with another number or option")                              \
    X(STALE, 21, "a later hold was admitted already")                                              \
    X(DAMAGED, 22, "a file or znode has content that does not belong there")                       \
    X(REWOUND, 23, "the servers went back, and their tokens with them")                            \
    X(ABSENT, 24, "there is no data")                                                              \
    X(EXISTS, 25, "there is data already")                                                         \
    X(REPLACED, 26, "somebody else has written or deleted it")                                     \
    X(GONE, 27, "nobody holds it, or no such contender is there")                                  \
    X(SKIPPED, 28, "the job has run, or runs, or may not run yet")                                 \
    X(UNPROTECTED, 29, "others than the session allows may change what it would rely on")

typedef enum pdk_status {
#define PDK_STATUS_ENUM(name, value, text) PDK_##name = value,
    PDK_STATUS_MAP(PDK_STATUS_ENUM)
#undef PDK_STATUS_ENUM
} pdk_status;

/* The name of a status, such as "PDK_BUSY". The string is static and never NULL. A value that does
 * not exist has the name "PDK_UNKNOWN". */
PDK_API const char *pdk_status_name(pdk_status status);
/* The text of a status, such as "it is not free now". The string is static and never NULL. A value
 * that does not exist has a text that says so. */
PDK_API const char *pdk_status_text(pdk_status status);

/* The same call may succeed later, unchanged: TIMEOUT, BUSY, UNAVAILABLE, RESOLVE, SYSTEM. */
PDK_API bool pdk_status_is_retriable(pdk_status status);
/* The grant is gone: LOST, CLOSED. */
PDK_API bool pdk_status_is_lost(pdk_status status);
/* The program is wrong: NOT_HELD, DEADLOCK, WRONG_THREAD, INVALID, FORKED, UPGRADE, MISMATCH. */
PDK_API bool pdk_status_is_usage(pdk_status status);

/* The last failure of this thread in words: the argument or path, ZooKeeper's code, the fix. The
 * text is valid until the next failing call of this thread. It is "" before the first failure. A
 * success does not clear it. A text of more than 2047 bytes is cut. */
PDK_API const char *pdk_last_error(void);

PDK_END_DECLS

#endif
