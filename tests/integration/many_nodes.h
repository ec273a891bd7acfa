/* Makes thousands of nodes by multis, each with a few hundred of them. */
#ifndef MANY_NODES_H
#define MANY_NODES_H

/* Makes `count` persistent nodes. Their paths are `prefix` and a number of six digits, from `first` on. Their parent
 * must exist. Returns 0 or ZooKeeper's code. */
int many_nodes(const char *server, const char *prefix, int first, int count);

#endif
