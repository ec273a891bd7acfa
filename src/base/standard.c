#include "base/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int pdk__above_standard(int fd) {
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(fd);
    errno = error;
    return above;
}

/* The loop ends above 2, since an open takes the lowest number that is free. */
void pdk__fill_standard(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDWR); /* not close-on-exec: no descriptor 0, 1 or 2 is */
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}
