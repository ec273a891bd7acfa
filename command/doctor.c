#include "doctor.h"

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

static void print_server(const cmd_server *s) {
    g_autofree char *address = cmd_escape(s->address), *version = cmd_escape(or_dash(s->version)),
                    *mode = cmd_escape(or_dash(s->mode));
    g_autofree char *sessions = s->serves ? g_strdup_printf("%d-%d", s->min_ms, s->max_ms) : g_strdup("-");
    g_autofree char *tick = s->tick_ms ? g_strdup_printf("%d", s->tick_ms) : g_strdup("-");
    g_autofree char *writes =
        s->write_ms >= 0 ? g_strdup_printf("%" G_GINT64_FORMAT, (gint64)s->write_ms) : g_strdup("-");
    printf("%-24s  %-10s  %-8s  %7s  %16s  %7s\n", address, mode, version, tick, sessions, writes);
}

static void print_text(const cmd_doctor *d) {
    printf("%-24s  %-10s  %-8s  %7s  %16s  %7s\n", "SERVER", "MODE", "VERSION", "TICK ms", "SESSIONS ms", "WRITE ms");
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

static void add_text_or_null(JsonBuilder *builder, const char *name, const char *text) {
    if (text) {
        cmd_json_text(builder, name, text);
    } else {
        json_builder_set_member_name(builder, name);
        json_builder_add_null_value(builder);
    }
}

static void add_number_or_null(JsonBuilder *builder, const char *name, bool known, int64_t number) {
    json_builder_set_member_name(builder, name);
    if (known)
        json_builder_add_int_value(builder, number);
    else
        json_builder_add_null_value(builder);
}

static void add_server(JsonBuilder *builder, const cmd_server *s) {
    json_builder_begin_object(builder);
    cmd_json_text(builder, "address", s->address);
    cmd_json_boolean(builder, "serves", s->serves);
    add_text_or_null(builder, "mode", s->mode);
    add_text_or_null(builder, "version", s->version);
    add_number_or_null(builder, "tick_ms", s->tick_ms > 0, s->tick_ms);
    add_number_or_null(builder, "min_session_ms", s->serves, s->min_ms);
    add_number_or_null(builder, "max_session_ms", s->serves, s->max_ms);
    add_number_or_null(builder, "write_ms", s->write_ms >= 0, s->write_ms);
    json_builder_end_object(builder);
}

static void add_finding(JsonBuilder *builder, const cmd_finding *f) {
    json_builder_begin_object(builder);
    cmd_json_text(builder, "code", f->code);
    cmd_json_text(builder, "subject", f->subject);
    cmd_json_text(builder, "what", f->what);
    cmd_json_text(builder, "fix", f->fix);
    json_builder_end_object(builder);
}

static void print_all_json(const cmd_doctor *d) {
    g_autoptr(JsonBuilder) builder = json_builder_new();
    json_builder_begin_object(builder);
    json_builder_set_member_name(builder, "servers");
    json_builder_begin_array(builder);
    for (guint i = 0; i < d->count; i++)
        add_server(builder, &d->servers[i]);
    json_builder_end_array(builder);
    add_number_or_null(builder, "clock_ahead_ms", d->timed, d->ahead_ms);
    json_builder_set_member_name(builder, "findings");
    json_builder_begin_array(builder);
    for (guint i = 0; i < d->findings->len; i++)
        add_finding(builder, &g_array_index(d->findings, cmd_finding, i));
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    cmd_print_json(builder);
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
    if (any_serves(d)) {
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
    double idle = 120;
    const GOptionEntry entries[] = {
        {"idle", 0, 0, G_OPTION_ARG_DOUBLE, &idle, "a container is empty no longer than this; 120", "SECONDS"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "[/path]", CMD_OPTIONS_JSON, entries)) {
        cmd_doctor d = {.settings = &settings, .path = argc == 2 ? argv[1] : "/"};
        if (argc > 2)
            cmd_error("doctor: one path at most: paddock doctor [option…] [/path]");
        else if (!(idle >= 0 && idle <= 1e9))
            cmd_error("--idle: seconds from 0 are possible");
        else if ((status = cmd_walk_check_path("doctor", d.path)) == CMD_OK) {
            d.idle_ms = (int64_t)(idle * 1000);
            status = visit(&d);
        }
    }
    return cmd_settings_end(&settings, status);
}
