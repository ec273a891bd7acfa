/* A member of a group: a candidate of an election that nobody loses.
 *
 *     /services/planner                     the group; nobody waits for anybody
 *        ├─ _c_…-member-0000000012          data: the member's
 *        └─ _c_…-member-0000000013
 *
 * Rule: nobody blocks. So a member is granted when the answer to its create shows its node, or after a lost answer a list, and the
 * lease is fresh. The candidate (election_candidate.c) registers it anew after each loss. Here is what an election does not have:
 * data that change.
 *
 *     set ──► the queue's data, for nodes to come ──► registered? ──► SET, if the version is the one that we wrote last
 *                                                          ▲               │ no answer, or another version
 *                                                          └── we wrote it ◄── GET ──► somebody else did: REPLACED
 */
#include "base/fork.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "election.h"
#include "election_candidate.h"
#include "grant/hold.h"
#include "grant/recipe.h"
#include "session/blocking.h"
#include "session/options.h"
#include "session/query.h"
#include "session/tokens.h"
#include "zk/errors.h"

#include <paddock/group.h>
#include <string.h>

/* The size of the first version of the struct. Never changes. */
#define CALLBACKS_FIRST_SIZE (offsetof(pdk_member_callbacks, user_free) + sizeof(void (*)(void *)))
/* The pause before a request is tried again on one connection. */
#define AGAIN_NS (50 * PDK__MS)

struct pdk_member {
    atomic_uint refs;
    pdk_election *election; /* ours alone: the candidate, and the queue with the data */
    /* under the monitor */
    bool busy;
    struct pdk__waiters turns; /* threads that wait for the set under way */
    int64_t token;             /* of the node that the next two are about */
    int32_t version;           /* that we have written last */
    GHashTable *unsure;        /* GBytes: each may have been written on top of that */
};

/* ---- joining and leaving */

pdk_status pdk_member_callbacks_init(pdk_member_callbacks *callbacks, size_t size) {
    static const pdk_member_callbacks defaults = PDK_MEMBER_CALLBACKS_INIT;
    return pdk__options_init("pdk_member_callbacks_init", callbacks, size, &defaults, sizeof defaults,
                             CALLBACKS_FIRST_SIZE);
}

static pdk_status check_data(const char *call, const void *data, size_t size) {
    if (!data && size > 0)
        return pdk__fail(PDK_INVALID, "%s: data: NULL, with a size of %zu", call, size);
    if (size > PDK_GROUP_DATA_MAX)
        return pdk__fail(PDK_LIMIT, "%s: size: %zu bytes; at most %d", call, size, PDK_GROUP_DATA_MAX);
    return PDK_OK;
}

static bool is_ours(const pdk_member *member) { return member->election->queue->s->forks == pdk__forks(); }

static pdk_status check(const pdk_member *member, const char *call) {
    if (!member)
        return pdk__fail(PDK_INVALID, "%s: member: NULL", call);
    if (!is_ours(member))
        return pdk__fail(PDK_FORKED, "%s: the member belongs to the parent process", call);
    return PDK_OK;
}

/* A size of 0 is the empty text. */
static void set_data(struct pdk__queue *queue, const void *data, size_t size) {
    g_free(queue->data);
    queue->data = size > 0 ? g_memdup2(data, size) : g_strdup("");
    queue->data_size = size;
}

static pdk_member *member_new(pdk_session *session, const char *path) {
    static const struct pdk__queue_kind kind = {
        .entry = {PDK__CURATOR, PDK__LABEL_MEMBER, {pdk__blocks_never, 0}, false},
        .recipe = "group",
        .mode = "shared",
        .shared = true,
        .reacquire = PDK__REACQUIRE_QUEUES,
    };
    struct pdk__handovers handovers;
    pdk__handovers_init(&handovers, 0, 0);
    pdk_member *member = g_new0(pdk_member, 1);
    atomic_init(&member->refs, 1);
    member->unsure = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    member->election = g_new0(pdk_election, 1);
    atomic_init(&member->election->refs, 1);
    member->election->kind = PDK__MEMBER;
    member->election->call = "pdk_group_join";
    member->election->queue = pdk__queue_new(session, path, &kind, handovers);
    return member;
}

pdk_status pdk_group_join(pdk_session *session, const char *path, const void *data, size_t size,
                          const pdk_member_callbacks *callbacks, pdk_member **out) {
    static const char call[] = "pdk_group_join";
    pdk_member_callbacks calls = PDK_MEMBER_CALLBACKS_INIT;
    pdk_election_callbacks inner = PDK_ELECTION_CALLBACKS_INIT;
    pdk_status status = pdk__recipe_check(session, path, out, call);
    if (status == PDK_OK)
        status = check_data(call, data, size);
    if (status == PDK_OK)
        status = pdk__options_read("callbacks", callbacks, &calls, sizeof calls, CALLBACKS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    inner.elected = calls.joined;
    inner.deposed = calls.lost;
    inner.failed = calls.failed;
    inner.user = calls.user;
    inner.user_free = calls.user_free;
    pdk_member *member = member_new(session, path), *before = *out;
    set_data(member->election->queue, data, size);
    /* A callback may give the member back before this returns. */
    pdk_election *election = pdk_election_ref(member->election);
    *out = member;
    status = pdk__candidacy_begin(election, &inner);
    pdk_election_unref(election);
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
    if (!member || !is_ours(member) || atomic_fetch_sub(&member->refs, 1) != 1)
        return;
    pdk_election_unref(member->election); /* leaves */
    g_hash_table_destroy(member->unsure);
    g_free(member);
}

pdk_status pdk_member_leave(pdk_member *member) {
    static const char call[] = "pdk_member_leave";
    pdk_status status = check(member, call);
    if (status == PDK_OK && (status = pdk__candidacy_leave(member->election)) != PDK_OK)
        pdk__fail(status, "%s: %s: it has left before", call, member->election->queue->dir);
    return status;
}

static pdk_status await(const pdk_member *member, const char *call, int64_t timeout_ms, pdk_hold **out) {
    pdk_status status = pdk__candidacy_await(member->election, timeout_ms, out);
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s: %s", call, member->election->queue->dir,
                  status == PDK_NOT_HELD   ? "it has left"
                  : status == PDK_CANCELED ? PDK__INTERRUPTED
                                           : pdk_status_text(status));
    return status;
}

pdk_status pdk_member_await(pdk_member *member, int64_t timeout_ms, pdk_hold **out) {
    static const char call[] = "pdk_member_await";
    pdk_status status = check(member, call);
    if (status == PDK_OK && !out)
        status = pdk__fail(PDK_INVALID, "%s: out: NULL", call);
    if (status == PDK_OK)
        status = pdk__may_block(member->election->queue->s, call, timeout_ms);
    return status == PDK_OK ? await(member, call, timeout_ms, out) : status;
}

/* ---- changing the data */

static const char set_call[] = "pdk_member_set";

/* One set, on the stack of its thread. */
struct setting {
    pdk_member *member;
    pdk_session *s;
    GBytes *data;
    pdk_hold *hold; /* a reference; of the registration that it writes to */
    int64_t deadline;
};

/* A request, and its answer. */
struct answer {
    struct pdk__query base;
    enum pdk__result result;
    int code;
    int64_t token;
    int32_t version;
    GBytes *data; /* of a GET */
};

static void answer_free(struct pdk__query *query) {
    struct answer *answer = (struct answer *)query;
    g_bytes_unref(answer->data);
    g_free(answer);
}

static void on_answer(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct answer *answer = user;
    if (reply) {
        answer->result = reply->result;
        answer->code = reply->code;
        answer->token = pdk__token_of(s, reply->token);
        answer->version = reply->version;
        answer->data = g_bytes_new(reply->data, reply->data_size);
    }
    pdk__query_answered(&answer->base, reply);
}

/* The answer; UNKNOWN, if it did not come in time. The caller has a reference. */
static struct answer *ask(const struct setting *c, struct pdk__request request) {
    struct answer *answer = g_new0(struct answer, 1);
    pdk__query_init(&answer->base, c->s, answer_free);
    answer->result = PDK__UNKNOWN;
    request.path = c->hold->node;
    if (pdk__send(c->s, request, on_answer, answer)) {
        answer->base.refs++;
        answer->base.in_flight++;
        pdk__query_wait(&answer->base, c->deadline);
    } else {
        answer->result = PDK__NOT_NOW;
    }
    return answer;
}

static void is_written(struct setting *c, int32_t version) {
    c->member->version = version;
    g_hash_table_remove_all(c->member->unsure);
}

/* What stands there. OK: our data. UNAVAILABLE: write again. */
static pdk_status look(struct setting *c) {
    pdk_member *m = c->member;
    struct answer *found = ask(c, (struct pdk__request){.kind = PDK__OP_GET});
    pdk_status status = PDK_UNAVAILABLE;
    if (found->result == PDK__OK && found->token == m->token && found->version != m->version) {
        bool ours = found->version == m->version + 1 && g_hash_table_contains(m->unsure, found->data);
        if (ours && g_bytes_equal(found->data, c->data))
            status = PDK_OK;
        else if (!ours)
            status = pdk__fail(PDK_REPLACED, "%s: %s: somebody else has written it; set it again to write over that",
                               set_call, c->hold->node);
        is_written(c, found->version);
    }
    pdk__query_unref(&found->base);
    return status;
}

/* One write. UNAVAILABLE: try again. */
static pdk_status write_once(struct setting *c) {
    pdk_member *m = c->member;
    if (m->token != c->hold->token) { /* another node, which we made: nobody has written it since, as far as we know */
        m->token = c->hold->token;
        is_written(c, 0);
    }
    struct pdk__request request = {.kind = PDK__OP_SET, .versioned = true, .version = m->version};
    request.data = g_bytes_get_data(c->data, &request.data_size);
    if (request.data_size == 0)
        request.data = "";
    int32_t wanted = m->version + 1;
    bool is_new = g_hash_table_add(m->unsure, g_bytes_ref(c->data)); /* also if this thread ends in the wait */
    struct answer *answer = ask(c, request);
    enum pdk__result result = answer->result;
    int code = answer->code;
    pdk__query_unref(&answer->base);
    if (is_new && result != PDK__UNKNOWN && result != PDK__OK) /* it was not carried out */
        g_hash_table_remove(m->unsure, c->data);
    if (result == PDK__OK) {
        is_written(c, wanted);
        return PDK_OK;
    }
    if (result == PDK__NOT_ALLOWED)
        return pdk__fail(PDK_NO_PERMISSION, "%s: %s: %s", set_call, c->hold->node, pdk__zk_code_name(code));
    return result == PDK__UNKNOWN || result == PDK__BAD_VERSION ? look(c) : PDK_UNAVAILABLE;
}

static bool is_over(const struct setting *c) { return pdk__now(c->s) >= c->deadline; }

/* Write to the registration that the hold stands for, until that is over. */
static pdk_status write_to_hold(struct setting *c) {
    pdk_status status = PDK_UNAVAILABLE;
    pdk__lock(c->s);
    while (c->s->ended == PDK_OK && pdk_hold_valid(c->hold) && !is_over(c)) {
        status = write_once(c);
        if (status != PDK_UNAVAILABLE)
            break;
        pdk__wait(c->s, &c->s->on_link, MIN(c->deadline, pdk__now(c->s) + AGAIN_NS));
    }
    pdk__unlock(c->s);
    return status;
}

static int64_t time_left_ms(const struct setting *c) {
    return c->deadline == INT64_MAX ? PDK_FOREVER : MAX(0, (c->deadline - pdk__now(c->s) + PDK__MS - 1) / PDK__MS);
}

static pdk_status set(struct setting *c) {
    for (;;) {
        pdk_status status = await(c->member, set_call, time_left_ms(c), &c->hold);
        if (status == PDK_OK)
            status = write_to_hold(c);
        if (status != PDK_UNAVAILABLE && status != PDK_TIMEOUT)
            return status;
        g_clear_pointer(&c->hold, pdk_hold_unref);
        if (is_over(c))
            return pdk__fail(PDK_UNAVAILABLE, "%s: %s: no server confirmed it within timeout_ms", set_call,
                             c->member->election->queue->dir);
    }
}

/* Under the monitor. */
static void end_turn(void *user) {
    struct setting *c = user;
    c->member->busy = false;
    pdk__wake(&c->member->turns);
}

/* Not under the monitor. */
static void end_call(void *user) {
    struct setting *c = user;
    pdk_hold_unref(c->hold);
    g_bytes_unref(c->data);
    pdk_member_unref(c->member);
}

/* Under the monitor. false: another set was under way for all the time. */
static bool begin_turn(struct setting *c) {
    while (c->member->busy)
        if (!pdk__wait(c->s, &c->member->turns, c->deadline))
            return false;
    c->member->busy = true;
    size_t size = 0;
    const void *bytes = g_bytes_get_data(c->data, &size);
    set_data(c->member->election->queue, bytes, size);
    return true;
}

static pdk_status set_in_turn(struct setting *c) {
    struct pdk__leave turn = {.after = end_call, .user = c}, leave = {.locked = end_turn, .user = c};
    pdk_status status = PDK_UNAVAILABLE;
    pdk__leave_push(&turn);
    pdk__lock(c->s);
    bool ours = begin_turn(c);
    pdk__unlock(c->s);
    if (ours) {
        pdk__leave_push(&leave);
        status = set(c);
        pdk__leave_pop();
        pdk__lock(c->s);
        end_turn(c);
        pdk__unlock(c->s);
    } else {
        pdk__fail(status, "%s: another call was under way for timeout_ms", set_call);
    }
    pdk__leave_pop();
    end_call(c);
    return status;
}

pdk_status pdk_member_set(pdk_member *member, const void *data, size_t size, int64_t timeout_ms) {
    pdk_status status = check(member, set_call);
    if (status == PDK_OK)
        status = check_data(set_call, data, size);
    if (status == PDK_OK)
        status = pdk__may_block(member->election->queue->s, set_call, timeout_ms);
    if (status != PDK_OK)
        return status;
    pdk_session *s = member->election->queue->s;
    struct setting c = {.member = pdk_member_ref(member),
                        .s = s,
                        .data = g_bytes_new(data, size),
                        .deadline = pdk__deadline(s, timeout_ms)};
    return set_in_turn(&c);
}
