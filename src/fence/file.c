/* A fence in a file that processes share.
 *
 *     lock the file ──► read both slots ──► is the newest on the disk? ──► rule ──► write the other slot ──► fdatasync
 *                                             no: fdatasync                 │ equal, or stale                    │
 *                                                                           └─────────────► unlock ◄─────────────┘
 *
 * Killed at any moment, a process leaves at least one good slot: the one that was on the disk before its write began.
 * Its writer may have had no time to sync a mark that is read; so the mark is synced before anybody is told of it. Thus
 * no success and no refusal is ever built on a mark that a loss of power can take back.
 *
 * A thread that is cancelled ends while it waits for another process that has the file, or not at all
 * (base/cancel.h). */
#include "fence/file.h"
#include "base/cancel.h"
#include "base/fork.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool pdk__write_at(int fd, const void *bytes, size_t size, int64_t offset) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t wrote = pwrite(fd, at, size, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        at += wrote, size -= (size_t)wrote, offset += wrote;
    }
    return true;
}

static pdk_status file_read(const struct pdk__file *file, const char *call, struct pdk__slots *out) {
    struct pdk__slot slots[PDK__SLOTS];
    struct stat facts;
    *out = (struct pdk__slots){.serial = 0};
    if (fstat(file->fd, &facts) != 0)
        return pdk__fail(PDK_SYSTEM, "%s: %s: %m", call, file->path);
    if (facts.st_nlink == 0)
        return pdk__fail(PDK_DAMAGED, "%s: %s: was deleted or replaced; others do not see its mark", call, file->path);
    const char *wrong = facts.st_size == PDK__SLOTS_SIZE ? NULL : "has not the size of a fence";
    for (int i = 0; i < PDK__SLOTS && !wrong; i++) {
        ssize_t got = pread(file->fd, &slots[i], sizeof slots[i], (off_t)i * PDK__SLOT_STRIDE);
        if (got < 0)
            return pdk__fail(PDK_SYSTEM, "%s: %s: %m", call, file->path);
        if (got != sizeof slots[i])
            wrong = "has not the size of a fence";
    }
    if (!wrong)
        wrong = pdk__slots_read(slots, out);
    if (wrong)
        return pdk__fail(PDK_DAMAGED, "%s: %s: %s; it is never reset: restore it, or begin a new one", call, file->path,
                         wrong);
    return PDK_OK;
}

static void file_end(struct pdk__file *file) {
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    (void)fcntl(file->fd, F_OFD_SETLK, &whole);
    pthread_mutex_unlock(&file->mutex);
}

/* The thread may just have got the lock. */
static void cancelled(void *file) {
    file_end(file);
    pdk__leave_run_after();
}

static bool wait_for_lock(const struct pdk__file *file) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    while (fcntl(file->fd, F_OFD_SETLKW, &whole) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

static bool wait_cancellable(struct pdk__file *file) {
    bool locked;
    pthread_cleanup_push(cancelled, file);
    pdk__cancel_open();
    locked = wait_for_lock(file);
    pdk__cancel_shut();
    pthread_cleanup_pop(0);
    return locked;
}

static pdk_status file_begin(struct pdk__file *file, const char *call) {
    if (file->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "%s: %s: opened by the parent process; open it in the child", call, file->path);
    pthread_mutex_lock(&file->mutex);
    if (pdk__cancel_is_outermost() ? wait_cancellable(file) : wait_for_lock(file))
        return PDK_OK;
    pdk_status status = pdk__fail(PDK_SYSTEM, "%s: %s: cannot be locked: %m", call, file->path);
    pthread_mutex_unlock(&file->mutex);
    return status;
}

pdk_status pdk__file_check(struct pdk__file *file, const char *call) {
    struct pdk__slots slots;
    pdk_status locked = file_begin(file, call);
    if (locked != PDK_OK)
        return locked;
    pdk_status status = file_read(file, call, &slots);
    file_end(file);
    return status;
}

static pdk_status sync_mark(struct pdk__file *file, const char *call, uint64_t serial) {
    if (file->synced == serial)
        return PDK_OK;
    if (fdatasync(file->fd) != 0)
        return pdk__fail(PDK_SYSTEM, "%s: %s: cannot be synced: %m", call, file->path);
    file->synced = serial;
    return PDK_OK;
}

/* The mark, on the disk. */
static pdk_status read_synced(struct pdk__file *file, const char *call, struct pdk__slots *slots) {
    pdk_status status = file_read(file, call, slots);
    return status == PDK_OK ? sync_mark(file, call, slots->serial) : status;
}

/* The file is locked. */
static pdk_status admit_locked(struct pdk__file *file, const char *call, int64_t token, uint32_t handover,
                               enum pdk__use use) {
    struct pdk__slots slots;
    pdk_status status = read_synced(file, call, &slots);
    if (status != PDK_OK)
        return status;
    struct pdk__mark mark = slots.mark;
    if (!pdk__mark_admit(&mark, token, handover, use))
        return pdk__mark_stale(call, &mark, token, handover, use);
    if (mark.top == slots.mark.top && mark.handover == slots.mark.handover)
        return PDK_OK;
    struct pdk__slot slot = pdk__slot_make(&mark, slots.serial + 1);
    if (!pdk__write_at(file->fd, &slot, sizeof slot, (int64_t)(1 - slots.newest) * PDK__SLOT_STRIDE))
        return pdk__fail(PDK_SYSTEM, "%s: %s: cannot be written: %m", call, file->path);
    return sync_mark(file, call, slots.serial + 1);
}

pdk_status pdk__file_admit(struct pdk__file *file, const char *call, int64_t token, uint32_t handover,
                           enum pdk__use use) {
    pdk__cancel_off();
    pdk_status status = file_begin(file, call);
    if (status == PDK_OK) {
        status = admit_locked(file, call, token, handover, use);
        file_end(file);
    }
    pdk__cancel_back();
    return status;
}

pdk_status pdk__file_mark(struct pdk__file *file, const char *call, struct pdk__mark *mark) {
    struct pdk__slots slots;
    pdk__cancel_off();
    pdk_status status = file_begin(file, call);
    if (status == PDK_OK) {
        status = read_synced(file, call, &slots);
        file_end(file);
    }
    pdk__cancel_back();
    if (status == PDK_OK)
        *mark = slots.mark;
    return status;
}

pdk_status pdk__file_write(struct pdk__file *file, const char *call, int64_t token, uint32_t handover, int fd,
                           const void *bytes, size_t size, int64_t offset) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_APPEND))
        return pdk__fail(PDK_INVALID, "%s: fd: %d is not open for writing at an offset, without O_APPEND", call, fd);
    if ((!bytes && size > 0) || offset < 0)
        return pdk__fail(PDK_INVALID, "%s: %s", call, offset < 0 ? "offset: is negative" : "bytes: is NULL");
    pdk__cancel_off();
    pdk_status status = file_begin(file, call);
    if (status == PDK_OK) {
        status = admit_locked(file, call, token, handover, PDK__WRITE);
        if (status == PDK_OK && !pdk__write_at(fd, bytes, size, offset))
            status = pdk__fail(PDK_SYSTEM, "%s: fd: %d was written in part, or not at all: %m", call, fd);
        file_end(file);
    }
    pdk__cancel_back();
    return status;
}
