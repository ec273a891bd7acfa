/* The election.
 *
 *     /services/planner                     a queue of nodes, the lowest sequence first
 *        ├─ _c_…-latch-0000000012   leads                     data: the candidate's identity, and its published data
 *        ├─ _c_…-latch-0000000013   waits    watches …12
 *        └─ _c_…-latch-0000000014   waits    watches …13
 *
 * Rule: everybody ahead blocks. The first in the queue leads.
 *
 *     election_candidate.c   candidates with callbacks, which queue again after each term (candidacy.h)
 *     election_service.c     functions that run while we lead
 *     election_observer.c    observers, which only hear of leaders
 *     election_data.c        the data that a leader publishes
 */
#include "election.h"

#include "base/fork.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "candidacy.h"
#include "election_candidate.h"
#include "grant/contenders.h"
#include "grant/recipe.h"
#include "lock_delay.h"
#include "session/blocking.h"
#include "session/options.h"

#include <string.h>

/* The sizes of the first versions of the structs. Never change. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_election_options, identity) + sizeof(char *))
#define CALLBACKS_FIRST_SIZE (offsetof(pdk_election_callbacks, user) + sizeof(void *))

pdk_status pdk_election_options_init(pdk_election_options *options, size_t size) {
    static const pdk_election_options defaults = PDK_ELECTION_OPTIONS_INIT;
    return pdk__options_init("pdk_election_options_init", options, size, &defaults, sizeof defaults,
                             OPTIONS_FIRST_SIZE);
}

pdk_status pdk_election_callbacks_init(pdk_election_callbacks *callbacks, size_t size) {
    static const pdk_election_callbacks defaults = PDK_ELECTION_CALLBACKS_INIT;
    return pdk__options_init("pdk_election_callbacks_init", callbacks, size, &defaults, sizeof defaults,
                             CALLBACKS_FIRST_SIZE);
}

static pdk_status election_read_options(const pdk_election_options *given, pdk_election_options *o) {
    pdk_status status = pdk__options_read("options", given, o, sizeof *o, OPTIONS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_check_naming(o->naming);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_check_identity(o->identity);
    return status == PDK_OK ? pdk__lock_delay_check(o->lock_delay_ms) : status;
}

pdk_status pdk_election_new(pdk_session *session, const char *path, const pdk_election_options *options,
                            pdk_election **out) {
    pdk_election_options o = PDK_ELECTION_OPTIONS_INIT;
    pdk_status status = pdk__recipe_check(session, path, out, "pdk_election_new");
    if (status != PDK_OK)
        return status;
    status = election_read_options(options, &o);
    if (status != PDK_OK)
        return status;
    struct pdk__queue_kind kind = {
        .entry = {pdk__recipe_profile(o.naming), PDK__LABEL_LATCH, {pdk__blocks_always, 0}, false},
        .recipe = "election",
        .mode = "leader",
    };
    struct pdk__handovers handovers;
    pdk__handovers_init(&handovers, 0, 0);
    pdk_election *election = g_new0(pdk_election, 1);
    atomic_init(&election->refs, 1);
    election->kind = kind.entry.profile == PDK__KAZOO ? PDK__WRITER : PDK__LATCH;
    election->queue = pdk__queue_new(session, path, &kind, handovers);
    election->queue->data = g_strdup(o.identity);
    pdk__lock_delay_keep(election->queue, o.lock_delay_ms);
    election->own = pdk__own_data_new();
    *out = election;
    return PDK_OK;
}

static bool election_is_ours(const pdk_election *election) { return election->queue->s->forks == pdk__forks(); }

static pdk_status election_check(const pdk_election *election, const char *call) {
    if (!election)
        return pdk__fail(PDK_INVALID, "%s: election: NULL", call);
    if (!election_is_ours(election))
        return pdk__fail(PDK_FORKED, "%s: the election belongs to the parent process", call);
    return PDK_OK;
}

pdk_election *pdk_election_ref(pdk_election *election) {
    if (election)
        atomic_fetch_add(&election->refs, 1);
    return election;
}

void pdk_election_unref(pdk_election *election) {
    if (!election || !election_is_ours(election) || atomic_fetch_sub(&election->refs, 1) != 1)
        return;
    pdk__candidacy_leave(election->queue->s, &election->candidacy);
    pdk__own_data_unref(election->own);
    pdk__queue_unref(election->queue);
    g_free(election);
}

pdk_status pdk__election_may_join(const pdk_election *election, const char *call) {
    pdk__assert_locked(election->queue->s);
    pdk_status status = pdk__session_usable(election->queue->s, call);
    if (status != PDK_OK)
        return status;
    if (election->candidacy || election->service)
        return pdk__fail(PDK_INVALID, "%s: %s: a candidate already; leave first, or use another pdk_election", call,
                         election->queue->dir);
    return PDK_OK;
}

pdk_status pdk_election_join(pdk_election *election, const pdk_election_callbacks *callbacks) {
    pdk_election_callbacks calls = PDK_ELECTION_CALLBACKS_INIT;
    pdk_status status = election_check(election, "pdk_election_join");
    if (status != PDK_OK)
        return status;
    status = pdk__options_read("callbacks", callbacks, &calls, sizeof calls, CALLBACKS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    pdk_election_ref(election); /* a callback may give the caller's reference back before this returns */
    status = pdk__candidate_begin(election, &calls);
    pdk_election_unref(election);
    return status;
}

pdk_status pdk_election_leave(pdk_election *election) {
    pdk_status status = election_check(election, "pdk_election_leave");
    if (status != PDK_OK)
        return status;
    status = pdk__candidacy_leave(election->queue->s, &election->candidacy);
    if (status != PDK_OK)
        pdk__fail(status, "pdk_election_leave: %s: not a candidate", election->queue->dir);
    return status;
}

pdk_status pdk_election_resign(pdk_election *election) {
    pdk_status status = election_check(election, "pdk_election_resign");
    if (status != PDK_OK)
        return status;
    status = pdk__candidacy_resign(election->queue->s, &election->candidacy);
    if (status != PDK_OK)
        pdk__fail(status, "pdk_election_resign: %s: not the leader", election->queue->dir);
    return status;
}

pdk_status pdk_election_wait(pdk_election *election, int64_t timeout_ms, pdk_hold **out) {
    static const char call[] = "pdk_election_wait";
    pdk_status status = election_check(election, call);
    if (status != PDK_OK)
        return status;
    if (!out)
        return pdk__fail(PDK_INVALID, "%s: out: NULL", call);
    status = pdk__may_block(election->queue->s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    status = pdk__candidacy_wait(election->queue->s, &election->candidacy, timeout_ms, out);
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s: %s", call, election->queue->dir,
                  status == PDK_NOT_HELD   ? "not a candidate"
                  : status == PDK_CANCELED ? PDK__INTERRUPTED
                                           : pdk_status_text(status));
    return status;
}

/* ---- the leader, and the candidates */

static pdk_status election_query(const pdk_election *election, const char *call, bool leader, int64_t timeout_ms,
                                 pdk_contenders **out) {
    pdk_status status = election_check(election, call);
    if (status != PDK_OK)
        return status;
    const struct pdk__queue *queue = election->queue;
    struct pdk__listing of = {queue->s, call, queue->dir, election->kind, leader, timeout_ms};
    return pdk__contenders_list(&of, out);
}

static pdk_status election_query_async(const pdk_election *election, const char *call, bool leader, int64_t timeout_ms,
                                       pdk_contenders_fn fn, void *user) {
    pdk_status status = election_check(election, call);
    if (status != PDK_OK)
        return status;
    const struct pdk__queue *queue = election->queue;
    struct pdk__listing of = {queue->s, call, queue->dir, election->kind, leader, timeout_ms};
    return pdk__contenders_list_async(&of, fn, user);
}

pdk_status pdk_election_leader(pdk_election *election, int64_t timeout_ms, pdk_contenders **out) {
    return election_query(election, "pdk_election_leader", true, timeout_ms, out);
}

pdk_status pdk_election_list(pdk_election *election, int64_t timeout_ms, pdk_contenders **out) {
    return election_query(election, "pdk_election_list", false, timeout_ms, out);
}

pdk_status pdk_election_leader_async(pdk_election *election, int64_t timeout_ms, pdk_contenders_fn fn, void *user) {
    return election_query_async(election, "pdk_election_leader_async", true, timeout_ms, fn, user);
}

pdk_status pdk_election_list_async(pdk_election *election, int64_t timeout_ms, pdk_contenders_fn fn, void *user) {
    return election_query_async(election, "pdk_election_list_async", false, timeout_ms, fn, user);
}
