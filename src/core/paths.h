/* Which paths are accepted, and in which words the others are refused. */
#ifndef PDK_CORE_PATHS_H
#define PDK_CORE_PATHS_H

#include <stddef.h>

/* With the chroot in front. Leaves room for a node's name below 1 KiB. */
#define PDK__PATH_MAX 512

/* NULL when path is fine, else what is wrong with it, to follow its name: "is relative: begin with a slash".
 * prefix: the length of the chroot it will be put behind. */
const char *pdk__path_error(const char *path, size_t prefix);

#endif
