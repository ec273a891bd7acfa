/* A C program that uses the installed library: is the version that is loaded the one it was compiled against? */
#include <paddock/paddock.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    const pdk_session_options session = PDK_SESSION_OPTIONS_INIT;
    const pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT;
    char compiled[64];
    snprintf(compiled, sizeof compiled, "%d.%d.%d", PDK_VERSION_MAJOR, PDK_VERSION_MINOR, PDK_VERSION_PATCH);
    printf("compiled against %s, running with %s\n", compiled, pdk_version());
    return strcmp(compiled, pdk_version()) != 0 || session.size != sizeof session || lock.size != sizeof lock;
}
