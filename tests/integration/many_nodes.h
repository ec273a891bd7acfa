/* Nodes by the thousand: made by multis, a request for every few hundred of them. */
#ifndef MANY_NODES_H
#define MANY_NODES_H

/* Makes `count` persistent nodes, whose paths are `prefix` and a number of six digits, from `first` on; their parent has to be
 * there. Returns 0 or ZooKeeper's code. */
int many_nodes(const char *server, const char *prefix, int first, int count);

#endif
