/* How the nodes of contenders are named, which is who else can contend on the same path. */
#ifndef PADDOCK_NAMING_H
#define PADDOCK_NAMING_H

/*                      PDK_NAMING_CURATOR                         PDK_NAMING_KAZOO
 *     lock             InterProcessMutex, go-zookeeper            Lock
 *     read/write lock  InterProcessReadWriteLock                  ReadLock, WriteLock
 *     election         LeaderLatch                                Election
 *     semaphore        InterProcessSemaphoreV2                    - */
typedef enum pdk_naming {
    PDK_NAMING_CURATOR = 0, /* Apache Curator */
    PDK_NAMING_KAZOO = 1,
} pdk_naming;

#endif
