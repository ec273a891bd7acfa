/* Open a session with a chroot and a timeout of its own, and print
 * its events and its log. */
#include <inttypes.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

/* Both run on the session's own thread: keep them short. */
static void on_event(pdk_session_event event, int64_t left_ms,
                     void *user) {
    (void)user;
    if (event == PDK_SESSION_SUSPENDED)
        printf("cut off; holds are valid for %" PRId64 " ms\n",
               left_ms);
    else if (event == PDK_SESSION_EXPIRED)
        printf("expired; all holds are lost\n");
}

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)user;
    fprintf(stderr, "%d %s\n", (int)level, text);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session;
    char place[256];

    snprintf(place, sizeof place, "%s/manual", hosts); /* chroot */
    options.session_timeout_ms = 10000;
    options.label = "billing"; /* others see host:pid:billing */
    options.on_event = on_event;
    options.on_log = on_log;
    options.log_level = PDK_LOG_WARN;
    must(pdk_session_open(place, &options, &session));
    printf("%s has session %" PRIx64 "\n",
           pdk_session_identity(session), pdk_session_id(session));
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}
