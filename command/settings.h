/* The common settings of the verbs: the servers, the session, the kind of lock. They come from the command line, the
 * environment and a configuration file. */
#ifndef CMD_SETTINGS_H
#define CMD_SETTINGS_H

#include "status.h"

#include <glib.h>
#include <paddock/paddock.h>
#include <stdbool.h>

typedef struct {
    /* As given on the command line. */
    char *servers, *config, *digest_file, *label;
    int digest_fd;
    char *session_timeout, *connect_timeout, *wait, *max_hold, *lock_delay; /* durations */
    gboolean attempt, exclusive, shared, verbose, quiet, timing, json, accept_unprotected;
    bool accept_given; /* by a configuration; an earlier one counts */
    char *slots, *naming, *on_suspend, *on_ask;
    gboolean no_create;
    char *text;        /* -c: the command, for /bin/sh */
    cmd_chosen busy;   /* the exit status of CMD_TAKEN */
    gint64 token_base; /* negative: not given */
    /* These follow from them. */
    char *digest; /* never printed */
    int32_t permits, count;
    pdk_naming names; /* of locks, read/write locks and elections */
    int64_t wait_ms, max_hold_ms, connect_timeout_ms;
    int32_t session_timeout_ms, lock_delay_ms;
    char *shell[4]; /* the command of -c */
} cmd_settings;

void cmd_settings_init(cmd_settings *settings);
/* Frees what it has. The exit status of the program, by its result. */
int cmd_settings_end(cmd_settings *settings, int result);

enum {
    CMD_OPTIONS_CLAIM = 1, /* -n -w -E -x --label --slots --shared --naming --on-ask --no-create */
    CMD_OPTIONS_RUN = 2,   /* --max-hold --on-suspend --timing --on-ask --no-create */
    CMD_OPTIONS_KIND = 4,  /* --slots --shared --naming */
    CMD_OPTIONS_WAIT = 8,  /* -w -E */
    CMD_OPTIONS_JSON = 16,
    CMD_OPTIONS_DELAY = 32,   /* --lock-delay --naming */
    CMD_OPTIONS_COMMAND = 64, /* -c */
    CMD_OPTIONS_NAMING = 128,
};

/*
 * Parses the options of a verb, up to the first argument that is none. Takes the other settings from the environment
 * and the configuration file. `more` are the verb's own options, or NULL. On an error it says so, and returns false.
 */
bool cmd_settings_parse(cmd_settings *settings, int *argc, char ***argv, const char *usage, unsigned options,
                        const GOptionEntry *more);

/* The command: all behind the first "--", wherever the paths stand; *argc loses it. NULL: there is none. */
char **cmd_split_command(int *argc, char **argv);
/* With -c *command is a shell that has its text. false, having said so: there are words behind "--", too. */
bool cmd_settings_command(cmd_settings *settings, char ***command);

/* The session's options by the settings, which must live as long as they are used. on_log_user may be set to the
 * address of a string. Where callbacks are dispatched, it is replaced by the reason why there is no connection
 * (g_free). */
pdk_session_options cmd_settings_session(const cmd_settings *settings);

#endif
