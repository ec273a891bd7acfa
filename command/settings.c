#include "settings.h"

#include "duration.h"
#include "options.h"
#include "print.h"
#include "say.h"
#include "wire.h"
#include "words.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGEST_BYTES = 1024 };

void cmd_settings_init(cmd_settings *settings) {
    *settings = (cmd_settings){.digest_fd = G_MININT,
                               .busy = {CMD_BUSY},
                               .token_base = G_MININT64,
                               .count = 1,
                               .wait_ms = PDK_FOREVER,
                               .max_hold_ms = PDK_FOREVER,
                               .connect_timeout_ms = 10000,
                               .session_timeout_ms = 15000};
}

int cmd_settings_end(cmd_settings *settings, int result) {
    if (settings->digest)
        explicit_bzero(settings->digest, strlen(settings->digest));
    g_free(settings->digest);
    g_free(settings->servers);
    g_free(settings->config);
    g_free(settings->digest_file);
    g_free(settings->session_timeout);
    g_free(settings->connect_timeout);
    g_free(settings->wait);
    g_free(settings->max_hold);
    g_free(settings->lock_delay);
    g_free(settings->text);
    g_free(settings->label);
    g_free(settings->slots);
    g_free(settings->naming);
    g_free(settings->on_suspend);
    g_free(settings->on_ask);
    return result == CMD_TAKEN ? settings->busy.code : result;
}

/* Of the nodes that are made. */
static void add_node_entries(GOptionContext *context, cmd_settings *s, unsigned options) {
    const GOptionEntry names[] = {
        {"naming", 0, 0, G_OPTION_ARG_STRING, &s->naming, "of the nodes: curator (the default) or kazoo", "CLIENT"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    const GOptionEntry making[] = {
        {"no-create", 0, 0, G_OPTION_ARG_NONE, &s->no_create, "refuse to make a chroot that is missing", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    if (options & (CMD_OPTIONS_CLAIM | CMD_OPTIONS_KIND | CMD_OPTIONS_DELAY | CMD_OPTIONS_NAMING))
        cmd_options_add(context, names);
    if (options & (CMD_OPTIONS_CLAIM | CMD_OPTIONS_RUN))
        cmd_options_add(context, making);
}

/* The options of a claim, and of a look at one. */
static void add_claim_entries(GOptionContext *context, cmd_settings *s, unsigned options) {
    const GOptionEntry kind[] = {
        {"shared", 0, 0, G_OPTION_ARG_NONE, &s->shared, "the read/write lock at the path, to read", NULL},
        {"slots", 0, 0, G_OPTION_ARG_STRING, &s->slots, "K of the N permits of a semaphore", "N[/K]"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    const GOptionEntry wait[] = {
        {"wait", 'w', 0, G_OPTION_ARG_STRING, &s->wait, "wait no longer: 5, 1.5s, 2m; or --timeout", "TIME"},
        {"timeout", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &s->wait, NULL, NULL},
        {"conflict-exit-code", 'E', 0, G_OPTION_ARG_INT, &s->busy.code, "exit status when it is taken; 75", "CODE"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    const GOptionEntry claim[] = {
        {"try", 'n', 0, G_OPTION_ARG_NONE, &s->attempt, "do not wait; or --nonblock", NULL},
        {"nonblock", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &s->attempt, NULL, NULL},
        {"nb", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &s->attempt, NULL, NULL},
        {"exclusive", 'x', 0, G_OPTION_ARG_NONE, &s->exclusive, "the lock, and not --shared: the default", NULL},
        {"e", 'e', G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &s->exclusive, NULL, NULL},
        {"label", 0, 0, G_OPTION_ARG_FILENAME, &s->label, "appended to the identity that others see", "TEXT"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    const GOptionEntry asked[] = {
        {"on-ask", 0, 0, G_OPTION_ARG_STRING, &s->on_ask, "when somebody asks: ignore or term", "WHAT"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    const GOptionEntry delay[] = {
        {"lock-delay", 0, 0, G_OPTION_ARG_STRING, &s->lock_delay, "grant nobody so long after a crash; 0", "TIME"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    if (options & (CMD_OPTIONS_CLAIM | CMD_OPTIONS_KIND))
        cmd_options_add(context, kind);
    if (options & (CMD_OPTIONS_CLAIM | CMD_OPTIONS_WAIT))
        cmd_options_add(context, wait);
    if (options & CMD_OPTIONS_CLAIM)
        cmd_options_add(context, claim);
    if (options & (CMD_OPTIONS_CLAIM | CMD_OPTIONS_RUN))
        cmd_options_add(context, asked);
    if (options & CMD_OPTIONS_DELAY)
        cmd_options_add(context, delay);
}

static void add_entries(GOptionContext *context, cmd_settings *s, unsigned options) {
    const GOptionEntry always[] = {
        {"servers", 's', 0, G_OPTION_ARG_FILENAME, &s->servers, "host:port,…[/chroot]; flock's -s is --shared",
         "SERVERS"},
        {"config", 0, 0, G_OPTION_ARG_FILENAME, &s->config, "read this file, and no other configuration", "FILE"},
        {"digest-file", 0, 0, G_OPTION_ARG_FILENAME, &s->digest_file, "user:password is in FILE", "FILE"},
        {"accept-unprotected", 0, 0, G_OPTION_ARG_NONE, &s->accept_unprotected,
         "others may change the directory: it is meant", NULL},
        {"digest-fd", 0, 0, G_OPTION_ARG_INT, &s->digest_fd, "user:password can be read from descriptor N", "N"},
        {"session-timeout", 0, 0, G_OPTION_ARG_STRING, &s->session_timeout, "of the session; 15s", "TIME"},
        {"connect-timeout", 0, 0, G_OPTION_ARG_STRING, &s->connect_timeout, "for the first answer; 10s", "TIME"},
        {"token-base", 0, 0, G_OPTION_ARG_INT64, &s->token_base, "the generation before every token; 0", "N"},
        {"verbose", 'v', 0, G_OPTION_ARG_NONE, &s->verbose, "say what happens", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &s->quiet, "say nothing; the exit status tells", NULL},
        {"timestamps", 0, 0, G_OPTION_ARG_NONE, &cmd_timestamps, "each line that is said begins with its time", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    const GOptionEntry run[] = {
        {"timing", 0, 0, G_OPTION_ARG_NONE, &s->timing, "say when TERM and KILL come", NULL},
        {"max-hold", 0, 0, G_OPTION_ARG_STRING, &s->max_hold, "end the command after this time, with 124", "TIME"},
        {"on-suspend", 0, 0, G_OPTION_ARG_STRING, &s->on_suspend, "while cut off: ignore, stop or term", "WHAT"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    const GOptionEntry command[] = {
        {"command", 'c', 0, G_OPTION_ARG_FILENAME, &s->text, "run this by /bin/sh, in place of -- …", "TEXT"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    const GOptionEntry json[] = {{"json", 0, 0, G_OPTION_ARG_NONE, &s->json, "print JSON", NULL},
                                 {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    add_node_entries(context, s, options);
    add_claim_entries(context, s, options);
    if (options & CMD_OPTIONS_RUN)
        cmd_options_add(context, run);
    if (options & CMD_OPTIONS_COMMAND)
        cmd_options_add(context, command);
    if (options & CMD_OPTIONS_JSON)
        cmd_options_add(context, json);
    cmd_options_add(context, always);
}

/* Is it a pipe? To open one would wait for its writer. */
static bool is_pipe(const char *file) {
    struct stat stat_of;
    return stat(file, &stat_of) == 0 && S_ISFIFO(stat_of.st_mode);
}

/* Take the password's file. A password is for the servers that it was written for: it must not go to others. */
static void take_digest_file(cmd_settings *s, const char *file, bool own_servers, const char *digest_file) {
    if (s->digest_file || s->digest_fd >= 0)
        return;
    if (own_servers)
        s->digest_file = g_strdup(digest_file);
    else
        cmd_error("%s: its digest-file is for its servers, and is not used for others; give --digest-file", file);
}

/* Take the word that strangers may change the directories. It is for those servers alone, too. false: it is no such
 * word. */
static bool take_accept_unprotected(cmd_settings *s, const char *file, bool own_servers, GKeyFile *keys) {
    g_autoptr(GError) wrong = NULL;
    bool accept = g_key_file_get_boolean(keys, "paddock", "accept-unprotected", &wrong);
    if (wrong) {
        cmd_error("%s: accept-unprotected: true or false is needed", file);
        return false;
    }
    if (s->accept_unprotected || s->accept_given)
        return true;
    if (own_servers) {
        s->accept_unprotected = accept;
        s->accept_given = true;
    } else if (accept) {
        cmd_error("%s: its accept-unprotected is for its servers, and is not used for others; give "
                  "--accept-unprotected",
                  file);
    }
    return true;
}

/* Is the file below a home that does not exist, or that we may not read? */
static bool is_out_of_reach(const GError *error) {
    static const int codes[] = {G_FILE_ERROR_ACCES, G_FILE_ERROR_PERM, G_FILE_ERROR_NOTDIR, G_FILE_ERROR_LOOP};
    bool found = false;
    for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
        found = found || g_error_matches(error, G_FILE_ERROR, codes[i]);
    return found;
}

static bool take_session_timeout(cmd_settings *s, const char *file, const char *value) {
    int64_t ignored;
    if (!cmd_duration_parse(value, 1000, &ignored)) {
        cmd_error("%s: session-timeout: a time is needed, such as 15, 15s or 1m", file);
        return false;
    }
    if (!s->session_timeout)
        s->session_timeout = g_strdup(value);
    return true;
}

static bool take_token_base(cmd_settings *s, const char *file, const char *value) {
    if (s->token_base != G_MININT64 || g_ascii_string_to_signed(value, 10, 0, G_MAXINT64, &s->token_base, NULL))
        return true;
    cmd_error("%s: token-base: a number is needed, in decimal", file);
    return false;
}

/* Take one key of a file. false, having said so, when it is wrong. The servers are known already. */
static bool take(cmd_settings *s, const char *file, bool own_servers, GKeyFile *keys, const char *name) {
    g_autofree char *given = g_key_file_get_string(keys, "paddock", name, NULL);
    const char *value = given ? given : "";
    if (strcmp(name, "digest-file") == 0)
        take_digest_file(s, file, own_servers, value);
    else if (strcmp(name, "accept-unprotected") == 0)
        return take_accept_unprotected(s, file, own_servers, keys);
    else if (strcmp(name, "session-timeout") == 0)
        return take_session_timeout(s, file, value);
    else if (strcmp(name, "token-base") == 0)
        return take_token_base(s, file, value);
    else if (strcmp(name, "servers") != 0) {
        cmd_error("%s: unknown key %s; known are servers, digest-file, accept-unprotected, "
                  "session-timeout, token-base",
                  file, name);
        return false;
    }
    return true;
}

/* A file that does not exist is as good as an empty one, unless it was asked for. So is a file that cannot be read, if
 * the servers are known without it: otherwise another file would decide which servers we ask. false, having said so,
 * when it is an error. */
static bool is_as_good_as_absent(const cmd_settings *s, const char *file, bool asked, const GError *error) {
    if (!asked && g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        return true;
    bool skipped = !asked && s->servers && is_out_of_reach(error);
    if (skipped)
        cmd_error("warning: %s: %s; its settings are not used", file, error->message);
    else
        cmd_error("%s: %s; mend the file, name another one with --config, or the servers with -s", file,
                  error->message);
    return skipped;
}

/* false when the file has something that is wrong. */
static bool read_config(cmd_settings *s, const char *file, bool asked) {
    g_autoptr(GKeyFile) keys = g_key_file_new();
    g_autoptr(GError) error = NULL;
    if (is_pipe(file)) {
        cmd_error("%s: it is a pipe; a configuration is a regular file", file);
        return false;
    }
    if (!g_key_file_load_from_file(keys, file, G_KEY_FILE_NONE, &error))
        return is_as_good_as_absent(s, file, asked, error);
    g_autofree char *servers = g_key_file_get_string(keys, "paddock", "servers", NULL);
    bool own_servers = servers && (!s->servers || strcmp(s->servers, servers) == 0);
    if (!s->servers)
        s->servers = g_strdup(servers);
    g_auto(GStrv) names = g_key_file_get_keys(keys, "paddock", NULL, NULL);
    for (char **name = names; name && *name; name++)
        if (!take(s, file, own_servers, keys, *name))
            return false;
    return true;
}

/* Read the settings. The earlier one counts: command line, environment, the user's file, the machine's file. */
static bool read_settings(cmd_settings *s) {
    const char *servers = g_getenv("PADDOCK_SERVERS");
    if (!s->servers && servers && *servers)
        s->servers = g_strdup(servers);
    if (s->config)
        return read_config(s, s->config, true);
    g_autofree char *own = g_build_filename(g_get_user_config_dir(), "paddock.conf", NULL);
    return read_config(s, own, false) && read_config(s, "/etc/paddock.conf", false);
}

/* A regular file: a pipe would keep us waiting, and has --digest-fd. NULL: errno says why. */
static FILE *open_secret(const char *path) {
    struct stat stat_of;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool regular = fd >= 0 && fstat(fd, &stat_of) == 0 && S_ISREG(stat_of.st_mode);
    if (fd >= 0 && !regular) {
        close(fd);
        errno = EINVAL;
        return NULL;
    }
    if (regular && (stat_of.st_mode & (S_IROTH | S_IWOTH)))
        cmd_error("warning: %s: others may %s it; chmod o-rw it, and change the password", path,
                  stat_of.st_mode & S_IWOTH ? "write" : "read");
    return fd >= 0 ? fdopen(fd, "r") : NULL;
}

static bool read_digest(cmd_settings *s) {
    char text[DIGEST_BYTES + 2];
    size_t length = 0;
    FILE *file = NULL;
    if (s->digest_file)
        file = open_secret(s->digest_file);
    else if (s->digest_fd >= 0)
        file = fdopen(s->digest_fd, "r");
    else
        return true;
    if (file) {
        length = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        cmd_fill_standard(); /* it may have been descriptor 0, 1 or 2 */
    }
    text[length] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    bool good = length > 0 && length <= DIGEST_BYTES && strchr(text, ':') && text[0] != ':';
    if (good)
        s->digest = g_strdup(text);
    else if (s->digest_file)
        cmd_error(
            "%s: no credentials can be read; it is a regular file of one line, user:password (--digest-fd reads a "
            "pipe)",
            s->digest_file);
    else
        cmd_error("--digest-fd %d: no credentials can be read; it gives one line, user:password", s->digest_fd);
    explicit_bzero(text, sizeof text);
    return good;
}

static bool parse_slots(cmd_settings *s) {
    if (!s->slots)
        return true;
    guint64 permits = 0, count = 1;
    g_auto(GStrv) parts = g_strsplit(s->slots, "/", 2);
    bool good = parts[0] && g_ascii_string_to_unsigned(parts[0], 10, 1, PDK_SEMAPHORE_PERMITS_MAX, &permits, NULL);
    if (good && parts[1])
        good = g_ascii_string_to_unsigned(parts[1], 10, 1, MIN(permits, PDK_SEMAPHORE_COUNT_MAX), &count, NULL);
    if (!good || s->shared) {
        cmd_error(good ? "--slots and --shared exclude each other"
                       : "--slots: N or N/K: N permits from 1 to 10000, K of them, 1 to 100 and no more than N");
        return false;
    }
    s->permits = (int32_t)permits;
    s->count = (int32_t)count;
    return true;
}

/* kazoo's own semaphore keeps its leases elsewhere, so there is no such thing that both could share. */
static bool parse_naming(cmd_settings *s) {
    bool kazoo = g_strcmp0(s->naming, "kazoo") == 0;
    if (s->naming && !kazoo && strcmp(s->naming, "curator") != 0) {
        cmd_error("--naming: curator or kazoo, not %s", s->naming);
        return false;
    }
    if (kazoo && s->permits) {
        cmd_error(
            "--naming kazoo: its semaphore has another layout, which paddock has not; --slots is Curator's alone");
        return false;
    }
    s->names = kazoo ? PDK_NAMING_KAZOO : PDK_NAMING_CURATOR;
    return true;
}

static bool check_settings(cmd_settings *s) {
    int64_t session = s->session_timeout_ms, delay = 0;
    const char *what = s->on_suspend ? s->on_suspend : "ignore";
    if (!cmd_duration("--session-timeout", s->session_timeout, 400, 600000, &session) ||
        !cmd_duration("--connect-timeout", s->connect_timeout, 1, 86400000, &s->connect_timeout_ms) ||
        !cmd_duration("--wait", s->wait, 0, CMD_DURATION_MOST, &s->wait_ms) ||
        !cmd_duration("--lock-delay", s->lock_delay, 0, 86400000, &delay) ||
        !cmd_duration("--max-hold", s->max_hold, 1, CMD_DURATION_MOST, &s->max_hold_ms) || !parse_slots(s) ||
        !parse_naming(s))
        return false;
    if (s->exclusive && (s->shared || s->permits)) {
        cmd_error("--exclusive excludes --shared and --slots");
        return false;
    }
    s->session_timeout_ms = (int32_t)session;
    s->lock_delay_ms = (int32_t)delay;
    if (delay && (s->shared || s->permits)) {
        cmd_error("--lock-delay: readers and permits have none; give it without --shared and --slots");
        return false;
    }
    if (s->token_base == G_MININT64)
        s->token_base = 0;
    if (s->token_base < 0) { /* beyond that the session judges the number */
        cmd_error("--token-base: a number from 0 is needed");
        return false;
    }
    if (s->digest_fd < 0 && s->digest_fd != G_MININT) {
        cmd_error("--digest-fd %d: a descriptor has a number from 0", s->digest_fd);
        return false;
    }
    if (s->attempt)
        s->wait_ms = 0;
    if (s->busy.code < 0 || s->busy.code > 255) {
        cmd_error("-E: an exit status is from 0 to 255");
        return false;
    }
    if (strcmp(what, "ignore") != 0 && strcmp(what, "stop") != 0 && strcmp(what, "term") != 0) {
        cmd_error("--on-suspend: ignore, stop or term, not %s", what);
        return false;
    }
    if (s->on_ask && strcmp(s->on_ask, "ignore") != 0 && strcmp(s->on_ask, "term") != 0) {
        cmd_error("--on-ask: ignore or term, not %s", s->on_ask);
        return false;
    }
    if (s->digest_file && s->digest_fd >= 0) {
        cmd_error("--digest-file and --digest-fd exclude each other");
        return false;
    }
    if (!s->servers || !*s->servers) {
        cmd_error("no servers are known: give -s host:port,…, or set PADDOCK_SERVERS, or write servers=… under "
                  "[paddock] into ~/.config/paddock.conf or /etc/paddock.conf");
        return false;
    }
    if (s->servers[0] == '/') {
        cmd_error("-s, --servers: host:port,… is needed, and no path; flock's -s is --shared here");
        return false;
    }
    return cmd_servers_check(s->servers);
}

char **cmd_split_command(int *argc, char **argv) {
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            char **command = argv + i + 1;
            *argc = i;
            argv[i] = NULL;
            return *command ? command : NULL;
        }
    }
    return NULL;
}

bool cmd_settings_command(cmd_settings *s, char ***command) {
    char *const words[] = {(char *)"/bin/sh", (char *)"-c", s->text, NULL};
    if (!s->text)
        return true;
    if (*command) {
        cmd_error("-c and a command after -- exclude each other");
        return false;
    }
    memcpy(s->shell, words, sizeof words);
    *command = s->shell;
    return true;
}

bool cmd_settings_parse(cmd_settings *settings, int *argc, char ***argv, const char *usage, unsigned options,
                        const GOptionEntry *more) {
    g_autoptr(GOptionContext) context = cmd_options_new(**argv, usage);
    if (more) /* the help has them in this order */
        cmd_options_add(context, more);
    add_entries(context, settings, options);
    if (!cmd_options_parse(context, argc, argv))
        return false;
    cmd_quiet = settings->quiet;
    cmd_verbose = settings->verbose && !settings->quiet;
    return read_settings(settings) && check_settings(settings) && read_digest(settings) &&
           (!settings->json || cmd_print_json());
}

/* Tell the lines that concern the operator, in words of the command line. false: it is another line. */
static bool tell_operator(const char *text) {
    const char *periods = strstr(text, " has other periods: ");
    if (periods)
        cmd_error("%.*s has other periods than this machine: give all machines the same --every, --at and --tz (job "
                  "--history "
                  "shows the runs)",
                  (int)(periods - text), text);
    else if (g_str_has_prefix(text, "the chroot "))
        cmd_error("%s", text);
    else
        return false;
    return true;
}

/* user: where to keep why there is no connection, or NULL. */
static void on_log(pdk_log_level level, const char *text, void *user) {
    static const char trouble[] = "cannot connect: ";
    if (user && g_str_has_prefix(text, trouble)) {
        g_free(*(char **)user);
        *(char **)user = g_strdup(text + strlen(trouble));
    }
    g_autofree char *words = cmd_words(text);
    if (!tell_operator(words))
        cmd_tell("%s%s", level == PDK_LOG_ERROR ? "error: " : "", words);
}

pdk_session_options cmd_settings_session(const cmd_settings *settings) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = settings->session_timeout_ms;
    options.connect_timeout_ms = (int32_t)settings->connect_timeout_ms;
    options.request_timeout_ms = options.connect_timeout_ms; /* it bounds a try */
    options.digest = settings->digest;
    options.label = settings->label;
    options.token_base = settings->token_base;
    options.accept_unprotected = settings->accept_unprotected;
    options.log_level = settings->verbose ? PDK_LOG_INFO : PDK_LOG_WARN;
    options.on_log = on_log;
    return options;
}
