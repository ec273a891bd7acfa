/* A program that needs the interface of version 0.1 asks for it
 * twice: when it is compiled, and when it runs. */
#include <paddock/paddock.h>
#include <stdio.h>

#if PDK_VERSION_MAJOR == 0 && PDK_VERSION_MINOR < 1
#error "this program needs Paddock 0.1"
#endif

int main(void) {
    if (pdk_version_major() != PDK_VERSION_MAJOR) {
        fprintf(stderr, "compiled for another libpaddock than %s\n",
                pdk_version());
        return 1;
    }
    printf("libpaddock %s\n", pdk_version());
    return 0;
}
