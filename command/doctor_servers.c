/* Each server alone. */
#include "clock.h"
#include "doctor.h"
#include "fourletter.h"
#include "words.h"
#include <errno.h>
#include <paddock/sequencer.h>
#include <stdlib.h>
#include <string.h>

enum { WRITES = 5, WRITE_MS = 10000, SLOW_PART = 30, AGAIN_MS = 200, OLDEST_MAJOR = 3, OLDEST_MINOR = 5 };
/* As server_tick_ms: a larger number is no tickTime. */
enum { TICK_MS_MOST = 600000, VERSION_MOST = 32 };

/* The sequencer of no client's node, so the answer is LOST. It comes behind a quorum write that changes nothing. */
static const char nobody[] =
    "pdk1 " CMD_DOCTOR_PATH "/_c_00000000-0000-0000-0000-000000000000-lock-0000000000 exclusive 1 0";

/* "3.8.0-…, built on …" */
static void judge_version(cmd_doctor *d, const cmd_server *s) {
    int major = 0, minor = 0;
    char *end = NULL;
    if (!s->version)
        return;
    major = (int)CLAMP(strtol(s->version, &end, 10), 0, INT32_MAX);
    if (*end == '.')
        minor = (int)CLAMP(strtol(end + 1, NULL, 10), 0, INT32_MAX);
    if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR))
        cmd_doctor_find(d, "version", s->address,
                        g_strdup_printf("it is ZooKeeper %s, which has no containers", s->version),
                        "install ZooKeeper 3.5 or newer: directories of locks go then when they are empty");
}

/* "ClickHouse Keeper version: v24.8.4…", as the first line of its words. */
static void note_foreign(cmd_server *s, const char *answer) {
    static const char says[] = " version: ";
    g_autofree char *line = g_strndup(answer, strcspn(answer, "\r\n"));
    const char *at = strstr(line, says);
    if (at && at > line && !g_str_has_prefix(line, "Zookeeper"))
        s->foreign = g_strdup_printf("%.*s %.*s", (int)MIN(at - line, VERSION_MOST), line,
                                     (int)MIN(strcspn(at + strlen(says), "-, "), VERSION_MOST), at + strlen(says));
}

static void judge_foreign(cmd_doctor *d, cmd_server *s) {
    if (!s->foreign && s->wire.foreign)
        s->foreign = g_strdup("a server that counts its sessions from 1");
    if (s->foreign)
        cmd_doctor_find(
            d, "foreign", s->address,
            g_strdup_printf("it is no ZooKeeper, but %s: it takes no session back, so each lost connection ends "
                            "every hold",
                            s->foreign),
            "use a ZooKeeper, or read docs/servers.md about what works there");
}

static void too_many(cmd_doctor *d, const cmd_server *s) {
    cmd_doctor_find(d, "connections", s->address,
                    g_strdup("it takes connections from here, and ends them without a word"),
                    "look at its log: this machine has maxClientCnxns connections to it already, or all have maxCnxns");
}

/* The tickTime in its answer; 0: there is none. */
static int32_t tick_of(const char *conf) {
    g_autofree char *tick = cmd_line_of(conf, "tickTime=");
    gint64 ms = tick ? g_ascii_strtoll(tick, NULL, 10) : 0;
    return ms > 0 && ms <= TICK_MS_MOST ? (int32_t)ms : 0;
}

/* Ask for its words without a session. Only srvr is allowed by default. */
static void ask_words(cmd_doctor *d, cmd_server *s) {
    g_autofree char *error = NULL, *other = NULL;
    g_autofree char *answer = cmd_four_letters(s->address, "srvr", d->settings->connect_timeout_ms, &error);
    s->answers = answer != NULL;
    if (!answer && (g_str_has_suffix(error, g_strerror(ECONNRESET)) || g_str_has_suffix(error, g_strerror(EPIPE)))) {
        too_many(d, s);
        return;
    }
    if (!answer) {
        cmd_doctor_find(d, "unreachable", s->address, g_strdup(error),
                        "start it, open the way to it, or take it from the list of servers");
        return;
    }
    s->serves_nobody = strstr(answer, "not currently serving requests");
    s->hung_up = !*answer;
    g_autofree char *version = cmd_line_of(answer, "Zookeeper version:");
    s->mode = cmd_line_of(answer, "Mode:");
    if (version)
        s->version = g_strndup(version, MIN(strcspn(version, "-, "), VERSION_MOST));
    judge_version(d, s);
    note_foreign(s, answer);
    g_autofree char *conf =
        version ? cmd_four_letters(s->address, "conf", d->settings->connect_timeout_ms, &other) : NULL;
    s->tick_ms = conf ? tick_of(conf) : 0;
}

/* The session timeout that it gives when this one is asked for; 0: none. The wire stays open. A server that serves and
 * hangs up has too much to do, or is set to refuse so many: it is asked again for a while. */
static int32_t ask_timeout(const cmd_doctor *d, cmd_server *s, int32_t wanted_ms, int *code) {
    int64_t deadline = cmd_now_ms() + d->settings->connect_timeout_ms;
    for (;;) {
        cmd_wire_close(&s->wire);
        *code = cmd_wire_open(&s->wire, s->address, d->names.chroot, d->settings->digest, wanted_ms,
                              MAX(deadline - cmd_now_ms(), 1));
        if (!*code || !s->mode || !s->wire.hung_up || cmd_now_ms() + AGAIN_MS >= deadline)
            return *code ? 0 : s->wire.timeout_ms;
        s->refusals++;
        g_usleep((gulong)AGAIN_MS * 1000);
    }
}

/* Find out why it gives no session, as far as that shows from outside. */
static void judge_silence(cmd_doctor *d, const cmd_server *s) {
    if (s->refusals)
        cmd_doctor_find(
            d, "throttled", s->address, g_strdup("it serves, and hangs up on each new session"),
            "look at its log: it throttles connections (zookeeper.connection_throttle_tokens), or has too many");
    else if (s->hung_up && s->wire.hung_up)
        too_many(d, s);
    else if (!s->serves_nobody)
        cmd_doctor_find(d, "silent", s->address, g_strdup(s->wire.error),
                        "look at its log: it may be no ZooKeeper, hang, or have no quorum");
}

static void judge_timeouts(cmd_doctor *d, const cmd_server *s) {
    int32_t wanted = d->settings->session_timeout_ms;
    if (s->granted_ms != wanted)
        cmd_doctor_find(d, "clamped", s->address,
                        g_strdup_printf("a session that asks for %d ms gets %d ms; it gives from %d to %d ms", wanted,
                                        s->granted_ms, s->min_ms, s->max_ms),
                        "set minSessionTimeout or maxSessionTimeout on all servers, or ask for what they give "
                        "(--session-timeout)");
    if (s->tick_ms > 0 && s->min_ms < 2 * s->tick_ms)
        cmd_doctor_find(d, "minimum", s->address,
                        g_strdup_printf("minSessionTimeout is %d ms, below two ticks of %d ms", s->min_ms, s->tick_ms),
                        "set minSessionTimeout to two ticks at least on all servers, or give every session the "
                        "server_tick_ms");
}

static void ask_sessions(cmd_doctor *d, cmd_server *s) {
    int code;
    s->min_ms = ask_timeout(d, s, 1, &code);
    if (!code)
        s->max_ms = ask_timeout(d, s, INT32_MAX, &code);
    if (!code)
        s->granted_ms = ask_timeout(d, s, d->settings->session_timeout_ms, &code);
    s->serves = code == CMD_WIRE_OK;
    judge_foreign(d, s);
    if (code == CMD_WIRE_NOAUTH)
        cmd_doctor_find(d, "credentials", s->address, g_strdup("it refuses the credentials"),
                        "look at --digest-file, and at the server's authentication provider");
    else if (code)
        judge_silence(d, s);
    else
        judge_timeouts(d, s);
    if (!code && s->refusals)
        cmd_doctor_find(d, "throttled", s->address,
                        g_strdup_printf("it hung up %u times before it gave three sessions", s->refusals),
                        "raise zookeeper.connection_throttle_tokens, or let fewer clients come at once");
}

static int compare_numbers(const void *a, const void *b) {
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

/* Time a few writes, each of which a quorum commits. */
static void time_writes(cmd_doctor *d, cmd_server *s, pdk_session *session) {
    int64_t took[WRITES], slow = pdk_session_timeout_ms(session) / SLOW_PART;
    for (int i = 0; i < WRITES; i++) {
        int64_t begun = cmd_now_ms();
        pdk_status status = pdk_session_check_sequencer(session, nobody, WRITE_MS);
        took[i] = cmd_now_ms() - begun;
        if (status != PDK_OK && status != PDK_LOST && status != PDK_NO_PERMISSION) {
            g_autofree char *why = cmd_words(pdk_last_error());
            cmd_doctor_find(d, "write", s->address, g_strdup_printf("no quorum write in time: %s", why),
                            "look at the leader's log and disk, and at the links between the servers");
            return;
        }
    }
    qsort(took, WRITES, sizeof *took, compare_numbers);
    s->write_ms = took[WRITES / 2];
    if (s->write_ms > slow)
        cmd_doctor_find(d, "slow", s->address,
                        g_strdup_printf("a quorum write takes %" G_GINT64_FORMAT
                                        " ms, more than 1/%d of the session timeout",
                                        (gint64)s->write_ms, SLOW_PART),
                        "give the transaction logs a disk of their own, look at the links, or ask for a longer session "
                        "timeout");
}

/* It demands authentication, so nothing more can be asked. */
static void demands_authentication(cmd_doctor *d, cmd_server *s) {
    cmd_doctor_find(d, "credentials", s->address,
                    g_strdup("it gives a session, and ends it: it demands other credentials (enforce.auth.enabled)"),
                    "give --digest-file where enforce.auth.schemes has digest; sasl is not possible here");
    s->serves = false;
}

/* A server that lacks a request hangs up on it, so nothing more is asked. */
static void cannot_be_used(cmd_doctor *d, cmd_server *s) {
    cmd_doctor_find(
        d, "foreign", s->address,
        g_strdup("it has no create2, the request that makes a contender's node: no lock can be taken there"),
        "use a ZooKeeper; ClickHouse Keeper has that request from 26.7 on");
    s->serves = false;
}

static void ask_writes(cmd_doctor *d, cmd_server *s) {
    pdk_session_options options = cmd_settings_session(d->settings);
    pdk_session *session = NULL;
    g_autofree char *hosts = g_strconcat(s->address, d->names.chroot, NULL);
    pdk_status status = pdk_session_open(hosts, &options, &session);
    if (status == PDK_UNSUPPORTED && s->foreign)
        cannot_be_used(d, s);
    else if (status == PDK_UNSUPPORTED)
        cmd_doctor_find(d, "short", s->address, cmd_words(pdk_last_error()), "ask for a longer session timeout");
    else if (status == PDK_AUTH)
        demands_authentication(d, s);
    else if (status)
        cmd_doctor_find(d, "write", s->address, cmd_words(pdk_last_error()),
                        "look at the leader's log and disk, and at the links between the servers");
    else
        time_writes(d, s, session);
    if (session)
        (void)pdk_session_close(session, 2000);
    pdk_session_unref(session);
}

void cmd_doctor_ask_servers(cmd_doctor *d) {
    for (guint i = 0; i < d->count; i++) {
        cmd_server *s = &d->servers[i];
        ask_words(d, s);
        if (s->answers)
            ask_sessions(d, s);
        if (s->serves)
            ask_writes(d, s);
    }
}
