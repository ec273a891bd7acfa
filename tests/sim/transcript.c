/* The transcript of a run, for a reader who knows ZooKeeper but not the code: requests, what the servers do with them, the state
 * of each process, and faults. A tapped table of calls stands between the driver and its client library. All the rest is
 * read after each event. A transcript changes nothing in the run.
 *
 *     0.120483  p0 -> create /stock/_c_3f2a..-lock- (ephemeral, sequential)
 *     0.121950  zk    1:0012 create /stock/_c_3f2a..-lock-0000000004, for p0
 *     0.122301  p0 <- create: /stock/_c_3f2a..-lock-0000000004, token 1:0012
 *     0.122301  p0    is in the queue with ..-lock-0000000004, behind ..-lock-0000000003
 */
#include "transcript.h"

#include "grant/hold.h"
#include "session/entries.h"
#include "sim_platform.h"
#include "zk/errors.h"

#include <stdarg.h>
#include <string.h>

#define ENTRIES 64
#define PENDING 1024

/* The text that was printed last for an entry. */
struct reported_entry {
    const struct pdk__entry *entry;
    char text[160];
    bool seen;
};

struct pending {
    enum pdk__op_kind kind;
    char path[160];
};

struct transcript {
    struct deployment *d;
    FILE *out;
    struct pdk__platform platform;
    struct pdk__zk_calls calls;
    enum sim_role roles[SIM_SERVERS];
    bool paused[SIM_SERVERS];
    enum pdk__link links[PLAN_PROCESSES];
    struct reported_entry entries[ENTRIES];
    int32_t told; /* events of the history */
};

/* A handle's tap. Answers come in the order of the requests. */
struct tap {
    const struct pdk__zk_sink *sink;
    void *driver;
    int32_t process;
    uint32_t asked, answered;
    struct pending pending[PENDING];
};

static struct transcript *current; /* there is one run at a time */

/* ---- words */

const char *transcript_path(const char *path) {
    static char texts[8][160];
    static unsigned next;
    char *text = texts[next++ % 8];
    const char *name = path ? strrchr(path, '/') : NULL;
    name = name ? name + 1 : path;
    size_t uuid = name && name[0] == '_' ? 39 : 32; /* of a contender: the text before its kind and number */
    if (!name || strlen(name) < uuid + 8)
        g_snprintf(text, 160, "%s", path ? path : "?");
    else
        g_snprintf(text, 160, "%.*s%.7s..%s", (int)(name - path), path, name, name + uuid);
    return text;
}

const char *transcript_zxid(int64_t zxid) {
    static char texts[8][24];
    static unsigned next;
    char *text = texts[next++ % 8];
    g_snprintf(text, 24, "%lld:%04llx", (long long)(zxid >> 32), (unsigned long long)(zxid & 0xffffffff));
    return text;
}

static void say_v(const struct transcript *transcript, const char *who, const char *format, va_list arguments) {
    fprintf(transcript->out, "%10.6f  %-3s ", (double)(transcript->d->agenda.now - transcript->d->started) / 1e9, who);
    vfprintf(transcript->out, format, arguments);
    fputc('\n', transcript->out);
}

static void say(const struct transcript *transcript, const char *who, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(const struct transcript *transcript, const char *who, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_v(transcript, who, format, arguments);
    va_end(arguments);
}

static const char *process_name(int32_t process) {
    static char texts[4][16];
    static unsigned next;
    char *text = texts[next++ % 4];
    g_snprintf(text, 16, "p%d", process);
    return text;
}

void transcript_tell(struct deployment *d, const char *format, ...) {
    if (!d->transcript)
        return;
    va_list arguments;
    va_start(arguments, format);
    say_v(d->transcript, "***", format, arguments);
    va_end(arguments);
}

void transcript_action(struct deployment *d, const struct plan_action *action, bool done) {
    struct transcript *transcript = d->transcript;
    fprintf(transcript->out, "%10.6f  *** ", (double)(d->agenda.now - d->started) / 1e9);
    plan_print_action(action, transcript->out);
    fputs(done ? "\n" : ": not possible now\n", transcript->out);
}

/* The process of that session. */
static const char *owner(const struct deployment *d, int64_t session) {
    static char texts[4][32];
    static unsigned next;
    char *text = texts[next++ % 4];
    for (int32_t i = 0; i < d->plan->processes; i++)
        if (d->players[i].process && sim_client_session(d->players[i].process) == session) {
            g_snprintf(text, 32, "p%d", i);
            return text;
        }
    g_snprintf(text, 32, session ? "session %llx" : "an admin", (unsigned long long)session);
    return text;
}

/* ---- the tapped calls */

static const char *const op_names[] = {
    [PDK__OP_CREATE] = "create", [PDK__OP_MKDIR] = "mkdir", [PDK__OP_LIST] = "list",     [PDK__OP_WATCH] = "watch",
    [PDK__OP_GET] = "get",       [PDK__OP_STAT] = "stat",   [PDK__OP_BARRIER] = "check", [PDK__OP_DELETE] = "delete",
    [PDK__OP_SET] = "set",       [PDK__OP_SYNC] = "sync",   [PDK__OP_ACL] = "acl",
};

/* A handle's tap is found by the handle: a short list is enough. */
static struct {
    pdk__zk *zk;
    struct tap *tap;
} taps[256];
static unsigned taps_count;

static struct tap *tap_of(const pdk__zk *zk) {
    for (unsigned i = taps_count; i-- > 0;)
        if (taps[i].zk == zk)
            return taps[i].tap;
    return NULL;
}

static void on_reply(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    struct tap *tap = driver;
    const struct pending *asked = &tap->pending[tap->answered++ % PENDING];
    const char *who = process_name(tap->process), *kind = op_names[asked->kind];
    if (reply->result != PDK__OK)
        say(current, who, "<- %s %s: %s", kind, asked->path, pdk__zk_code_name(reply->code));
    else if (asked->kind == PDK__OP_CREATE)
        say(current, who, "<- create: %s, token %s", transcript_path(reply->name), transcript_zxid(reply->token));
    else if (asked->kind == PDK__OP_LIST)
        say(current, who, "<- list %s: %zu children", asked->path, reply->children_count);
    else
        say(current, who, "<- %s %s: ok", kind, asked->path);
    tap->sink->reply(tap->driver, zk, reply);
}

static void on_watch(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event) {
    static const char *const words[] = {"changed", "deleted", "has other children"};
    struct tap *tap = driver;
    say(current, process_name(tap->process), "<- event: %s %s", transcript_path(path), words[event]);
    tap->sink->watch(tap->driver, zk, path, event);
}

static void on_state(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t session, int32_t timeout_ms) {
    static const char *const names[] = {"CONNECTED", "CONNECTING", "EXPIRED", "AUTH_FAILED"};
    struct tap *tap = driver;
    if (state == PDK__ZK_CONNECTED)
        say(current, process_name(tap->process), "<- CONNECTED to s%d, session %llx, timeout %d ms",
            sim_client_server(current->d->players[tap->process].process), (unsigned long long)session, timeout_ms);
    else
        say(current, process_name(tap->process), "<- %s", names[state]);
    tap->sink->state(tap->driver, zk, state, session, timeout_ms);
}

static void on_log(void *driver, int level, const char *text) {
    struct tap *tap = driver;
    tap->sink->log(tap->driver, level, text);
}

static pdk_status tapped_open(const struct pdk__zk_config *config, pdk__zk **out) {
    static const struct pdk__zk_sink sink = {.reply = on_reply, .watch = on_watch, .state = on_state, .log = on_log};
    struct tap *tap = sim_alloc(&current->d->agenda, sizeof *tap);
    tap->sink = config->sink;
    tap->driver = config->driver;
    tap->process = sim_process_current()->number;
    struct pdk__zk_config tapped = *config;
    tapped.sink = &sink;
    tapped.driver = tap;
    say(current, process_name(tap->process), "-> opens a session, timeout %d ms", config->timeout_ms);
    pdk_status status = sim_client_calls.open(&tapped, out);
    taps[taps_count % G_N_ELEMENTS(taps)].zk = *out;
    taps[taps_count % G_N_ELEMENTS(taps)].tap = tap;
    taps_count = (taps_count + 1) % G_N_ELEMENTS(taps);
    return status;
}

static const char *particulars(const struct pdk__request *request) {
    if (request->kind == PDK__OP_CREATE)
        return request->named ? " (ephemeral)" : " (ephemeral, sequential)";
    if (request->kind == PDK__OP_MKDIR && request->container)
        return " (container)";
    if (request->kind == PDK__OP_LIST && request->watch)
        return " (and watch its children)";
    if (request->kind == PDK__OP_BARRIER)
        return " (a transaction of its own: only a quorum can answer)";
    return "";
}

static bool tapped_submit(pdk__zk *zk, const struct pdk__request *request) {
    struct tap *tap = tap_of(zk);
    bool sent = sim_client_calls.submit(zk, request);
    say(current, process_name(tap->process), "-> %s %s%s%s", op_names[request->kind], transcript_path(request->path),
        particulars(request), sent ? "" : ": NOT SENT");
    if (!sent)
        return false;
    struct pending *pending = &tap->pending[tap->asked++ % PENDING];
    pending->kind = request->kind;
    g_strlcpy(pending->path, transcript_path(request->path), sizeof pending->path);
    return true;
}

static void tapped_close(pdk__zk *zk) {
    const struct tap *tap = tap_of(zk);
    say(current, process_name(tap->process), "-> closes the session's handle");
    sim_client_calls.close(zk);
}

static enum pdk__zk_parting tapped_leave(pdk__zk *zk) {
    enum pdk__zk_parting parting = sim_client_calls.leave(zk);
    if (parting != PDK__ZK_STAYS)
        say(current, process_name(tap_of(zk)->process), "-> gives up its connection: the server commits nothing");
    return parting;
}

static enum pdk__zk_parting tapped_hurry(pdk__zk *zk, enum pdk__zk_dial what, int64_t patience_ms) {
    enum pdk__zk_parting parting = sim_client_calls.hurry(zk, what, patience_ms);
    if (parting != PDK__ZK_STAYS)
        say(current, process_name(tap_of(zk)->process), "-> gives up a handshake that is not answered");
    return parting;
}

const struct pdk__platform *transcript_platform(struct deployment *d) { return &d->transcript->platform; }

/* ---- the servers */

void transcript_txn(struct deployment *d, const struct sim_txn *txn) {
    static const char *const kinds[] = {"refuse", "create", "delete", "set", "check", "open", "close", "epoch"};
    const struct transcript *transcript = d->transcript;
    const char *whose = owner(d, txn->session), *zxid = transcript_zxid(txn->zxid);
    if (txn->kind == SIM_TXN_OPEN)
        say(transcript, "zk", "%s session %llx begins", zxid, (unsigned long long)txn->session);
    else if (txn->kind == SIM_TXN_CLOSE)
        say(transcript, "zk", "%s session %llx of %s %s", zxid, (unsigned long long)txn->session, whose,
            txn->expired ? "EXPIRED" : "is closed");
    else if (txn->kind == SIM_TXN_EPOCH)
        say(transcript, "zk", "%s a leader begins", zxid);
    else if (txn->kind == SIM_TXN_ERROR)
        say(transcript, "zk", "%s refused: %s, for %s", zxid, pdk__zk_code_name(txn->code), whose);
    else
        say(transcript, "zk", "%s %s %s, for %s", zxid, kinds[txn->kind], transcript_path(txn->path), whose);
}

void transcript_fired(struct deployment *d, int64_t session, const char *path, enum sim_event event) {
    static const char *const words[] = {
        [SIM_CHANGED] = "changed", [SIM_DELETED] = "deleted", [SIM_CHILDREN] = "children"};
    say(d->transcript, "zk", "the watch of %s on %s fires: %s", owner(d, session), transcript_path(path), words[event]);
}

static void look_at_servers(struct transcript *transcript) {
    static const char *const names[] = {"is DOWN", "is LOOKING for a leader", "FOLLOWS", "LEADS"};
    for (int32_t i = 0; i < transcript->d->plan->servers; i++) {
        enum sim_role role = sim_server_role(transcript->d->ensembles[0], i);
        char name[8];
        g_snprintf(name, sizeof name, "s%d", i);
        if (role != transcript->roles[i])
            say(transcript, name, "   %s", names[role]);
        transcript->roles[i] = role;
    }
}

/* ---- the state of processes */

static void describe(const struct pdk__entry *entry, char *text, size_t size) {
    static const char *const phases[] = {
        [PDK__OUT] = "has no node",
        [PDK__UNSURE] = "does not know whether its node was created",
        [PDK__CANDIDATE] = "found a node with its mark",
        [PDK__IN] = "is in the queue",
        [PDK__HELD] = "HOLDS",
        [PDK__STUCK] = "cannot delete its node",
        [PDK__GONE] = "has left",
    };
    const struct pdk__contender *c = &entry->c;
    const char *own = c->own[0] ? transcript_path(c->own) : "",
               *ahead = c->watched[0] ? transcript_path(c->watched) : "";
    g_snprintf(text, size, "%s: %s %s%s%s%s%s", entry->dir, phases[c->phase], own, c->watched[0] ? ", behind " : "",
               ahead, c->phase == PDK__IN && c->listed && !c->watched[0] ? ", nobody ahead" : "",
               c->leaving ? ", leaving" : "");
}

static void look_at_entry(struct transcript *transcript, int32_t process, const struct pdk__entry *entry) {
    char text[160];
    struct reported_entry *free_one = NULL, *known = NULL;
    for (int32_t i = 0; i < ENTRIES; i++) {
        if (transcript->entries[i].entry == entry)
            known = &transcript->entries[i];
        if (!transcript->entries[i].entry && !free_one)
            free_one = &transcript->entries[i];
    }
    known = known ? known : free_one;
    if (!known)
        return;
    known->entry = entry;
    known->seen = true;
    describe(entry, text, sizeof text);
    if (strcmp(text, known->text) != 0)
        say(transcript, process_name(process), "   %s", text);
    g_strlcpy(known->text, text, sizeof known->text);
}

static void look_at_entries(struct transcript *transcript) {
    for (int32_t i = 0; i < DEPLOYMENT_CLIENTS * transcript->d->plan->processes; i++) {
        const struct client *client = deployment_client(transcript->d, i);
        if (!client || !client->s || client->process->dead)
            continue;
        for (const GList *link = client->s->entries.head; link; link = link->next)
            look_at_entry(transcript, i / DEPLOYMENT_CLIENTS, link->data);
    }
    for (int32_t i = 0; i < ENTRIES; i++) {
        if (!transcript->entries[i].seen)
            transcript->entries[i] = (struct reported_entry){0};
        transcript->entries[i].seen = false;
    }
}

void transcript_look(struct deployment *d) {
    struct transcript *transcript = d->transcript;
    look_at_servers(transcript);
    look_at_entries(transcript);
    for (; transcript->told < d->history.count; transcript->told++)
        transcript_event(d, &d->history.events[transcript->told], transcript->out);
}

struct transcript *transcript_new(struct deployment *d, FILE *out) {
    struct transcript *transcript = g_new0(struct transcript, 1);
    transcript->d = d;
    transcript->out = out;
    transcript->calls = (struct pdk__zk_calls){tapped_open,
                                               tapped_submit,
                                               tapped_close,
                                               sim_client_calls.dial,
                                               tapped_leave,
                                               tapped_hurry,
                                               sim_client_calls.servers,
                                               sim_client_calls.native,
                                               sim_client_calls.secret};
    transcript->platform = sim_platform;
    transcript->platform.zk = &transcript->calls;
    taps_count = 0;
    memset(taps, 0, sizeof taps);
    current = transcript;
    return transcript;
}

void transcript_free(struct transcript *transcript) {
    current = NULL;
    g_free(transcript);
}
