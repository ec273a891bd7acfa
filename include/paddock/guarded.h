/* SPDX-License-Identifier: Apache-2.0 */
/* A guarded znode: data in ZooKeeper itself that only the holder of a lock can write.
 *
 *     hold ──open── guarded znode ── get, set, create, delete ──close
 *
 * Once a holder has opened the znode, no write of an older holder lands on it any more, however
 * late it comes. So a holder opens first, then reads, then writes. Before that an older holder's
 * write may still land. docs/guarded.md has the other promises, and the limits.
 *
 * The znode's data begins with a header line of 72 bytes, which names the writer. The payload is
 * any bytes, at most 1,000,000. The znode is persistent, and nobody may delete it or write to it
 * without this interface: a delete leaves a tombstone. One lock or one election guards it, always
 * the same one.
 *
 * Threads: any thread may make any call. One call at a time is under way for a guarded znode;
 * others wait for their turn, in no certain order, within their own timeout. timeout_ms is 0 or
 * more, or PDK_FOREVER. The calls that block answer PDK_WRONG_THREAD in a callback. Each has a form
 * with `_async`, which answers by a callback (answer.h). Open a znode once with a hold, not twice.
 *
 * Every call that blocks, and every answer of one that does not, may also be:
 *   PDK_LOST           the hold is lost, also with its session, or was downgraded, or another one
 *                      came after it; for good
 *   PDK_NOT_HELD       the hold was released
 *   PDK_REPLACED       somebody without the hold wrote or deleted the znode; for good. The error
 *                      text has the remedy
 *   PDK_UNAVAILABLE    not confirmed in time. A write may have been executed. The next call finds
 *                      out first
 *   PDK_NO_PERMISSION  an access control list forbids it
 *   PDK_UNPROTECTED    pdk_guarded_open: strangers may change it, or its parent: access.h,
 *                      "Existing nodes"
 *   PDK_UNSUPPORTED    the server refuses it, such as a quota; the error text has its code
 *   PDK_LIMIT          the payload is too large, or the znode was written 2,147,483,647 times
 *   Common             PDK_INVALID, FORKED */
#ifndef PADDOCK_GUARDED_H
#define PADDOCK_GUARDED_H

#include <paddock/answer.h>
#include <paddock/hold.h>
#include <stddef.h>

PDK_BEGIN_DECLS

typedef struct pdk_guarded pdk_guarded;

/* Open the znode for this holder. It is made, with its parents, as a tombstone where it is missing.
 * Blocks, at most timeout_ms; three round trips.
 *   hold  an exclusive one: of a lock, of a writer, or of a leader. A downgrade ends the znodes
 *         that were opened with it. A reference is taken.
 *   path  below the session's chroot, as for a lock. Not the lock's own path.
 *   out   set on success; pdk_guarded_close gives it back
 *
 *   PDK_OK  it is open, and no older holder can write any more
 *   Common  PDK_CLOSED, AUTH, WRONG_THREAD */
PDK_API PDK_MUST_USE pdk_status pdk_guarded_open(pdk_hold *hold, const char *path,
                                                 int64_t timeout_ms, pdk_guarded **out);

/* The answer of pdk_guarded_open_async.
 *   status   one that pdk_guarded_open answers
 *   guarded  not NULL exactly when status is PDK_OK. The callback owns it, and gives it back with
 *            pdk_guarded_close, now or later
 *   user     as it was given. The library never frees it.
 *
 * For the thread, the calls that are allowed inside and the last call see answer.h. */
typedef void (*pdk_guarded_opened_fn)(pdk_status status, pdk_guarded *guarded, void *user);

/* Open the znode for this holder without waiting, as pdk_guarded_open does: the answer goes to fn,
 * once, as a callback (answer.h). Any thread may call it, also in a callback.
 *
 *   PDK_OK       fn will be called. It gets the znode, or a status of pdk_guarded_open
 *   Common       PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API PDK_MUST_USE pdk_status pdk_guarded_open_async(pdk_hold *hold, const char *path,
                                                       int64_t timeout_ms, pdk_guarded_opened_fn fn,
                                                       void *user);

/* Read the payload. It is the one that the last write left, and the hold is still valid afterwards.
 * Blocks, at most timeout_ms.
 *   buffer  NULL when room is 0
 *   size    set to the payload's size on success, and where room is too small for it
 *
 *   PDK_OK      buffer has the payload
 *   PDK_ABSENT  there is none: never created, or deleted
 *   PDK_LIMIT   room is less than *size; buffer is as it was
 *   Common      PDK_WRONG_THREAD */
PDK_API pdk_status pdk_guarded_read(pdk_guarded *guarded, void *buffer, size_t room, size_t *size,
                                    int64_t timeout_ms);

/* The answer of pdk_guarded_read_async.
 *   status  one that pdk_guarded_read answers, but for a room that is too small
 *   data    the payload where status is PDK_OK, valid until the callback returns; NULL if it is
 *           empty
 *   size    its size in bytes; 0 where status is not PDK_OK
 *   user    as it was given. The library never frees it.
 *
 * For the thread, the calls that are allowed inside and the last call see answer.h. */
typedef void (*pdk_guarded_read_fn)(pdk_status status, const void *data, size_t size, void *user);

/* Read the payload without waiting, as pdk_guarded_read does: the answer goes to fn, once, as a
 * callback (answer.h). Any thread may call it, also in a callback. When fn runs, the hold may be
 * lost: pdk_hold_is_valid.
 *
 *   PDK_OK       fn will be called. It gets the payload, or a status of pdk_guarded_read; after a
 *                close of the session PDK_CLOSED or PDK_AUTH
 *   Common       PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_guarded_read_async(pdk_guarded *guarded, int64_t timeout_ms,
                                          pdk_guarded_read_fn fn, void *user);

/* Write the payload. Blocks, at most timeout_ms: one round trip, unless an answer was lost or an
 * older holder came between.
 *   data  NULL when size is 0
 *
 *   PDK_OK      it is written
 *   PDK_ABSENT  there is none to replace: pdk_guarded_create
 *   Common      PDK_WRONG_THREAD */
PDK_API pdk_status pdk_guarded_write(pdk_guarded *guarded, const void *data, size_t size,
                                     int64_t timeout_ms);
/* Write the payload without waiting, as pdk_guarded_write does: the answer goes to fn, once, as a
 * callback (answer.h). Any thread may call it, also in a callback.
 *   data  copied
 *
 *   PDK_OK       fn will be called. It gets a status of pdk_guarded_write; after a close of the
 *                session PDK_CLOSED or PDK_AUTH, though it may have been written
 *   PDK_LIMIT    size is more than 1,000,000
 *   Common       PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_guarded_write_async(pdk_guarded *guarded, const void *data, size_t size,
                                           int64_t timeout_ms, pdk_answered_fn fn, void *user);
/* Write the payload where there is none. Blocks, as pdk_guarded_write.
 *   PDK_OK      it is written
 *   PDK_EXISTS  there is one: pdk_guarded_write
 *   Common      PDK_WRONG_THREAD */
PDK_API pdk_status pdk_guarded_create(pdk_guarded *guarded, const void *data, size_t size,
                                      int64_t timeout_ms);
/* Write the payload where there is none without waiting, as pdk_guarded_create does: the answer
 * goes to fn, once, as a callback (answer.h). Any thread may call it, also in a callback. Arguments
 * and statuses are as for pdk_guarded_write_async, and:
 *   PDK_OK  fn will be called. It gets a status of pdk_guarded_create
 *   Common  PDK_CLOSED, AUTH */
PDK_API pdk_status pdk_guarded_create_async(pdk_guarded *guarded, const void *data, size_t size,
                                            int64_t timeout_ms, pdk_answered_fn fn, void *user);
/* Leave a tombstone. Blocks, at most timeout_ms.
 *   PDK_OK      the payload is gone
 *   PDK_ABSENT  there was none
 *   Common      PDK_WRONG_THREAD */
PDK_API pdk_status pdk_guarded_delete(pdk_guarded *guarded, int64_t timeout_ms);
/* Leave a tombstone without waiting, as pdk_guarded_delete does: the answer goes to fn, once, as a
 * callback (answer.h). Any thread may call it, also in a callback. Statuses are as for
 * pdk_guarded_write_async, and:
 *   PDK_OK  fn will be called. It gets a status of pdk_guarded_delete
 *   Common  PDK_CLOSED, AUTH */
PDK_API pdk_status pdk_guarded_delete_async(pdk_guarded *guarded, int64_t timeout_ms,
                                            pdk_answered_fn fn, void *user);

/* Close a guarded znode, and free the handle. Does not wait, and no call that blocks may be under
 * way. One with a callback goes on, and is answered. Nothing is written: the hold stays as it is.
 * NULL is allowed. Does nothing in the child of a fork. */
PDK_API void pdk_guarded_close(pdk_guarded *guarded);

PDK_END_DECLS

#endif
