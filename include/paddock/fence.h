/* SPDX-License-Identifier: Apache-2.0 */
/* Fences: the check of fencing tokens, at the resource. A resource keeps the largest mark that it
 * has admitted, and refuses older ones. So a holder that slept through the loss of its lock cannot
 * write over the work of the next one.
 *
 *     grant 33 ── pause ───────────────────────────► write (33) ──► STALE
 *     grant 34 ──────► write (34) ──► admitted, the mark is 34
 *
 * A library of its own, libpaddock-fence (pkg-config paddock-fence, CMake paddock::fence): no
 * session, no network, no ZooKeeper, no GLib. A storage server links it alone.
 *
 * A mark is (token, hand-over), as pdk_hold_token and pdk_hold_handover give them, compared in this
 * order. The token is 1 or more. A fence remembers the largest mark of a writer, and the largest
 * token of a reader if that is larger.
 *
 *   pdk_fence_admit         a write, by an exclusive hold. Admitted when its mark is not smaller
 *                           than any writer's and its token not smaller than any reader's. Then the
 *                           fence remembers it as a writer's.
 *   pdk_fence_admit_shared  by a shared hold of a read/write lock. Admitted when its mark is not
 *                           smaller than any writer's. Its token is then remembered as a reader's.
 *
 * So readers are admitted side by side, in any order of their tokens, since each of them was
 * granted after the same writer. A writer that is older than one of them is refused: it was granted
 * before that reader, so it has lost its hold. A hold that was downgraded keeps its token, and
 * calls pdk_fence_admit_shared. Permits of a semaphore are valid side by side, and have no order
 * that a fence could check.
 *
 * A check and a write are two steps. Make them under the resource's own lock, or use
 * pdk_fence_write.
 *
 *   pdk_fence_new      a fence in memory, for the threads of one process; its mark ends with the
 *                      process
 *   pdk_fence_open     a fence in a file that processes share; its mark outlives them, and a
 *                      machine that stops
 *   pdk_fence_map_new  many in memory, by name
 *
 * All three have the same verbs and the same rule. A pdk_fence has the same calls wherever its mark
 * is kept. Only one in a file waits, and only it answers PDK_DAMAGED, PDK_SYSTEM or PDK_FORKED to
 * an admit: code that handles these works with either kind.
 *
 * Any thread may call every function of this header, also in a callback. No call waits for a
 * network. After a failure pdk_last_error has the words. Statuses of PDK_STALE name both marks.
 */
#ifndef PADDOCK_FENCE_H
#define PADDOCK_FENCE_H

#include <paddock/status.h>
#include <stddef.h>
#include <stdint.h>

PDK_BEGIN_DECLS

/* ---- a fence, in memory or in a file */

typedef struct pdk_fence pdk_fence;

/* A fence in memory that has admitted nothing yet: one cache line, lock-free on x86-64 and arm64.
 * Other processors take a short lock. A fork copies it: from then on the child has a fence of its
 * own.
 *   PDK_OK      *fence is new; end it with pdk_fence_close
 *   PDK_SYSTEM  no memory
 *   Common      PDK_INVALID */
PDK_API PDK_MUST_USE pdk_status pdk_fence_new(pdk_fence **fence);

/* How pdk_fence_open treats a file that is missing. */
typedef enum pdk_fence_open_how {
    PDK_FENCE_EXISTING = 0, /* a file that is missing is an error: its mark was lost */
    /* Killed meanwhile, a process may leave a file of that name with a suffix. */
    PDK_FENCE_CREATE = 1, /* a file that is missing is made, with no mark, for its owner alone */
} pdk_fence_open_how;

/* Open the fence in a file, which processes share. Waits for the disk, and for a process that has
 * the file.
 *   path  of the file
 *   how   a pdk_fence_open_how
 *
 *   PDK_OK       *fence is open; end it with pdk_fence_close
 *   PDK_DAMAGED  it is not a fence's file, or it is damaged
 *   PDK_SYSTEM   the system refused it: missing, not allowed, no space, no memory
 *   PDK_INVALID  path is too long
 *   Common       PDK_INVALID
 *
 * The file is on a local file system. The mark is on the disk before a success is returned, and
 * never goes back, whenever a process is killed or the machine stops. A file that is not a fence,
 * or is damaged beyond what a crash can do, is refused and never reset. No file can tell that all
 * of it was replaced by an older copy.
 *
 * Each call on such a fence but pdk_fence_close may wait for another process that has the file, and
 * for the disk. A process that is stopped meanwhile holds up the others, so do not call them where
 * a session's callbacks wait. After a fork the child opens the file itself: calls on the parent's
 * fence answer PDK_FORKED there. A child that lives on without an exec keeps the parent's lock,
 * should the parent be killed in a call.
 *
 * A thread that is cancelled (pthread_cancel, deferred) in one of these calls ends while it waits
 * for another process, with nothing done and nothing locked; or else the call comes back first. A
 * file that PDK_FENCE_CREATE has made stays. Asynchronous cancellation is not supported. The file's
 * descriptor is above 2, so no words of the program ever reach it. */
PDK_API PDK_MUST_USE pdk_status pdk_fence_open(const char *path, pdk_fence_open_how how,
                                               pdk_fence **fence);

/* End a fence of either kind. No other call may use it any more. A mark in memory is gone, and one
 * in a file stays there. Does not wait. NULL is allowed. */
PDK_API void pdk_fence_close(pdk_fence *fence);

/* Check a write, and raise the mark, in one step that nobody sees half done. In memory an equal
 * mark costs loads alone. With a fence in a file it may wait, for the disk and for a process that
 * has the file.
 *   token     1 or more
 *   handover  any
 *
 *   PDK_OK       admitted; in a file, the mark is on the disk
 *   PDK_STALE    the fence has admitted a later hold; the mark stays
 *   PDK_DAMAGED  of a file: it was damaged, deleted or replaced meanwhile
 *   PDK_SYSTEM   of a file: the disk or the lock failed; nothing was admitted, but the mark may
 *                have been raised
 *   PDK_FORKED   of a file: the fence was opened by the parent process
 *   Common       PDK_INVALID */
PDK_API PDK_MUST_USE pdk_status pdk_fence_admit(pdk_fence *fence, int64_t token, uint32_t handover);
/* The same for a shared hold, with the same statuses, and the same waits. The hand-over number of a
 * reader is 0, so a writer that was downgraded has a larger one: when its mark is above everything
 * admitted it counts as a writer's. */
PDK_API PDK_MUST_USE pdk_status pdk_fence_admit_shared(pdk_fence *fence, int64_t token,
                                                       uint32_t handover);
/* Raise the mark without a write. Call it right after the grant: from then on the former holder is
 * refused, also when the new one does not write for a while. The rule and the waits are as in
 * pdk_fence_admit.
 *   PDK_OK       the mark is raised, or was this already; in a file, it is on the disk
 *   PDK_STALE    the fence has admitted a later hold; the mark stays
 *   PDK_DAMAGED  of a file: it was damaged, deleted or replaced meanwhile
 *   PDK_SYSTEM   of a file: the disk or the lock failed; the mark may have been raised
 *   PDK_FORKED   of a file: the fence was opened by the parent process
 *   Common       PDK_INVALID */
PDK_API pdk_status pdk_fence_advance(pdk_fence *fence, int64_t token, uint32_t handover);
/* The largest mark that was admitted: a writer's, or a reader's token and 0. (0, 0) at first. Each
 * output may be NULL. With a fence in a file it may wait, for the disk and for a process that has
 * the file.
 *   PDK_OK       *token and *handover are the mark; in a file, it is on the disk
 *   PDK_DAMAGED  of a file: it was damaged, deleted or replaced meanwhile
 *   PDK_SYSTEM   of a file: the disk or the lock failed
 *   PDK_FORKED   of a file: the fence was opened by the parent process
 *   Common       PDK_INVALID */
PDK_API pdk_status pdk_fence_mark(pdk_fence *fence, int64_t *token, uint32_t *handover);

/* Check the mark and write to a local file, under the one lock of the fence's file: between the
 * check and the end of the write nobody else is admitted there. All writers of fd's file must use
 * this call, with the same fence. Waits for the disk, and for a process that has the file.
 *
 * Only a fence in a file can do it. In memory no admit takes a lock, which is why one is cheap, so
 * none could wait for the end of a write. Call pdk_fence_admit there, and write, under one lock of
 * your own.
 *
 *   fd      open for writing, without O_APPEND. The call neither syncs nor closes it: the caller
 *           does.
 *   bytes   size of them, written at offset; NULL is allowed when size is 0
 *   offset  0 or more
 *
 *   PDK_OK           all of it was written
 *   PDK_STALE        nothing was written
 *   PDK_UNSUPPORTED  the fence is in memory; nothing was checked or written
 *   PDK_DAMAGED      the fence's file was damaged, deleted or replaced meanwhile; nothing was
 *                    written
 *   PDK_SYSTEM       the disk or the lock failed, and nothing was written, but the mark may have
 *                    been raised; or the write failed, and some of it may have been done
 *   Common           PDK_INVALID, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_fence_write(pdk_fence *fence, int64_t token, uint32_t handover,
                                                int fd, const void *bytes, size_t size,
                                                int64_t offset);

/* ---- many fences in memory, by name
 *
 * A map is bounded, and forgets no mark unless it is told to: a new name beyond the capacity is
 * refused. Names are 1 to 4096 bytes of any kind. The cost of a look-up does not depend on the
 * number of names, as far as the processor's caches allow. Names that are known are looked up side
 * by side; a new name locks one part of 64. */

typedef struct pdk_fence_map pdk_fence_map;

/* A map without a name yet.
 *   capacity  how many names it may have, 1 or more; memory is taken when names come
 *
 *   PDK_OK      *map is new; end it with pdk_fence_map_close
 *   PDK_SYSTEM  no memory, or no random numbers
 *   Common      PDK_INVALID */
PDK_API PDK_MUST_USE pdk_status pdk_fence_map_new(size_t capacity, pdk_fence_map **map);
/* End a map and its fences, whose marks are gone. No other call may use it any more. NULL is
 * allowed. */
PDK_API void pdk_fence_map_close(pdk_fence_map *map);

/* Check a write against the fence with this name, or raise its mark: as pdk_fence_admit and the
 * others. A name that the map does not know gets a fence.
 *   name, size  the name and how many bytes it has, 1 to 4096. Copied.
 *
 *   PDK_OK      admitted
 *   PDK_STALE   the fence of this name has admitted a later hold; the mark stays
 *   PDK_LIMIT   the name is new, and the map has as many as it may
 *   PDK_SYSTEM  no memory for a new name
 *   Common      PDK_INVALID */
PDK_API PDK_MUST_USE pdk_status pdk_fence_map_admit(pdk_fence_map *map, const void *name,
                                                    size_t size, int64_t token, uint32_t handover);
PDK_API PDK_MUST_USE pdk_status pdk_fence_map_admit_shared(pdk_fence_map *map, const void *name,
                                                           size_t size, int64_t token,
                                                           uint32_t handover);
PDK_API pdk_status pdk_fence_map_advance(pdk_fence_map *map, const void *name, size_t size,
                                         int64_t token, uint32_t handover);
/* The mark of a name; (0, 0) of one that the map does not know. Each output may be NULL.
 *   PDK_OK  *token and *handover are the mark
 *   Common  PDK_INVALID */
PDK_API pdk_status pdk_fence_map_mark(pdk_fence_map *map, const void *name, size_t size,
                                      int64_t *token, uint32_t *handover);
/* Forget the mark of a name, known or not. From then on an old holder's token is admitted again:
 * forget a name only when nobody can write under it any more.
 *   PDK_OK  the map does not know the name any more
 *   Common  PDK_INVALID */
PDK_API pdk_status pdk_fence_map_forget(pdk_fence_map *map, const void *name, size_t size);
/* How many names there are. 0 for NULL. */
PDK_API size_t pdk_fence_map_count(const pdk_fence_map *map);

/* ---- texts from others */

/* Read a token, as pdk_hold_token_text writes it: 1 to 20 decimal digits and nothing else.
 *   bytes  any bytes; they need not end in a zero
 *   PDK_OK       *token is from 1 to 2^63 - 1
 *   PDK_INVALID  not a token; *token is unchanged
 *   Common       PDK_INVALID */
PDK_API pdk_status pdk_token_parse(const void *bytes, size_t size, int64_t *token);

/* The mode of a hold, as a sequencer tells it. */
typedef enum pdk_mode {
    PDK_MODE_EXCLUSIVE = 0, /* a lock, or the writer of a read/write lock */
    PDK_MODE_SHARED = 1,    /* a reader, or a writer that was downgraded: pdk_fence_admit_shared */
    PDK_MODE_LEADER = 2,    /* of an election; it is exclusive */
    PDK_MODE_PERMIT = 3,    /* of a semaphore */
} pdk_mode;

/* The content of a sequencer. That somebody sent it proves nothing: pdk_session_check_sequencer
 * asks ZooKeeper. */
typedef struct pdk_sequencer {
    char node[1024]; /* the znode, chroot included */
    int64_t token;
    int64_t node_czxid; /* the token, unless the hold was downgraded */
    uint32_t handover;
    pdk_mode mode;
} pdk_sequencer;

/* Read a sequencer, as pdk_hold_sequencer writes it.
 *   bytes  any bytes; they need not end in a zero
 *   PDK_OK       *out is filled
 *   PDK_INVALID  not a sequencer; *out is unchanged
 *   Common       PDK_INVALID */
PDK_API pdk_status pdk_sequencer_parse(const void *bytes, size_t size, pdk_sequencer *out);

PDK_END_DECLS

#endif
