/* SPDX-License-Identifier: Apache-2.0 */
/* Access control lists of the nodes that a session makes: the options `access` and `access_list` of
 * a session (session.h).
 *
 * The nodes are those of claims and candidates, records, and directories that were missing. Nodes
 * that exist keep what they have. A client that queues in a directory, and leaves it, needs
 * PDK_PERMISSION_CREATE and PDK_PERMISSION_DELETE on the directory, and PDK_PERMISSION_READ to list
 * it. A client that watches a contender ahead, or reads the holder's identity, needs
 * PDK_PERMISSION_READ on that node. Where a waiter may not read the node ahead of it, it lists
 * again every tenth of a session timeout, and at least every second. It is granted all the same,
 * but later.
 *
 * Existing nodes: with any choice but PDK_ACCESS_OPEN a session relies on a directory, or a record,
 * only where nobody may write, create, delete or change the list, except identities that its own
 * choice allows to. The session's own identities may do so. Reading does no harm. Otherwise the
 * call answers PDK_UNPROTECTED, and pdk_last_error names the directory, the rights of strangers
 * there, and the fix. Directories are emptied and go, and strangers may make them again. So the
 * session looks at a directory when it queues there, once while the directory stands, and again
 * when its list was changed. For a record, and for a guarded znode, it looks at the parent as well.
 * Observers and watchers tell nothing of such a directory, and the log says why. Identities are
 * compared as the server writes them. The server hides identities of "digest" from a session
 * without PDK_PERMISSION_ADMIN, so such a session counts them as strangers. The option
 * accept_unprotected switches all of this off.
 */
#ifndef PADDOCK_ACCESS_H
#define PADDOCK_ACCESS_H

#include <paddock/status.h>
#include <stdint.h>

PDK_BEGIN_DECLS

/* The choices. The creator is every client with the same credentials: the user of `digest`, and the
 * certificate of `tls`. With `digest` alone it is that user alone, named by SHA-1: the certificate
 * of a tunnel, which the server sees then, gives no right. (Servers with another digestAlg need a
 * list that says "auth".) */
typedef enum pdk_access {
    /* PDK_ACCESS_CREATOR_READERS with `digest`, otherwise PDK_ACCESS_OPEN and a warning in the
     * log. */
    PDK_ACCESS_DEFAULT = 0,
    PDK_ACCESS_OPEN = 1,            /* everybody who reaches the servers may do everything */
    PDK_ACCESS_CREATOR = 2,         /* the creator may do everything, and nobody else anything */
    PDK_ACCESS_CREATOR_READERS = 3, /* the creator may do everything, and everybody may read */
    PDK_ACCESS_LIST = 4,            /* as `access_list` says */
} pdk_access;

/* The rights that an entry of the list gives: a sum of these. */
typedef enum pdk_permission {
    PDK_PERMISSION_READ = 1,   /* read the node, list it */
    PDK_PERMISSION_WRITE = 2,  /* change its data */
    PDK_PERMISSION_CREATE = 4, /* create nodes below it */
    PDK_PERMISSION_DELETE = 8, /* delete nodes below it */
    PDK_PERMISSION_ADMIN = 16, /* change its list */
    PDK_PERMISSION_ALL = 31,
} pdk_permission;

/* One entry of a list, as ZooKeeper has it. An array of them is passed, so this struct never
 * grows. */
typedef struct pdk_access_entry {
    int32_t permissions; /* a sum of pdk_permission, 1 to 31 */
    /* "digest", "x509", "ip", "world" or "auth": at most 64 bytes, not empty. */
    const char *scheme;
    /* The identity: for "digest" the user, ":" and the base64 of SHA-1 of "user:password"; for
     * "world" it is "anyone"; for "auth", the creator, it is "". At most 1024 bytes. */
    const char *id;
} pdk_access_entry;

PDK_END_DECLS

#endif
