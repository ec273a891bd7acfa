#include "session/options.h"

#include "base/text.h"

#include <string.h>

pdk_status pdk__options_read(const char *name, const void *given, void *full, size_t size, size_t first) {
    if (!given)
        return PDK_OK;
    size_t theirs;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < first || theirs > 65536)
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
