/*
 * A lock in an sd-event program. Nothing blocks: the session connects, and the lock is granted and lost, on the loop.
 *
 *     loop_sd_event HOSTS     such as 127.0.0.1:2181; then delete the znode below /examples/sd-event with any client
 *
 * After a loss the work stops, and we queue again. The program ends after some work under its second grant.
 */
#include <paddock/adapters/sd-event.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static sd_event *loop;
static pdk_lock *lock;
static sd_event_source *timer; /* the work while we hold the lock */
static int grants, steps;

static void check(const char *what, pdk_status status, pdk_status wanted) {
    if (status != wanted) {
        fprintf(stderr, "loop_sd_event: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

static int work(sd_event_source *source, uint64_t moment, void *hold) {
    (void)moment;
    if (pdk_hold_is_valid(hold) && ++steps == 5) { /* not valid: LOST comes */
        printf("worked\n");
        if (grants == 2) {
            check("release", pdk_hold_release(hold), PDK_OK);
            return sd_event_exit(loop, 0);
        }
    }
    sd_event_source_set_time_relative(source, 10000); /* µs */
    return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static void granted(pdk_status status, pdk_hold *hold, void *user);

static void lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)user;
    printf("LOST (%s): queueing again\n", pdk_reason_name(reason));
    timer = sd_event_source_disable_unref(timer);
    check("release", pdk_hold_release(hold), PDK_LOST); /* it drops the reference all the same */
    check("acquire again", pdk_lock_acquire_async(lock, PDK_FOREVER, granted, NULL, NULL), PDK_OK);
}

static void granted(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    check("acquire", status, PDK_OK);
    printf("grant %d: token %lld\n", ++grants, (long long)pdk_hold_token(hold));
    steps = 0;
    sd_event_add_time_relative(loop, &timer, CLOCK_MONOTONIC, 10000, 0, work, hold);
    check("on_lost", pdk_hold_on_lost(hold, lost, NULL, NULL), PDK_OK);
}

int main(int argc, char **argv) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session = NULL;
    options.dispatch = PDK_DISPATCH_MANUAL;
    options.open_in_background = 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    sd_event_default(&loop);
    check("open", pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", &options, &session), PDK_OK);
    sd_event_source *source = NULL;
    pdk_sd_event_add(loop, session, &source);
    check("lock", pdk_lock_new(session, "/examples/sd-event", NULL, &lock), PDK_OK);
    check("acquire", pdk_lock_acquire_async(lock, PDK_FOREVER, granted, NULL, NULL), PDK_OK);
    sd_event_loop(loop);
    pdk_lock_unref(lock);
    check("close", pdk_session_close(session, 2000), PDK_OK); /* its time bounds it; it runs what is due */
    sd_event_source_disable_unref(source);
    sd_event_source_disable_unref(timer);
    pdk_session_unref(session);
    sd_event_unref(loop);
    printf("done\n");
    return EXIT_SUCCESS;
}
