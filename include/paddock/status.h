/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of the calls, and the reason of a failure in words.
 *
 * A status says what the caller can do. It does not say what happened on the wire. Ask the
 * predicates below first, and the value after that. The comment, and the manual page, of each call lists all statuses
 * that the call can answer, and when.
 *
 * Any thread may call every function of this header, also in a callback and after a fork.
 */
#ifndef PADDOCK_STATUS_H
#define PADDOCK_STATUS_H

#include <paddock/version.h>
#include <stdbool.h>

PDK_BEGIN_DECLS

/* All statuses: X(NAME, value, text). A value never changes once it is released. */
#define PDK_STATUS_MAP(X)                                                                          \
    X(OK, 0, "success")                                                                            \
    X(TIMEOUT, 1, "the deadline passed while in line")                                             \
    X(BUSY, 2, "somebody is ahead")                                                                \
    X(CANCELED, 3, "the claim was cancelled")                                                      \
    X(LOST, 4, "the hold was lost")                                                                \
    X(NOT_HELD, 5, "this hold was already released")                                               \
    X(DEADLOCK, 6, "this thread already holds this lock")                                          \
    X(WRONG_THREAD, 7, "a blocking call from a callback")                                          \
    X(UNAVAILABLE, 8, "no server confirmed the request in time")                                   \
    X(RESOLVE, 9, "no host name could be resolved")                                                \
    X(AUTH, 10, "the server refused the credentials")                                              \
    X(NO_PERMISSION, 11, "an access control list forbids it")                                      \
    X(INVALID, 12, "an argument is not valid")                                                     \
    X(UNSUPPORTED, 13, "this build or server cannot do it")                                        \
    X(LIMIT, 14, "a documented limit would be crossed")                                            \
    X(EXHAUSTED, 15, "the directory's sequence numbers are used up")                               \
    X(CLOSED, 16, "the session is closed")                                                         \
    X(FORKED, 17, "the handle belongs to the parent process")                                      \
    X(SYSTEM, 18, "the operating system refused a resource")                                       \
    X(UPGRADE, 19, "a reader cannot become a writer in place")                                     \
    X(MISMATCH, 20, "the others on this path use it with another number or option")                \
    X(STALE, 21, "a later hold was admitted already")                                              \
    X(DAMAGED, 22, "it is damaged, or something else")                                             \
    X(REWOUND, 23, "the servers went back, and their tokens with them")                            \
    X(ABSENT, 24, "the guarded znode has no payload")                                              \
    X(EXISTS, 25, "the guarded znode has a payload already")                                       \
    X(REPLACED, 26, "the guarded znode was changed by somebody without the hold")                  \
    X(GONE, 27, "no such znode stands there, or not any more")                                     \
    X(SKIPPED, 28, "the job has run, or runs, or may not run yet")                                 \
    X(UNPROTECTED, 29, "others than the session allows may change what it would rely on")

typedef enum pdk_status {
#define PDK_STATUS_ENUM(name, value, text) PDK_##name = value,
    PDK_STATUS_MAP(PDK_STATUS_ENUM)
#undef PDK_STATUS_ENUM
} pdk_status;

/* The name of a status, such as "PDK_BUSY". The string is static and never NULL.
 * A value that does not exist has the name "PDK_UNKNOWN". */
PDK_API const char *pdk_status_name(pdk_status status);
/* The text of a status, such as "somebody is ahead". The string is static and never NULL.
 * A value that does not exist has a text that says so. */
PDK_API const char *pdk_status_text(pdk_status status);

/* The same call may succeed later, unchanged: TIMEOUT, BUSY, UNAVAILABLE, RESOLVE, SYSTEM. */
PDK_API bool pdk_status_is_retriable(pdk_status status);
/* The grant is gone: LOST, CLOSED. */
PDK_API bool pdk_status_is_lost(pdk_status status);
/* The program is wrong: NOT_HELD, DEADLOCK, WRONG_THREAD, INVALID, FORKED, UPGRADE, MISMATCH. */
PDK_API bool pdk_status_is_usage(pdk_status status);

/* The last failure of this thread in words: the argument or path, ZooKeeper's code, the fix.
 * The text is valid until the next failing call of this thread. It is "" before the first failure.
 * A success does not clear it. A text of more than 2047 bytes is cut. */
PDK_API const char *pdk_last_error(void);

PDK_END_DECLS

#endif
