#include "doctor.h"

#include "duration.h"
#include "print.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "walk.h"
#include <stdio.h>

void cmd_doctor_find(cmd_doctor *d, const char *code, const char *subject, char *what, const char *fix) {
    cmd_finding finding = {code, g_strdup(subject), what ? what : g_strdup("?"), g_strdup(fix)};
    g_array_append_val(d->findings, finding);
}

static void finding_clear(gpointer data) {
    cmd_finding *finding = data;
    g_free(finding->subject);
    g_free(finding->what);
    g_free(finding->fix);
}

/* ---- for people */

static const char *or_dash(const char *text) { return text ? text : "-"; }

/* 80 columns, with an address of IPv4 and its port. */
static void print_row(const char *address, const char *mode, const char *version, const char *tick,
                      const char *sessions, const char *writes) {
    printf("%-21s  %-10s  %-8s  %7s  %16s  %8s\n", address, mode, version, tick, sessions, writes);
}

static void print_server(const cmd_server *s) {
    g_autofree char *address = cmd_escape(s->address), *version = cmd_escape(or_dash(s->version)),
                    *mode = cmd_escape(or_dash(s->mode));
    g_autofree char *sessions = s->serves ? g_strdup_printf("%d-%d", s->min_ms, s->max_ms) : g_strdup("-");
    g_autofree char *tick = s->tick_ms ? g_strdup_printf("%d", s->tick_ms) : g_strdup("-");
    g_autofree char *writes =
        s->write_ms >= 0 ? g_strdup_printf("%" G_GINT64_FORMAT, (gint64)s->write_ms) : g_strdup("-");
    print_row(address, mode, version, tick, sessions, writes);
}

static void print_text(const cmd_doctor *d) {
    print_row("SERVER", "MODE", "VERSION", "TICK ms", "SESSIONS ms", "WRITE ms");
    for (guint i = 0; i < d->count; i++)
        print_server(&d->servers[i]);
    for (guint i = 0; i < d->findings->len; i++) {
        const cmd_finding *f = &g_array_index(d->findings, cmd_finding, i);
        g_autofree char *subject = cmd_escape(f->subject), *what = cmd_escape(f->what), *fix = cmd_escape(f->fix);
        printf("\n%s: %s: %s\n    fix: %s\n", f->code, subject, what, fix);
    }
    if (d->findings->len == 0)
        puts("\nnothing found");
}

/* ---- for programs */

static void add_number_or_null(GString *out, const char *name, bool known, int64_t number) {
    if (known)
        cmd_json_number(out, name, number);
    else
        cmd_json_null(out, name);
}

static void add_server(GString *out, const cmd_server *s) {
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "address", s->address);
    cmd_json_boolean(out, "serves", s->serves);
    cmd_json_text(out, "mode", s->mode);
    cmd_json_text(out, "version", s->version);
    add_number_or_null(out, "tick_ms", s->tick_ms > 0, s->tick_ms);
    add_number_or_null(out, "min_session_ms", s->serves, s->min_ms);
    add_number_or_null(out, "max_session_ms", s->serves, s->max_ms);
    add_number_or_null(out, "write_ms", s->write_ms >= 0, s->write_ms);
    cmd_json_end_object(out);
}

static void add_finding(GString *out, const cmd_finding *f) {
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "code", f->code);
    cmd_json_text(out, "subject", f->subject);
    cmd_json_text(out, "what", f->what);
    cmd_json_text(out, "fix", f->fix);
    cmd_json_end_object(out);
}

static void print_all_json(const cmd_doctor *d) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_begin_array(out, "servers");
    for (guint i = 0; i < d->count; i++)
        add_server(out, &d->servers[i]);
    cmd_json_end_array(out);
    add_number_or_null(out, "clock_ahead_ms", d->timed, d->ahead_ms);
    cmd_json_begin_array(out, "findings");
    for (guint i = 0; i < d->findings->len; i++)
        add_finding(out, &g_array_index(d->findings, cmd_finding, i));
    cmd_json_end_array(out);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

/* ---- the visit */

static bool any_serves(const cmd_doctor *d) {
    for (guint i = 0; i < d->count; i++)
        if (d->servers[i].serves)
            return true;
    return false;
}

static int visit(cmd_doctor *d) {
    d->findings = g_array_new(FALSE, FALSE, sizeof(cmd_finding));
    g_array_set_clear_func(d->findings, finding_clear);
    cmd_servers_parse(&d->names, d->settings->servers);
    d->count = g_strv_length(d->names.addresses);
    d->servers = g_new0(cmd_server, d->count);
    for (guint i = 0; i < d->count; i++)
        d->servers[i] = (cmd_server){.address = d->names.addresses[i], .write_ms = -1, .wire = {.socket = -1}};
    cmd_doctor_ask_servers(d);
    cmd_doctor_compare(d);
    if (any_serves(d) && cmd_doctor_chroot(d)) {
        cmd_doctor_clocks(d);
        cmd_doctor_tree(d);
    }
    if (d->settings->json)
        print_all_json(d);
    else
        print_text(d);
    int status = d->findings->len ? CMD_NOT : CMD_OK;
    for (guint i = 0; i < d->count; i++) {
        cmd_wire_close(&d->servers[i].wire);
        g_free(d->servers[i].version);
        g_free(d->servers[i].foreign);
        g_free(d->servers[i].mode);
    }
    g_free(d->servers);
    g_array_unref(d->findings);
    cmd_servers_clear(&d->names);
    return cmd_print_end() ? status : CMD_SOFTWARE;
}

int cmd_doctor_main(int argc, char **argv) {
    cmd_settings settings;
    int status = CMD_USAGE;
    g_autofree char *idle = NULL;
    const GOptionEntry entries[] = {
        {"idle", 0, 0, G_OPTION_ARG_STRING, &idle, "a container is empty no longer than this; 2m", "TIME"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "[/path]", CMD_OPTIONS_JSON, entries)) {
        cmd_doctor d = {.settings = &settings, .path = argc == 2 ? argv[1] : "/", .idle_ms = 120000};
        if (argc > 2)
            cmd_error("doctor: one path at most: paddock doctor [option…] [/path]");
        else if (cmd_duration("--idle", idle, 0, CMD_DURATION_MOST, &d.idle_ms) &&
                 (status = cmd_walk_check_path("doctor", d.path)) == CMD_OK)
            status = visit(&d);
    }
    return cmd_settings_end(&settings, status);
}
