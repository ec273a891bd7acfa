/* The data of a fake server: nodes and sessions, and the effect of a transaction on them. */
#ifndef SIM_TREE_H
#define SIM_TREE_H

#include "sim_agenda.h"

/* ZooKeeper's create modes. */
enum sim_mode {
    SIM_PERSISTENT = 0,
    SIM_EPHEMERAL = 1,
    SIM_SEQUENTIAL = 2,
    SIM_EPHEMERAL_SEQUENTIAL = 3,
    SIM_CONTAINER = 4,
};

/* Things that a node refuses to everybody. */
enum sim_acl { SIM_NO_READ = 1, SIM_NO_WRITE = 2, SIM_NO_CREATE = 4, SIM_NO_DELETE = 8 };

enum sim_set { SIM_SET_DATA, SIM_SET_ACL, SIM_SET_COUNTER };

struct sim_stat {
    int64_t czxid, mzxid, pzxid, owner;
    int64_t ctime_ms, mtime_ms;
    int32_t version, cversion, children;
};

struct sim_node {
    const char *path; /* the agenda's memory, as all texts here */
    const char *data;
    struct sim_stat stat;
    int32_t counter; /* children ever created: the next sequence number */
    int32_t acl;
    bool container;
    /* inside */
    int64_t counted;       /* zxid of the newest transaction that changed the counter, or created or deleted a child */
    uint32_t length, hash; /* of path; of "/" as if it were empty */
    uint32_t above, parents_hash; /* length and hash of the parent's path */
};

struct sim_session {
    int64_t id;
    int64_t timeout; /* ns */
};

struct sim_txn;

struct sim_tree {
    struct sim_agenda *agenda;
    int64_t zxid;           /* of the newest transaction applied */
    struct sim_node *nodes; /* "/" is the first; otherwise in order of creation */
    size_t count, room;
    struct sim_session *sessions;
    size_t sessions_count, sessions_room;
    /* It shows proposals, not commits. Only there a parent's counter wraps after 2147483647. In the committed tree it
     * never decreases, and sticks. */
    bool ahead;
};

/* Empty but for "/". */
void sim_tree_begin(struct sim_tree *tree, struct sim_agenda *agenda);
/* `to` may be zeroed memory. Its former content is forgotten. */
void sim_tree_copy(struct sim_tree *to, const struct sim_tree *from);
/* Valid until the tree changes, as all nodes. */
struct sim_node *sim_tree_find(const struct sim_tree *tree, const char *path);
struct sim_node *sim_tree_parent(const struct sim_tree *tree, const char *path);
const struct sim_session *sim_tree_session(const struct sim_tree *tree, int64_t id);
/* Change the tree by a transaction. touched is called for every node that was created, deleted or changed, before a deleted
 * one is gone. */
typedef void (*sim_touched_fn)(void *user, const struct sim_node *node, bool deleted);
void sim_tree_apply(struct sim_tree *tree, const struct sim_txn *txn, sim_touched_fn touched, void *user);
/* The names of a node's children, in no order that means anything; *count of them, in the agenda's memory. */
const char *const *sim_tree_children(const struct sim_tree *tree, const char *path, size_t *count);

#endif
