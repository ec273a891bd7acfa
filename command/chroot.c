#include "chroot.h"

#include "say.h"
#include "status.h"
#include "unanswered.h"

/* A chroot that may not be read is there. */
int cmd_chroot_look(const cmd_settings *settings, const cmd_servers *servers, char **error) {
    cmd_wire wire;
    g_autofree char *data = NULL;
    cmd_stat stat;
    *error = NULL;
    if (!*servers->chroot)
        return CMD_WIRE_OK;
    int code = cmd_wire_open_any(&wire, servers, settings->digest, settings->connect_timeout_ms);
    if (code == CMD_WIRE_OK) {
        cmd_wire_ask_data(&wire, "/");
        code = cmd_wire_data(&wire, &data, &stat);
        code = code == CMD_WIRE_NOAUTH ? CMD_WIRE_OK : code;
    }
    *error = g_strdup(wire.error);
    cmd_wire_close(&wire);
    return code;
}

static int tell(const cmd_settings *settings, const cmd_servers *servers, int code, const char *error) {
    if (code == CMD_WIRE_OK)
        return CMD_OK;
    if (code == CMD_WIRE_NOAUTH || code == CMD_WIRE_DEMANDS_AUTH)
        return cmd_say_denied(settings->servers);
    if (code == CMD_WIRE_NONODE) {
        cmd_error(
            "the chroot %s is missing, and --no-create makes none: look at -s, or make it once (zkCli.sh create %s)",
            servers->chroot, servers->chroot);
        return CMD_USAGE;
    }
    cmd_error("%s: %s", settings->servers, error);
    return CMD_UNAVAILABLE;
}

int cmd_chroot_refuse_missing(const cmd_settings *settings) {
    g_autofree char *error = NULL;
    cmd_servers servers;
    cmd_servers_parse(&servers, settings->servers);
    int code = cmd_chroot_look(settings, &servers, &error);
    int status = tell(settings, &servers, code, error);
    cmd_servers_clear(&servers);
    return status;
}
