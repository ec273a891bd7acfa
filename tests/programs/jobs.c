/* Jobs and lease locks under fire: jobs [--periods N] [--processes N] [--kills N]. See jobs.h. */
#include "jobs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ts_support.h>
#include <unistd.h>

static int periods = 50, processes = 5, kills = 20, ensemble = 3;
static const char *self, *folder;

pid_t jobs_spawn(const char *const role[], int64_t ahead_s, int *out) {
    static int number;
    const char *build = getenv("PDK_BUILD");
    g_autofree char *clock = g_strdup_printf("%s/clock%d", folder, number++),
                    *preload = g_strdup_printf("LD_PRELOAD=%s/docker/chaos/wallclock.so", build ? build : "."),
                    *wallclock = g_strdup_printf("PADDOCK_WALLCLOCK=%s", clock);
    const char *argv[12] = {"env", preload, wallclock, self};
    for (int i = 0; role[i]; i++)
        argv[4 + i] = role[i];
    if (!g_file_set_contents(clock, (const char *)&ahead_s, sizeof ahead_s, NULL))
        abort();
    return ts_spawn(argv, out);
}

static int play_role(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "play") == 0)
        return jobs_play(argv[2], argv[3]);
    if (argc == 5 && strcmp(argv[1], "hold") == 0)
        return jobs_hold(argv[2], argv[3], argv[4]);
    return -1;
}

int main(int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"periods", 0, 0, G_OPTION_ARG_INT, &periods, "how many periods the job has; 50; at most 90", "N"},
        {"processes", 0, 0, G_OPTION_ARG_INT, &processes, "how many processes ask for it, 1 to 16; 5", "N"},
        {"kills", 0, 0, G_OPTION_ARG_INT, &kills,
         "how often the holder of a lease lock is killed; 20. After each four of them one is stopped", "N"},
        {"servers", 0, 0, G_OPTION_ARG_INT, &ensemble, "1 or 3; 3", "N"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    int status = play_role(argc, argv);
    if (status >= 0)
        return status;
    g_autoptr(GOptionContext) context = g_option_context_new("- jobs and lease locks under fire");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, NULL) || argc != 1 || periods < 1 || periods > 90 ||
        processes < 1 || processes > 16 || kills < 0)
        return 2;
    g_autofree char *path = g_file_read_link("/proc/self/exe", NULL),
                    *made = g_dir_make_tmp("paddock-jobs-XXXXXX", NULL);
    self = path;
    folder = made;
    ts_ensemble *servers = ts_ensemble_start(&(ts_ensemble_options){.nodes = ensemble, .tick_ms = JOBS_TICK_MS});
    if (!servers || !made)
        return EXIT_FAILURE;
    const char *hosts = ts_ensemble_hosts(servers);
    int wrong = jobs_series(hosts, folder, periods, processes) + jobs_lease_series(hosts, folder, kills);
    ts_ensemble_stop(servers);
    const char *const remove[] = {"rm", "-r", folder, NULL};
    if (!wrong)
        ts_wait(ts_spawn(remove, NULL), 10000);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
