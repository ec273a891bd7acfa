#include "http.h"

#include "module.h"
#include "status.h"
#include <dlfcn.h>
#include <glib.h>
#include <unistd.h>

typedef int (*start_fn)(int socket, cmd_http_fn fn, void *user, cmd_http **out, char **why);
typedef void (*stop_fn)(cmd_http *http);

static void *module;

int cmd_http_start(int socket, cmd_http_fn fn, void *user, cmd_http **out, char **why) {
    g_autofree char *missing = NULL;
    module = cmd_module_load("http", &missing);
    if (module)
        return ((start_fn)dlsym(module, __func__))(socket, fn, user, out, why);
    *why = g_strdup_printf("this paddock was built without libmicrohttpd, or lacks it (%s)", missing);
    close(socket);
    return CMD_USAGE;
}

void cmd_http_stop(cmd_http *http) { ((stop_fn)dlsym(module, __func__))(http); }
