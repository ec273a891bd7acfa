/* The rules for paths, and the words that refuse a path. */
#ifndef PDK_CORE_PATHS_H
#define PDK_CORE_PATHS_H

#include <stddef.h>

/* With the chroot in front. Leaves room for a node's name below 1 KiB. */
#define PDK__PATH_MAX 512

/* NULL when path is fine, else the fault, in words that follow its name: "is relative: begin with a slash".
 * prefix: the length of the chroot in front of it. */
const char *pdk__path_error(const char *path, size_t prefix);

#endif
