/* The access control list of the nodes that a session makes. */
#ifndef PDK_ZK_ACL_H
#define PDK_ZK_ACL_H

#include "zk/calls.h"

#include <zookeeper/zookeeper.h>

/* Valid as long as the process. */
struct ACL_vector pdk__acl_of(const struct pdk__zk_config *config);

#endif
