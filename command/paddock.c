/* The command `paddock`: locks of ZooKeeper for scripts and operators. docs/command.md and paddock(1) describe it. */
#include "reap.h"
#include "say.h"
#include "signals.h"
#include "status.h"
#include "verbs.h"
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *what;
    int (*act)(int argc, char **argv);
} verbs[] = {
    {"run", "run a command while holding a lock", cmd_run},
    {"hold", "hold a lock without a command", cmd_hold},
    {"elect", "run a command while being the leader", cmd_elect},
    {"job", "run a command once per period across a fleet", cmd_job},
    {"wait", "wait until a lock is free", cmd_wait},
    {"show", "show who holds a lock, and who waits for it", cmd_show},
    {"watch", "show a queue as it changes", cmd_watch},
    {"ls", "list directories, and the recipes that work in them", cmd_ls},
    {"top", "show the longest queues", cmd_top},
    {"check", "check whether a sequencer still holds", cmd_check},
    {"doctor", "test what is assumed of the servers", cmd_doctor_main},
    {"ask", "ask a holder to let go", cmd_ask},
    {"break", "delete the node of a holder, if it has the token", cmd_break},
    {"fence", "run a command if a fence in a file admits its token", cmd_fence},
    {"server", "start a throw-away ZooKeeper, for tests", cmd_server_main},
};

static void print_usage(FILE *out) {
    fputs("usage: paddock VERB [OPTION…] …\n\n", out);
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
        fprintf(out, "  %-6s %s\n", verbs[i].name, verbs[i].what);
    fputs("\npaddock VERB --help, paddock(1) and paddock(7) say more.\n", out);
}

/* The session's threads use a few kilobytes. Each of them would map, and touch, an arena of its own. */
static void be_small(void) {
#ifdef M_ARENA_MAX
    (void)mallopt(M_ARENA_MAX, 1);
#endif
}

int main(int argc, char **argv) {
    const char *verb = argc > 1 ? argv[1] : "";
    be_small();
    cmd_signals_begin();
    cmd_fill_standard();
    cmd_be_init();
    setlocale(LC_ALL, "");
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) {
        print_usage(stdout);
        return CMD_OK;
    }
    if (strcmp(verb, "--version") == 0) {
        printf("paddock %s\n", pdk_version());
        return CMD_OK;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (strcmp(verb, verbs[i].name) == 0)
            return verbs[i].act(argc - 1, argv + 1);
    if (*verb)
        cmd_error("there is no verb %s", verb);
    print_usage(stderr);
    return CMD_USAGE;
}
