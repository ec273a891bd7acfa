/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders: the holder of a lock and the queue behind it at one moment, oldest first.
 *
 * These calls make one: pdk_lock_list, pdk_lock_holder, pdk_rwlock_list, pdk_semaphore_holders,
 * pdk_election_leader, pdk_election_list and pdk_session_break; and their forms with `_async`,
 * which give it to a callback.
 *
 * Ownership: the caller, or the callback, owns the list, and frees it with pdk_contenders_free. The
 * list never changes, and needs no session any more. Any thread may read it, several at a time,
 * also in a callback. None may read it while or after it is freed.
 */
#ifndef PADDOCK_CONTENDERS_H
#define PADDOCK_CONTENDERS_H

#include <paddock/answer.h>
#include <paddock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PDK_BEGIN_DECLS

typedef struct pdk_contenders pdk_contenders;

/* The number of contenders in the list; 0 for NULL. */
PDK_API size_t pdk_contenders_count(const pdk_contenders *list);

/* The properties of one contender. index is from 0 to count - 1. For a larger index, and for a list
 * that is NULL, the answer is NULL, 0 or false.
 *
 * Identity and node are valid until the list is freed. Other programs wrote both: escape them
 * before they reach a terminal. */

/* The identity: the data of the znode as text, up to a NUL, at most 1024 bytes. It need not be
 * UTF-8. */
PDK_API const char *pdk_contenders_identity(const pdk_contenders *list, size_t index);
/* The data that a leader has published (pdk_election_publish), any bytes. Valid until the list is
 * freed. NULL: nothing, or more than PDK_ELECTION_DATA_MAX (leader.h), which only another program
 * can write.
 *   size  NULL, or gets the number of bytes; 0 without data */
PDK_API const void *pdk_contenders_data(const pdk_contenders *list, size_t index, size_t *size);
/* The name of the znode, without its directory. */
PDK_API const char *pdk_contenders_node(const pdk_contenders *list, size_t index);
/* The ZooKeeper session id of the contender. */
PDK_API int64_t pdk_contenders_session(const pdk_contenders *list, size_t index);
/* The czxid of the znode. It is the token of the holder's hold, with two exceptions. A hold that
 * was downgraded has another token. A hold of several permits has the token of its oldest znode. */
PDK_API int64_t pdk_contenders_token(const pdk_contenders *list, size_t index);
/* When the znode was created, in ms since 1970 by the server's clock. */
PDK_API int64_t pdk_contenders_since_ms(const pdk_contenders *list, size_t index);
/* true: the contender is a reader of a read/write lock. */
PDK_API bool pdk_contenders_is_shared(const pdk_contenders *list, size_t index);

/* Frees the list and all strings in it. NULL is allowed. */
PDK_API void pdk_contenders_free(pdk_contenders *list);

/* The answer of a call that lists contenders.
 *   status  one that the blocking form answers
 *   list    not NULL exactly when status is PDK_OK. The callback owns it, and frees it with
 *           pdk_contenders_free, now or later.
 *   user    as it was given. The library never frees it.
 *
 * For the thread, the calls that are allowed inside and the last call see answer.h. */
typedef void (*pdk_contenders_fn)(pdk_status status, pdk_contenders *list, void *user);

PDK_END_DECLS

#endif
