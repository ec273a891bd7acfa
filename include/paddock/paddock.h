/* Paddock: distributed locks and related recipes on ZooKeeper, for multithreaded C programs.
 *
 *     session ── a supervised ZooKeeper connection: reconnects, re-opens, keeps the lease
 *       └─ lock, rwlock, semaphore, election ── a recipe on one path, with a queue of claims
 *            └─ claim ── one pending acquisition: it can time out, be cancelled, tell its position
 *                 └─ hold ── the grant: token, validity, remaining time, LOST, release
 *
 * Conventions of all headers:
 *  - Handles are opaque and reference counted. `_unref(NULL)` is allowed and does nothing.
 *  - A function that returns a pdk_status and fails has no effect, unless its comment says
 *    otherwise. It leaves its outputs alone.
 *  - Durations are milliseconds in an int64_t. PDK_FOREVER is the only negative one accepted.
 *  - Any thread may call any function, unless its comment says otherwise.
 *  - A comment says "Blocks" where a call can block. Such a call answers PDK_WRONG_THREAD when it
 *    is made from a callback, of whichever session.
 *  - Callbacks of one session run one at a time, and never under a lock of the library.
 *  - An allocation that fails aborts the process, as GLib's allocations do.
 *  - After a fork the child must not use the handles of the parent. Calls answer PDK_FORKED there,
 *    and an unref does nothing.
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
