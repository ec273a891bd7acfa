/* Opens a fence's file. The file comes into being whole: it is made under another name, synced, and linked to its
 * own. */
#include "base/cancel.h"
#include "base/fork.h"
#include "base/standard.h"
#include "base/text.h"
#include "fence/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char call[] = "pdk_fence_open";

/* The entry in the folder must be on the disk as well, or the file could vanish, and its mark with it. */
static bool sync_folder(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 1;
    snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool fine = fd >= 0 && fsync(fd) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return fine;
}

static bool fill(int fd) {
    const struct pdk__mark none = {0};
    for (int i = 0; i < PDK__SLOTS; i++) {
        struct pdk__slot slot = pdk__slot_make(&none, (uint64_t)i + 1);
        if (!pdk__write_at(fd, &slot, sizeof slot, (int64_t)i * PDK__SLOT_STRIDE))
            return false;
    }
    return ftruncate(fd, PDK__SLOTS_SIZE) == 0 && fsync(fd) == 0;
}

/* false: errno says why. Another process may have been first. */
static bool create(const char *path) {
    char name[PATH_MAX];
    if ((size_t)snprintf(name, sizeof name, "%s.XXXXXX", path) >= sizeof name) {
        errno = ENAMETOOLONG;
        return false;
    }
    int made = mkostemp(name, O_CLOEXEC);
    if (made < 0)
        return false;
    int fd = pdk__above_standard(made);
    bool fine = fd >= 0 && fill(fd) && (link(name, path) == 0 || errno == EEXIST);
    int error = errno;
    unlink(name);
    if (fd >= 0)
        close(fd);
    errno = error;
    return fine;
}

/* The descriptor is never 2: the words of a refusal would stand in the newest slot then, and the older mark would
 * count. */
static int open_or_create(const char *path, bool may_create) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && may_create && create(path))
        fd = open(path, O_RDWR | O_CLOEXEC);
    return pdk__above_standard(fd);
}

static void close_fence(void *fence) { pdk_fence_close(fence); }

/* NULL: the error text says why. */
static struct pdk__file *make_file(const char *path, bool may_create) {
    struct pdk__file *file = malloc(sizeof *file + strlen(path) + 1);
    if (!file) {
        (void)pdk__fail(PDK_SYSTEM, "%s: no memory", call);
        return NULL;
    }
    memcpy(file->path, path, strlen(path) + 1);
    pthread_mutex_init(&file->mutex, NULL);
    file->forks = pdk__forks();
    file->synced = 0;
    file->fd = open_or_create(path, may_create);
    if (file->fd >= 0 && sync_folder(path))
        return file;
    (void)pdk__fail(PDK_SYSTEM, "%s: %s: %m", call, path);
    pdk__file_close(file);
    return NULL;
}

/* The fence's file is NULL so far. */
static pdk_status open_file(struct pdk_fence *fence, const char *path, bool may_create) {
    fence->file = make_file(path, may_create);
    if (!fence->file)
        return PDK_SYSTEM;
    struct pdk__leave leave = {.after = close_fence, .user = fence};
    pdk__leave_push(&leave);
    pdk_status status = pdk__file_check(fence->file, call);
    pdk__leave_pop();
    return status;
}

static pdk_status open_fence(const char *path, pdk_fence_open_how how, pdk_fence **out) {
    if (!path || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: is NULL", call, path ? "fence" : "path");
    if (how != PDK_FENCE_EXISTING && how != PDK_FENCE_CREATE)
        return pdk__fail(PDK_INVALID, "%s: how: %d is not a value of pdk_fence_open_how", call, (int)how);
    if (strlen(path) >= PATH_MAX)
        return pdk__fail(PDK_INVALID, "%s: path: longer than %d bytes", call, PATH_MAX - 1);
    struct pdk_fence *fence = pdk__fence_make(call);
    if (!fence)
        return PDK_SYSTEM;
    pdk_status status = open_file(fence, path, how == PDK_FENCE_CREATE);
    if (status != PDK_OK) {
        pdk_fence_close(fence);
        return status;
    }
    *out = fence;
    return PDK_OK;
}

pdk_status pdk_fence_open(const char *path, pdk_fence_open_how how, pdk_fence **out) {
    pdk__cancel_off();
    pdk_status status = open_fence(path, how, out);
    pdk__cancel_back();
    return status;
}

void pdk__file_close(struct pdk__file *file) {
    pdk__cancel_off();
    if (file->fd >= 0)
        close(file->fd);
    pthread_mutex_destroy(&file->mutex);
    free(file);
    pdk__cancel_back();
}
