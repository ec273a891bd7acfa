/* paddock ask: ask the holder of a lock to let go. paddock break: delete the node of a holder that does not work any
 * more. */
#include "duration.h"
#include "looker.h"
#include "print.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "words.h"
#include <paddock/fence.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char *node, *who, *token;
    char *within; /* a duration */
} wish;

static int explain(const char *path, pdk_status status) {
    int result = cmd_explain(path, status);
    return status == PDK_GONE ? CMD_NOT : result;
}

/* ---- ask */

static void print_asked(const char *path, bool asked) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", path);
    cmd_json_boolean(out, "asked", asked);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static int ask(const cmd_settings *settings, const wish *w, const char *path) {
    cmd_looker looker;
    int64_t within_ms = 0;
    if (!cmd_duration("--within", w->within, 0, CMD_DURATION_MOST, &within_ms))
        return CMD_USAGE;
    int status = cmd_looker_open(&looker, settings, NULL);
    if (status == CMD_OK) {
        pdk_status answer = pdk_session_request_release(looker.session, path, w->node, w->who, within_ms, CMD_LOOK_MS);
        status = explain(path, answer);
        if (answer == PDK_OK)
            cmd_tell("%s: asked", path);
        if (settings->json && (answer == PDK_OK || answer == PDK_GONE))
            print_asked(path, answer == PDK_OK);
        if (!cmd_print_end())
            status = CMD_SOFTWARE;
    }
    cmd_looker_close(&looker);
    return status;
}

static void wish_clear(wish *w) {
    g_free(w->node);
    g_free(w->who);
    g_free(w->token);
    g_free(w->within);
}

int cmd_ask(int argc, char **argv) {
    cmd_settings settings;
    wish w = {0};
    const GOptionEntry entries[] = {
        {"node", 0, 0, G_OPTION_ARG_FILENAME, &w.node, "this contender, not the holders", "NAME"},
        {"who", 0, 0, G_OPTION_ARG_FILENAME, &w.who, "who asks; the identity of the session", "TEXT"},
        {"within", 0, 0, G_OPTION_ARG_STRING, &w.within, "the time that the holder has, as a wish", "TIME"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path", CMD_OPTIONS_JSON, entries)) {
        if (argc == 2)
            status = ask(&settings, &w, argv[1]);
        else
            cmd_error("ask: one path is needed: paddock ask [option…] /path");
    }
    wish_clear(&w);
    return cmd_settings_end(&settings, status);
}

/* ---- break */

static void print_broken(const pdk_contenders *who, const char *node, bool json) {
    if (!json) {
        g_autofree char *identity = cmd_escape(pdk_contenders_identity(who, 0)), *path = cmd_escape(node);
        g_autofree char *when = cmd_when(pdk_contenders_since_ms(who, 0));
        printf("deleted %s of %s, there since %s\n", path, identity, when);
        return;
    }
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", node);
    cmd_json_text(out, "identity", pdk_contenders_identity(who, 0));
    cmd_json_token(out, "token", pdk_contenders_token(who, 0));
    cmd_json_session(out, "session", pdk_contenders_session(who, 0));
    cmd_json_number(out, "since_ms", pdk_contenders_since_ms(who, 0));
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static int break_node(const cmd_settings *settings, const wish *w, const char *node) {
    cmd_looker looker;
    int64_t token = 0;
    if (!w->token || pdk_token_parse(w->token, strlen(w->token), &token) != PDK_OK) {
        cmd_error("break: --token: the token that `paddock show --long` prints beside the node is needed, in decimal");
        return CMD_USAGE;
    }
    int status = cmd_looker_open(&looker, settings, NULL);
    if (status == CMD_OK) {
        pdk_contenders *who = NULL;
        status = explain(node, pdk_session_break(looker.session, node, token, CMD_LOOK_MS, &who));
        if (status == CMD_OK) {
            print_broken(who, node, settings->json);
            status = cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
        }
        pdk_contenders_free(who);
    }
    cmd_looker_close(&looker);
    return status;
}

int cmd_break(int argc, char **argv) {
    cmd_settings settings;
    wish w = {0};
    const GOptionEntry entries[] = {
        {"token", 0, 0, G_OPTION_ARG_STRING, &w.token, "only if the node has this token", "TOKEN"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path/NODE", CMD_OPTIONS_JSON, entries)) {
        if (argc == 2)
            status = break_node(&settings, &w, argv[1]);
        else
            cmd_error("break: one node is needed: paddock break --token TOKEN /path/NODE");
    }
    wish_clear(&w);
    return cmd_settings_end(&settings, status);
}
