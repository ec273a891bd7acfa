/* One call asks a holder to let go, and another deletes the znode of a holder that does not.
 *
 *     ask:    list ──► the holders ──each──► read ──► write, only over what was read ──BAD_VERSION──► again
 *     break:  read ──its czxid is the token──► delete
 *
 * The delete names no version: a version counts from 0 in every znode, so it tells no successor apart. The name does.
 * It has a UUID that nobody draws twice, so the only znode that ever stands under that name is the one that was read. A
 * name without a UUID is refused.
 */
#include "base/text.h"
#include "core/paths.h"
#include "core/published.h"
#include "core/revocation.h"
#include "grant/contenders.h"
#include "grant/recipe.h"
#include "session/node_query.h"
#include "session/tokens.h"
#include "session/unowned.h"

#include <paddock/revoke.h>
#include <string.h>

/* ---- asking */

/* A wish keeps this much of a znode's data behind it: an identity, and published data. */
enum { KEPT_MAX = PDK__IDENTITY_MAX + 1 + PDK__PUBLISHED_MAX };

struct asking {
    struct pdk__call call;
    struct pdk__query_loop loop;
    char *dir, *node; /* node: or NULL, for the holders */
    char *who;
    int64_t within_ms;
    GPtrArray *targets;  /* names */
    GHashTable *unowned; /* names of nodes that no session owns; NULL: none was met */
    guint next, asked;   /* the target under way; how many were asked */
    bool listing, writing;
    char path[PDK__PATH_MAX + 1 + PDK__NAME_SIZE]; /* of the target */
};

static struct asking *asking_of(const struct pdk__query_loop *loop) { return (struct asking *)loop->call; }

static struct pdk__name parsed(const char *text) {
    struct pdk__name name;
    pdk__name_parse(text, &name);
    return name;
}

static gint by_sequence(gconstpointer a, gconstpointer b) {
    int32_t order =
        pdk__sequence_compare(parsed(*(const char *const *)a).sequence, parsed(*(const char *const *)b).sequence);
    return (order > 0) - (order < 0);
}

/* Keep the names in one queue with `kind`, in order. false: there are none. */
static bool keep_queue(GPtrArray *targets, const GPtrArray *names, enum pdk__kind kind) {
    for (guint i = 0; i < names->len; i++)
        if (pdk__kind_same_queue(parsed(g_ptr_array_index(names, i)).kind, kind))
            g_ptr_array_add(targets, g_strdup(g_ptr_array_index(names, i)));
    g_ptr_array_sort(targets, by_sequence);
    return targets->len > 0;
}

/* Keep the first, or the readers before the first contender that is no reader. */
static void keep_holders(GPtrArray *targets) {
    guint count = 0;
    while (count < targets->len && parsed(g_ptr_array_index(targets, count)).kind == PDK__READER)
        count++;
    count = MAX(count, 1);
    g_ptr_array_remove_range(targets, count, targets->len - count);
}

/* The wish, as it is written to a node with this name that has this data. */
static GBytes *make_wish(const struct asking *a, const char *name, GBytes *data) {
    struct pdk__revocation r;
    gsize size = 0;
    const char *bytes = g_bytes_get_data(data, &size);
    if (!pdk__name_is_paddocks(name))
        return g_bytes_new_static(PDK__REVOKE, strlen(PDK__REVOKE));
    pdk__revocation_read(bytes, size, &r);
    size_t kept = MIN(r.identity_size, KEPT_MAX);
    char *wish = g_malloc(PDK__REVOKE_SIZE + kept);
    size_t head = pdk__revocation_write(a->within_ms, a->who, wish);
    memcpy(wish + head, r.identity, kept);
    return g_bytes_new_take(wish, head + kept);
}

/* The verdict of an answer about one node, unless the node is gone or the request refused. UNAVAILABLE: ask again. */
static pdk_status node_verdict(const struct pdk__query_loop *loop, const char *path) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)loop->query;
    pdk_status status = pdk__node_answered(loop->query);
    if (status != PDK_OK || q->result == PDK__OK)
        return status;
    if (q->result == PDK__NO_NODE)
        return pdk__fail(PDK_GONE, "%s: %s: there is no such znode any more", loop->call->name, path);
    return q->result == PDK__BAD_VERSION ? PDK_UNAVAILABLE /* it was written meanwhile: read it again */
                                         : pdk__node_refused(q, loop->call->name, path);
}

static struct pdk__query *read_target(struct asking *a) {
    a->writing = false;
    g_snprintf(a->path, sizeof a->path, "%s/%s", a->dir, (const char *)g_ptr_array_index(a->targets, a->next));
    return pdk__node_ask(a->call.s, (struct pdk__request){.kind = PDK__OP_GET, .path = a->path}, PDK__BEHIND_SYNC);
}

static struct pdk__query *write_target(struct asking *a) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)a->loop.query;
    struct pdk__request request = {.kind = PDK__OP_SET, .path = a->path, .versioned = true, .version = q->stat.version};
    GBytes *wish = make_wish(a, g_ptr_array_index(a->targets, a->next), q->data);
    request.data = g_bytes_get_data(wish, &request.data_size);
    a->writing = true;
    struct pdk__query *query = pdk__node_ask(a->call.s, request, PDK__BEHIND_NOTHING);
    g_bytes_unref(wish);
    return query;
}

/* Was the node read, and found to have no session that owns it? */
static bool is_no_contender(const struct asking *a, const char *name) {
    return a->unowned && g_hash_table_contains(a->unowned, name);
}

/* The node must not be written to: it is somebody's own. So the list is read again, and leaves it out. */
static pdk_status leave_out(struct asking *a) {
    if (!a->unowned)
        a->unowned = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_add(a->unowned, g_strdup(g_ptr_array_index(a->targets, a->next)));
    return a->node
               ? pdk__fail(PDK_GONE, "%s: %s: no session owns this znode: it is no contender", a->call.name, a->path)
               : PDK_UNAVAILABLE;
}

static struct pdk__query *begin_asking(struct pdk__query_loop *loop) {
    struct asking *a = asking_of(loop);
    g_clear_pointer(&a->targets, g_ptr_array_unref);
    a->targets = g_ptr_array_new_with_free_func(g_free);
    a->next = a->asked = 0;
    a->listing = !a->node;
    if (a->listing)
        return pdk__node_ask(loop->call->s, (struct pdk__request){.kind = PDK__OP_LIST, .path = a->dir},
                             PDK__BEHIND_SYNC);
    g_ptr_array_add(a->targets, g_strdup(a->node));
    return read_target(a);
}

static pdk_status judge_list(struct pdk__query_loop *loop) {
    struct asking *a = asking_of(loop);
    const struct pdk__node_query *q = (const struct pdk__node_query *)loop->query;
    pdk_status status = pdk__node_answered(loop->query);
    if (status != PDK_OK)
        return status;
    if (q->result != PDK__OK && q->result != PDK__NO_NODE)
        return pdk__node_refused(q, loop->call->name, a->dir);
    for (guint k = q->names->len; k-- > 0;)
        if (is_no_contender(a, g_ptr_array_index(q->names, k)))
            g_ptr_array_remove_index(q->names, k);
    if (!keep_queue(a->targets, q->names, PDK__WRITER) && !keep_queue(a->targets, q->names, PDK__LATCH))
        return pdk__fail(PDK_GONE, "%s: %s: nobody holds it", loop->call->name, a->dir);
    keep_holders(a->targets);
    a->listing = false;
    return pdk__query_loop_next(loop, read_target(a));
}

/* Holders that let go meanwhile need not be asked. If all of them are gone, others hold: look again. */
static pdk_status judge_asking(struct pdk__query_loop *loop) {
    struct asking *a = asking_of(loop);
    if (a->listing)
        return judge_list(loop);
    pdk_status status = node_verdict(loop, a->path);
    const struct pdk__node_query *q = (const struct pdk__node_query *)loop->query;
    if (status == PDK_OK && !a->writing)
        return pdk__is_unowned(&q->stat) ? leave_out(a) : pdk__query_loop_next(loop, write_target(a));
    if (status != PDK_OK && status != PDK_GONE)
        return status;
    a->asked += status == PDK_OK;
    if (++a->next < a->targets->len)
        return pdk__query_loop_next(loop, read_target(a));
    if (a->asked > 0)
        return PDK_OK;
    return a->node ? PDK_GONE : PDK_UNAVAILABLE;
}

static pdk_status asking_step(struct pdk__call *c) { return pdk__query_loop_step(&((struct asking *)c)->loop); }
static void asking_leave(struct pdk__call *c) { pdk__query_loop_leave(&((struct asking *)c)->loop); }

static void asking_free(struct pdk__call *c) {
    struct asking *a = (struct asking *)c;
    g_free(a->dir);
    g_free(a->node);
    g_free(a->who);
    g_clear_pointer(&a->targets, g_ptr_array_unref);
    g_clear_pointer(&a->unowned, g_hash_table_unref);
    g_free(a);
}

static pdk_status check_node(const char *name, const char *node) {
    struct pdk__name parts;
    if (!node || (strlen(node) < PDK__NAME_SIZE && !strchr(node, '/') && pdk__name_parse(node, &parts)))
        return PDK_OK;
    return pdk__fail(PDK_INVALID,
                     "%s: node: it is no contender's; NULL for the holders, or a name without its directory", name);
}

static pdk_status check_who(const char *name, const char *who) {
    const char *wrong = who ? pdk__who_error(who) : NULL;
    if (!wrong && who && !g_utf8_validate(who, -1, NULL))
        wrong = "is not UTF-8";
    return wrong ? pdk__fail(PDK_INVALID, "%s: who %s; NULL for the session's identity", name, wrong) : PDK_OK;
}

static pdk_status check_asking(pdk_session *session, const char *path, const char *node, const char *who,
                               int64_t within_ms, const char *name) {
    pdk_status status = pdk__recipe_check(session, path, path, name);
    if (status != PDK_OK)
        return status;
    status = check_node(name, node);
    if (status != PDK_OK)
        return status;
    status = check_who(name, who);
    if (status != PDK_OK)
        return status;
    if (within_ms < 0 || within_ms > PDK__WITHIN_MAX)
        return pdk__fail(PDK_INVALID, "%s: within_ms is %lld; 0 for no time, or up to %lld", name, (long long)within_ms,
                         (long long)PDK__WITHIN_MAX);
    return PDK_OK;
}

static struct asking *asking_new(pdk_session *session, const char *path, const char *node, const char *who,
                                 const char *name, int64_t timeout_ms) {
    static const struct pdk__call_kind kind = {NULL, asking_step, asking_leave, NULL, asking_free};
    static const struct pdk__query_loop_kind asks = {begin_asking, judge_asking};
    struct asking *a = g_new0(struct asking, 1);
    a->call = pdk__call_make(&kind, session, name, timeout_ms);
    a->dir = g_strconcat(session->hosts->chroot, path, NULL);
    a->loop = (struct pdk__query_loop){.kind = &asks, .call = &a->call, .path = a->dir};
    a->node = g_strdup(node);
    a->who = g_strdup(who ? who : session->identity);
    for (char *c = a->who; *c; c++) /* the session's label may have control characters */
        *c = g_ascii_iscntrl(*c) ? ' ' : *c;
    return a;
}

pdk_status pdk_session_request_release(pdk_session *session, const char *path, const char *node, const char *who,
                                       int64_t within_ms, int64_t timeout_ms) {
    static const char name[] = "pdk_session_request_release";
    pdk_status status = check_asking(session, path, node, who, within_ms, name);
    if (status != PDK_OK)
        return status;
    struct asking *a = asking_new(session, path, node, who, name, timeout_ms);
    a->within_ms = within_ms;
    return pdk__call_wait(&a->call);
}

pdk_status pdk_session_request_release_async(pdk_session *session, const char *path, const char *node, const char *who,
                                             int64_t within_ms, int64_t timeout_ms, pdk_answered_fn fn, void *user) {
    static const char name[] = "pdk_session_request_release_async";
    pdk_status status = pdk__call_check_fn(name, fn);
    if (status != PDK_OK)
        return status;
    status = check_asking(session, path, node, who, within_ms, name);
    if (status != PDK_OK)
        return status;
    struct asking *a = asking_new(session, path, node, who, name, timeout_ms);
    a->within_ms = within_ms;
    a->call.answered = fn;
    a->call.user = user;
    return pdk__call_start(&a->call);
}

/* ---- breaking */

struct breaking {
    struct pdk__call call;
    struct pdk__query_loop loop;
    char *path;
    int64_t token;
    bool deleting; /* the query under way is a delete */
    bool deletes;  /* a delete was sent: if the node is gone now, that may be why */
    pdk_contenders *list;
    pdk_contenders_fn fn; /* or NULL */
};

static struct pdk__query *begin_breaking(struct pdk__query_loop *loop) {
    struct breaking *b = (struct breaking *)loop->call;
    b->deleting = false;
    return pdk__node_ask(loop->call->s, (struct pdk__request){.kind = PDK__OP_GET, .path = b->path}, PDK__BEHIND_SYNC);
}

static pdk_status judge_reading(struct pdk__query_loop *loop) {
    struct breaking *b = (struct breaking *)loop->call;
    const struct pdk__node_query *q = (const struct pdk__node_query *)loop->query;
    pdk_session *s = loop->call->s;
    int64_t token = pdk__token_of(s, q->stat.token);
    if (token != b->token)
        return pdk__fail(PDK_GONE, "%s: %s: its token is %lld, not %lld; nothing was deleted", loop->call->name,
                         b->path, (long long)token, (long long)b->token);
    pdk_contenders_free(b->list);
    size_t size = 0;
    const char *data = g_bytes_get_data(q->data, &size);
    b->list = pdk__contenders_one(s, strrchr(b->path, '/') + 1, data, size, &q->stat);
    b->deletes = b->deleting = true;
    return pdk__query_loop_next(
        loop, pdk__node_ask(s, (struct pdk__request){.kind = PDK__OP_DELETE, .path = b->path}, PDK__BEHIND_NOTHING));
}

static pdk_status judge_breaking(struct pdk__query_loop *loop) {
    const struct breaking *b = (const struct breaking *)loop->call;
    pdk_status status = node_verdict(loop, b->path);
    if (b->deleting)
        return status;
    if (status == PDK_OK)
        return judge_reading(loop);
    return status == PDK_GONE && b->deletes ? PDK_OK : status; /* it stood there, and was to go */
}

static pdk_status breaking_step(struct pdk__call *c) { return pdk__query_loop_step(&((struct breaking *)c)->loop); }
static void breaking_leave(struct pdk__call *c) { pdk__query_loop_leave(&((struct breaking *)c)->loop); }

static void breaking_tell(struct pdk__call *c, pdk_status status) {
    struct breaking *b = (struct breaking *)c;
    if (b->fn)
        b->fn(status, status == PDK_OK ? g_steal_pointer(&b->list) : NULL, c->user);
}

static void breaking_free(struct pdk__call *c) {
    struct breaking *b = (struct breaking *)c;
    g_free(b->path);
    pdk_contenders_free(b->list);
    g_free(b);
}

/* Check that its directory is a recipe's path, and its name a contender's that cannot come back. */
static pdk_status check_break(pdk_session *session, const char *node, int64_t token, const char *call) {
    if (!node)
        return pdk__fail(PDK_INVALID, "%s: node: NULL", call);
    const char *slash = strrchr(node, '/'), *own = slash ? slash + 1 : node;
    char *dir = g_strndup(node, slash ? (gsize)(slash - node) : 0);
    struct pdk__name name;
    pdk_status status = pdk__recipe_check(session, dir, node, call);
    g_free(dir);
    if (status != PDK_OK)
        return status;
    if (strlen(own) >= PDK__NAME_SIZE || !pdk__name_parse(own, &name) || !pdk__name_is_unique(own))
        return pdk__fail(PDK_INVALID, "%s: node: %s is no contender's name with a UUID, and might come back", call,
                         own);
    if (token <= 0)
        return pdk__fail(PDK_INVALID, "%s: token is %lld; tokens are positive", call, (long long)token);
    return PDK_OK;
}

static struct pdk__call *breaking_new(pdk_session *session, const char *node, int64_t token, const char *name,
                                      int64_t timeout_ms, pdk_contenders_fn fn, void *user) {
    static const struct pdk__call_kind kind = {NULL, breaking_step, breaking_leave, breaking_tell, breaking_free};
    static const struct pdk__query_loop_kind asks = {begin_breaking, judge_breaking};
    struct breaking *b = g_new0(struct breaking, 1);
    b->call = pdk__call_make(&kind, session, name, timeout_ms);
    b->call.user = user;
    b->path = g_strconcat(session->hosts->chroot, node, NULL);
    b->loop = (struct pdk__query_loop){.kind = &asks, .call = &b->call, .path = b->path};
    b->token = token;
    b->fn = fn;
    return &b->call;
}

pdk_status pdk_session_break(pdk_session *session, const char *node, int64_t token, int64_t timeout_ms,
                             pdk_contenders **out) {
    static const char name[] = "pdk_session_break";
    pdk_status status = check_break(session, node, token, name);
    if (status != PDK_OK)
        return status;
    return pdk__call_wait(breaking_new(session, node, token, name, timeout_ms, out ? pdk__contenders_keep : NULL, out));
}

pdk_status pdk_session_break_async(pdk_session *session, const char *node, int64_t token, int64_t timeout_ms,
                                   pdk_contenders_fn fn, void *user) {
    static const char name[] = "pdk_session_break_async";
    pdk_status status = pdk__call_check_fn(name, fn);
    if (status != PDK_OK)
        return status;
    status = check_break(session, node, token, name);
    if (status != PDK_OK)
        return status;
    return pdk__call_start(breaking_new(session, node, token, name, timeout_ms, fn, user));
}
