/* Option structs that grow: the caller's may be older or newer than ours. */
#ifndef PDK_SESSION_OPTIONS_H
#define PDK_SESSION_OPTIONS_H

#include <paddock/status.h>
#include <stddef.h>

/* Copy `given` over `full`, which holds the defaults and is `size` bytes long. An older, smaller struct leaves the rest
 * at the defaults. In a newer, larger one the surplus must be zero. NULL: all defaults. first: the size of the first
 * version. */
pdk_status pdk__options_read(const char *name, const void *given, void *full, size_t size, size_t first);

/* Copy the defaults, `full` of `size` bytes, into a struct of `theirs` bytes. Members beyond ours turn zero. INVALID:
 * out is NULL, or no version had that size. */
pdk_status pdk__options_init(const char *call, void *out, size_t theirs, const void *full, size_t size, size_t first);

#endif
