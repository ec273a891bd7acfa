/* Asking a holder to let go, and deleting the znode of one that does not.
 *
 *     ask:    list ──► the holders ──each──► read ──► write, only over what was read ──BAD_VERSION──► again
 *     break:  read ──its czxid is the token──► delete
 *
 * The delete names no version: a version counts from 0 in every znode, so it tells no successor apart. The name does. It has a
 * UUID that nobody draws twice, so what stands under that name, now or ever, is the znode that was read. A name without a UUID
 * is refused.
 */
#include "base/text.h"
#include "core/paths.h"
#include "core/revocation.h"
#include "grant/contenders.h"
#include "grant/node_query.h"
#include "grant/recipe.h"
#include "session/tokens.h"

#include <paddock/revoke.h>
#include <string.h>

/* ---- asking */

static const char ask_name[] = "pdk_lock_ask";

enum { WISH_SIZE = PDK__REVOKE_SIZE + PDK__IDENTITY_MAX };

struct asking {
    char *dir, *node; /* node: or NULL, for the holders */
    char *who;
    int64_t within_ms;
    GPtrArray *targets; /* names */
};

static void asking_clear(void *user) {
    struct asking *a = user;
    g_free(a->dir);
    g_free(a->node);
    g_free(a->who);
    g_clear_pointer(&a->targets, g_ptr_array_unref);
}

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

/* Keep those in one queue with `kind`, in order; none: false. */
static bool keep_queue(GPtrArray *targets, const GPtrArray *names, enum pdk__kind kind) {
    for (guint i = 0; i < names->len; i++)
        if (pdk__kind_same_queue(parsed(g_ptr_array_index(names, i)).kind, kind))
            g_ptr_array_add(targets, g_strdup(g_ptr_array_index(names, i)));
    g_ptr_array_sort(targets, by_sequence);
    return targets->len > 0;
}

/* The first, or the readers before the first that is none. */
static void keep_holders(GPtrArray *targets) {
    guint count = 0;
    while (count < targets->len && parsed(g_ptr_array_index(targets, count)).kind == PDK__READER)
        count++;
    count = MAX(count, 1);
    g_ptr_array_remove_range(targets, count, targets->len - count);
}

static pdk_status find_targets(pdk_session *s, int64_t deadline, struct asking *a) {
    g_clear_pointer(&a->targets, g_ptr_array_unref);
    a->targets = g_ptr_array_new_with_free_func(g_free);
    if (a->node) {
        g_ptr_array_add(a->targets, g_strdup(a->node));
        return PDK_OK;
    }
    struct pdk__node_query *q;
    pdk_status status =
        pdk__node_ask(s, (struct pdk__request){.kind = PDK__OP_LIST, .path = a->dir}, true, deadline, &q);
    if (status != PDK_OK)
        return status;
    if (q->result != PDK__OK && q->result != PDK__NO_NODE)
        status = pdk__node_refused(q, ask_name, a->dir);
    else if (keep_queue(a->targets, q->names, PDK__WRITER) || keep_queue(a->targets, q->names, PDK__LATCH))
        keep_holders(a->targets);
    else
        status = pdk__fail(PDK_GONE, "%s: %s: nobody holds it", ask_name, a->dir);
    pdk__query_unref(&q->base);
    return status;
}

/* What to write to a node with this name that has this data. The length. */
static size_t make_wish(const struct asking *a, const char *name, GBytes *data, char wish[WISH_SIZE]) {
    struct pdk__revocation r;
    gsize size = 0;
    const char *bytes = g_bytes_get_data(data, &size);
    if (!pdk__name_is_paddocks(name))
        return g_strlcpy(wish, PDK__REVOKE, WISH_SIZE);
    pdk__revocation_read(bytes, size, &r);
    size_t head = pdk__revocation_write(a->within_ms, a->who, wish), kept = MIN(r.identity_size, PDK__IDENTITY_MAX);
    memcpy(wish + head, r.identity, kept);
    return head + kept;
}

/* A request about the node, and its answer, unless the node is gone or the request refused. UNAVAILABLE: again. */
static pdk_status about(pdk_session *s, struct pdk__request request, int64_t deadline, const char *call,
                        struct pdk__node_query **out) {
    pdk_status status = pdk__node_ask(s, request, request.kind == PDK__OP_GET, deadline, out);
    if (status != PDK_OK || (*out)->result == PDK__OK)
        return status;
    if ((*out)->result == PDK__NO_NODE)
        status = pdk__fail(PDK_GONE, "%s: %s: there is no such znode any more", call, request.path);
    else if ((*out)->result == PDK__BAD_VERSION)
        status = PDK_UNAVAILABLE; /* it was written meanwhile: read it again */
    else
        status = pdk__node_refused(*out, call, request.path);
    pdk__query_unref(&(*out)->base);
    return status;
}

static pdk_status ask_one(pdk_session *s, int64_t deadline, const struct asking *a, const char *name) {
    char path[PDK__PATH_MAX + 1 + PDK__NAME_SIZE];
    struct pdk__node_query *q;
    g_snprintf(path, sizeof path, "%s/%s", a->dir, name);
    pdk_status status = about(s, (struct pdk__request){.kind = PDK__OP_GET, .path = path}, deadline, ask_name, &q);
    if (status != PDK_OK)
        return status;
    char wish[WISH_SIZE];
    struct pdk__request request = {
        .kind = PDK__OP_SET, .path = path, .data = wish, .versioned = true, .version = q->stat.version};
    request.data_size = make_wish(a, name, q->data, wish);
    pdk__query_unref(&q->base);
    status = about(s, request, deadline, ask_name, &q);
    if (status == PDK_OK)
        pdk__query_unref(&q->base);
    return status;
}

/* Those that let go meanwhile need not be asked. Are all of them gone, others hold: look again. */
static pdk_status ask_all(pdk_session *s, int64_t deadline, void *user) {
    struct asking *a = user;
    guint asked = 0;
    pdk_status status = find_targets(s, deadline, a);
    if (status != PDK_OK)
        return status;
    for (guint i = 0; i < a->targets->len; i++) {
        status = ask_one(s, deadline, a, g_ptr_array_index(a->targets, i));
        asked += status == PDK_OK;
        if (status != PDK_OK && status != PDK_GONE)
            return status;
    }
    if (asked > 0)
        return PDK_OK;
    return a->node ? PDK_GONE : PDK_UNAVAILABLE;
}

static pdk_status check_node(const char *node) {
    struct pdk__name name;
    if (!node || (strlen(node) < PDK__NAME_SIZE && !strchr(node, '/') && pdk__name_parse(node, &name)))
        return PDK_OK;
    return pdk__fail(PDK_INVALID,
                     "%s: node: it is no contender's; NULL for the holders, or a name without its directory", ask_name);
}

static pdk_status check_who(const char *who) {
    const char *wrong = who ? pdk__who_error(who) : NULL;
    if (!wrong && who && !g_utf8_validate(who, -1, NULL))
        wrong = "is not UTF-8";
    return wrong ? pdk__fail(PDK_INVALID, "%s: who %s; NULL for the session's identity", ask_name, wrong) : PDK_OK;
}

pdk_status pdk_lock_ask(pdk_session *session, const char *path, const char *node, const char *who, int64_t within_ms,
                        int64_t timeout_ms) {
    pdk_status status = pdk__recipe_check(session, path, path, ask_name);
    if (status == PDK_OK)
        status = check_node(node);
    if (status == PDK_OK)
        status = check_who(who);
    if (status != PDK_OK)
        return status;
    if (within_ms < 0 || within_ms > PDK__WITHIN_MAX)
        return pdk__fail(PDK_INVALID, "%s: within_ms is %lld; 0 for no time, or up to %lld", ask_name,
                         (long long)within_ms, (long long)PDK__WITHIN_MAX);
    struct asking a = {g_strconcat(session->hosts->chroot, path, NULL), g_strdup(node),
                       g_strdup(who ? who : session->identity), within_ms, NULL};
    for (char *c = a.who; *c; c++) /* the session's label may have any */
        *c = g_ascii_iscntrl(*c) ? ' ' : *c;
    struct pdk__leave leave = {.after = asking_clear, .user = &a};
    pdk__leave_push(&leave);
    status = pdk__query_run(session, ask_name, path, timeout_ms, ask_all, &a);
    pdk__leave_pop();
    asking_clear(&a);
    return status;
}

/* ---- breaking */

static const char break_name[] = "pdk_break";

struct breaking {
    char *path;
    int64_t token;
    bool deletes; /* a delete was sent: if the node is gone now, that may be why */
    pdk_contenders *list;
};

static void breaking_clear(void *user) {
    struct breaking *b = user;
    g_free(b->path);
    pdk_contenders_free(b->list);
}

/* It stood there, and was to go. */
static pdk_status gone(const struct breaking *b, pdk_status status) {
    return status == PDK_GONE && b->deletes ? PDK_OK : status;
}

static pdk_status break_it(pdk_session *s, int64_t deadline, void *user) {
    struct breaking *b = user;
    struct pdk__node_query *q;
    pdk_status status = about(s, (struct pdk__request){.kind = PDK__OP_GET, .path = b->path}, deadline, break_name, &q);
    if (status != PDK_OK)
        return gone(b, status);
    int64_t token = pdk__token_of(s, q->stat.token);
    if (token == b->token) {
        pdk_contenders_free(b->list);
        b->list = pdk__contenders_one(s, strrchr(b->path, '/') + 1, q->data, &q->stat);
    } else {
        status = pdk__fail(PDK_GONE, "%s: %s: its token is %lld, not %lld; nothing was deleted", break_name, b->path,
                           (long long)token, (long long)b->token);
    }
    pdk__query_unref(&q->base);
    if (status != PDK_OK)
        return status;
    b->deletes = true;
    status = about(s, (struct pdk__request){.kind = PDK__OP_DELETE, .path = b->path}, deadline, break_name, &q);
    if (status == PDK_OK)
        pdk__query_unref(&q->base);
    return status;
}

/* Its directory as a recipe's path, and a contender's name that cannot come back. */
static pdk_status check_break(pdk_session *session, const char *node, int64_t token) {
    if (!node)
        return pdk__fail(PDK_INVALID, "%s: node: NULL", break_name);
    const char *slash = strrchr(node, '/'), *own = slash ? slash + 1 : node;
    char *dir = g_strndup(node, slash ? (gsize)(slash - node) : 0);
    struct pdk__name name;
    pdk_status status = pdk__recipe_check(session, dir, node, break_name);
    g_free(dir);
    if (status != PDK_OK)
        return status;
    if (strlen(own) >= PDK__NAME_SIZE || !pdk__name_parse(own, &name) || !pdk__name_is_unique(own))
        return pdk__fail(PDK_INVALID, "%s: node: %s is no contender's name with a UUID, and might come back",
                         break_name, own);
    if (token <= 0)
        return pdk__fail(PDK_INVALID, "%s: token is %lld; tokens are positive", break_name, (long long)token);
    return PDK_OK;
}

pdk_status pdk_break(pdk_session *session, const char *node, int64_t token, int64_t timeout_ms, pdk_contenders **out) {
    pdk_status status = check_break(session, node, token);
    if (status != PDK_OK)
        return status;
    struct breaking b = {g_strconcat(session->hosts->chroot, node, NULL), token, false, NULL};
    struct pdk__leave leave = {.after = breaking_clear, .user = &b};
    pdk__leave_push(&leave);
    status = pdk__query_run(session, break_name, node, timeout_ms, break_it, &b);
    pdk__leave_pop();
    if (status == PDK_OK && out)
        *out = g_steal_pointer(&b.list);
    breaking_clear(&b);
    return status;
}
