/*
 * A lock in a libuv program. Nothing blocks: the session connects, and the lock is granted and lost, on the loop.
 *
 *     loop_uv HOSTS     such as 127.0.0.1:2181; then delete the znode below /examples/uv with any client
 *
 * After a loss the work stops, and we queue again. The program ends after some work under its second grant.
 */
#include <paddock/adapters/libuv.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static pdk_lock *lock;
static uv_timer_t timer; /* the work while we hold the lock */
static pdk_uv *attached;
static int grants, steps;

static void check(const char *what, pdk_status status, pdk_status wanted) {
    if (status != wanted) {
        fprintf(stderr, "loop_uv: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

static void work(uv_timer_t *of_work) {
    pdk_hold *hold = of_work->data;
    if (!pdk_hold_is_valid(hold) || ++steps != 5) /* not valid: LOST comes */
        return;
    printf("worked\n");
    if (grants < 2)
        return;
    check("release", pdk_hold_release(hold), PDK_OK);
    pdk_uv_detach(attached);
    uv_close((uv_handle_t *)&timer, NULL); /* then uv_run returns, since no handle is left */
}

static void granted(pdk_status status, pdk_hold *hold, void *user);

static void lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)user;
    printf("LOST (%s): queueing again\n", pdk_reason_name(reason));
    uv_timer_stop(&timer);
    check("release", pdk_hold_release(hold), PDK_LOST); /* it drops the reference all the same */
    check("acquire again", pdk_lock_acquire_async(lock, PDK_FOREVER, granted, NULL, NULL), PDK_OK);
}

static void granted(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    check("acquire", status, PDK_OK);
    printf("grant %d: token %lld\n", ++grants, (long long)pdk_hold_token(hold));
    steps = 0;
    timer.data = hold;
    uv_timer_start(&timer, work, 10, 10);
    check("on_lost", pdk_hold_on_lost(hold, lost, NULL, NULL), PDK_OK);
}

int main(int argc, char **argv) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session = NULL;
    options.dispatch = PDK_DISPATCH_MANUAL;
    options.open_in_background = 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    uv_timer_init(uv_default_loop(), &timer);
    check("open", pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", &options, &session), PDK_OK);
    if (pdk_uv_attach(uv_default_loop(), session, &attached) != 0)
        return EXIT_FAILURE;
    check("lock", pdk_lock_new(session, "/examples/uv", NULL, &lock), PDK_OK);
    check("acquire", pdk_lock_acquire_async(lock, PDK_FOREVER, granted, NULL, NULL), PDK_OK);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    pdk_lock_unref(lock);
    check("close", pdk_session_close(session, 2000), PDK_OK); /* its time bounds it; it runs what is due */
    pdk_session_unref(session);
    uv_loop_close(uv_default_loop());
    printf("done\n");
    return EXIT_SUCCESS;
}
