/*
 * A throw-away ZooKeeper for scripts: zk [--nodes 1|3] [--tick MS] [--property NAME=VALUE…]. Prints "hosts ip:port,…"
 * once it serves, and stops when its standard input ends, which also happens when whoever started it dies.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <ts_ensemble.h>

int main(int argc, char **argv) {
    int nodes = 1, tick_ms = 0;
    g_auto(GStrv) properties = NULL;
    const GOptionEntry entries[] = {
        {"nodes", 0, 0, G_OPTION_ARG_INT, &nodes, "servers, 1 or 3", "N"},
        {"tick", 0, 0, G_OPTION_ARG_INT, &tick_ms, "tickTime", "MS"},
        {"property", 0, 0, G_OPTION_ARG_STRING_ARRAY, &properties, "a system property of the servers", "NAME=VALUE"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        fprintf(stderr, "zk: %s\n", error->message);
        return 2;
    }
    ts_ensemble_options options = {
        .nodes = nodes, .tick_ms = tick_ms, .java_properties = (const char *const *)properties};
    ts_ensemble *ensemble = ts_ensemble_start(&options);
    if (!ensemble)
        return EXIT_FAILURE;
    printf("hosts %s\n", ts_ensemble_hosts(ensemble));
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    ts_ensemble_stop(ensemble);
    return EXIT_SUCCESS;
}
