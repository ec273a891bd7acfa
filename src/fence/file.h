/* A fence in a file: the part that file.c and file_open.c share, and the part that the calls of a fence use. call: the
 * name in the error text. */
#ifndef PDK_FENCE_FILE_H
#define PDK_FENCE_FILE_H

#include "fence/slots.h"

#include <pthread.h>

struct pdk__file {
    int fd;
    unsigned forks;        /* as the file was opened */
    pthread_mutex_t mutex; /* the lock on the file is one of all threads that have this handle */
    uint64_t synced;       /* the serial number that this handle has seen on the disk */
    char path[];
};

/* The whole of bytes, at offset. false: errno says why. */
bool pdk__write_at(int fd, const void *bytes, size_t size, int64_t offset);
/* Reads both slots, under the lock: a writer may be between them. PDK_OK, or a status with its text. */
pdk_status pdk__file_check(struct pdk__file *file, const char *call);
void pdk__file_close(struct pdk__file *file);

/* Admit a mark that was checked. */
pdk_status pdk__file_admit(struct pdk__file *file, const char *call, int64_t token, uint32_t handover,
                           enum pdk__use use);
pdk_status pdk__file_write(struct pdk__file *file, const char *call, int64_t token, uint32_t handover, int fd,
                           const void *bytes, size_t size, int64_t offset);
pdk_status pdk__file_mark(struct pdk__file *file, const char *call, struct pdk__mark *mark);

#endif
