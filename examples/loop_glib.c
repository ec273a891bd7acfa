/*
 * A lock in a GLib program. Nothing blocks: the session connects, and the lock is granted and lost, on the main loop.
 *
 *     loop_glib HOSTS     such as 127.0.0.1:2181; then delete the znode below /examples/glib with any client
 *
 * After a loss the work stops, and we queue again. The program ends after some work under its second grant.
 */
#include <paddock/adapters/glib.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static GMainLoop *loop;
static pdk_lock *lock;
static guint timer; /* the work while we hold the lock, or 0 */
static int grants, steps;

static void check(const char *what, pdk_status status, pdk_status wanted) {
    if (status != wanted) {
        fprintf(stderr, "loop_glib: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

static gboolean work(gpointer hold) {
    if (!pdk_hold_is_valid(hold))
        return G_SOURCE_CONTINUE; /* LOST comes */
    if (++steps != 5)
        return G_SOURCE_CONTINUE;
    printf("worked\n");
    if (grants < 2)
        return G_SOURCE_CONTINUE;
    timer = 0;
    check("release", pdk_hold_release(hold), PDK_OK);
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

static void granted(pdk_status status, pdk_hold *hold, void *user);

static void lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)user;
    printf("LOST (%s): queueing again\n", pdk_reason_name(reason));
    g_source_remove(timer);
    check("release", pdk_hold_release(hold), PDK_LOST); /* it drops the reference all the same */
    check("acquire again", pdk_lock_acquire_async(lock, PDK_FOREVER, granted, NULL, NULL), PDK_OK);
}

static void granted(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    check("acquire", status, PDK_OK);
    printf("grant %d: token %lld\n", ++grants, (long long)pdk_hold_token(hold));
    steps = 0;
    timer = g_timeout_add(10, work, hold);
    check("on_lost", pdk_hold_on_lost(hold, lost, NULL, NULL), PDK_OK);
}

int main(int argc, char **argv) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session = NULL;
    options.dispatch = PDK_DISPATCH_MANUAL;
    options.open_in_background = 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    loop = g_main_loop_new(NULL, FALSE);
    check("open", pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", &options, &session), PDK_OK);
    GSource *source = pdk_glib_source_new(session);
    g_source_attach(source, NULL);
    check("lock", pdk_lock_new(session, "/examples/glib", NULL, &lock), PDK_OK);
    check("acquire", pdk_lock_acquire_async(lock, PDK_FOREVER, granted, NULL, NULL), PDK_OK);
    g_main_loop_run(loop);
    pdk_lock_unref(lock);
    check("close", pdk_session_close(session, 2000), PDK_OK); /* its time bounds it; it runs what is due */
    g_source_destroy(source);
    g_source_unref(source);
    pdk_session_unref(session);
    g_main_loop_unref(loop);
    printf("done\n");
    return EXIT_SUCCESS;
}
