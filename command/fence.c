/* paddock fence: runs a command only if a fence in a file admits its token. It needs no servers.
 *
 *     admit (the mark is on the disk) ──► exec: the command takes the place of this process
 *           └─ stale: status 79, nothing runs
 */
#include "options.h"
#include "print.h"
#include "say.h"
#include "signals.h"
#include "status.h"
#include "verbs.h"
#include "words.h"
#include <errno.h>
#include <paddock/fence.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    gboolean create, shared, verbose, quiet, json;
    int64_t token;
    uint32_t handover;
} fence;

/* TOKEN or TOKEN:HANDOVER. */
static bool parse_mark(fence *f, const char *text) {
    const char *colon = strchr(text, ':');
    guint64 handover = 0;
    size_t size = colon ? (size_t)(colon - text) : strlen(text);
    bool good = pdk_token_parse(text, size, &f->token) == PDK_OK &&
                (!colon || g_ascii_string_to_unsigned(colon + 1, 10, 0, G_MAXUINT32, &handover, NULL));
    f->handover = (uint32_t)handover;
    if (!good)
        cmd_error("fence: %s is no token: PADDOCK_TOKEN or PADDOCK_TOKEN:PADDOCK_HANDOVER, numbers in decimal", text);
    return good;
}

/* Print a refusal. An admitted command has the output to itself, so nothing is printed then. */
static void print_refusal(const fence *f, const char *path) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "file", path);
    cmd_json_token(out, "token", f->token);
    cmd_json_number(out, "handover", f->handover);
    cmd_json_boolean(out, "admitted", false);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static int explain(pdk_status status) {
    g_autofree char *why = status ? cmd_words(pdk_last_error()) : NULL;
    bool usage = status == PDK_DAMAGED || status == PDK_INVALID;
    if (why)
        cmd_error("%s%s", why, usage ? "" : "; nothing was run");
    return !status ? CMD_OK : status == PDK_STALE ? CMD_STALE : usage ? CMD_USAGE : CMD_SOFTWARE;
}

static int admit(const fence *f, const char *path) {
    pdk_fence *file = NULL;
    if (!f->create && access(path, F_OK) && errno == ENOENT) {
        cmd_error("%s: there is no such fence; its mark may be lost. --create makes a new one, which admits any token",
                  path);
        return CMD_USAGE;
    }
    pdk_status status = pdk_fence_open(path, f->create ? PDK_FENCE_CREATE : PDK_FENCE_EXISTING, &file);
    if (!status)
        status = f->shared ? pdk_fence_admit_shared(file, f->token, f->handover)
                           : pdk_fence_admit(file, f->token, f->handover);
    int exit_status = explain(status);
    if (status == PDK_STALE && f->json) {
        print_refusal(f, path);
        exit_status = cmd_print_end() ? exit_status : CMD_SOFTWARE;
    }
    pdk_fence_close(file);
    return exit_status;
}

static int fence_command(const fence *f, const char *path, char **command) {
    int status = admit(f, path);
    if (status != CMD_OK)
        return status;
    cmd_tell("%s admits %" G_GINT64_FORMAT ":%u", path, (gint64)f->token, f->handover);
    cmd_signals_hand_on();
    execvp(command[0], command);
    cmd_error("%s: %s", command[0], g_strerror(errno));
    return errno == ENOENT ? CMD_NOT_FOUND : CMD_CANNOT_EXECUTE;
}

int cmd_fence(int argc, char **argv) {
    fence f = {0};
    const GOptionEntry entries[] = {
        {"create", 0, 0, G_OPTION_ARG_NONE, &f.create, "make the file if it is missing", NULL},
        {"shared", 0, 0, G_OPTION_ARG_NONE, &f.shared, "the token is a reader's", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &f.json, "print a refusal as JSON", NULL},
        {"verbose", 'v', 0, G_OPTION_ARG_NONE, &f.verbose, "say what happens", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &f.quiet, "say nothing; the exit status tells", NULL},
        {"timestamps", 0, 0, G_OPTION_ARG_NONE, &cmd_timestamps, "each line that is said begins with its time", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    g_autoptr(GOptionContext) context = cmd_options_new(*argv, "FILE TOKEN[:HANDOVER] -- command [argument…]");
    g_option_context_set_strict_posix(context, TRUE);
    cmd_options_add(context, entries);
    if (!cmd_options_parse(context, &argc, &argv))
        return CMD_USAGE;
    cmd_quiet = f.quiet;
    cmd_verbose = f.verbose && !f.quiet;
    int first = argc > 3 && strcmp(argv[3], "--") == 0 ? 4 : 3;
    if (argc <= first) {
        cmd_error("fence: a file, a token and a command are needed: "
                  "paddock fence [option…] FILE TOKEN[:HANDOVER] -- command [argument…]");
        return CMD_USAGE;
    }
    if (f.json && !cmd_print_json())
        return CMD_USAGE;
    return parse_mark(&f, argv[2]) ? fence_command(&f, argv[1], argv + first) : CMD_USAGE;
}
