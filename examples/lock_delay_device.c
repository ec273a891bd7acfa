/*
 * A lock in front of a device that cannot check a token: after an end without a release nobody is granted for a while.
 *
 *     lock_delay_device HOSTS        such as 127.0.0.1:2181
 *
 * A write of the holder before may still be on its way to the device. The delay is longer than the device ever takes.
 */
#include <inttypes.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DELAY_MS = 2000 };

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "lock_delay_device: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* All programs on the path name the same delay: another one, or none, is PDK_MISMATCH. */
static pdk_lock *device(pdk_session *session) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_lock *lock;
    options.lock_delay_ms = DELAY_MS;
    check("lock", pdk_lock_new(session, "/examples/device", &options, &lock));
    return lock;
}

static void end(pdk_session *session, pdk_lock *lock) {
    pdk_lock_unref(lock);
    check("close", pdk_session_close(session, 2000));
    pdk_session_unref(session);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *first, *next;
    pdk_lock *of_first, *of_next;
    pdk_hold *hold;
    setvbuf(stdout, NULL, _IOLBF, 0);
    check("open", pdk_session_open(hosts, NULL, &first));
    check("open", pdk_session_open(hosts, NULL, &next));
    of_first = device(first);
    of_next = device(next);

    check("acquire", pdk_lock_acquire(of_first, 10000, &hold));
    printf("the first one holds\n");
    end(first, of_first);   /* the session ends before the hold is released: as if the program had crashed */
    pdk_hold_release(hold); /* too late: it was lost (PDK_LOST), and only its memory is given back */

    int64_t began = now_ms();
    check("acquire", pdk_lock_acquire(of_next, 60000, &hold));
    printf("the next one waited %s\n", now_ms() - began >= DELAY_MS ? "for the delay" : "too short");

    check("release", pdk_hold_release(hold));
    began = now_ms();
    check("acquire", pdk_lock_acquire(of_next, 60000, &hold));
    printf("after a release it %s\n", now_ms() - began < DELAY_MS ? "waited for nothing" : "waited");
    check("release", pdk_hold_release(hold));
    end(next, of_next);
    return EXIT_SUCCESS;
}
