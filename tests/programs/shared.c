/* Shared memory between processes: see shared.h. */
#include "shared.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>

static void *map(const char *path, size_t size, int flags) {
    int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
    if (fd < 0 || (flags && ftruncate(fd, (off_t)size) != 0))
        g_error("%s: cannot be opened", path);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        g_error("%s: cannot be mapped", path);
    close(fd);
    return memory;
}

void *shared_create(const char *path, size_t size) { return map(path, size, O_CREAT | O_EXCL); }
void *shared_open(const char *path, size_t size) { return map(path, size, 0); }
void shared_close(void *memory, size_t size) { munmap(memory, size); }

char *shared_program(void) {
    char *path = g_file_read_link("/proc/self/exe", NULL);
    g_assert(path);
    return path;
}
