/* A member of a group.
 *
 *     /services/planner                     the group; nobody waits for anybody
 *        ├─ _c_…-member-0000000012          data: the member's
 *        └─ _c_…-member-0000000013
 *
 * Rule: nobody blocks. So a member is granted when the lease is fresh and the answer to its create shows its node, or a
 * list does after a lost answer. Its candidacy (candidacy.h) registers it again after each loss. Here are its data,
 * which change.
 *
 *     set ──► the queue's data, for nodes to come ──► registered? ──► written to the node (own_data.h)
 *                        └── one is on its way, with the data from before: written when it is there (group_amend.h)
 */
#include "base/fork.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "candidacy.h"
#include "grant/hold.h"
#include "grant/recipe.h"
#include "group_amend.h"
#include "own_data.h"
#include "session/blocking.h"
#include "session/options.h"

#include <paddock/group.h>
#include <string.h>

/* The size of the first version of the struct. Never changes. */
#define CALLBACKS_FIRST_SIZE (offsetof(pdk_member_callbacks, user_free) + sizeof(void (*)(void *)))

static const char join[] = "pdk_group_join";

struct pdk_member {
    atomic_uint refs;
    struct pdk__queue *queue;         /* with the data for nodes to come; a reference */
    struct pdk__own_data *own;        /* of the present node; a reference */
    struct pdk__candidacy *candidacy; /* NULL: it has left. Under the monitor */
};

/* The member's candidacy. */
struct registration {
    struct pdk__candidacy candidacy;
    struct pdk__own_data *own; /* the member's, until it has left */
};

/* ---- joining and leaving */

pdk_status pdk_member_callbacks_init(pdk_member_callbacks *callbacks, size_t size) {
    static const pdk_member_callbacks defaults = PDK_MEMBER_CALLBACKS_INIT;
    return pdk__options_init("pdk_member_callbacks_init", callbacks, size, &defaults, sizeof defaults,
                             CALLBACKS_FIRST_SIZE);
}

static pdk_status member_check_data(const char *call, const void *data, size_t size) {
    if (!data && size > 0)
        return pdk__fail(PDK_INVALID, "%s: data: NULL, with a size of %zu", call, size);
    if (size > PDK_GROUP_DATA_MAX)
        return pdk__fail(PDK_LIMIT, "%s: size: %zu bytes; at most %d", call, size, PDK_GROUP_DATA_MAX);
    return PDK_OK;
}

static bool member_is_ours(const pdk_member *member) { return member->queue->s->forks == pdk__forks(); }

static pdk_status member_check(const pdk_member *member, const char *call) {
    if (!member)
        return pdk__fail(PDK_INVALID, "%s: member: NULL", call);
    if (!member_is_ours(member))
        return pdk__fail(PDK_FORKED, "%s: the member belongs to the parent process", call);
    return PDK_OK;
}

/* A size of 0 is the empty text. */
static void set_data(struct pdk__queue *queue, const void *data, size_t size) {
    g_free(queue->data);
    queue->data = size > 0 ? g_memdup2(data, size) : g_strdup("");
    queue->data_size = size;
    if (queue->entry) /* the entry may wait for a connection */
        pdk__entry_set_data(queue->entry, (struct pdk__node_data){queue->data, queue->data_size});
}

static pdk_member *member_new(pdk_session *session, const char *path) {
    static const struct pdk__queue_kind kind = {
        .entry = {PDK__CURATOR, PDK__LABEL_MEMBER, {pdk__blocks_never, 0}, false},
        .recipe = "group",
        .mode = "shared",
        .shared = true,
        .reacquire = PDK__REACQUIRE_QUEUES,
        .one_node = true,
    };
    struct pdk__handovers handovers;
    pdk__handovers_init(&handovers, 0, 0);
    pdk_member *member = g_new0(pdk_member, 1);
    atomic_init(&member->refs, 1);
    member->queue = pdk__queue_new(session, path, &kind, handovers);
    member->own = pdk__own_data_new();
    return member;
}

/* Its node may have been made with data that were replaced meanwhile. */
static void registration_begun(struct pdk__candidacy *c, pdk_hold *hold) {
    if (hold->grant->entries[0]->outdated)
        pdk__member_amend(((struct registration *)c)->own, hold);
}

/* Under the monitor. */
static void member_register(pdk_member *member, const pdk_member_callbacks *calls) {
    static const struct pdk__candidacy_kind kind = {join, registration_begun, NULL};
    const struct pdk__candidacy_calls inner = {calls->joined, calls->lost, calls->failed, calls->user,
                                               calls->user_free};
    struct registration *registration = g_new0(struct registration, 1);
    registration->own = member->own;
    pdk__candidacy_init(&registration->candidacy, &kind, member->queue, &inner);
    pdk__candidacy_begin(&registration->candidacy, &member->candidacy);
}

pdk_status pdk_group_join(pdk_session *session, const char *path, const void *data, size_t size,
                          const pdk_member_callbacks *callbacks, pdk_member **out) {
    pdk_member_callbacks calls = PDK_MEMBER_CALLBACKS_INIT;
    pdk_status status = pdk__recipe_check(session, path, out, join);
    if (status != PDK_OK)
        return status;
    status = member_check_data(join, data, size);
    if (status != PDK_OK)
        return status;
    status = pdk__options_read("callbacks", callbacks, &calls, sizeof calls, CALLBACKS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    pdk_member *member = member_new(session, path), *before = *out;
    /* A callback may give the member back before this returns, and the session. */
    struct pdk__queue *queue = pdk__queue_ref(member->queue);
    set_data(queue, data, size);
    *out = member;
    pdk__lock(queue->s);
    if ((status = pdk__session_usable(queue->s, join)) == PDK_OK)
        member_register(member, &calls);
    pdk__unlock(queue->s);
    pdk__queue_unref(queue);
    if (status != PDK_OK) {
        *out = before;
        pdk_member_unref(member);
    }
    return status;
}

pdk_member *pdk_member_ref(pdk_member *member) {
    if (member)
        atomic_fetch_add(&member->refs, 1);
    return member;
}

void pdk_member_unref(pdk_member *member) {
    if (!member || !member_is_ours(member) || atomic_fetch_sub(&member->refs, 1) != 1)
        return;
    pdk__candidacy_leave(member->queue->s, &member->candidacy);
    pdk__own_data_unref(member->own);
    pdk__queue_unref(member->queue);
    g_free(member);
}

pdk_status pdk_member_leave(pdk_member *member) {
    static const char call[] = "pdk_member_leave";
    pdk_status status = member_check(member, call);
    if (status != PDK_OK)
        return status;
    status = pdk__candidacy_leave(member->queue->s, &member->candidacy);
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s: it has left before", call, member->queue->dir);
    return status;
}

static const char *member_why_not(pdk_status status) {
    if (status == PDK_NOT_HELD)
        return "it has left";
    return status == PDK_CANCELED ? PDK__INTERRUPTED : pdk_status_text(status);
}

pdk_status pdk_member_wait(pdk_member *member, int64_t timeout_ms, pdk_hold **out) {
    static const char call[] = "pdk_member_wait";
    pdk_status status = member_check(member, call);
    if (status != PDK_OK)
        return status;
    if (!out)
        return pdk__fail(PDK_INVALID, "%s: out: NULL", call);
    status = pdk__may_block(member->queue->s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    status = pdk__candidacy_wait(member->queue->s, &member->candidacy, timeout_ms, out);
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s: %s", call, member->queue->dir, member_why_not(status));
    return status;
}

/* ---- changing the data */

struct setting {
    struct pdk__call call;
    struct pdk__own_write write;
    pdk_member *member;               /* a reference */
    struct pdk__candidacy *candidacy; /* a reference, once it is our turn */
    GPtrArray *holds;                 /* references; of the registrations that it wrote to */
};

static struct pdk__queue *queue_of(const struct setting *c) { return c->member->queue; }

/* It is our turn: from now on every new registration has the new data. */
static void set_begin_turn(struct setting *c) {
    size_t size = 0;
    const void *bytes = g_bytes_get_data(c->write.data, &size);
    if (c->candidacy)
        return;
    c->candidacy = pdk__candidacy_ref(c->member->candidacy);
    set_data(queue_of(c), bytes, size);
}

/* PDK__WAITS: it is not registered yet. NOT_HELD: it has left. */
static pdk_status set_find_hold(struct setting *c) {
    struct pdk__waiters *waiters = NULL;
    pdk_hold *hold = NULL;
    pdk_status status = c->candidacy ? pdk__candidacy_look(c->candidacy, &hold, &waiters) : PDK_NOT_HELD;
    if (status == PDK_OK) {
        g_ptr_array_add(c->holds, hold);
        c->write.hold = hold;
        return status;
    }
    if (status == PDK_TIMEOUT && !pdk__call_is_late(&c->call))
        return pdk__call_waits(&c->call, waiters, INT64_MAX);
    if (status == PDK_TIMEOUT)
        return pdk__fail(PDK_UNAVAILABLE, "%s: %s: no server confirmed it within timeout_ms", c->call.name,
                         queue_of(c)->dir);
    return pdk__fail(status, "%s: %s: %s", c->call.name, queue_of(c)->dir, member_why_not(status));
}

static void set_begin(struct pdk__call *call) { pdk__own_write_begin(&((struct setting *)call)->write); }

static pdk_status set_step(struct pdk__call *call) {
    struct setting *c = (struct setting *)call;
    pdk_status status = pdk__own_write_turn(&c->write);
    if (status != PDK_OK)
        return status;
    set_begin_turn(c);
    for (;;) {
        if (!c->write.hold)
            status = set_find_hold(c);
        if (status != PDK_OK)
            return status;
        status = pdk__own_write_step(&c->write, NULL);
        if (status != PDK_LOST && status != PDK_NOT_HELD)
            return status;
        c->write.hold = NULL; /* the next registration has the new data; there may be one already */
    }
}

static void set_leave(struct pdk__call *call) { pdk__own_write_leave(&((struct setting *)call)->write); }

static void set_free(struct pdk__call *call) {
    struct setting *c = (struct setting *)call;
    pdk__own_write_free(&c->write);
    g_ptr_array_unref(c->holds);
    pdk__candidacy_unref(c->candidacy);
    pdk_member_unref(c->member);
    g_free(c);
}

static struct pdk__call *setting_new(pdk_member *member, const char *name, const void *data, size_t size,
                                     int64_t timeout_ms) {
    static const struct pdk__call_kind kind = {set_begin, set_step, set_leave, NULL, set_free};
    struct setting *c = g_new0(struct setting, 1);
    c->call = pdk__call_make(&kind, member->queue->s, name, timeout_ms);
    c->member = pdk_member_ref(member);
    c->holds = g_ptr_array_new_with_free_func((GDestroyNotify)pdk_hold_unref);
    pdk__own_write_init(&c->write, &c->call, member->own, g_bytes_new(data, size));
    return &c->call;
}

pdk_status pdk_member_set_data(pdk_member *member, const void *data, size_t size, int64_t timeout_ms) {
    static const char name[] = "pdk_member_set_data";
    pdk_status status = member_check(member, name);
    if (status != PDK_OK)
        return status;
    status = member_check_data(name, data, size);
    return status == PDK_OK ? pdk__call_wait(setting_new(member, name, data, size, timeout_ms)) : status;
}

pdk_status pdk_member_set_data_async(pdk_member *member, const void *data, size_t size, int64_t timeout_ms,
                                     pdk_answered_fn fn, void *user) {
    static const char name[] = "pdk_member_set_data_async";
    pdk_status status = member_check(member, name);
    if (status != PDK_OK)
        return status;
    status = pdk__call_check_fn(name, fn);
    if (status != PDK_OK)
        return status;
    status = member_check_data(name, data, size);
    if (status != PDK_OK)
        return status;
    struct pdk__call *c = setting_new(member, name, data, size, timeout_ms);
    c->answered = fn;
    c->user = user;
    return pdk__call_start(c);
}
