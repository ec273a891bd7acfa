/*
 * A library to be preloaded. It sets the wall clock of a few processes, for which the kernel has no namespace.
 *
 * The file named by PADDOCK_WALLCLOCK contains a 64-bit number of seconds. clock_gettime, gettimeofday and time add
 * them to the time of day. The process that made the file changes the number while the others run. Without the variable
 * or the file it is the true time. The other clocks are not changed, as when somebody sets the real one.
 *
 * A sleep until a moment of the wall clock uses the kernel's clock. It would end too early or too late while the two
 * clocks differ. No program here sleeps so. Paddock, its player and the interpreters of the other clients use
 * CLOCK_MONOTONIC for the conditions of pthread_cond_timedwait. The exception is Java's parkUntil, which no client
 * calls. GLib and libzookeeper never call it.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define INTERPOSED __attribute__((visibility("default")))

typedef int clock_fn(clockid_t clock, struct timespec *now);

static clock_fn *true_time;
static const volatile int64_t *ahead_s;

/* Other libraries may ask for the time before this one is initialized. */
static clock_fn *find(void) {
    if (!true_time) {
        void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
        memcpy(&true_time, &symbol, sizeof true_time);
    }
    return true_time;
}

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("PADDOCK_WALLCLOCK");
    find();
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *mapped = mmap(NULL, sizeof *ahead_s, PROT_READ, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED)
        ahead_s = mapped;
    close(fd);
}

INTERPOSED int clock_gettime(clockid_t clock, struct timespec *now) {
    int status = find()(clock, now);
    if (status == 0 && ahead_s && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += *ahead_s;
    return status;
}

INTERPOSED int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    int status = clock_gettime(CLOCK_REALTIME, &precise);
    *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    if (zone)
        memset(zone, 0, sizeof(struct timezone));
    return status;
}

INTERPOSED time_t time(time_t *now) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME_COARSE, &precise);
    if (now)
        *now = precise.tv_sec;
    return precise.tv_sec;
}
