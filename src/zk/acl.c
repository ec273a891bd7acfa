#include "zk/acl.h"

#include <glib.h>
#include <paddock/access.h>

static const pdk_access_entry everybody[] = {{PDK_PERMISSION_ALL, "world", "anyone"}};
/* The creator's identity has all rights. Everybody may read, since a contender watches its predecessor's node. */
static const pdk_access_entry creator[] = {{PDK_PERMISSION_ALL, "auth", ""}, {PDK_PERMISSION_READ, "world", "anyone"}};

struct ACL_vector pdk__acl_make(const struct pdk__zk_config *config) {
    const pdk_access_entry *list = config->access_list;
    int32_t count = config->access_count;
    if (config->access == PDK_ACCESS_CREATOR || config->access == PDK_ACCESS_CREATOR_READERS) {
        list = creator;
        count = config->access == PDK_ACCESS_CREATOR ? 1 : 2;
    } else if (config->access == PDK_ACCESS_OPEN) {
        list = everybody;
        count = 1;
    }
    struct ACL_vector acl = {count, g_new(struct ACL, (gsize)count)};
    for (int32_t i = 0; i < count; i++)
        acl.data[i] = (struct ACL){list[i].permissions, {(char *)list[i].scheme, (char *)list[i].id}};
    return acl;
}

void pdk__acl_free(struct ACL_vector *acl) { g_free(acl->data); }
