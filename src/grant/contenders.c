#include "grant/contenders.h"

#include "base/text.h"
#include "core/published.h"
#include "session/query.h"
#include "session/tokens.h"
#include "session/unowned.h"

#include <string.h>

/* The most nodes that are read. A longer queue is refused. */
#define CONTENDERS_MAX 5000

struct contender {
    int32_t sequence;
    bool found, shared;
    char *node, *identity;
    GBytes *data; /* published; or NULL */
    int64_t session, token, since_ms;
};

struct pdk_contenders {
    GPtrArray *all; /* of struct contender */
};

struct query {
    struct pdk__query base;
    char *dir;
    enum pdk__kind kind;
    bool holder_only;
    GPtrArray *all;
};

struct read {
    struct query *query;
    struct contender *contender;
};

static void contender_free(gpointer data) {
    struct contender *c = data;
    g_free(c->node);
    g_free(c->identity);
    g_bytes_unref(c->data);
    g_free(c);
}

static void query_free(struct pdk__query *base) {
    struct query *q = (struct query *)base;
    g_ptr_array_unref(q->all);
    g_free(q->dir);
    g_free(q);
}

static gint by_sequence(gconstpointer a, gconstpointer b) {
    const struct contender *x = *(struct contender *const *)a, *y = *(struct contender *const *)b;
    int32_t order = pdk__sequence_compare(x->sequence, y->sequence);
    return order ? (order > 0) - (order < 0) : strcmp(x->node, y->node);
}

static void contender_found(pdk_session *s, struct contender *c, const char *data, size_t size,
                            const struct pdk__reply *stat) {
    struct pdk__published p;
    pdk__published_read(data, size, &p);
    c->found = true;
    c->identity = g_strndup(p.identity, MIN(p.identity_size, PDK__IDENTITY_MAX));
    c->data = p.data ? g_bytes_new(p.data, p.data_size) : NULL;
    c->session = stat->owner;
    c->token = pdk__token_of(s, stat->token);
    c->since_ms = stat->ctime_ms;
}

static void read_all(struct query *q);

/* A node that no session owns is no contender. When the holder alone is asked for, the next node is asked then. */
static void contenders_on_read(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct read *read = user;
    struct query *q = read->query;
    if (reply && pdk__is_unowned(reply) && q->holder_only) {
        g_ptr_array_remove_index(q->all, 0);
        read_all(q);
    } else if (reply && reply->result == PDK__OK && !pdk__is_unowned(reply)) {
        contender_found(s, read->contender, reply->data, reply->data_size, reply);
    }
    pdk__query_answered(&read->query->base, reply);
    g_free(read);
}

static void read_all(struct query *q) {
    guint count = q->holder_only ? MIN(q->all->len, 1) : q->all->len;
    for (guint i = 0; i < count; i++) {
        struct read *read = g_new(struct read, 1);
        *read = (struct read){q, g_ptr_array_index(q->all, i)};
        char *path = g_strconcat(q->dir, "/", read->contender->node, NULL);
        unsigned before = q->base.in_flight;
        pdk__query_send(&q->base, PDK__OP_GET, path, contenders_on_read, read);
        if (q->base.in_flight == before)
            g_free(read);
        g_free(path);
    }
}

static void contenders_on_listed(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct query *q = user;
    (void)s;
    for (size_t i = 0; reply && i < reply->children_count; i++) {
        struct pdk__name name;
        if (!pdk__name_parse(reply->children[i], &name) ||
            !pdk__kind_same_queue(name.kind, q->kind)) /* a node of another recipe */
            continue;
        struct contender *c = g_new0(struct contender, 1);
        c->sequence = name.sequence;
        c->shared = name.kind == PDK__READER;
        c->node = g_strdup(reply->children[i]);
        g_ptr_array_add(q->all, c);
    }
    g_ptr_array_sort(q->all, by_sequence);
    if (q->all->len > CONTENDERS_MAX && !q->holder_only)
        q->base.status = PDK_LIMIT;
    else
        read_all(q);
    pdk__query_answered(&q->base, reply);
}

pdk_contenders *pdk__contenders_none(void) {
    pdk_contenders *list = g_new(pdk_contenders, 1);
    list->all = g_ptr_array_new_with_free_func(contender_free);
    return list;
}

/* A list of copies. It leaves out the nodes that went between the list and the reads. Under the monitor, where no
 * answer can come meanwhile. */
static pdk_contenders *listing_result(struct query *q) {
    pdk__assert_locked(q->base.s);
    pdk_contenders *list = pdk__contenders_none();
    for (guint i = 0; i < q->all->len; i++) {
        struct contender *c = g_ptr_array_index(q->all, i);
        if (!c->found)
            continue;
        struct contender *copy = g_memdup2(c, sizeof *c);
        copy->node = g_strdup(c->node);
        copy->identity = g_strdup(c->identity);
        copy->data = c->data ? g_bytes_ref(c->data) : NULL;
        g_ptr_array_add(list->all, copy);
    }
    return list;
}

pdk_contenders *pdk__contenders_hidden(const char *node) {
    struct contender *c = g_new0(struct contender, 1);
    pdk_contenders *list = pdk__contenders_none();
    c->node = g_strdup(node);
    c->identity = g_strdup("");
    g_ptr_array_add(list->all, c);
    return list;
}

pdk_contenders *pdk__contenders_one(pdk_session *s, const char *node, const char *data, size_t size,
                                    const struct pdk__reply *stat) {
    pdk__assert_locked(s);
    struct contender *c = g_new0(struct contender, 1);
    struct pdk__name name;
    pdk__name_parse(node, &name);
    c->shared = name.kind == PDK__READER;
    c->node = g_strdup(node);
    contender_found(s, c, data, size, stat);
    pdk_contenders *list = pdk__contenders_none();
    g_ptr_array_add(list->all, c);
    return list;
}

/* ---- the call */

struct listing {
    struct pdk__call call;
    struct pdk__query_loop loop;
    char *dir;
    enum pdk__kind kind;
    bool holder_only;
    pdk_contenders *list;
    pdk_contenders_fn fn;
};

static struct pdk__query *listing_ask(struct pdk__query_loop *loop) {
    const struct listing *l = (const struct listing *)loop->call;
    struct query *q = g_new0(struct query, 1);
    q->dir = g_strdup(l->dir);
    q->kind = l->kind;
    q->holder_only = l->holder_only;
    q->all = g_ptr_array_new_with_free_func(contender_free);
    pdk__query_init(&q->base, loop->call->s, query_free);
    pdk__query_send(&q->base, PDK__OP_LIST, q->dir, contenders_on_listed, q);
    return &q->base;
}

static pdk_status listing_judge(struct pdk__query_loop *loop) {
    struct listing *l = (struct listing *)loop->call;
    struct query *q = (struct query *)loop->query;
    pdk_status status = q->base.status;
    if (status == PDK_OK && q->holder_only && q->all->len > 0 && !((struct contender *)q->all->pdata[0])->found)
        status = PDK_UNAVAILABLE; /* the holder left in between, and another one holds now: ask again */
    if (status != PDK_OK)
        return pdk__fail(status, "%s: %s: %s", loop->call->name, l->dir, pdk_status_text(status));
    l->list = listing_result(q);
    return PDK_OK;
}

static pdk_status listing_step(struct pdk__call *c) { return pdk__query_loop_step(&((struct listing *)c)->loop); }
static void listing_leave(struct pdk__call *c) { pdk__query_loop_leave(&((struct listing *)c)->loop); }

static void listing_tell(struct pdk__call *c, pdk_status status) {
    struct listing *l = (struct listing *)c;
    l->fn(status, g_steal_pointer(&l->list), c->user);
}

static void listing_free(struct pdk__call *c) {
    struct listing *l = (struct listing *)c;
    pdk_contenders_free(l->list);
    g_free(l->dir);
    g_free(l);
}

static struct pdk__call *listing_new(const struct pdk__listing *of, pdk_contenders_fn fn, void *user) {
    static const struct pdk__call_kind kind = {NULL, listing_step, listing_leave, listing_tell, listing_free};
    static const struct pdk__query_loop_kind asks = {listing_ask, listing_judge};
    struct listing *l = g_new0(struct listing, 1);
    l->call = pdk__call_make(&kind, of->s, of->call, of->timeout_ms);
    l->call.user = user;
    l->dir = g_strdup(of->dir);
    l->loop = (struct pdk__query_loop){.kind = &asks, .call = &l->call, .path = l->dir};
    l->kind = of->kind;
    l->holder_only = of->holder_only;
    l->fn = fn;
    return &l->call;
}

void pdk__contenders_keep(pdk_status status, pdk_contenders *list, void *out) {
    if (status == PDK_OK)
        *(pdk_contenders **)out = list;
}

pdk_status pdk__contenders_list(const struct pdk__listing *of, pdk_contenders **out) {
    return out ? pdk__call_wait(listing_new(of, pdk__contenders_keep, out))
               : pdk__fail(PDK_INVALID, "%s: out: NULL", of->call);
}

pdk_status pdk__contenders_list_async(const struct pdk__listing *of, pdk_contenders_fn fn, void *user) {
    return fn ? pdk__call_start(listing_new(of, fn, user)) : pdk__fail(PDK_INVALID, "%s: fn: NULL", of->call);
}

/* ---- the list */

static const struct contender *at(const pdk_contenders *list, size_t index) {
    return list && index < list->all->len ? g_ptr_array_index(list->all, index) : NULL;
}

size_t pdk_contenders_count(const pdk_contenders *list) { return list ? list->all->len : 0; }

const char *pdk_contenders_identity(const pdk_contenders *list, size_t index) {
    return at(list, index) ? at(list, index)->identity : NULL;
}

const void *pdk_contenders_data(const pdk_contenders *list, size_t index, size_t *size) {
    const struct contender *c = at(list, index);
    const void *data = NULL;
    size_t length = 0;
    if (c && c->data)
        data = g_bytes_get_data(c->data, &length);
    if (size)
        *size = length;
    return c && c->data && !data ? "" : data; /* no bytes were published */
}

const char *pdk_contenders_node(const pdk_contenders *list, size_t index) {
    return at(list, index) ? at(list, index)->node : NULL;
}

int64_t pdk_contenders_session(const pdk_contenders *list, size_t index) {
    return at(list, index) ? at(list, index)->session : 0;
}

int64_t pdk_contenders_token(const pdk_contenders *list, size_t index) {
    return at(list, index) ? at(list, index)->token : 0;
}

int64_t pdk_contenders_since_ms(const pdk_contenders *list, size_t index) {
    return at(list, index) ? at(list, index)->since_ms : 0;
}

bool pdk_contenders_is_shared(const pdk_contenders *list, size_t index) {
    return at(list, index) && at(list, index)->shared;
}

void pdk_contenders_free(pdk_contenders *list) {
    if (!list)
        return;
    g_ptr_array_unref(list->all);
    g_free(list);
}
