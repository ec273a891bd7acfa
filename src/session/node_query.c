#include "session/node_query.h"

#include "base/text.h"
#include "zk/errors.h"

static void node_query_free(struct pdk__query *base) {
    struct pdk__node_query *q = (struct pdk__node_query *)base;
    g_clear_pointer(&q->data, g_bytes_unref);
    g_clear_pointer(&q->names, g_ptr_array_unref);
    g_free(q);
}

static void on_synced(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__node_query *q = user;
    (void)s;
    pdk__query_answered(&q->base, reply);
}

/* A barrier that was not carried out proves nothing, so it counts as not answered. */
static void node_query_on_barrier(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__node_query *q = user;
    (void)s;
    bool proves =
        reply && (reply->result == PDK__OK || reply->result == PDK__NO_NODE || reply->result == PDK__NOT_ALLOWED);
    pdk__query_answered(&q->base, proves ? reply : NULL);
}

static struct pdk__reply numbers_of(const struct pdk__reply *reply) {
    struct pdk__reply numbers = *reply;
    numbers.name = numbers.data = NULL;
    numbers.children = NULL;
    numbers.acl = NULL;
    numbers.data_size = numbers.children_count = numbers.acl_count = 0;
    return numbers;
}

static void on_answer(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__node_query *q = user;
    (void)s;
    if (reply) {
        q->result = reply->result;
        q->code = reply->code;
        q->stat = numbers_of(reply);
        q->data = reply->result == PDK__OK ? g_bytes_new(reply->data, reply->data_size) : NULL;
        q->names = g_ptr_array_new_with_free_func(g_free);
        for (size_t i = 0; i < reply->children_count; i++)
            g_ptr_array_add(q->names, g_strdup(reply->children[i]));
    }
    pdk__query_answered(&q->base, reply);
}

static void on_also(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__node_query *q = user;
    (void)s;
    if (reply)
        q->also = numbers_of(reply);
    pdk__query_answered(&q->base, reply);
}

struct pdk__query *pdk__node_ask(pdk_session *s, struct pdk__request request, enum pdk__behind behind) {
    pdk__assert_locked(s);
    struct pdk__node_query *q = g_new0(struct pdk__node_query, 1);
    pdk__query_init(&q->base, s, node_query_free);
    q->result = q->stat.result = q->also.result = PDK__UNKNOWN;
    if (behind == PDK__BEHIND_SYNC)
        pdk__query_send(&q->base, PDK__OP_SYNC, request.path, on_synced, q);
    else if (behind == PDK__BEHIND_BARRIER)
        pdk__query_send(&q->base, PDK__OP_BARRIER, request.path, node_query_on_barrier, q);
    pdk__query_request(&q->base, request, on_answer, q);
    return &q->base;
}

void pdk__node_ask_also(struct pdk__query *q, const char *path) { pdk__query_send(q, PDK__OP_STAT, path, on_also, q); }

pdk_status pdk__node_answered(const struct pdk__query *q) {
    return q->status == PDK_NO_PERMISSION ? PDK_OK : q->status;
}

pdk_status pdk__node_refused(const struct pdk__node_query *q, const char *call, const char *path) {
    pdk_status status = q->result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : PDK_UNSUPPORTED;
    return pdk__fail(status, "%s: %s: %s: %s", call, path, pdk_status_text(status), pdk__zk_code_name(q->code));
}
