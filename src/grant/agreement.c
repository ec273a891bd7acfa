#include "grant/agreement.h"

#include "core/sequencer.h"
#include "grant/queue.h"
#include "session/entry.h"
#include "session/ops.h"

#include <string.h>

static struct pdk__agreement *of(struct pdk__live_query *query) { return (struct pdk__agreement *)query; }

/* ---- the answer, to the queues that wait */

static void admit(struct pdk__agreement *agreement) {
    agreement->agreed = true;
    agreement->generation = agreement->query.s->generation;
    agreement->suspended_at = agreement->query.s->suspended_at;
    for (GList *link; (link = g_queue_pop_head_link(&agreement->waiting));)
        pdk__queue_advance(g_steal_pointer(&link->data));
}

static void refuse(struct pdk__agreement *agreement, pdk_status status, const char *why) {
    agreement->agreed = false;
    for (GList *link; (link = g_queue_pop_head_link(&agreement->waiting));)
        pdk__queue_fail(g_steal_pointer(&link->data), status, why);
}

static void refuse_for(struct pdk__agreement *agreement, enum pdk__result result) {
    char *why =
        g_strdup_printf("%s: the number of %s can be neither read nor recorded", agreement->path, agreement->unit);
    refuse(agreement, result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : PDK_UNSUPPORTED, why);
    g_free(why);
}

static bool is_refusal(enum pdk__result result) { return result == PDK__NOT_ALLOWED || result == PDK__REFUSED; }

/* ---- the question */

static bool send(struct pdk__agreement *agreement, struct pdk__request request, pdk__done_fn done) {
    if (!pdk__send(agreement->query.s, request, done, agreement))
        return false;
    pdk__live_query_ref(&agreement->query);
    return true;
}

static void on_made_parent(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__agreement *agreement = user;
    (void)s;
    if (reply && is_refusal(reply->result))
        agreement->refused = reply->result;
    pdk__live_query_unref(&agreement->query);
}

/* Made or written, by us or by somebody else: it is read again. */
static void on_recorded(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__agreement *agreement = user;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    (void)s;
    if (result == PDK__NO_NODE && agreement->refused != PDK__OK)
        result = agreement->refused;
    if (is_refusal(result))
        refuse_for(agreement, result);
    pdk__live_query_again(&agreement->query);
    pdk__live_query_done(&agreement->query,
                         result == PDK__OK || result == PDK__NODE_EXISTS || result == PDK__BAD_VERSION);
    pdk__live_query_unref(&agreement->query);
}

/* The levels above are containers, as everywhere. */
static bool make(struct pdk__agreement *agreement) {
    agreement->refused = PDK__OK;
    for (char *slash = strchr(agreement->path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool sent =
            send(agreement, (struct pdk__request){.kind = PDK__OP_MKDIR, .path = agreement->path, .container = true},
                 on_made_parent);
        *slash = '/';
        if (!sent)
            return false;
    }
    return send(agreement,
                (struct pdk__request){.kind = PDK__OP_MKDIR, .path = agreement->path, .data = agreement->number},
                on_recorded);
}

static bool write_over(struct pdk__agreement *agreement) {
    return send(agreement,
                (struct pdk__request){.kind = PDK__OP_SET,
                                      .path = agreement->path,
                                      .data = agreement->number,
                                      .versioned = true,
                                      .version = agreement->version},
                on_recorded);
}

static void on_kept(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__agreement *agreement = user;
    bool kept = reply && (reply->result == PDK__OK || reply->result == PDK__NODE_EXISTS);
    if (kept && write_over(agreement))
        pdk__live_query_unref(&agreement->query); /* on_recorded has another */
    else
        on_recorded(s, user, reply);
}

/* Somebody else has made the node: it may be a container, as the levels above a lock are, and no answer of a server tells. An empty
 * one is removed, with the number. So it gets a child that stays, and the number after that. */
static bool keep(struct pdk__agreement *agreement, int32_t version) {
    char *child = g_strconcat(agreement->path, "/number", NULL);
    agreement->version = version;
    agreement->refused = PDK__OK;
    bool sent = send(agreement, (struct pdk__request){.kind = PDK__OP_MKDIR, .path = child}, on_kept);
    g_free(child);
    return sent;
}

static void compare(struct pdk__agreement *agreement, const struct pdk__reply *reply) {
    char *raw = g_strndup(reply->data, MIN(reply->data_size, 32)), *text = g_strescape(raw, NULL);
    if (reply->data_size == strlen(agreement->number) && strcmp(text, agreement->number) == 0) {
        admit(agreement);
    } else if (!pdk__is_number(reply->data, reply->data_size)) {
        char *why =
            g_strdup_printf("%s has \"%s\", which is no number of %s: look who wrote it. Deleting it lets the next "
                            "caller write another number; do it while nobody uses the path",
                            agreement->path, text, agreement->unit);
        refuse(agreement, PDK_DAMAGED, why);
        g_free(why);
    } else {
        char *why = g_strdup_printf("%s says that there are \"%s\" %s, not %s: use the same number everywhere",
                                    agreement->path, text, agreement->unit, agreement->number);
        refuse(agreement, PDK_MISMATCH, why);
        g_free(why);
    }
    g_free(text);
    g_free(raw);
}

/* Who has no claim only looks: what nobody needs is not made. true: it goes on, and on_recorded ends the question. */
static bool record_it(struct pdk__agreement *agreement, const struct pdk__reply *reply) {
    if (g_queue_is_empty(&agreement->waiting))
        return false;
    if (reply->result == PDK__NO_NODE)
        return make(agreement);
    return reply->result == PDK__OK && reply->data_size == 0 && keep(agreement, reply->version);
}

static void on_read(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__agreement *agreement = user;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    bool fine = result == PDK__OK || result == PDK__NO_NODE;
    (void)s;
    if (reply && result != PDK__OK)
        pdk__live_query_unset(&agreement->query, agreement->path);
    if (fine)
        agreement->agreed = false; /* until it is compared */
    if (agreement->query.stopped) {
        fine = true;
    } else if (fine && record_it(agreement, reply)) {
        pdk__live_query_unref(&agreement->query); /* on_recorded has another */
        return;
    } else if (result == PDK__OK && reply->data_size > 0) {
        compare(agreement, reply);
    } else if (is_refusal(result)) {
        refuse_for(agreement, result);
    }
    pdk__live_query_done(&agreement->query, fine);
    pdk__live_query_unref(&agreement->query);
}

static bool ask(struct pdk__live_query *query) {
    struct pdk__agreement *agreement = of(query);
    if (!pdk__live_query_watch(query, agreement->path)) {
        refuse(agreement, PDK_LIMIT, PDK__WATCHES_LIMIT);
        pdk__live_query_done(query, true);
        return true;
    }
    bool sent = send(agreement, (struct pdk__request){.kind = PDK__OP_WATCH, .path = agreement->path}, on_read);
    if (!sent)
        pdk__live_query_unset(query, agreement->path);
    return sent;
}

/* ---- its life */

static void agreement_free(struct pdk__live_query *query) {
    struct pdk__agreement *agreement = of(query);
    g_free(agreement->path);
    g_free(agreement->number);
    g_free(agreement->unit);
    g_free(agreement);
}

struct pdk__agreement *pdk__agreement_new(pdk_session *s, const char *path, int32_t number, const char *unit) {
    static const struct pdk__live_query_calls calls = {.ask = ask, .free = agreement_free};
    struct pdk__agreement *agreement = g_new0(struct pdk__agreement, 1);
    agreement->users = 1;
    agreement->path = g_strdup(path);
    agreement->number = g_strdup_printf("%d", number);
    agreement->unit = g_strdup(unit);
    pdk__lock(s);
    pdk__live_query_init(&agreement->query, s, &calls);
    pdk__unlock(s);
    return agreement;
}

struct pdk__agreement *pdk__agreement_use(struct pdk__agreement *agreement) {
    pdk__assert_locked(agreement->query.s);
    agreement->users++;
    return agreement;
}

void pdk__agreement_leave(struct pdk__agreement *agreement) {
    if (agreement && --agreement->users == 0)
        pdk__live_query_stop(&agreement->query);
}

/* While the connection was lost others may have come with another number, if the node was deleted. */
static bool is_current(const struct pdk__agreement *agreement) {
    const pdk_session *s = agreement->query.s;
    return agreement->agreed && agreement->generation == s->generation && agreement->suspended_at == s->suspended_at;
}

bool pdk__agreement_admits(struct pdk__agreement *agreement, struct pdk__queue *queue) {
    pdk__assert_locked(agreement->query.s);
    if (is_current(agreement))
        return true;
    if (!queue->undecided.data) {
        queue->undecided.data = queue;
        g_queue_push_tail_link(&agreement->waiting, &queue->undecided);
    }
    if (!agreement->query.asking)
        pdk__live_query_look(&agreement->query);
    return false;
}

void pdk__agreement_forget(struct pdk__agreement *agreement, struct pdk__queue *queue) {
    pdk__assert_locked(agreement->query.s);
    if (g_steal_pointer(&queue->undecided.data))
        g_queue_unlink(&agreement->waiting, &queue->undecided);
}
