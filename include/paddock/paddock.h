/* SPDX-License-Identifier: Apache-2.0 */
/* Paddock: distributed locks and related recipes on ZooKeeper, for multithreaded C programs.
 *
 *     session ── a supervised ZooKeeper connection: reconnects, re-opens, keeps the lease
 *       └─ lock, rwlock, semaphore, election, group ── a recipe on one path, with a queue of claims
 *            └─ claim ── one pending acquisition: it can time out, be cancelled, tell its position
 *                 └─ hold ── the grant: token, validity, remaining time, LOST, release
 *
 * A name is pdk_<noun>_<verb>. The noun is the type of the first argument. Or it is the thing that
 * the call makes or asks about; such a call takes first the object that it works through: a
 * session, an election, a hold. One verb stands for each kind of ending:
 *
 *     release         a right: a hold, a set, a borrowed handle. pdk_job_finish also says how the
 *                     run ended
 *     leave, resign   an election or a group; a term, to stand again
 *     cancel          a claim that waits
 *     close           a session, a service, an observer, a watcher, a guarded znode, a fence, a map
 *                     of fences. Nothing is called any more. A session and a service are counted as
 *                     well: unref
 *     unref           a reference; the last one ends the thing, as its header says
 *     free            a result without references: lists, copies
 *
 * Conventions of all headers:
 *  - Handles are opaque and reference counted. `_unref(NULL)` is allowed and does nothing.
 *  - A function that returns a pdk_status and fails has no effect, unless its comment says
 *    otherwise. It leaves its outputs alone.
 *  - "Common" in a list of statuses names some that every call may have. status.h tells their
 *    meaning.
 *  - Durations are milliseconds in an int64_t. PDK_FOREVER is the only negative one accepted.
 *  - Any thread may call any function, unless its comment says otherwise.
 *  - A comment says "Blocks" where a call can block. Such a call answers PDK_WRONG_THREAD when it
 *    is made from a callback, of whichever session.
 *  - Callbacks of one session run one at a time, and never under a lock of the library.
 *  - An allocation that fails ends the process, as GLib's allocations do: by abort (SIGABRT), in
 *    whichever call or thread of the library it was. No call answers it. The session is not closed,
 *    so its locks pass on when it expires: within the session timeout, as after a kill -9. Where
 *    the process is `paddock run`, its guardian may end the session sooner. Let a supervisor
 *    restart the service (systemd: Restart=on-failure). Give the service a limit of memory that the
 *    kernel enforces on it alone (MemoryMax=), with room to spare: for its locks, a kill at that
 *    limit is the same. libpaddock-fence has no GLib: its calls answer PDK_SYSTEM instead.
 *  - Every macro with a value has a function of the same name in lower case, for other languages. A
 *    struct that grows has a function pdk_…_init. Any thread may call these, and they do not wait.
 *  - The shared library stays in memory after a dlclose (-z nodelete). Its threads are not joined:
 *    the last of them may still return when pdk_session_close has answered PDK_OK. A plugin that
 *    links the static library needs that flag itself.
 *  - A thread that is cancelled (pthread_cancel, deferred) in a call that blocks ends while it
 *    waits: its claim is given up, an open or a close goes on in the background. No other call is a
 *    cancellation point, and the callbacks that a call runs are not cut short. A result that a call
 *    has returned is yours to give back. Asynchronous cancellation is not supported.
 *  - After a fork the child must not use the handles of the parent. Calls answer PDK_FORKED there,
 *    and an unref does nothing. The child may open sessions of its own, also where a callback made
 *    it. It ends with _exit or exec there, and does not return from the callback. A lock of another
 *    library that a thread of the parent had in that moment is never free in the child. GLib's
 *    allocator has such locks before GLib 2.76. So the shared library switches it to malloc, as
 *    G_SLICE=always-malloc does, when it is loaded before GLib or with it. Otherwise (the static
 *    library, a plugin in a program that has GLib) pdk_session_open answers PDK_SYSTEM in such a
 *    child, and the parent may fork again. The client library's lines, which need the local time,
 *    are in no log of a child. Two kinds of locks remain: of the C library, which looks up names
 *    (numeric addresses need no look-up), and of libraries that the program itself uses. An exec
 *    before the session is always safe.
 */
#ifndef PADDOCK_PADDOCK_H
#define PADDOCK_PADDOCK_H

#include <paddock/access.h>
#include <paddock/answer.h>
#include <paddock/borrow.h>
#include <paddock/checker.h>
#include <paddock/claim.h>
#include <paddock/contenders.h>
#include <paddock/election.h>
#include <paddock/group.h>
#include <paddock/guarded.h>
#include <paddock/hold.h>
#include <paddock/interrupt.h>
#include <paddock/job.h>
#include <paddock/leader.h>
#include <paddock/lease_lock.h>
#include <paddock/lock.h>
#include <paddock/naming.h>
#include <paddock/revoke.h>
#include <paddock/rwlock.h>
#include <paddock/semaphore.h>
#include <paddock/sequencer.h>
#include <paddock/session.h>
#include <paddock/set.h>
#include <paddock/stats.h>
#include <paddock/status.h>
#include <paddock/striped.h>
#include <paddock/version.h>

#endif
