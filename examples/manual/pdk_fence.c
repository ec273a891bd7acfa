/* A store that refuses the late write of a former holder. No
 * ZooKeeper is needed here. */
#include <paddock/fence.h>
#include <stdio.h>
#include <stdlib.h>

static pdk_fence *fence;

/* A check and a write are two steps: where the store has threads, take
 * a lock of its own around both. */
static void write_row(const char *row, int64_t token,
                      uint32_t handover) {
    pdk_status status = pdk_fence_admit(fence, token, handover);

    printf("%s: %s\n", row,
           status == PDK_OK ? "written" : pdk_last_error());
}

int main(void) {
    if (pdk_fence_new(&fence) != PDK_OK)
        return 1;
    write_row("by holder 33", 33, 0);
    write_row("by the next thread of its process", 33, 1);
    write_row("by holder 34", 34, 0);
    write_row("by holder 33, who slept", 33, 1);
    pdk_fence_close(fence);
    return 0;
}
