/* The command `paddock`: locks of ZooKeeper for scripts and operators. docs/command.md and paddock(1) describe it. */
#include "options.h"
#include "print.h"
#include "reap.h"
#include "say.h"
#include "signals.h"
#include "status.h"
#include "verbs.h"
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

static void print_usage(FILE *out) {
    fputs("usage: paddock VERB [OPTION…] …\n\n", out);
    for (size_t i = 0; i < cmd_verbs_count; i++)
        fprintf(out, "  %-6s %s\n", cmd_verbs[i].name, cmd_verbs[i].what);
    fputs("\n-V, --version prints the version. paddock help VERB, paddock(1) and paddock(7) say more.\n", out);
}

int cmd_help(int argc, char **argv) {
    g_autoptr(GOptionContext) context = cmd_options_new("help", "[VERB]");
    if (!cmd_options_parse(context, &argc, &argv))
        return CMD_USAGE;
    if (argc < 2) {
        print_usage(stdout);
        return cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
    }
    const cmd_verb *verb = argc == 2 ? cmd_verb_find(argv[1]) : NULL;
    if (verb) {
        char *words[] = {argv[1], (char *)"--help", NULL};
        return verb->act(2, words);
    }
    if (argc == 2)
        cmd_verb_miss(argv[1]);
    else
        cmd_error("help: one verb is needed: paddock help [VERB]");
    return CMD_USAGE;
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
        return cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
    }
    if (strcmp(verb, "--version") == 0 || strcmp(verb, "-V") == 0) {
        printf("paddock %s\n", pdk_version());
        return cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
    }
    const cmd_verb *known = cmd_verb_find(verb);
    if (known)
        return known->act(argc - 1, argv + 1);
    if (*verb)
        cmd_verb_miss(verb);
    else
        print_usage(stderr);
    return CMD_USAGE;
}
