/* A resource that uses the installed fence; with BOTH also the locks, in either order of failures. */
#include <paddock/fence.h>
#ifdef BOTH
#include <paddock/paddock.h>
#endif

#include <stdio.h>
#include <string.h>

int main(void) {
    pdk_fence *fence;
    if (pdk_fence_new(&fence) != PDK_OK || pdk_fence_admit(fence, 34, 0) != PDK_OK)
        return 1;
    if (pdk_fence_admit(fence, 33, 0) != PDK_STALE || !strstr(pdk_last_error(), "token 33"))
        return 2;
    printf("%s: %s\n", pdk_version(), pdk_last_error());
#ifdef BOTH
    if (pdk_hold_release(NULL) != PDK_INVALID || !strstr(pdk_last_error(), "hold"))
        return 3;
    if (pdk_fence_admit(fence, 32, 0) != PDK_STALE || !strstr(pdk_last_error(), "token 32"))
        return 4;
#endif
    pdk_fence_close(fence);
    return 0;
}
