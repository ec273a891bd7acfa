#include "words.h"

#include "say.h"
#include "status.h"
#include <string.h>

/* Whole sentences first, and then what is left: the calls, the options of the library that have one here. */
static const struct {
    const char *pattern, *words;
} table[] = {
    {"; pass what pdk_hold_sequencer returned", "; it is PADDOCK_SEQUENCER, as one word, in quotes"},
    {"; pass what pdk_token_base_above returned", " (docs/fencing.md says which number)"},
    {"open all sessions again with a token_base from pdk_token_base_above", "give every client a higher --token-base"},
    {"the negotiated session timeout of (\\d+) ms is too short to keep a lease, which takes (\\d+) ms; raise "
     "session_timeout_ms \\((\\d+)\\).*",
     "the session timeout of \\1 ms, as the servers give it, is too short for a lease, which takes \\2 ms: ask for "
     "more "
     "(--session-timeout, \\3 ms now), or raise the servers' maxSessionTimeout"},
    {"; pass what pdk_hold_token returned", "; it is PADDOCK_TOKEN"},
    {"every_ms, at_ms, zone and schedule", "--every, --at and --tz"},
    {": a limit would be crossed$", ": more contenders stand there than can be shown (5000)"},
    {"rights\\[\\d+\\] and rights\\[\\d+\\] are both on (.*): name", "\\1: name"},
    {"; PDK_SESSION_REOPENED tells when.*", ""},
    {"check the digest option", "check --digest-file"},
    {"set accept_unprotected", "give --accept-unprotected"},
    {"PDK_PERMISSION_(\\w+)", "the permission \\1"},
    {"within connect_timeout_ms \\((\\d+) ms\\)", "within \\1 ms"},
    {"within timeout_ms \\((\\d+)\\)", "within \\1 ms"},
    {"within \\w*timeout_ms", "in time"},
    {"zookeeper_init: ", ""},
    {"pdk_\\w+: ", ""},
    {"^(/.*?): the access control list of \\1 ", "the access control list of \\1 "},
    {"^/[^:]*: (/\\S+ (says|has) )", "\\1"},
    {"^hosts: (no server answered|the session timeout|the server is no)", "\\1"},
    {"^hosts: ", "servers: "},
    {"^text: not a sequencer", "not a sequencer"},
    {"^node: ", ""},
    {"^options: (\\w+)_ms is (-?\\d+);", "\\1_ms is \\2 ms;"},
    {"^options: label\\b", "--label"},
    {"^options: identity\\b", "--id"},
    {"^options: zone\\b", "--tz"},
    {"^options: schedule\\b", "--every"},
    {"^options: ", ""},
    {"\\b(every|at)_ms\\b", "--\\1"},
    {"\\b(at|session|connect|lock)_(least|most|timeout|delay)_ms\\b", "--\\1-\\2"},
    {"\\btoken_base\\b", "--token-base"},
};

static char *replace(char *text, const char *pattern, const char *words) {
    g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW, 0, NULL);
    char *replaced = g_regex_replace(regex, text, -1, 0, words, 0, NULL);
    if (!replaced)
        return text;
    g_free(text);
    return replaced;
}

char *cmd_words(const char *text) {
    char *words = g_strdup(text);
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        words = replace(words, table[i].pattern, table[i].words);
    return words;
}

/* The length of the path with which the words begin, which is the path of the subject, with the chroot, or one below it;
 * without a subject any path. 0: they begin otherwise. */
static size_t length_of_path(const char *words, const char *subject) {
    const char *end = *words == '/' ? strstr(words, ": ") : NULL;
    const char *found = end ? strstr(words, subject ? subject : "/") : NULL;
    return found && found < end ? (size_t)(end - words) : 0;
}

char *cmd_why(const char *subject, pdk_status status) {
    const char *text = pdk_last_error();
    const char *denied = status == PDK_NO_PERMISSION ? "permission denied: " : "";
    g_autofree char *words = cmd_words(*text ? text : pdk_status_text(status));
    size_t path = length_of_path(words, subject);
    if (path)
        return g_strdup_printf("%.*s: %s%s", (int)path, words, denied, words + path + strlen(": "));
    if (!subject || strstr(words, subject))
        return g_strconcat(denied, words, NULL);
    return g_strconcat(subject, ": ", denied, words, NULL);
}

int cmd_explain(const char *subject, pdk_status status) {
    g_autofree char *why = status ? cmd_why(subject, status) : NULL;
    if (why)
        cmd_error("%s", why);
    return cmd_status(status);
}
