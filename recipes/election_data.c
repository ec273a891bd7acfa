/* The data that a leader publishes during its term: they stand in its own node, behind its identity.
 *
 *     /services/planner
 *        ├─ _c_…-latch-0000000012    "host:1"                 a candidate
 *        └─ …                        "host:1" NUL any bytes   a leader that has published something (core/published.h)
 *
 * Rule: the node is the term's. It is written naming the version that we wrote last (own_data.h), and goes with the
 * term, so nothing of a term is seen in the next one. A reader of the node has identity, token and data of one moment.
 */
#include "base/fork.h"
#include "base/text.h"
#include "core/published.h"
#include "election.h"
#include "session/blocking.h"

#include <paddock/leader.h>
#include <string.h>

G_STATIC_ASSERT(PDK_ELECTION_DATA_MAX == PDK__PUBLISHED_MAX);

struct publishing {
    struct pdk__call call;
    struct pdk__own_write write;
    pdk_election *election; /* a reference */
    GBytes *created;        /* the data that its node was made with */
};

size_t pdk_election_data_max(void) { return PDK_ELECTION_DATA_MAX; }

static void publishing_begin(struct pdk__call *call) { pdk__own_write_begin(&((struct publishing *)call)->write); }

static pdk_status publishing_step(struct pdk__call *call) {
    struct publishing *p = (struct publishing *)call;
    pdk_status status = pdk__own_write_turn(&p->write);
    return status == PDK_OK ? pdk__own_write_step(&p->write, p->created) : status;
}

static void publishing_leave(struct pdk__call *call) { pdk__own_write_leave(&((struct publishing *)call)->write); }

static void publishing_free(struct pdk__call *call) {
    struct publishing *p = (struct publishing *)call;
    pdk_hold_unref(p->write.hold);
    pdk__own_write_free(&p->write);
    g_bytes_unref(p->created);
    pdk_election_unref(p->election);
    g_free(p);
}

/* The identity, and behind a NUL the data. */
static GBytes *publishing_contents(const char *identity, const void *data, size_t size) {
    size_t head = strlen(identity);
    char *bytes = g_malloc(head + 1 + size);
    memcpy(bytes, identity, head + 1);
    if (size > 0)
        memcpy(bytes + head + 1, data, size);
    return g_bytes_new_take(bytes, data ? head + 1 + size : head);
}

static struct pdk__call *publishing_new(pdk_election *election, pdk_hold *hold, const char *name, const void *data,
                                        size_t size, int64_t timeout_ms) {
    static const struct pdk__call_kind kind = {publishing_begin, publishing_step, publishing_leave, NULL,
                                               publishing_free};
    const struct pdk__queue *queue = election->queue;
    const char *identity = queue->data ? queue->data : queue->s->identity;
    struct publishing *p = g_new0(struct publishing, 1);
    p->call = pdk__call_make(&kind, queue->s, name, timeout_ms);
    p->election = pdk_election_ref(election);
    p->created = g_bytes_new(identity, strlen(identity));
    pdk__own_write_init(&p->write, &p->call, election->own, publishing_contents(identity, data, size));
    p->write.hold = pdk_hold_ref(hold);
    return &p->call;
}

/* Refuse data that is no text. kazoo reads each node as text, and fails for all contenders where one node is none. */
static pdk_status publishing_check_text(const pdk_election *election, const char *name, const void *data, size_t size) {
    if (election->queue->kind.entry.profile != PDK__KAZOO || g_utf8_validate_len(data ? data : "", size, NULL))
        return PDK_OK;
    return pdk__fail(PDK_INVALID,
                     "%s: data: not UTF-8, which kazoo's contenders() would fail for; use Curator's naming", name);
}

static pdk_status publishing_check(const pdk_election *election, const pdk_hold *hold, const void *data, size_t size,
                                   const char *name) {
    if (!election || !hold)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", name, election ? "hold" : "election");
    if (election->queue->s->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "%s: the election belongs to the parent process", name);
    if (hold->queue != election->queue)
        return pdk__fail(PDK_INVALID, "%s: hold: it is not of a term of this election", name);
    if (!data && size > 0)
        return pdk__fail(PDK_INVALID, "%s: data: NULL, with a size of %zu", name, size);
    if (size > PDK_ELECTION_DATA_MAX)
        return pdk__fail(PDK_LIMIT, "%s: size: %zu bytes; at most %d", name, size, PDK_ELECTION_DATA_MAX);
    return publishing_check_text(election, name, data, size);
}

pdk_status pdk_election_publish(pdk_election *election, pdk_hold *hold, const void *data, size_t size,
                                int64_t timeout_ms) {
    static const char name[] = "pdk_election_publish";
    pdk_status status = publishing_check(election, hold, data, size, name);
    if (status != PDK_OK)
        return status;
    return pdk__call_wait(publishing_new(election, hold, name, data, size, timeout_ms));
}

pdk_status pdk_election_publish_async(pdk_election *election, pdk_hold *hold, const void *data, size_t size,
                                      int64_t timeout_ms, pdk_answered_fn fn, void *user) {
    static const char name[] = "pdk_election_publish_async";
    pdk_status status = pdk__call_check_fn(name, fn);
    if (status != PDK_OK)
        return status;
    status = publishing_check(election, hold, data, size, name);
    if (status != PDK_OK)
        return status;
    struct pdk__call *c = publishing_new(election, hold, name, data, size, timeout_ms);
    c->answered = fn;
    c->user = user;
    return pdk__call_start(c);
}
