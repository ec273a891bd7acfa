/* The parts of the bench that need no other client. The exit status says whether every target was met. */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ts_tempdir.h>

static gboolean quick;
static char *only, *client, *control;
static int client_index;
static const GOptionEntry entries[] = {
    {"quick", 0, 0, G_OPTION_ARG_NONE, &quick, "a short run", NULL},
    {"only", 0, 0, G_OPTION_ARG_STRING, &only, "one part: queue, awaiting, valid, burst, crowd, guarded or costs",
     "PART"},
    {"client", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &client, NULL, NULL},
    {"control", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &control, NULL, NULL},
    {"index", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_INT, &client_index, NULL, NULL},
    {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
};

static void row(struct bench *bench, const char *what, double value, const char *limit, double target, const char *unit,
                bool met) {
    g_string_append_printf(bench->table, "%-60s %10.2f   %s %8.2f %-8s %s\n", what, value, limit, target, unit,
                           met ? "ok" : "MISSED");
    bench->missed += !met;
}

void bench_at_most(struct bench *bench, const char *what, double value, double target, const char *unit) {
    row(bench, what, value, "<=", target, unit, value <= target);
}

void bench_at_least(struct bench *bench, const char *what, double value, double target, const char *unit) {
    row(bench, what, value, ">=", target, unit, value >= target);
}

void bench_exactly(struct bench *bench, const char *what, double value, double target, const char *unit) {
    row(bench, what, value, "==", target, unit, value == target);
}

void bench_check(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "parts: %s: %s\n", pdk_status_name(status), pdk_last_error());
    exit(EXIT_FAILURE);
}

pdk_session *bench_open(const char *address, int session_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = session_ms;
    pdk_session *session;
    bench_check(pdk_session_open(address, &options, &session));
    return session;
}

pdk_lock *bench_lock(pdk_session *session, const char *path) {
    pdk_lock *lock;
    bench_check(pdk_lock_new(session, path, NULL, &lock));
    return lock;
}

static int run(void) {
    static const struct {
        const char *name;
        void (*run)(struct bench *bench);
    } parts[] = {{"queue", bench_queue}, {"awaiting", bench_awaiting}, {"valid", bench_valid}, {"burst", bench_burst},
                 {"crowd", bench_crowd}, {"guarded", bench_guarded},   {"costs", bench_costs}};
    ts_tempdir *folder = ts_tempdir_new();
    struct bench bench = {.quick = quick, .ensemble = ts_ensemble_start(NULL), .table = g_string_new(NULL)};
    int ran = 0;
    if (!folder || !bench.ensemble)
        return EXIT_FAILURE;
    bench.folder = ts_tempdir_path(folder);
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (only && strcmp(only, parts[i].name) != 0)
            continue;
        parts[i].run(&bench);
        ran++;
        fflush(stdout);
    }
    ts_ensemble_stop(bench.ensemble);
    ts_tempdir_free(folder);
    printf("\n%-60s %10s      %8s\n%s", "what", "measured", "target", bench.table->str);
    printf("parts: %s\n", ran == 0 ? "no such part" : bench.missed ? "FAILED, a target was missed" : "PASSED");
    g_string_free(bench.table, TRUE);
    return ran > 0 && bench.missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
    g_autoptr(GOptionContext) context = g_option_context_new("- what the library's calls cost");
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        fprintf(stderr, "parts: %s\n", error->message);
        return 2;
    }
    if (!only && argc > 1)
        only = argv[1];
    return client ? bench_client_run(control, client, client_index) : run();
}
