#include "striped_agreement.h"

#include "session/entry.h"
#include "session/ops.h"

#include <string.h>

static struct pdk__agreement *agreement_of(struct pdk__live_query *query) { return (struct pdk__agreement *)query; }

/* The consent of one queue. */
struct consent {
    struct pdk__consent base;
    struct pdk__agreement *agreement;
    struct pdk__queue *queue;
    GList link; /* in agreement->waiting, with data while it is there */
};

/* ---- the answer, to the queues that wait */

/* Take a waiting queue out of the list, or NULL. */
static struct pdk__queue *next_waiting(struct pdk__agreement *agreement) {
    GList *link = g_queue_pop_head_link(&agreement->waiting);
    const struct consent *consent = link ? g_steal_pointer(&link->data) : NULL;
    return consent ? consent->queue : NULL;
}

static void agreement_admit(struct pdk__agreement *agreement) {
    agreement->agreed = true;
    agreement->generation = agreement->query.s->generation;
    agreement->suspended_at = agreement->query.s->suspended_at;
    for (struct pdk__queue *queue; (queue = next_waiting(agreement));)
        pdk__queue_advance(queue);
}

static void agreement_refuse(struct pdk__agreement *agreement, pdk_status status, const char *why) {
    agreement->agreed = false;
    for (struct pdk__queue *queue; (queue = next_waiting(agreement));)
        pdk__queue_fail(queue, status, why);
}

static void refuse_for_number(struct pdk__agreement *agreement) {
    char *why = pdk__number_why(&agreement->number);
    agreement_refuse(agreement, agreement->number.status, why);
    g_free(why);
}

/* ---- the question */

static bool agreement_send(struct pdk__agreement *agreement, struct pdk__request request, pdk__done_fn done) {
    if (!pdk__send(agreement->query.s, request, done, agreement))
        return false;
    pdk__live_query_ref(&agreement->query);
    return true;
}

static void on_made_parent(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__agreement *agreement = user;
    (void)s;
    if (reply && (reply->result == PDK__NOT_ALLOWED || reply->result == PDK__REFUSED))
        agreement->refused = reply->result;
    pdk__live_query_unref(&agreement->query);
}

/* The node was made or written, by us or by somebody else, so it is read again. */
static void on_recorded(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__agreement *agreement = user;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    (void)s;
    if (result == PDK__NO_NODE && agreement->refused != PDK__OK)
        result = agreement->refused;
    if (pdk__number_refused(&agreement->number, result))
        refuse_for_number(agreement);
    pdk__live_query_again(&agreement->query);
    pdk__live_query_done(&agreement->query,
                         result == PDK__OK || result == PDK__NODE_EXISTS || result == PDK__BAD_VERSION);
    pdk__live_query_unref(&agreement->query);
}

/* The levels above are containers, as everywhere. */
static bool agreement_make(struct pdk__agreement *agreement) {
    agreement->refused = PDK__OK;
    for (char *slash = strchr(agreement->path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool sent = agreement_send(
            agreement, (struct pdk__request){.kind = PDK__OP_MKDIR, .path = agreement->path, .container = true},
            on_made_parent);
        *slash = '/';
        if (!sent)
            return false;
    }
    return agreement_send(
        agreement,
        (struct pdk__request){.kind = PDK__OP_MKDIR, .path = agreement->path, .data = agreement->number.ours},
        on_recorded);
}

static bool write_over(struct pdk__agreement *agreement) {
    return agreement_send(agreement,
                          (struct pdk__request){.kind = PDK__OP_SET,
                                                .path = agreement->path,
                                                .data = agreement->number.ours,
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

/* Somebody else has made the node, so it may be a container, as the levels above a lock are: no answer of a server
 * tells. Servers remove an empty container, and the number with it. So the node gets a child that stays, and the number
 * after that. */
static bool agreement_keep(struct pdk__agreement *agreement, int32_t version) {
    char *child = g_strconcat(agreement->path, "/number", NULL);
    agreement->version = version;
    agreement->refused = PDK__OK;
    bool sent = agreement_send(agreement, (struct pdk__request){.kind = PDK__OP_MKDIR, .path = child}, on_kept);
    g_free(child);
    return sent;
}

/* Record our number, if a claim waits: a node that nobody needs is not made. true: the question goes on, and
 * on_recorded ends it. */
static bool record_it(struct pdk__agreement *agreement, const struct pdk__reply *reply) {
    if (g_queue_is_empty(&agreement->waiting))
        return false;
    if (agreement->number.says == PDK__NUMBER_ABSENT)
        return agreement_make(agreement);
    return agreement->number.says == PDK__NUMBER_EMPTY && agreement_keep(agreement, reply->version);
}

static void agreement_on_read(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__agreement *agreement = user;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    bool fine = result == PDK__OK || result == PDK__NO_NODE;
    (void)s;
    if (reply && result != PDK__OK)
        pdk__live_query_unset(&agreement->query, agreement->path);
    pdk__number_take(&agreement->number, reply);
    if (fine)
        agreement->agreed = false; /* until it is compared */
    if (agreement->query.stopped) {
        fine = true;
    } else if (fine && record_it(agreement, reply)) {
        pdk__live_query_unref(&agreement->query); /* on_recorded has another */
        return;
    } else if (agreement->number.says == PDK__NUMBER_AGREES) {
        agreement_admit(agreement);
    } else if (agreement->number.status != PDK_OK && agreement->number.says != PDK__NUMBER_EMPTY) {
        refuse_for_number(agreement);
    }
    pdk__live_query_done(&agreement->query, fine);
    pdk__live_query_unref(&agreement->query);
}

static bool agreement_ask(struct pdk__live_query *query) {
    struct pdk__agreement *agreement = agreement_of(query);
    if (!pdk__live_query_watch(query, agreement->path)) {
        agreement_refuse(agreement, PDK_LIMIT, PDK__WATCHES_LIMIT);
        pdk__live_query_done(query, true);
        return true;
    }
    bool sent = agreement_send(agreement, (struct pdk__request){.kind = PDK__OP_WATCH, .path = agreement->path},
                               agreement_on_read);
    if (!sent)
        pdk__live_query_unset(query, agreement->path);
    return sent;
}

/* ---- its life */

static void agreement_free(struct pdk__live_query *query) {
    struct pdk__agreement *agreement = agreement_of(query);
    g_free(agreement->path);
    g_free(agreement);
}

struct pdk__agreement *pdk__agreement_new(pdk_session *s, const char *path, int32_t stripes) {
    static const struct pdk__live_query_calls calls = {.ask = agreement_ask, .free = agreement_free};
    struct pdk__agreement *agreement = g_new0(struct pdk__agreement, 1);
    agreement->users = 1;
    agreement->path = g_strdup(path);
    pdk__number_init(&agreement->number, agreement->path, stripes, "stripes");
    pdk__lock(s);
    pdk__live_query_init(&agreement->query, s, &calls);
    pdk__unlock(s);
    return agreement;
}

void pdk__agreement_leave(struct pdk__agreement *agreement) {
    if (--agreement->users == 0)
        pdk__live_query_stop(&agreement->query);
}

/* Is the agreement current? While the connection was lost, others may have come with another number, if the node was
 * deleted. */
static bool is_current(const struct pdk__agreement *agreement) {
    const pdk_session *s = agreement->query.s;
    return agreement->agreed && agreement->generation == s->generation && agreement->suspended_at == s->suspended_at;
}

static bool may_begin(struct pdk__consent *base) {
    struct consent *consent = (struct consent *)base;
    struct pdk__agreement *agreement = consent->agreement;
    pdk__assert_locked(agreement->query.s);
    if (is_current(agreement))
        return true;
    if (!consent->link.data) {
        consent->link.data = consent;
        g_queue_push_tail_link(&agreement->waiting, &consent->link);
    }
    if (!agreement->query.asking)
        pdk__live_query_look(&agreement->query);
    return false;
}

static void consent_free(struct pdk__consent *base) {
    struct consent *consent = (struct consent *)base;
    pdk__assert_locked(consent->agreement->query.s);
    if (consent->link.data)
        g_queue_unlink(&consent->agreement->waiting, &consent->link);
    pdk__agreement_leave(consent->agreement);
    g_free(consent);
}

void pdk__agreement_bind(struct pdk__agreement *agreement, struct pdk__queue *queue) {
    pdk__assert_locked(agreement->query.s);
    struct consent *consent = g_new0(struct consent, 1);
    *consent = (struct consent){.base = {may_begin, consent_free}, .agreement = agreement, .queue = queue};
    agreement->users++;
    queue->consent = &consent->base;
}
