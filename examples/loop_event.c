/*
 * A lock in a libevent program. Nothing blocks: the session connects, and the lock is granted and lost, on the loop.
 *
 *     loop_event HOSTS     such as 127.0.0.1:2181; then delete the znode below /examples/event with any client
 *
 * After a loss the work stops, and we queue again. The program ends after some work under its second grant.
 */
#include <paddock/adapters/libevent.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static struct event_base *loop;
static pdk_lock *lock;
static struct event *timer; /* the work while we hold the lock */
static pdk_hold *held;
static int grants, steps;

static void check(const char *what, pdk_status status, pdk_status wanted) {
    if (status != wanted) {
        fprintf(stderr, "loop_event: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

static void work(evutil_socket_t none, short events, void *user) {
    (void)none;
    (void)events;
    (void)user;
    if (!pdk_hold_is_valid(held) || ++steps != 5) /* not valid: LOST comes */
        return;
    printf("worked\n");
    if (grants < 2)
        return;
    check("release", pdk_hold_release(held), PDK_OK);
    event_base_loopbreak(loop);
}

static void granted(pdk_status status, pdk_hold *hold, void *user);

static void lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)user;
    printf("LOST (%s): queueing again\n", pdk_reason_name(reason));
    event_del(timer);
    check("release", pdk_hold_release(hold), PDK_LOST); /* it drops the reference all the same */
    check("acquire again", pdk_lock_acquire_async(lock, PDK_FOREVER, granted, NULL, NULL), PDK_OK);
}

static void granted(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    check("acquire", status, PDK_OK);
    printf("grant %d: token %lld\n", ++grants, (long long)pdk_hold_token(hold));
    steps = 0;
    held = hold;
    event_add(timer, &(struct timeval){0, 10000});
    check("on_lost", pdk_hold_on_lost(hold, lost, NULL, NULL), PDK_OK);
}

int main(int argc, char **argv) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session = NULL;
    options.dispatch = PDK_DISPATCH_MANUAL;
    options.open_in_background = 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    loop = event_base_new();
    timer = event_new(loop, -1, EV_PERSIST, work, NULL);
    check("open", pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", &options, &session), PDK_OK);
    pdk_libevent *attached = pdk_libevent_attach(loop, session);
    check("lock", pdk_lock_new(session, "/examples/event", NULL, &lock), PDK_OK);
    check("acquire", pdk_lock_acquire_async(lock, PDK_FOREVER, granted, NULL, NULL), PDK_OK);
    event_base_dispatch(loop);
    pdk_lock_unref(lock);
    check("close", pdk_session_close(session, 2000), PDK_OK); /* its time bounds it; it runs what is due */
    pdk_libevent_detach(attached);
    event_free(timer);
    pdk_session_unref(session);
    event_base_free(loop);
    printf("done\n");
    return EXIT_SUCCESS;
}
