/* paddock run: waits for a lock, runs a command, releases once nothing of the command is left. */
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "work.h"

static int run_command(cmd_work *work, cmd_keeper *keeper, char **command) {
    char **const commands[] = {command};
    int status = cmd_work_open(work, keeper, commands);
    if (status == CMD_OK)
        status = cmd_keeper_acquire(keeper);
    if (status == CMD_OK)
        status = cmd_work_run(work, 0);
    if (status == CMD_OK)
        status = cmd_work_status(work, command[0]);
    cmd_work_dismiss(work);
    return status;
}

int cmd_run(int argc, char **argv) {
    cmd_settings settings;
    cmd_keeper keeper = {.signals = -1};
    cmd_work work = {0};
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    char **command = cmd_split_command(&argc, argv);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path… -- command [argument…]",
                           CMD_OPTIONS_CLAIM | CMD_OPTIONS_DELAY | CMD_OPTIONS_RUN | CMD_OPTIONS_COMMAND, NULL) &&
        cmd_settings_command(&settings, &command)) {
        bool absolute = argc > 1;
        for (int i = 1; i < argc; i++)
            absolute = absolute && argv[i][0] == '/';
        keeper.settings = &settings;
        if (!absolute || !command)
            cmd_error("run: absolute paths and, after -- or -c, a command are needed: "
                      "paddock run [option…] /path… -- command [argument…]");
        else if (cmd_keeper_paths(&keeper, argv + 1, (size_t)argc - 1))
            status = run_command(&work, &keeper, command);
        cmd_keeper_close(&keeper);
        cmd_work_close(&work);
    }
    return cmd_settings_end(&settings, status);
}
