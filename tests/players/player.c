#include "player.h"

#include <stdio.h>
#include <stdlib.h>

enum { SESSION_MS = 4000, CLOSE_MS = 5000, CONNECT_MS = 20000 };

void player_fail(player *p, const char *what, const char *why) {
    fprintf(stderr, "%s: %s: %s\n", p->identity ? p->identity : "player", what, why);
    atomic_store(&p->failed, true);
}

bool player_check(player *p, const char *what, pdk_status status) {
    if (status == PDK_OK)
        return true;
    g_autofree char *why = g_strdup_printf("%s (%s)", pdk_status_name(status), pdk_last_error());
    player_fail(p, what, why);
    return false;
}

static void on_event(pdk_session_event event, int64_t left_ms, void *user) {
    static const char *const names[] = {"-", "CONNECTED", "SUSPENDED", "RESTORED", "EXPIRED", "REOPENED", "CLOSED"};
    player *p = user;
    const char *name = (size_t)event < G_N_ELEMENTS(names) ? names[event] : "?";
    event_log_note(p->log, "session event=%s left=%" G_GINT64_FORMAT, name, (gint64)left_ms);
}

static void on_log(pdk_log_level level, const char *text, void *user) {
    const player *p = user;
    fprintf(stderr, "%s: log %d: %s\n", p->identity, (int)level, text);
}

static bool parse(player *p, int argc, char **argv, const GOptionEntry *more) {
    const GOptionEntry entries[] = {
        {"hosts", 0, 0, G_OPTION_ARG_STRING, &p->hosts, "host:port,…", NULL},
        {"path", 0, 0, G_OPTION_ARG_STRING, &p->path, "the recipe's path", NULL},
        {"identity", 0, 0, G_OPTION_ARG_STRING, &p->identity, "this player's name", NULL},
        {"log", 0, 0, G_OPTION_ARG_FILENAME, &p->log_file, "the event log", NULL},
        {"session", 0, 0, G_OPTION_ARG_INT, &p->session_ms, "session timeout (4000)", "MS"},
        {"tick", 0, 0, G_OPTION_ARG_INT, &p->tick_ms, "the servers' tickTime (not known)", "MS"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;
    p->session_ms = SESSION_MS;
    g_option_context_add_main_entries(context, entries, NULL);
    if (more)
        g_option_context_add_main_entries(context, more, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        player_fail(p, "arguments", error->message);
        return false;
    }
    if (!p->hosts || !p->path || !p->identity || !p->log_file)
        player_fail(p, "arguments", "hosts, path, identity and log are needed");
    return !p->failed;
}

static bool open_session(player *p, pdk_session **out) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = p->session_ms;
    options.server_tick_ms = p->tick_ms;
    options.connect_timeout_ms = p->patient ? INT32_MAX : CONNECT_MS;
    options.label = p->identity;
    options.on_event = on_event;
    options.on_event_user = p;
    options.on_log = on_log;
    options.on_log_user = p;
    options.log_level = PDK_LOG_WARN;
    return player_check(p, "open", pdk_session_open(p->hosts, &options, out));
}

bool player_open(player *p, int argc, char **argv, const GOptionEntry *more) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!parse(p, argc, argv, more))
        return false;
    p->log = event_log_open(p->log_file);
    if (!p->log) {
        player_fail(p, "log", "cannot be written");
        return false;
    }
    p->sampler = sampler_new(p->log);
    if (p->patient)
        puts("ready");
    if (!open_session(p, &p->session))
        return false;
    if (!p->patient)
        puts("ready");
    return true;
}

bool player_open_another(player *p) { return open_session(p, &p->another); }

char *player_order(void) {
    char line[256];
    return fgets(line, sizeof line, stdin) ? g_strdup(g_strchomp(line)) : NULL;
}

static const struct {
    const char *name;
    size_t at;
} counts[] = {
    {"granted", G_STRUCT_OFFSET(pdk_stats, claims_granted)},
    {"lapsed", G_STRUCT_OFFSET(pdk_stats, grants_lapsed)},
    {"busy", G_STRUCT_OFFSET(pdk_stats, claims_busy)},
    {"timeout", G_STRUCT_OFFSET(pdk_stats, claims_timed_out)},
    {"unavailable", G_STRUCT_OFFSET(pdk_stats, claims_unavailable)},
    {"canceled", G_STRUCT_OFFSET(pdk_stats, claims_cancelled)},
    {"failed", G_STRUCT_OFFSET(pdk_stats, claims_failed)},
    {"handovers", G_STRUCT_OFFSET(pdk_stats, handovers)},
    {"waiting", G_STRUCT_OFFSET(pdk_stats, claims_waiting)},
    {"holds", G_STRUCT_OFFSET(pdk_stats, holds)},
    {"over", G_STRUCT_OFFSET(pdk_stats, hold_time.count)},
    {"waited", G_STRUCT_OFFSET(pdk_stats, wait_time.count)},
    {"EXPIRED", G_STRUCT_OFFSET(pdk_stats, lost_expired)},
    {"LEASE", G_STRUCT_OFFSET(pdk_stats, lost_lease)},
    {"NODE_GONE", G_STRUCT_OFFSET(pdk_stats, lost_node_gone)},
    {"CLOSED", G_STRUCT_OFFSET(pdk_stats, lost_closed)},
    {"OVERDUE", G_STRUCT_OFFSET(pdk_stats, lost_overdue)},
};

/* What the library has counted, for judges that have counted the other lines. */
static void note_counts(player *p, pdk_status closed) {
    pdk_stats one = PDK_STATS_INIT, another = PDK_STATS_INIT;
    if (!player_check(p, "stats", pdk_session_stats(p->session, &one)) ||
        (p->another && !player_check(p, "stats", pdk_session_stats(p->another, &another))))
        return;
    g_autoptr(GString) line = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
        uint64_t sum = G_STRUCT_MEMBER(uint64_t, &one, counts[i].at);
        if (p->another)
            sum += G_STRUCT_MEMBER(uint64_t, &another, counts[i].at);
        g_string_append_printf(line, " %s=%" G_GUINT64_FORMAT, counts[i].name, (guint64)sum);
    }
    event_log_note(p->log, "counted closed=%s%s", pdk_status_name(closed), line->str);
}

static pdk_status close_session(player *p, pdk_session *session) {
    pdk_status status = pdk_session_close(session, CLOSE_MS);
    if (!p->patient || status != PDK_TIMEOUT)
        player_check(p, "close", status);
    return status;
}

int player_close(player *p) {
    if (p->session) {
        pdk_status other = p->another ? close_session(p, p->another) : PDK_OK;
        pdk_status status = close_session(p, p->session);
        note_counts(p, other == PDK_OK ? status : other);
        sampler_stop(p->sampler);
        pdk_session_unref(p->another);
        pdk_session_unref(p->session);
    } else {
        sampler_stop(p->sampler);
    }
    event_log_close(p->log);
    if (!p->failed)
        puts("done");
    g_free(p->hosts);
    g_free(p->path);
    g_free(p->identity);
    g_free(p->log_file);
    return p->failed ? 2 : EXIT_SUCCESS;
}
