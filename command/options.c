#include "options.h"

#include "nearest.h"
#include "print.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 80 };

/* Of the verb that is parsed. */
static GOptionContext *current;
static const cmd_verb *verb;
static char *names[NAMES]; /* its options, by their long names */
static size_t names_count;
static gboolean wants_help;
static bool runs_command;

/* Options of flock(1) that have no counterpart, and the reason. */
static const struct {
    const char *names[2], *why;
} habits[] = {
    {{"-o", "--close"}, "leave it out: the command has no descriptor that holds the lock"},
    {{"-F", "--no-fork"}, "leave it out: paddock stays beside the command, and ends it in time"},
    {{"-u", "--unlock"}, "leave it out: the lock is released when the command, or hold, ends"},
};

/* ---- help */

static void print_help(void) {
    g_autofree char *rest = g_option_context_get_help(current, TRUE, NULL);
    if (verb)
        printf("%s\n\n", verb->does);
    fputs(rest, stdout);
}

static char *examples_of(const cmd_verb *of) {
    GString *text = g_string_new("Examples:");
    for (size_t i = 0; i < G_N_ELEMENTS(of->examples); i++)
        g_string_append_printf(text, "\n  %s", of->examples[i]);
    return g_string_free(text, FALSE);
}

/* ---- an option that there is not */

static void forget_names(void) {
    while (names_count > 0)
        g_free(names[--names_count]);
}

static void keep_name(const char *name) {
    if (name[1] && names_count < NAMES)
        names[names_count++] = g_strconcat("--", name, NULL);
}

static const char *why_not(const char *option) {
    for (size_t i = 0; i < G_N_ELEMENTS(habits); i++)
        if (strcmp(option, habits[i].names[0]) == 0 || strcmp(option, habits[i].names[1]) == 0)
            return habits[i].why;
    return NULL;
}

/* GLib's text is in the language of the user; the option is the word in it that begins with a minus. */
static void tell_unknown(const char *text) {
    const char *at = strchr(text, '-');
    g_auto(GStrv) words = g_strsplit_set(at ? at : "-", " =", 2);
    g_autofree char *option = cmd_escape(words[0]);
    const char *why = why_not(words[0]);
    const char *meant = why ? NULL : cmd_nearest(words[0], (const char *const *)names, names_count);
    if (why)
        cmd_error("%s: there is no option %s; %s", verb->name, option, why);
    else if (meant)
        cmd_error("%s: there is no option %s; did you mean %s? See --help", verb->name, option, meant);
    else
        cmd_error("%s: there is no option %s; see --help%s", verb->name, option,
                  runs_command ? "; options of the command stand behind --" : "");
}

/* ---- the command line */

GOptionContext *cmd_options_new(const char *name, const char *usage) {
    static const GOptionEntry help[] = {{"help", 'h', 0, G_OPTION_ARG_NONE, &wants_help, "print this", NULL},
                                        {"?", '?', G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &wants_help, NULL, NULL},
                                        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    verb = cmd_verb_find(name);
    runs_command = strstr(usage, "-- command") != NULL;
    current = g_option_context_new(usage);
    forget_names();
    g_option_context_set_help_enabled(current, FALSE);
    if (verb) {
        g_autofree char *program = g_strconcat("paddock ", name, NULL), *examples = examples_of(verb);
        g_set_prgname(program);
        g_option_context_set_description(current, examples);
    }
    cmd_options_add(current, help);
    return current;
}

void cmd_options_add(GOptionContext *context, const GOptionEntry *entries) {
    g_option_context_add_main_entries(context, entries, NULL);
    for (const GOptionEntry *entry = entries; entry->long_name; entry++)
        keep_name(entry->long_name);
}

bool cmd_options_parse(GOptionContext *context, int *argc, char ***argv) {
    g_autoptr(GError) error = NULL;
    bool good = g_option_context_parse(context, argc, argv, &error);
    if (!good && verb && g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
        tell_unknown(error->message);
    else if (!good)
        cmd_error("%s; see --help", error->message);
    forget_names();
    if (good && wants_help) {
        print_help();
        exit(cmd_print_end() ? CMD_OK : CMD_SOFTWARE);
    }
    return good;
}
