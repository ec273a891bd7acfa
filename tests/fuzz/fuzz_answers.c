/* What the client library hands over behind the wire: the table of calls takes any of it. A request is submitted, and its completion gets
 * any code and struct, also such as the library makes of what it could not read; or the watcher gets any event. The oracle says by itself
 * what is well-formed: that comes as it is, all else is UNKNOWN or nothing, and counted.
 *
 *     input ──► the answer that an honest server would give ──► some of it altered ──► completion ──► sink
 *
 * The client library is not there: what zk/client.c calls of it is defined here. Input: the request, and what is altered. */
#include "fuzz.h"
#include "zk/calls.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

enum { NAMES = 6, SESSION = 77, KINDS = 10 };

/* ---- the client library */

static int handle_of_nobody;
static watcher_fn watcher;
static void *watcher_context;
static const void *call;
static union {
    void_completion_t done;
    string_completion_t string;
    string_stat_completion_t created;
    strings_completion_t list;
    stat_completion_t stat;
    data_completion_t data;
} completion;
static clientid_t client_id = {.passwd = "random"}; /* with none it would be no ZooKeeper */
static int timeout_ms;

static zhandle_t *handle(void) { return (zhandle_t *)&handle_of_nobody; }

zhandle_t *zookeeper_init2(const char *host, watcher_fn fn, int timeout, const clientid_t *id, void *context, int flags,
                           log_callback_fn log) {
    (void)host, (void)timeout, (void)id, (void)flags, (void)log;
    watcher = fn;
    watcher_context = context;
    return handle();
}
int zookeeper_close(zhandle_t *zh) { return (void)zh, ZOK; }
int zoo_state(zhandle_t *zh) { return (void)zh, 0; }
int is_unrecoverable(zhandle_t *zh) { return (void)zh, 0; }
int zoo_recv_timeout(zhandle_t *zh) { return (void)zh, timeout_ms; }
const clientid_t *zoo_client_id(zhandle_t *zh) { return (void)zh, &client_id; }
int zoo_set_servers_resolution_delay(zhandle_t *zh, int ms) { return (void)zh, (void)ms, ZOK; }

int zoo_acreate(zhandle_t *zh, const char *path, const char *value, int length, const struct ACL_vector *acl, int mode,
                string_completion_t fn, const void *data) {
    (void)zh, (void)path, (void)value, (void)length, (void)acl, (void)mode;
    completion.string = fn;
    call = data;
    return ZOK;
}
int zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int length, const struct ACL_vector *acl, int mode,
                 string_stat_completion_t fn, const void *data) {
    (void)zh, (void)path, (void)value, (void)length, (void)acl, (void)mode;
    completion.created = fn;
    call = data;
    return ZOK;
}
int zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t fn, const void *data) {
    (void)zh, (void)path, (void)version;
    completion.done = fn;
    call = data;
    return ZOK;
}
int zoo_aexists(zhandle_t *zh, const char *path, int watch, stat_completion_t fn, const void *data) {
    (void)zh, (void)path, (void)watch;
    completion.stat = fn;
    call = data;
    return ZOK;
}
int zoo_aget(zhandle_t *zh, const char *path, int watch, data_completion_t fn, const void *data) {
    (void)zh, (void)path, (void)watch;
    completion.data = fn;
    call = data;
    return ZOK;
}
int zoo_awget(zhandle_t *zh, const char *path, watcher_fn w, void *context, data_completion_t fn, const void *data) {
    (void)w, (void)context;
    return zoo_aget(zh, path, 1, fn, data);
}
int zoo_aget_children(zhandle_t *zh, const char *path, int watch, strings_completion_t fn, const void *data) {
    (void)zh, (void)path, (void)watch;
    completion.list = fn;
    call = data;
    return ZOK;
}
int zoo_awget_children(zhandle_t *zh, const char *path, watcher_fn w, void *context, strings_completion_t fn,
                       const void *data) {
    (void)w, (void)context;
    return zoo_aget_children(zh, path, 1, fn, data);
}
int zoo_aset(zhandle_t *zh, const char *path, const char *bytes, int length, int version, stat_completion_t fn,
             const void *data) {
    (void)bytes, (void)length, (void)version;
    return zoo_aexists(zh, path, 0, fn, data);
}
int zoo_async(zhandle_t *zh, const char *path, string_completion_t fn, const void *data) {
    return zoo_acreate(zh, path, NULL, -1, NULL, 0, fn, data);
}
int zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops, zoo_op_result_t *results, void_completion_t fn,
               const void *data) {
    (void)count, (void)ops, (void)results;
    return zoo_adelete(zh, "", -1, fn, data);
}

/* ---- the driver */

static struct {
    unsigned replies, malformed, events, states;
    enum pdk__result result;
    enum pdk__zk_state state;
} seen;

static volatile unsigned eaten; /* all that was handed over can be read */

static void on_reply(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    (void)driver, (void)zk;
    seen.replies++;
    seen.result = reply->result;
    for (size_t i = 0; i < reply->children_count; i++)
        eaten += (unsigned)strlen(reply->children[i]);
    for (size_t i = 0; i < reply->data_size; i++)
        eaten += (unsigned)(unsigned char)reply->data[i];
    eaten += reply->name ? (unsigned)strlen(reply->name) : 0;
}

static void on_event(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event) {
    (void)driver, (void)zk, (void)event;
    eaten += (unsigned)strlen(path);
    seen.events++;
}

static void on_state(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t id, int32_t ms) {
    (void)driver, (void)zk, (void)id, (void)ms;
    seen.state = state;
    seen.states++;
}

static void on_log(void *driver, int level, const char *text) { (void)driver, (void)level, (void)text; }

static void on_malformed(void *driver, pdk__zk *zk, const char *what) {
    (void)driver, (void)zk;
    FUZZ_REQUIRE(what && what[0] != '\0', "words");
    seen.malformed++;
}

static pdk__zk *table(void) {
    static const struct pdk__zk_sink sink = {on_reply, on_event, on_state, on_log, on_malformed};
    static const struct pdk__zk_config config = {
        .servers = "127.0.0.1:1", .timeout_ms = 10000, .access = PDK_ACCESS_OPEN, .sink = &sink};
    static pdk__zk *zk;
    if (!zk)
        FUZZ_REQUIRE(pdk__zk_client.open(&config, &zk) == PDK_OK, "open");
    return zk;
}

/* ---- answers */

static int64_t any_number(struct fuzz_in *in) {
    static const int64_t numbers[] = {0, 1, -1, 2, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, SESSION, 1000};
    uint8_t which = fuzz_byte(in);
    return which < G_N_ELEMENTS(numbers) ? numbers[which] : (int64_t)fuzz_number(in, 8);
}

/* Of the numbers of a stat, each is altered with its bit. */
static struct Stat any_stat(struct fuzz_in *in, struct Stat stat) {
    int64_t *longs[] = {&stat.czxid, &stat.mzxid, &stat.ctime, &stat.mtime, &stat.ephemeralOwner, &stat.pzxid};
    int32_t *ints[] = {&stat.version, &stat.cversion, &stat.aversion, &stat.dataLength, &stat.numChildren};
    uint64_t altered = fuzz_number(in, 2);
    for (size_t i = 0; i < G_N_ELEMENTS(longs); i++)
        if (altered >> i & 1)
            *longs[i] = any_number(in);
    for (size_t i = 0; i < G_N_ELEMENTS(ints); i++)
        if (altered >> (i + G_N_ELEMENTS(longs)) & 1)
            *ints[i] = (int32_t)any_number(in);
    return stat;
}

/* ---- the oracle */

static bool good_stat(const struct Stat *s) {
    const int64_t year_10000 = G_GINT64_CONSTANT(253402300800000);
    const int64_t most = INT64_MAX / 2;
    if (!s || s->czxid < 0 || s->mzxid < s->czxid || s->mzxid > most || s->czxid > most || s->pzxid > most ||
        s->ctime < 0 || s->mtime < 0)
        return false;
    if (s->pzxid < s->czxid && !(s->czxid == 0 && s->pzxid == -1))
        return false;
    return s->ctime < year_10000 && s->mtime < year_10000 && s->dataLength >= 0 && s->numChildren >= 0;
}

static bool good_name(const char *name) {
    return name && name[0] && strcspn(name, "/") == strlen(name) && g_strcmp0(name, ".") && g_strcmp0(name, "..");
}

/* What printf writes of some number. */
static bool is_sequence(const char *text) {
    char *end, again[32];
    gint64 number = g_ascii_strtoll(text, &end, 10);
    bool zero = strcmp(text, "-000000000") == 0; /* no number, and harmless: names that parse alike */
    g_snprintf(again, sizeof again, "%010" PRId64, number);
    return (strcmp(again, text) == 0 && strlen(text) <= (number < 0 ? 11u : 10u)) || zero;
}

static bool good_created(const struct pdk__request *request, const char *path, const struct Stat *s) {
    if (!path || !good_stat(s) || s->czxid == 0 || s->mzxid != s->czxid || s->pzxid != s->czxid ||
        s->ephemeralOwner != SESSION || s->numChildren != 0 || !g_str_has_prefix(path, request->path))
        return false;
    const char *rest = path + strlen(request->path);
    g_auto(GStrv) parts = g_strsplit(path, "/", -1);
    const char *name = parts[g_strv_length(parts) - 1];
    return (request->named ? rest[0] == '\0' : is_sequence(rest)) && strlen(name) > 0 && strlen(name) < 128;
}

static void judge(int code, bool good, const char *what) {
    bool malformed = code == ZOK && !good;
    FUZZ_REQUIRE(seen.replies == 1, "%s: %u replies", what, seen.replies);
    FUZZ_REQUIRE(seen.malformed == malformed, "%s: code %d, good %d, malformed %u", what, code, good, seen.malformed);
    FUZZ_REQUIRE(!malformed || seen.result == PDK__UNKNOWN, "%s: result %d", what, seen.result);
    FUZZ_REQUIRE(code != ZOK || !good || seen.result == PDK__OK, "%s: result %d", what, seen.result);
}

/* ---- one of each kind */

static void submit(const struct pdk__request *request) {
    FUZZ_REQUIRE(pdk__zk_client.submit(table(), request), "submit");
}

/* The honest path, or another text. NULL, too. */
static char *any_path(struct fuzz_in *in, const char *honest) {
    switch (fuzz_byte(in) % 4) {
    case 0:
        return g_strdup(honest);
    case 1:
        return NULL;
    case 2: {
        g_autofree char *more = fuzz_text(in, '\n');
        return g_strconcat(honest, more, NULL);
    }
    default:
        return fuzz_text(in, '\n');
    }
}

static void create(struct fuzz_in *in, const struct pdk__request *request, int code) {
    const struct Stat honest = {.czxid = 9, .mzxid = 9, .pzxid = 9, .ctime = 5, .mtime = 5, .ephemeralOwner = SESSION};
    g_autofree char *whole = g_strconcat(request->path, request->named ? "" : "0000000042", NULL);
    g_autofree char *path = fuzz_byte(in) % 4 ? any_path(in, whole) : any_path(in, request->path);
    struct Stat stat = any_stat(in, honest);
    const struct Stat *given = fuzz_byte(in) % 8 == 7 ? NULL : &stat;
    completion.created(code, path, given, call);
    judge(code, good_created(request, path, given), path ? path : "no path");
}

static void path_back(struct fuzz_in *in, const struct pdk__request *request, int code) {
    g_autofree char *path = any_path(in, request->path);
    if (request->container && code == ZUNIMPLEMENTED)
        code = ZNONODE; /* it would ask again */
    completion.string(code, path, call);
    judge(code, g_strcmp0(path, request->path) == 0, path ? path : "no path");
}

static void list(struct fuzz_in *in, int code) {
    char *names[NAMES + 1] = {NULL};
    int32_t count = fuzz_byte(in) % 4 ? fuzz_byte(in) % (NAMES + 1) : (int32_t)any_number(in);
    struct String_vector vector = {.count = MIN(count, NAMES), .data = fuzz_byte(in) % 8 == 7 ? NULL : names};
    bool good = vector.count >= 0 && (vector.count == 0 || vector.data);
    for (int32_t i = 0; i < vector.count; i++) {
        names[i] = fuzz_byte(in) % 16 == 15 ? NULL : fuzz_text(in, '\n');
        good = good && good_name(names[i]);
    }
    completion.list(code, fuzz_byte(in) % 16 == 15 ? (good = false, NULL) : &vector, call);
    for (int i = 0; i < NAMES; i++)
        g_free(names[i]);
    judge(code, good, "a list");
}

static void stat_back(struct fuzz_in *in, int code) {
    struct Stat stat = any_stat(in, (struct Stat){.czxid = 3, .mzxid = 4, .pzxid = 5});
    const struct Stat *given = fuzz_byte(in) % 8 == 7 ? NULL : &stat;
    completion.stat(code, given, call);
    judge(code, good_stat(given), "a stat");
}

static void data_back(struct fuzz_in *in, int code) {
    g_autofree char *text = fuzz_byte(in) % 8 == 7 ? NULL : fuzz_text(in, '\n');
    int length = text ? (int)strlen(text) : fuzz_byte(in) % 2 ? -1 : 0;
    struct Stat stat = any_stat(in, (struct Stat){.czxid = 3, .mzxid = 4, .pzxid = 5, .dataLength = MAX(length, 0)});
    const struct Stat *given = fuzz_byte(in) % 8 == 7 ? NULL : &stat;
    if (fuzz_byte(in) % 4 == 3) { /* what it has no bytes for is not well-formed, so they are not touched */
        int other = (int)any_number(in);
        length = text && other >= 0 && other == stat.dataLength ? length : other;
    }
    bool good = good_stat(given) && stat.dataLength == (length == -1 && !text ? 0 : length) && (text || length <= 0);
    completion.data(code, text, length, given, call);
    judge(code, good, "data");
}

static void answer(struct fuzz_in *in) {
    static const int codes[] = {ZOK, ZNONODE, ZNODEEXISTS, ZCONNECTIONLOSS, ZUNIMPLEMENTED};
    uint8_t kind = fuzz_byte(in) % KINDS, which = fuzz_byte(in), form = fuzz_byte(in);
    kind = kind == PDK__OP_ACL ? PDK__OP_SYNC : kind; /* unit.answers has the fields of access control lists */
    g_autofree char *end = fuzz_text(in, '\n'), *path = g_strconcat("/dir/", end, NULL);
    struct pdk__request request = {
        .kind = kind, .path = path, .container = form & 1, .named = form & 2, .watch = form & 4};
    int code = which < 192 ? ZOK : which < 192 + G_N_ELEMENTS(codes) ? codes[which - 192] : (int)any_number(in);
    submit(&request);
    if (kind == PDK__OP_CREATE)
        create(in, &request, code);
    else if (kind == PDK__OP_MKDIR || kind == PDK__OP_SYNC)
        path_back(in, &request, code);
    else if (kind == PDK__OP_LIST)
        list(in, code);
    else if (kind == PDK__OP_STAT || kind == PDK__OP_SET)
        stat_back(in, code);
    else if (kind == PDK__OP_GET || kind == PDK__OP_WATCH)
        data_back(in, code);
    else {
        completion.done(code, call);
        judge(code, true, "a code");
    }
}

/* An event of a node. Those of the session are told without bytes of a server, but for its handshake. */
static void event(struct fuzz_in *in) {
    int type = (int)(fuzz_byte(in) % 4 ? 1 + fuzz_byte(in) % 4 : any_number(in)), state = (int)any_number(in);
    g_autofree char *path = fuzz_byte(in) % 8 == 7 ? NULL : fuzz_text(in, '\n');
    if (type == ZOO_SESSION_EVENT)
        type = 0;
    bool known = type >= 1 && type <= 4, good = known && path && path[0] == '/';
    watcher(handle(), type, state, path, watcher_context);
    FUZZ_REQUIRE(seen.events == good, "event %d of \"%s\": %u", type, path ? path : "nothing", seen.events);
    FUZZ_REQUIRE(seen.malformed == (!good && type != ZOO_NOTWATCHING_EVENT), "event %d: malformed %u", type,
                 seen.malformed);
}

static void handshake(struct fuzz_in *in) {
    int64_t id = any_number(in);
    int64_t ms = fuzz_byte(in) % 2 ? any_number(in) : (int64_t)fuzz_number(in, 2);
    client_id.client_id = id;
    timeout_ms = (int)ms;
    bool good = id != 0 && timeout_ms > 0 && timeout_ms <= 24 * 3600 * 1000;
    watcher(handle(), ZOO_SESSION_EVENT, ZOO_CONNECTED_STATE, "", watcher_context);
    FUZZ_REQUIRE(seen.states == 1 && (seen.state == PDK__ZK_CONNECTED) == good, "session %" PRId64 ", %d ms", id,
                 timeout_ms);
    FUZZ_REQUIRE(seen.malformed == !good, "session %" PRId64 ", %d ms", id, timeout_ms);
}

/* The session that creates are answered for. */
static void connect_well(void) {
    static bool connected;
    if (connected && client_id.client_id == SESSION)
        return;
    client_id.client_id = SESSION;
    timeout_ms = 10000;
    watcher(handle(), ZOO_SESSION_EVENT, ZOO_CONNECTED_STATE, "", watcher_context);
    connected = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    (void)table();
    uint8_t what = fuzz_byte(&in);
    if (what != 1 && what != 2)
        connect_well();
    memset(&seen, 0, sizeof seen);
    if (what == 1) /* rarely: it looks at the descriptors of the process */
        handshake(&in);
    else if (what % 8 == 2)
        event(&in);
    else
        answer(&in);
    return 0;
}
