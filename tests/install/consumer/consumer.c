/* A C program that uses the installed library: is the version that is loaded the one it was compiled against, and do the
 * functions say what the macros say? */
#include <paddock/paddock.h>

#include <stdio.h>
#include <string.h>

static bool numbers_agree(void) {
    return pdk_version_major() == PDK_VERSION_MAJOR && pdk_version_minor() == PDK_VERSION_MINOR &&
           pdk_version_patch() == PDK_VERSION_PATCH && pdk_forever() == PDK_FOREVER &&
           pdk_semaphore_permits_max() == PDK_SEMAPHORE_PERMITS_MAX &&
           pdk_semaphore_count_max() == PDK_SEMAPHORE_COUNT_MAX;
}

int main(void) {
    const pdk_session_options session = PDK_SESSION_OPTIONS_INIT;
    const pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT;
    char compiled[64];
    snprintf(compiled, sizeof compiled, "%d.%d.%d", PDK_VERSION_MAJOR, PDK_VERSION_MINOR, PDK_VERSION_PATCH);
    printf("compiled against %s, running with %s\n", compiled, pdk_version());
    return strcmp(compiled, pdk_version()) != 0 || session.size != sizeof session || lock.size != sizeof lock ||
           !numbers_agree();
}
