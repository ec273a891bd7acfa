/* Fakes that are wrong on purpose: the small fake, with a filter between it and the session that listens. The
 * comparison must report every one of them. A fake that is not reported shows what no script checks. */
#include "conformance.h"

#include <string.h>

enum way {
    LATE_EVENT,
    FORGOTTEN_EVENT,
    DOUBLE_EVENT,
    WRONG_EVENT,
    SHORT_LIST,
    WRONG_NUMBER,
    SAME_TOKEN,
    NO_OWNER,
    ANY_DELETE,
    ANY_MKDIR,
    ANY_BARRIER,
    SURE_LOSS,
    LATE_EXPIRY,
    NO_CHILDREN_WATCH,
    DATA_FOR_CHILDREN,
    CHILDREN_FOR_END,
    CHILDREN_NOT_KEPT,
    ALWAYS_NUMBERED,
    QUIET_SET,
};

static const char *const ways[WRONG_WAYS] = {
    [LATE_EVENT] = "a watch event comes after the reply that it should precede",
    [FORGOTTEN_EVENT] = "the first watch event of a session is forgotten",
    [DOUBLE_EVENT] = "a watch fires twice",
    [WRONG_EVENT] = "a change is told as a deletion",
    [SHORT_LIST] = "a list lacks one child",
    [WRONG_NUMBER] = "a sequence number is one too high",
    [SAME_TOKEN] = "all tokens are the same",
    [NO_OWNER] = "nodes have no owner",
    [ANY_DELETE] = "deleting what is not there is fine",
    [ANY_MKDIR] = "making a directory twice is fine",
    [ANY_BARRIER] = "a barrier does not look at its node",
    [SURE_LOSS] = "a lost request is answered as refused, not as unknown",
    [LATE_EXPIRY] = "an expired session is connected once more before it hears of it",
    [NO_CHILDREN_WATCH] = "a list leaves no watch on the children",
    [DATA_FOR_CHILDREN] = "a change of children is told as one of data",
    [CHILDREN_FOR_END] = "the end of a directory is told as a change of its children",
    [CHILDREN_NOT_KEPT] = "watches on children are not set again after a reconnect",
    [ALWAYS_NUMBERED] = "a name that was given gets a number as well",
    [QUIET_SET] = "a write fires nobody's watch",
};

/* Between a session and its listener. */
struct filter {
    enum way way;
    const struct pdk__zk_sink *sink;
    void *driver;
    pdk__zk *zk;
    GHashTable *kinds; /* tag: kind of request */
    bool received_event;
    char *held_path; /* LATE_EVENT */
    enum pdk__zk_event held_event;
    bool was_away; /* no list since then has left a watch */
};

static struct {
    struct backend fake; /* as it was */
    GPtrArray *filters;
    enum way way;
    char *directory; /* the script's */
} wrong;

static void deliver_held(struct filter *filter) {
    g_autofree char *path = g_steal_pointer(&filter->held_path);
    if (path)
        filter->sink->watch(filter->driver, filter->zk, path, filter->held_event);
}

/* The kind of request that this fake always answers with success. */
static int always_succeeds(enum way way) {
    return way == ANY_DELETE    ? PDK__OP_DELETE
           : way == ANY_MKDIR   ? PDK__OP_MKDIR
           : way == ANY_BARRIER ? PDK__OP_BARRIER
                                : -1;
}

static void on_reply(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    struct filter *filter = driver;
    struct pdk__reply r = *reply;
    g_autofree char *name = g_strdup(r.name);
    int kind = GPOINTER_TO_INT(g_hash_table_lookup(filter->kinds, GSIZE_TO_POINTER(r.tag)));
    if (filter->way == SHORT_LIST && r.children_count > 0)
        r.children_count--;
    if (filter->way == WRONG_NUMBER && name && name[strlen(name) - 1] < '9') {
        name[strlen(name) - 1]++;
        r.name = name;
    }
    if (filter->way == SAME_TOKEN && r.token != 0)
        r.token = 1;
    if (filter->way == NO_OWNER)
        r.owner = 0;
    if (kind == always_succeeds(filter->way) && (r.result == PDK__NO_NODE || r.result == PDK__NODE_EXISTS))
        r.result = PDK__OK;
    if (filter->way == SURE_LOSS && r.result == PDK__UNKNOWN)
        r.result = PDK__NOT_NOW;
    filter->sink->reply(filter->driver, zk, &r);
    deliver_held(filter);
}

static enum pdk__zk_event wrong_event(const struct filter *filter, const char *path, enum pdk__zk_event event) {
    if (filter->way == WRONG_EVENT && event == PDK__ZK_CHANGED)
        return PDK__ZK_DELETED;
    if (filter->way == DATA_FOR_CHILDREN && event == PDK__ZK_CHILDREN)
        return PDK__ZK_CHANGED;
    if (filter->way == CHILDREN_FOR_END && event == PDK__ZK_DELETED && g_str_equal(path, wrong.directory))
        return PDK__ZK_CHILDREN;
    return event;
}

static void on_watch(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event) {
    struct filter *filter = driver;
    bool first = !filter->received_event;
    filter->received_event = true;
    if (filter->way == FORGOTTEN_EVENT && first)
        return;
    if (filter->way == CHILDREN_NOT_KEPT && filter->was_away && event == PDK__ZK_CHILDREN)
        return;
    if (filter->way == LATE_EVENT) {
        deliver_held(filter);
        filter->held_path = g_strdup(path);
        filter->held_event = event;
        return;
    }
    filter->sink->watch(filter->driver, zk, path, wrong_event(filter, path, event));
    if (filter->way == DOUBLE_EVENT)
        filter->sink->watch(filter->driver, zk, path, event);
}

static void on_state(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t session_id, int32_t timeout_ms) {
    struct filter *filter = driver;
    if (filter->way == LATE_EXPIRY && state == PDK__ZK_EXPIRED)
        filter->sink->state(filter->driver, zk, PDK__ZK_CONNECTED, session_id, timeout_ms);
    filter->was_away = filter->was_away || state == PDK__ZK_CONNECTING;
    filter->sink->state(filter->driver, zk, state, session_id, timeout_ms);
}

static const struct pdk__zk_sink sink = {.reply = on_reply, .watch = on_watch, .state = on_state};

static struct filter *filter_of(const pdk__zk *zk) {
    for (guint i = 0; i < wrong.filters->len; i++)
        if (((struct filter *)wrong.filters->pdata[i])->zk == zk)
            return wrong.filters->pdata[i];
    return NULL;
}

static bool submit(pdk__zk *zk, const struct pdk__request *request) {
    struct filter *filter = filter_of(zk);
    struct pdk__request r = *request;
    g_hash_table_insert(filter->kinds, GSIZE_TO_POINTER(r.tag), GINT_TO_POINTER((int)r.kind));
    filter->was_away = filter->was_away && !r.watch;
    r.watch = r.watch && filter->way != NO_CHILDREN_WATCH;
    r.named = r.named && filter->way != ALWAYS_NUMBERED;
    if (filter->way == QUIET_SET && r.kind == PDK__OP_SET)
        r.kind = PDK__OP_BARRIER;
    return wrong.fake.calls->submit(zk, &r);
}

static void close_session(pdk__zk *zk) {
    struct filter *filter = filter_of(zk);
    wrong.fake.calls->close(zk);
    filter->zk = NULL;
}

static const struct pdk__zk_calls calls = {.submit = submit, .close = close_session};

static void filter_free(void *at) {
    struct filter *filter = at;
    g_hash_table_destroy(filter->kinds);
    g_free(filter->held_path);
    g_free(filter);
}

static pdk_status open_slot(struct backend *b, int slot, const struct pdk__zk_sink *listener, void *driver,
                            pdk__zk **zk) {
    struct filter *filter = g_new0(struct filter, 1);
    *filter =
        (struct filter){.way = wrong.way, .sink = listener, .driver = driver, .kinds = g_hash_table_new(NULL, NULL)};
    g_ptr_array_add(wrong.filters, filter);
    pdk_status status = wrong.fake.open(b, slot, &sink, filter, zk);
    filter->zk = *zk;
    return status;
}

static const char *begin(struct backend *b, const struct script *script) {
    const char *root = wrong.fake.begin(b, script);
    g_ptr_array_set_size(wrong.filters, 0);
    g_free(wrong.directory);
    wrong.directory = g_strconcat(root, script->directory, NULL);
    return root;
}

static void free_wrong(struct backend *b) {
    g_clear_pointer(&wrong.filters, g_ptr_array_unref);
    g_clear_pointer(&wrong.directory, g_free);
    wrong.fake.free(b);
}

struct backend *backend_wrong(int way) {
    struct backend *b = backend_fake();
    wrong.fake = *b;
    wrong.way = (enum way)way;
    wrong.filters = g_ptr_array_new_with_free_func(filter_free);
    b->name = "wrong fake";
    b->about = ways[way];
    b->calls = &calls;
    b->begin = begin;
    b->open = open_slot;
    b->free = free_wrong;
    return b;
}
