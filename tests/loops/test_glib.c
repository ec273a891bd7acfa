#include "loops.h"

#include <paddock/adapters/glib.h>

static void *attach(pdk_session *session) {
    GSource *source = pdk_glib_source_new(session);
    if (source)
        g_source_attach(source, NULL);
    return source;
}

static void detach(void *source) {
    g_source_destroy(source);
    g_source_unref(source);
}

static gboolean over(gpointer done) {
    *(gboolean *)done = TRUE;
    return G_SOURCE_REMOVE;
}

static void turn(int ms) {
    gboolean done = FALSE;
    guint timer = g_timeout_add((guint)ms, over, &done);
    g_main_context_iteration(NULL, TRUE);
    if (!done)
        g_source_remove(timer);
}

static bool is_over(void *source) { return g_source_is_destroyed(source); }

static void end(void) {}

int main(void) { return loops_play(&(struct loop){"glib", attach, detach, turn, is_over, NULL, end}); }
