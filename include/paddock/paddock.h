/* Paddock: distributed locks and their relatives on ZooKeeper, for multithreaded C programs.
 *
 *     session ── a supervised ZooKeeper connection: reconnects, re-opens after expiry, keeps the lease
 *       └─ lock, rwlock, semaphore, election ── a place where one queues (a recipe on one path)
 *            └─ claim ── one pending acquisition: can time out, be cancelled, report its position
 *                 └─ hold ── what you got: token, validity, remaining time, LOST, release
 *
 * Conventions that hold for every header:
 *  - Handles are opaque and reference counted; `_unref(NULL)` is allowed and does nothing.
 *  - A function that returns pdk_status and fails has no effect and leaves its outputs alone, unless it says otherwise.
 *  - Durations are milliseconds in an int64_t. PDK_FOREVER is the only negative one accepted.
 *  - Every function may be called from any thread, except where a header says otherwise.
 *  - A call that can block (marked "blocks") must not be made from a callback: it answers PDK_WRONG_THREAD.
 *  - Memory: an allocation that fails aborts the process, as GLib's do.
 *  - A process that forks must not use the parent's handles in the child: calls answer PDK_FORKED.
 */
#ifndef PADDOCK_PADDOCK_H
#define PADDOCK_PADDOCK_H

#include <paddock/claim.h>
#include <paddock/contenders.h>
#include <paddock/election.h>
#include <paddock/hold.h>
#include <paddock/lock.h>
#include <paddock/naming.h>
#include <paddock/rwlock.h>
#include <paddock/semaphore.h>
#include <paddock/sequencer.h>
#include <paddock/session.h>
#include <paddock/status.h>
#include <paddock/version.h>

#endif
