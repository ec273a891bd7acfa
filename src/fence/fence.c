/* The calls of a fence: the same for both kinds, and each kind's file does the work. It costs an admit in memory the
 * look at one pointer, which lies in the cell's own cache line. */
#include "fence/fence.h"
#include "base/text.h"

#include <stdlib.h>

struct pdk_fence *pdk__fence_make(const char *call) {
    struct pdk_fence *fence = aligned_alloc(PDK__CELL_LINE, sizeof *fence);
    if (!fence) {
        (void)pdk__fail(PDK_SYSTEM, "%s: no memory", call);
        return NULL;
    }
    pdk__cell_init(&fence->cell);
    fence->file = NULL;
    return fence;
}

pdk_status pdk_fence_new(pdk_fence **out) {
    if (!out)
        return pdk__fail(PDK_INVALID, "pdk_fence_new: fence: is NULL");
    struct pdk_fence *fence = pdk__fence_make("pdk_fence_new");
    if (!fence)
        return PDK_SYSTEM;
    *out = fence;
    return PDK_OK;
}

void pdk_fence_close(pdk_fence *fence) {
    if (!fence)
        return;
    if (fence->file)
        pdk__file_close(fence->file);
    free(fence);
}

static pdk_status fence_admit(const char *call, struct pdk_fence *fence, int64_t token, uint32_t handover,
                              enum pdk__use use) {
    if (!fence || token <= 0)
        return pdk__mark_check(call, "fence", fence, token);
    if (fence->file)
        return pdk__file_admit(fence->file, call, token, handover, use);
    return pdk__cell_admit(&fence->cell, call, token, handover, use);
}

pdk_status pdk_fence_admit(pdk_fence *fence, int64_t token, uint32_t handover) {
    return fence_admit("pdk_fence_admit", fence, token, handover, PDK__WRITE);
}

pdk_status pdk_fence_admit_shared(pdk_fence *fence, int64_t token, uint32_t handover) {
    return fence_admit("pdk_fence_admit_shared", fence, token, handover, PDK__READ);
}

pdk_status pdk_fence_advance(pdk_fence *fence, int64_t token, uint32_t handover) {
    return fence_admit("pdk_fence_advance", fence, token, handover, PDK__WRITE);
}

pdk_status pdk_fence_mark(pdk_fence *fence, int64_t *token, uint32_t *handover) {
    static const char call[] = "pdk_fence_mark";
    if (!fence)
        return pdk__mark_check(call, "fence", fence, 1);
    struct pdk__mark mark;
    if (fence->file) {
        pdk_status status = pdk__file_mark(fence->file, call, &mark);
        if (status != PDK_OK)
            return status;
    } else {
        mark = pdk__cell_load(&fence->cell);
    }
    pdk__mark_tell(&mark, token, handover);
    return PDK_OK;
}

/* A fence in memory cannot do it: an admit takes no lock there, so none could be held up until a write has ended. */
pdk_status pdk_fence_write(pdk_fence *fence, int64_t token, uint32_t handover, int fd, const void *bytes, size_t size,
                           int64_t offset) {
    static const char call[] = "pdk_fence_write";
    pdk_status status = pdk__mark_check(call, "fence", fence, token);
    if (status != PDK_OK)
        return status;
    if (!fence->file)
        return pdk__fail(PDK_UNSUPPORTED,
                         "%s: fence: is in memory, and holds nobody up during a write; open one in a file with "
                         "pdk_fence_open, or call pdk_fence_admit and write under one lock of your own",
                         call);
    return pdk__file_write(fence->file, call, token, handover, fd, bytes, size, offset);
}
