/* The access control list of the nodes that a session makes, in the client library's words. */
#ifndef PDK_ZK_ACL_H
#define PDK_ZK_ACL_H

#include "zk/calls.h"

#include <zookeeper/zookeeper.h>

/* Its strings are the config's. pdk__acl_free frees it. */
struct ACL_vector pdk__acl_make(const struct pdk__zk_config *config);
void pdk__acl_free(struct ACL_vector *acl);

#endif
