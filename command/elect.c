/* paddock elect: its options. */
#include "elect.h"

#include "duration.h"
#include "say.h"
#include "status.h"
#include "verbs.h"

static bool check_options(cmd_election *e, int argc, char **argv, bool has_command) {
    if (argc != 2 || argv[1][0] != '/') {
        cmd_error("elect: one absolute path is needed: paddock elect [option…] /path -- command [argument…]");
        return false;
    }
    if (e->observe == has_command) {
        cmd_error(has_command ? "elect: --observe runs no command"
                              : "elect: a command is needed after --, or --observe: "
                                "paddock elect [option…] /path -- command [argument…]");
        return false;
    }
    if (e->observe && (e->id || e->on_elected || e->on_deposed || e->on_leader || e->check || e->listen)) {
        cmd_error("elect: --observe stands for nothing: of the election's own options it has --json alone");
        return false;
    }
    return cmd_duration("--check-every", e->every, 100, 86400000, &e->every_ms) &&
           cmd_duration("--pause", e->pause, 0, 86400000, &e->pause_ms);
}

static void clear(cmd_election *e) {
    g_free(e->id);
    g_free(e->on_elected);
    g_free(e->on_deposed);
    g_free(e->on_leader);
    g_free(e->check);
    g_free(e->listen);
    g_free(e->every);
    g_free(e->pause);
}

int cmd_elect(int argc, char **argv) {
    cmd_settings settings;
    cmd_election e = {.keeper = {.signals = -1}, .every_ms = 10000, .pause_ms = 1000};
    const GOptionEntry entries[] = {
        {"id", 0, 0, G_OPTION_ARG_FILENAME, &e.id, "the identity that others see", "NAME"},
        {"on-elected", 0, 0, G_OPTION_ARG_FILENAME, &e.on_elected, "run before the command; it has to succeed", "CMD"},
        {"on-deposed", 0, 0, G_OPTION_ARG_FILENAME, &e.on_deposed, "run after each term", "CMD"},
        {"on-leader", 0, 0, G_OPTION_ARG_FILENAME, &e.on_leader, "run when the leader has changed", "CMD"},
        {"check", 0, 0, G_OPTION_ARG_FILENAME, &e.check, "stand only while this succeeds", "CMD"},
        {"check-every", 0, 0, G_OPTION_ARG_STRING, &e.every, "how often, and how long it may take; 10s", "TIME"},
        {"pause", 0, 0, G_OPTION_ARG_STRING, &e.pause, "after a term that ended by itself; 1s", "TIME"},
        {"listen", 0, 0, G_OPTION_ARG_FILENAME, &e.listen, "answer /leader, /healthz and /metrics by HTTP",
         "[ADDRESS:]PORT"},
        {"observe", 0, 0, G_OPTION_ARG_NONE, &e.observe, "print each leader, and stand for nothing", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    int status = CMD_USAGE;
    char **command = cmd_split_command(&argc, argv);
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path -- command [argument…]",
                           CMD_OPTIONS_DELAY | CMD_OPTIONS_RUN | CMD_OPTIONS_COMMAND | CMD_OPTIONS_JSON, entries) &&
        cmd_settings_command(&settings, &command) && check_options(&e, argc, argv, command != NULL)) {
        e.keeper.settings = &settings;
        e.keeper.path = argv[1];
        e.keeper.elects = true;
        status = e.observe ? cmd_elect_observe(&e) : cmd_elect_work(&e, command);
        cmd_keeper_close(&e.keeper);
    }
    clear(&e);
    return cmd_settings_end(&settings, status);
}
