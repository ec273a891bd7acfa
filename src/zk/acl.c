#include "zk/acl.h"

/* The client library's own constants are variables with these values. */
enum { PERM_READ = 1, PERM_ALL = 31 };

/* All rights for the creator's identity. Reading for everybody, since a contender watches its predecessor's node. */
static char auth[] = "auth", nobody[] = "", world[] = "world", anyone[] = "anyone";
static struct ACL creator_readers[] = {{PERM_ALL, {auth, nobody}}, {PERM_READ, {world, anyone}}};

struct ACL_vector pdk__acl_of(const struct pdk__zk_config *config) {
    return config->digest ? (struct ACL_vector){2, creator_readers} : ZOO_OPEN_ACL_UNSAFE;
}
