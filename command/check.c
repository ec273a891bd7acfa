/* paddock check: does a sequencer still hold? */
#include "looker.h"
#include "print.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "words.h"

static void print_result(const char *text, bool valid) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "sequencer", text);
    cmd_json_boolean(out, "valid", valid);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static int check(const cmd_settings *settings, const char *text) {
    cmd_looker looker;
    int status = cmd_looker_open(&looker, settings, NULL);
    if (status == CMD_OK) {
        pdk_status answer = pdk_session_check_sequencer(looker.session, text, CMD_LOOK_MS);
        g_autofree char *why = answer == PDK_LOST ? cmd_why(NULL, answer) : NULL;
        if (why)
            cmd_answer("%s", why);
        status = why ? CMD_NOT : cmd_explain(NULL, answer);
        if (settings->json && (answer == PDK_OK || answer == PDK_LOST))
            print_result(text, answer == PDK_OK);
    }
    cmd_looker_close(&looker);
    return cmd_print_end() ? status : CMD_SOFTWARE;
}

int cmd_check(int argc, char **argv) {
    cmd_settings settings;
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "SEQUENCER", CMD_OPTIONS_JSON, NULL)) {
        if (argc == 2)
            status = check(&settings, argv[1]);
        else
            cmd_error("check: one sequencer is needed, in quotes: paddock check \"$PADDOCK_SEQUENCER\"");
    }
    return cmd_settings_end(&settings, status);
}
