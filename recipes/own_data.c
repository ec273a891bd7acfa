#include "own_data.h"

#include "base/text.h"
#include "core/revocation.h"
#include "session/blocking.h"
#include "session/node_query.h"
#include "session/tokens.h"
#include "zk/errors.h"

/* The pause before a request is tried again on one connection. */
#define AGAIN_NS (50 * PDK__MS)

static char *digest_of(const void *data, size_t size) {
    return g_compute_checksum_for_data(G_CHECKSUM_SHA256, data ? data : (const void *)"", size);
}

static char *digest_of_bytes(GBytes *bytes) {
    size_t size = 0;
    const void *data = g_bytes_get_data(bytes, &size);
    return digest_of(data, size);
}

static void own_data_clear(struct pdk__own_data *own) {
    g_clear_pointer(&own->known, g_free);
    g_clear_pointer(&own->unsure, g_ptr_array_unref);
}

struct pdk__own_data *pdk__own_data_new(void) {
    struct pdk__own_data *own = g_new0(struct pdk__own_data, 1);
    atomic_init(&own->refs, 1);
    return own;
}

struct pdk__own_data *pdk__own_data_ref(struct pdk__own_data *own) {
    atomic_fetch_add(&own->refs, 1);
    return own;
}

void pdk__own_data_unref(struct pdk__own_data *own) {
    if (atomic_fetch_sub(&own->refs, 1) != 1)
        return;
    own_data_clear(own);
    g_free(own);
}

void pdk__own_write_init(struct pdk__own_write *w, struct pdk__call *call, struct pdk__own_data *own, GBytes *data) {
    *w = (struct pdk__own_write){
        .call = call, .own = pdk__own_data_ref(own), .data = data, .digest = digest_of_bytes(data)};
}

void pdk__own_write_forget(struct pdk__own_write *w) {
    if (w->query)
        pdk__query_unref(g_steal_pointer(&w->query));
}

void pdk__own_write_begin(struct pdk__own_write *w) { g_queue_push_tail_link(&w->own->writes, &w->link); }

void pdk__own_write_leave(struct pdk__own_write *w) {
    pdk__own_write_forget(w);
    g_queue_unlink(&w->own->writes, &w->link);
    w->own->over++;
    pdk__wake(&w->own->turns);
}

static void own_write_clear(struct pdk__own_write *w) {
    g_bytes_unref(w->data);
    g_free(w->digest);
}

void pdk__own_write_free(struct pdk__own_write *w) {
    own_write_clear(w);
    pdk__own_data_unref(w->own);
}

void pdk__own_write_anew(struct pdk__own_write *w, GBytes *data) {
    pdk__own_write_forget(w);
    own_write_clear(w);
    w->data = data;
    w->digest = digest_of_bytes(data);
}

pdk_status pdk__own_write_turn(struct pdk__own_write *w) {
    struct pdk__call *c = w->call;
    pdk_status status = pdk__session_usable(c->s, c->name);
    if (status != PDK_OK || w->own->writes.head == &w->link)
        return status;
    return pdk__call_is_late(c) ? pdk__fail(PDK_UNAVAILABLE, "%s: another call was under way for timeout_ms", c->name)
                                : pdk__call_waits(c, &w->own->turns, INT64_MAX);
}

/* ---- knowledge of the node */

static void is_written(struct pdk__own_data *own, int32_t version, const char *digest) {
    char *known = g_strdup(digest);
    own_data_clear(own);
    own->version = version;
    own->known = known;
    own->unsure = g_ptr_array_new_with_free_func(g_free);
}

static guint find_unsure(const struct pdk__own_data *own, const char *digest) {
    for (guint i = 0; i < own->unsure->len; i++)
        if (g_str_equal(g_ptr_array_index(own->unsure, i), digest))
            return i;
    return own->unsure->len;
}

static bool is_unsure(const struct pdk__own_data *own, const char *digest) {
    return find_unsure(own, digest) < own->unsure->len;
}

/* Another node, which we made: nobody has written it since, as far as we know. */
static void begin_node(struct pdk__own_write *w, GBytes *created) {
    if (w->own->token == w->hold->token)
        return;
    char *digest = created ? digest_of_bytes(created) : NULL;
    w->own->token = w->hold->token;
    w->own->settled = false;
    is_written(w->own, 0, digest);
    g_free(digest);
}

/* ---- requests */

static struct pdk__query *write_it(struct pdk__own_write *w) {
    struct pdk__request request = {
        .kind = PDK__OP_SET, .path = w->hold->node, .versioned = true, .version = w->own->version};
    request.data = g_bytes_get_data(w->data, &request.data_size);
    if (request.data_size == 0)
        request.data = "";
    w->looking = false;
    struct pdk__query *q = pdk__node_ask(w->call->s, request, PDK__BEHIND_NOTHING);
    w->added = q->in_flight > 0 && !is_unsure(w->own, w->digest);
    if (w->added)
        g_ptr_array_add(w->own->unsure, g_strdup(w->digest));
    return q;
}

static pdk_status own_data_look(struct pdk__own_write *w) {
    pdk__query_unref(w->query);
    w->looking = true;
    w->query = pdk__node_ask(w->call->s, (struct pdk__request){.kind = PDK__OP_GET, .path = w->hold->node},
                             PDK__BEHIND_NOTHING);
    return PDK__WAITS;
}

/* The answer to a write. PDK__WAITS: a look follows. UNAVAILABLE: again. */
static pdk_status judge_write(struct pdk__own_write *w) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)w->query;
    enum pdk__result result = q->result;
    if (result == PDK__OK) {
        is_written(w->own, w->own->version + 1, w->digest);
        return PDK_OK;
    }
    if (result == PDK__UNKNOWN)
        return own_data_look(w);
    if (w->added) /* not executed; but an earlier write of the same data may have been */
        g_ptr_array_remove_index(w->own->unsure, find_unsure(w->own, w->digest));
    if (result == PDK__NOT_ALLOWED || result == PDK__REFUSED)
        return pdk__fail(result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : PDK_UNSUPPORTED, "%s: %s: %s", w->call->name,
                         w->hold->node, pdk__zk_code_name(q->code));
    return result == PDK__BAD_VERSION ? own_data_look(w) : PDK_UNAVAILABLE;
}

/* A wish in front of our data is told to the hold, since the next write takes it away. */
static void tell_wish(const struct pdk__own_write *w, const struct pdk__node_query *q) {
    struct pdk__grant *grant = w->hold->grant; /* the hold is valid */
    struct pdk__reply reply = q->stat;
    reply.data = g_bytes_get_data(q->data, &reply.data_size);
    pdk__grant_read(grant, grant->entries[0], &reply);
}

/* Judge a look at the node. OK: our data stand there. UNAVAILABLE: write again. */
static pdk_status judge_look(struct pdk__own_write *w) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)w->query;
    struct pdk__own_data *own = w->own;
    struct pdk__revocation found = {0};
    size_t size = 0;
    if (pdk__node_answered(w->query) != PDK_OK || q->result != PDK__OK ||
        pdk__token_of(w->call->s, q->stat.token) != own->token || q->stat.version == own->version)
        return PDK_UNAVAILABLE;
    const char *data = g_bytes_get_data(q->data, &size);
    char *digest = digest_of(data, size);
    bool asked = !is_unsure(own, digest) && pdk__revocation_read(data, size, &found) && found.who_size > 0;
    if (asked) { /* our own data may look like a wish */
        g_free(digest);
        digest = digest_of(found.identity, found.identity_size);
    }
    bool ours = is_unsure(own, digest) && (asked || q->stat.version == own->version + 1);
    bool as_before = asked && own->known && g_str_equal(digest, own->known);
    bool done = ours && g_str_equal(digest, w->digest);
    if (asked)
        tell_wish(w, q);
    is_written(own, q->stat.version, digest);
    g_free(digest);
    if (done)
        return PDK_OK;
    if (ours || as_before)
        return PDK_UNAVAILABLE;
    return pdk__fail(PDK_REPLACED, "%s: %s: somebody else has written it; set it again to write over that",
                     w->call->name, w->hold->node);
}

/* ---- the step */

static pdk_status ended_how(struct pdk__own_write *w) {
    pdk_status status = w->hold->loss.released ? PDK_NOT_HELD : PDK_LOST;
    pdk__own_write_forget(w);
    return pdk__fail(status, "%s: %s: %s", w->call->name, w->hold->node, pdk_status_text(status));
}

/* The session's end was looked for with the turn. */
static bool has_ended(const struct pdk__own_write *w) { return w->hold->loss.released || !pdk_hold_is_valid(w->hold); }

/* Go on until a request is in flight, or there is a status. UNAVAILABLE: a pause or a connection is needed. */
static pdk_status own_data_go_on(struct pdk__own_write *w) {
    pdk_status status = PDK__WAITS;
    if (!w->query && w->call->s->link != PDK__LINK_CONNECTED)
        return PDK_UNAVAILABLE;
    if (!w->query)
        w->query = write_it(w);
    while (status == PDK__WAITS && w->query->in_flight == 0)
        status = w->looking ? judge_look(w) : judge_write(w);
    return status;
}

pdk_status pdk__own_write_step(struct pdk__own_write *w, GBytes *created) {
    struct pdk__call *c = w->call;
    if (has_ended(w))
        return ended_how(w);
    begin_node(w, created);
    pdk_status status = own_data_go_on(w);
    w->own->settled |= status == PDK_OK || status == PDK_REPLACED;
    if (status != PDK__WAITS)
        pdk__own_write_forget(w);
    if (status == PDK_OK && has_ended(w))
        return ended_how(w);
    if (status != PDK__WAITS && status != PDK_UNAVAILABLE)
        return status;
    if (pdk__call_is_late(c))
        return pdk__fail(PDK_UNAVAILABLE, "%s: %s: no server confirmed it within timeout_ms", c->name, w->hold->node);
    if (status == PDK__WAITS)
        return pdk__call_waits(c, &w->query->waiters, INT64_MAX);
    return pdk__call_waits(c, &c->s->on_link, pdk__now(c->s) + AGAIN_NS);
}
