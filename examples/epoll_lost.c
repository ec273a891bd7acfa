/*
 * A lost lock, handled in an epoll loop. No thread of ours blocks, and every callback runs on this one.
 *
 *     epoll_lost HOSTS        such as 127.0.0.1:2181; then delete the znode below /examples/epoll with any client
 *
 * The loop waits for three descriptors: the session's (callbacks are due), a timer's (work to do), and the hold's (the
 * hold is lost). After a loss the work stops, the hold is released, and we queue again. The program ends at the second
 * grant.
 */
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int loop, grants, steps; /* loop: the epoll descriptor */
static pdk_lock *lock;
static pdk_hold *held; /* NULL while we wait for the lock */

static void check(const char *what, pdk_status status, pdk_status wanted) {
    if (status != wanted) {
        fprintf(stderr, "epoll_lost: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

static void watch(int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    check("epoll_ctl", epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) == 0 ? PDK_OK : PDK_SYSTEM, PDK_OK);
}

static void granted(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    check("acquire", status, PDK_OK);
    held = hold;
    watch(pdk_hold_fd(hold));
    printf("grant %d: token %lld\n", ++grants, (long long)pdk_hold_token(hold));
}

static void lost(void) {
    printf("LOST (%s) after %d steps of work: queueing again\n", pdk_reason_name(pdk_hold_reason(held)), steps);
    epoll_ctl(loop, EPOLL_CTL_DEL, pdk_hold_fd(held), NULL);
    check("release", pdk_hold_release(held), PDK_LOST); /* it drops the reference all the same */
    held = NULL;
    check("acquire again", pdk_lock_acquire_async(lock, PDK_FOREVER, granted, NULL, NULL), PDK_OK);
}

int main(int argc, char **argv) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    const struct itimerspec tick = {{0, 10000000}, {0, 10000000}}; /* 10 ms */
    pdk_session *session = NULL;
    uint64_t ticks;
    options.dispatch = PDK_DISPATCH_MANUAL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    check("open", pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", &options, &session), PDK_OK);
    check("lock", pdk_lock_new(session, "/examples/epoll", NULL, &lock), PDK_OK);
    check("acquire", pdk_lock_acquire_async(lock, PDK_FOREVER, granted, NULL, NULL), PDK_OK);
    loop = epoll_create1(EPOLL_CLOEXEC);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    timerfd_settime(timer, 0, &tick, NULL);
    watch(timer);
    watch(pdk_session_fd(session));
    while (grants < 2) {
        struct epoll_event event = {.data.fd = -1};
        epoll_wait(loop, &event, 1, -1);
        if (event.data.fd == pdk_session_fd(session))
            check("dispatch", pdk_session_dispatch(session, NULL), PDK_OK);
        else if (event.data.fd == timer)
            steps += read(timer, &ticks, sizeof ticks) > 0 && held && pdk_hold_is_valid(held);
        else if (held && event.data.fd == pdk_hold_fd(held))
            lost();
    }
    pdk_lock_unref(lock);
    check("release", pdk_hold_release(held), PDK_OK);
    check("close", pdk_session_close(session, 2000), PDK_OK);
    pdk_session_unref(session);
    printf("done\n");
    return EXIT_SUCCESS;
}
