/*
 * A throw-away ZooKeeper for scripts: zk [--nodes 1 or 3] [--tick MS] [--min-session MS] [--max-session MS]
 * [--property NAME=VALUE…] [--line LINE…] [--link NAME…]. Prints "hosts ip:port,…" once it serves. It stops when its
 * standard input ends, which also happens when its parent dies.
 *
 * A link is a client's own way to every server, printed as "link NAME ip:port,…". Lines of standard input act on it,
 * and each is answered "ok". "cut NAME" silences it: packets stay on the way, and so do connections. "reset NAME" resets its
 * connections, and refuses others. "lose NAME" silences it when the next write has been executed: its answer is lost. "heal NAME" lets packets through again, those first that were held up.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ts_ensemble.h>

enum { MOST_NODES = 3 };

struct link {
    const char *name;
    ts_proxy *way[MOST_NODES];
    int ways;
};

static void stop_link(gpointer data) {
    struct link *link = data;
    for (int i = 0; i < link->ways; i++)
        ts_proxy_stop(link->way[i]);
    g_free(link);
}

/* NULL when it cannot be started. */
static struct link *start_link(const ts_ensemble *ensemble, const char *name) {
    struct link *link = g_new0(struct link, 1);
    g_autoptr(GString) hosts = g_string_new(NULL);
    link->name = name;
    for (int i = 0; i < ts_ensemble_size(ensemble); i++) {
        link->way[i] = ts_proxy_start(ts_ensemble_host(ensemble, i));
        if (!link->way[i]) {
            stop_link(link);
            return NULL;
        }
        link->ways = i + 1;
        g_string_append_printf(hosts, "%s%s", i ? "," : "", ts_proxy_address(link->way[i]));
    }
    printf("link %s %s\n", name, hosts->str);
    return link;
}

/* The array, which owns the links. *all is false when some could not be started. */
static GPtrArray *start_links(const ts_ensemble *ensemble, char **names, bool *all) {
    GPtrArray *links = g_ptr_array_new_with_free_func(stop_link);
    *all = true;
    for (; names && *names && *all; names++) {
        struct link *link = start_link(ensemble, *names);
        *all = link != NULL;
        if (link)
            g_ptr_array_add(links, link);
    }
    return links;
}

static void act(ts_proxy *way, const char *verb) {
    if (strcmp(verb, "cut") == 0)
        ts_proxy_set_mode(way, TS_BLACKHOLE);
    else if (strcmp(verb, "reset") == 0)
        ts_proxy_set_mode(way, TS_CUT);
    else if (strcmp(verb, "lose") == 0)
        ts_proxy_arm(way, TS_OP_SET_DATA, TS_LOSE_REPLY, TS_BLACKHOLE);
    else
        ts_proxy_heal(way);
}

static bool execute(const GPtrArray *links, const char *line) {
    static const char *const verbs[] = {"cut", "reset", "lose", "heal", NULL};
    g_auto(GStrv) words = g_strsplit(line, " ", 2);
    if (g_strv_length(words) != 2 || !g_strv_contains(verbs, words[0]))
        return false;
    for (guint i = 0; i < links->len; i++) {
        const struct link *link = g_ptr_array_index(links, i);
        if (strcmp(link->name, words[1]) != 0)
            continue;
        for (int way = 0; way < link->ways; way++)
            act(link->way[way], words[0]);
        return true;
    }
    return false;
}

/* Serves until standard input ends. Without links no line is answered. */
static void serve(const GPtrArray *links) {
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        if (links->len == 0)
            continue;
        g_strchomp(line);
        puts(execute(links, line) ? "ok" : "no such order, or no such link");
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    int nodes = 1, tick_ms = 0, min_session_ms = 0, max_session_ms = 0;
    g_auto(GStrv) properties = NULL, lines = NULL, names = NULL;
    const GOptionEntry entries[] = {
        {"nodes", 0, 0, G_OPTION_ARG_INT, &nodes, "servers, 1 or 3", "N"},
        {"tick", 0, 0, G_OPTION_ARG_INT, &tick_ms, "tickTime", "MS"},
        {"min-session", 0, 0, G_OPTION_ARG_INT, &min_session_ms, "minSessionTimeout", "MS"},
        {"max-session", 0, 0, G_OPTION_ARG_INT, &max_session_ms, "maxSessionTimeout", "MS"},
        {"property", 0, 0, G_OPTION_ARG_STRING_ARRAY, &properties, "a system property of the servers", "NAME=VALUE"},
        {"line", 0, 0, G_OPTION_ARG_STRING_ARRAY, &lines, "a further line of zoo.cfg", "LINE"},
        {"link", 0, 0, G_OPTION_ARG_STRING_ARRAY, &names, "a client's own way to the servers", "NAME"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        fprintf(stderr, "zk: %s\n", error->message);
        return 2;
    }
    ts_ensemble_options options = {.nodes = nodes,
                                   .tick_ms = tick_ms,
                                   .min_session_ms = min_session_ms,
                                   .max_session_ms = max_session_ms,
                                   .java_properties = (const char *const *)properties,
                                   .config_lines = (const char *const *)lines};
    ts_ensemble *ensemble = ts_ensemble_start(&options);
    if (!ensemble)
        return EXIT_FAILURE;
    bool all;
    g_autoptr(GPtrArray) links = start_links(ensemble, names, &all);
    if (all) {
        printf("hosts %s\n", ts_ensemble_hosts(ensemble));
        fflush(stdout);
        serve(links);
    }
    g_ptr_array_set_size(links, 0); /* before the servers they lead to */
    ts_ensemble_stop(ensemble);
    return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
