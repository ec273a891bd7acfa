#include "loops.h"

#include <paddock/adapters/libevent.h>

static struct event_base *base;

static void *attach(pdk_session *session) {
    if (!base)
        base = event_base_new();
    return pdk_libevent_attach(base, session);
}

static void detach(void *libevent) {
    pdk_libevent_detach(libevent);
    pdk_libevent_detach(NULL);
}

static void over(evutil_socket_t fd, short events, void *user) {
    (void)fd;
    (void)events;
    (void)user;
}

static void turn(int ms) {
    struct event *timer = evtimer_new(base, over, NULL);
    event_add(timer, &(struct timeval){0, ms * 1000});
    event_base_loop(base, EVLOOP_ONCE);
    event_free(timer);
}

static bool is_over(void *libevent) { return !event_pending(((pdk_libevent *)libevent)->event, EV_READ, NULL); }

static void run(void) { event_base_dispatch(base); }

static void end(void) {
    event_base_free(base);
    base = NULL;
}

int main(void) { return loops_play(&(struct loop){"libevent", attach, detach, turn, is_over, run, end}); }
