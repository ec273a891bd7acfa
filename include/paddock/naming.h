/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the znodes, as Apache Curator or kazoo have them. They decide which other clients
 * can contend on the same path. */
#ifndef PADDOCK_NAMING_H
#define PADDOCK_NAMING_H

/* The recipes of other libraries that share a path with ours, by naming:
 *
 *                      PDK_NAMING_CURATOR                         PDK_NAMING_KAZOO
 *     lock             InterProcessMutex, go-zookeeper            Lock
 *     read/write lock  InterProcessReadWriteLock                  ReadLock, WriteLock
 *     election         LeaderLatch                                Election
 *     semaphore        InterProcessSemaphoreV2                    - */
typedef enum pdk_naming {
    PDK_NAMING_CURATOR = 0, /* Apache Curator's names; the default */
    PDK_NAMING_KAZOO = 1,   /* kazoo's names */
} pdk_naming;

#endif
