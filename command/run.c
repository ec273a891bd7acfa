/* paddock run: waits for a lock, runs a command, releases once nothing of the command is left. */
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "work.h"
#include <string.h>

static int run_command(cmd_keeper *keeper, char **command) {
    cmd_work work = {0};
    char **const commands[] = {command};
    int status = cmd_work_open(&work, keeper, commands);
    if (status == CMD_OK)
        status = cmd_keeper_acquire(keeper);
    if (status == CMD_OK)
        status = cmd_work_run(&work, 0);
    if (status == CMD_OK)
        status = cmd_work_status(&work, command[0]);
    cmd_work_close(&work);
    return status;
}

int cmd_run(int argc, char **argv) {
    cmd_settings settings;
    cmd_keeper keeper = {.signals = -1};
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path -- command [argument…]",
                           CMD_OPTIONS_CLAIM | CMD_OPTIONS_RUN | CMD_OPTIONS_STRICT, NULL)) {
        int first = argc > 2 && strcmp(argv[2], "--") == 0 ? 3 : 2;
        if (argc <= first || argv[1][0] != '/') {
            cmd_error(
                "run: an absolute path and a command are needed: paddock run [option…] /path -- command [argument…]");
        } else {
            keeper.settings = &settings;
            keeper.path = argv[1];
            status = run_command(&keeper, argv + first);
            cmd_keeper_close(&keeper);
        }
    }
    cmd_settings_clear(&settings);
    return status;
}
