#include "session/options.h"

#include "base/text.h"

#include <string.h>

/* Can a version have that size? A struct that begins with a size_t has a multiple of its size, so any other size would
 * cut a pointer in two. */
static bool is_size(size_t size, size_t first) { return size >= first && size <= 65536 && size % sizeof(size_t) == 0; }

pdk_status pdk__options_read(const char *name, const void *given, void *full, size_t size, size_t first) {
    if (!given)
        return PDK_OK;
    size_t theirs;
    memcpy(&theirs, given, sizeof theirs);
    if (!is_size(theirs, first))
        return pdk__fail(PDK_INVALID, "%s: size is %zu; fill the struct with its _INIT macro", name, theirs);
    const unsigned char *bytes = given;
    for (size_t i = size; i < theirs; i++)
        if (bytes[i] != 0)
            return pdk__fail(PDK_INVALID, "%s: sets an option that this version (%s) does not know", name,
                             pdk_version());
    memcpy(full, given, theirs < size ? theirs : size);
    memcpy(full, &size, sizeof size);
    return PDK_OK;
}

pdk_status pdk__options_init(const char *call, void *out, size_t theirs, const void *full, size_t size, size_t first) {
    if (!out)
        return pdk__fail(PDK_INVALID, "%s: the struct: NULL", call);
    if (!is_size(theirs, first))
        return pdk__fail(PDK_INVALID, "%s: size is %zu; pass the size of the struct in bytes", call, theirs);
    memset(out, 0, theirs);
    memcpy(out, full, theirs < size ? theirs : size);
    memcpy(out, &theirs, sizeof theirs);
    return PDK_OK;
}
