#include "unanswered.h"

#include "clock.h"
#include "say.h"
#include "status.h"
#include "wire.h"
#include "words.h"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static void *do_nothing(void *nothing) { return nothing; }

/* The resource that this process does not get any more: then the client library opens sockets in vain, and does not say
 * so. NULL: nothing is short. */
static const char *shortage(void) {
    pthread_t thread;
    int ends[2] = {-1, -1}; /* a connection takes as many */
    bool none = pipe2(ends, O_CLOEXEC) != 0;
    int failed = pthread_create(&thread, NULL, do_nothing, NULL);
    for (int i = 0; i < 2 && !none; i++)
        close(ends[i]);
    if (!failed)
        pthread_join(thread, NULL);
    return none     ? "no descriptor is left; raise the limit (ulimit -n)"
           : failed ? "no thread is to be had; raise the limit (ulimit -u, TasksMax=)"
                    : NULL;
}

bool cmd_is_useless(const char *trouble) {
    return trouble && (g_str_has_prefix(trouble, "the negotiated session timeout") ||
                       g_str_has_prefix(trouble, "the server is no ZooKeeper"));
}

/* Try the first servers once more, for a moment: the library does not say why it has no connection. g_free it. */
static char *try_servers(const char *text) {
    enum { MOST = 3, TRY_MS = 500 };
    int64_t left, deadline = cmd_now_ms() + TRY_MS;
    cmd_servers servers;
    GString *why = g_string_new(NULL);
    cmd_servers_parse(&servers, text);
    for (size_t i = 0; i < MOST && servers.addresses[i] && (left = deadline - cmd_now_ms()) > 0; i++) {
        g_autofree char *error = NULL;
        int descriptor = cmd_dial(servers.addresses[i], left, &error);
        if (descriptor >= 0)
            close(descriptor);
        g_string_append_printf(why, "%s%s%s", i ? "; " : "", descriptor >= 0 ? servers.addresses[i] : error,
                               descriptor >= 0 ? " takes connections, and gives no session" : "");
    }
    cmd_servers_clear(&servers);
    return g_string_free(why, FALSE);
}

int cmd_say_unanswered(const char *servers, const char *trouble) {
    const char *lacks = shortage();
    g_autofree char *why = lacks ? NULL : trouble ? cmd_words(trouble) : try_servers(servers);
    if (lacks) {
        cmd_error("%s cannot be asked: %s", servers, lacks);
        return CMD_SOFTWARE;
    }
    if (cmd_is_useless(trouble))
        cmd_error("%s: %s", servers, why);
    else
        cmd_error("no server of %s answers (%s); look at -s, and whether they run", servers, why);
    return CMD_UNAVAILABLE;
}

int cmd_say_denied(const char *servers) {
    cmd_error("%s: the servers refuse the credentials, or demand others: look at --digest-file, and at "
              "enforce.auth.schemes of the servers",
              servers);
    return CMD_DENIED;
}
