/* The rendezvous. docs/adding-a-recipe.md walks through this file.
 *
 *     /jobs/start                          data: "open" once the rendezvous has opened
 *        ├─ _c_…-lock-0000000000  ┐
 *        ├─ _c_…-lock-0000000001  ├ present; those that wait watch the children of the directory
 *        └─ _c_…-lock-0000000002  ┘
 *
 *     present ─► ASK: list and watch, read the mark ──marked──────────────────────────► hold
 *                 ▲      │ too few: wait for the watch                                    ▲
 *                 └──────┴────────── enough: OPEN, write the mark ──a quorum committed it─┘
 *
 * Rule: nobody blocks. So an entry is admitted as soon as a list shows its node and the lease is fresh. The participant is
 * present then. A live query counts the participants while the queue's rendezvous (struct pdk__rendezvous) keeps the claim waiting.
 *
 * Why a mark: the first participants that pass may leave at once. A slower participant finds fewer than n nodes then. A quorum
 * commits the mark before anybody passes, so it is there before anybody who passed leaves.
 */
#include "rendezvous.h"

#include "base/text.h"
#include "grant/claim.h"
#include "grant/grant.h"
#include "grant/recipe.h"
#include "session/entries.h"
#include "session/live_query.h"
#include "session/ops.h"
#include "session/reap.h"

#include <string.h>

#define OPEN "open"

struct question;

/* One participant that waits. Belongs to its queue (queue->user). */
struct visit {
    int32_t participants;
    struct question *question; /* or NULL: it is not present yet */
};

/* Outlives the visit while answers are on their way. */
struct question {
    struct pdk__live_query query;
    struct pdk__queue *queue; /* not to be looked at once the query is stopped */
    const struct pdk_claim *claim;
    char *key;               /* of the watch on the children */
    bool watching;           /* the list under way leaves a watch */
    enum pdk__result listed; /* what came of the list */
    int32_t present;         /* how many participants it shows */
};

static bool nobody_blocks(enum pdk__kind theirs, enum pdk__kind mine) {
    (void)theirs;
    (void)mine;
    return false;
}

/* ---- the end of the wait: both stop the query */

static void pass(struct pdk__queue *queue) {
    struct pdk__entry *entry = g_steal_pointer(&queue->entry); /* from now on the grant's */
    pdk__queue_admit(queue, pdk__grant_new(queue, &entry, 1, 0));
}

static void refuse(struct pdk__queue *queue, enum pdk__result result, const char *why) {
    pdk__queue_refuse(queue, result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : PDK_UNSUPPORTED, why);
}

static bool is_refusal(enum pdk__result result) { return result == PDK__NOT_ALLOWED || result == PDK__REFUSED; }

/* ---- the questions */

/* The end of a question. Not fine: it must be asked again. */
static void answered(struct question *question, bool fine) {
    pdk__live_query_done(&question->query, fine);
    pdk__live_query_unref(&question->query);
}

static bool send(struct question *question, struct pdk__request request, pdk__done_fn done) {
    request.path = question->queue->dir;
    if (!pdk__send(question->query.s, request, done, question))
        return false;
    pdk__live_query_ref(&question->query);
    return true;
}

/* If the answer is lost, the next question finds the mark, or writes it again. */
static void on_opened(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct question *question = user;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    (void)s;
    if (!question->query.stopped && result == PDK__OK)
        pass(question->queue);
    else if (!question->query.stopped && is_refusal(result))
        refuse(question->queue, result, "the mark of the rendezvous cannot be written");
    answered(question, result == PDK__OK);
}

/* The list and the mark have come in, in this order. */
static void decide(struct question *question, const struct pdk__reply *mark) {
    struct pdk__queue *queue = question->queue;
    const struct visit *visit = queue->user;
    bool fine = true;
    if (mark->data_size == strlen(OPEN) && memcmp(mark->data, OPEN, mark->data_size) == 0) {
        pass(queue);
    } else if (question->present >= visit->participants) {
        fine = send(question, (struct pdk__request){.kind = PDK__OP_SET, .data = OPEN}, on_opened);
        if (fine) { /* on_opened ends the question */
            pdk__live_query_unref(&question->query);
            return;
        }
    } else if (question->claim->is_try) {
        pdk__queue_refuse(queue, PDK_BUSY, "too few are present");
    } else if (!question->watching) {
        pdk__queue_refuse(queue, PDK_LIMIT, PDK__WATCHES_LIMIT);
    }
    answered(question, fine);
}

static void on_mark(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct question *question = user;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    bool refused = is_refusal(result) || is_refusal(question->listed);
    (void)s;
    if (!question->query.stopped && result == PDK__OK && question->listed == PDK__OK) {
        decide(question, reply);
        return;
    }
    if (!question->query.stopped && refused)
        refuse(question->queue, is_refusal(result) ? result : question->listed, "the rendezvous may not be read");
    answered(question, refused);
}

/* A node of ours that is being deleted does not count: its participant has given up. */
static void count(struct question *question, const struct pdk__reply *reply) {
    struct pdk__queue *queue = question->queue;
    question->present = 0;
    pdk__reap_orphans(queue->s, queue->dir, "", reply->children, reply->children_count);
    for (size_t i = 0; i < reply->children_count; i++) {
        struct pdk__name name;
        bool participant = pdk__name_parse(reply->children[i], &name) && name.kind == PDK__WRITER;
        question->present += participant && !pdk__entries_is_leaving(queue->s, queue->dir, reply->children[i]);
    }
}

static void on_listed(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct question *question = user;
    (void)s;
    question->listed = reply ? reply->result : PDK__UNKNOWN;
    if (reply && reply->result != PDK__OK)
        pdk__live_query_unset(&question->query, question->key);
    else if (reply && !question->query.stopped)
        count(question, reply);
    pdk__live_query_unref(&question->query);
}

/* The list comes before the mark. Participants that passed have left after the mark was written. So a list without them is
 * followed by a mark that says "open". */
static bool ask(struct pdk__live_query *query) {
    struct question *question = (struct question *)query;
    question->watching = !question->claim->is_try && pdk__live_query_watch(query, question->key);
    if (!send(question, (struct pdk__request){.kind = PDK__OP_LIST, .watch = question->watching}, on_listed)) {
        pdk__live_query_unset(query, question->key);
        return false;
    }
    return send(question, (struct pdk__request){.kind = PDK__OP_GET}, on_mark);
}

static void question_free(struct pdk__live_query *query) {
    struct question *question = (struct question *)query;
    g_free(question->key);
    g_free(question);
}

/* ---- the queue's rendezvous: the participant is present; it is not present any more, or the wait is over */

static void enter(struct pdk__queue *queue, struct pdk_claim *claim) {
    static const struct pdk__live_query_calls calls = {.ask = ask, .free = question_free};
    struct visit *visit = queue->user;
    struct question *question = g_new0(struct question, 1);
    pdk__live_query_init(&question->query, queue->s, &calls);
    question->queue = queue;
    question->claim = claim;
    question->key = pdk__watches_children_key(queue->dir);
    visit->question = question;
    pdk__live_query_look(&question->query);
}

static void leave(struct pdk__queue *queue) {
    struct visit *visit = queue->user;
    pdk__live_query_stop(&g_steal_pointer(&visit->question)->query);
}

/* ---- the call */

/* A queue for each participant: those of one process have a node each. */
static struct pdk__queue *queue_new(pdk_session *session, const char *path, int32_t participants) {
    static const struct pdk__gate at_the_gate = {.enter = enter, .leave = leave};
    static const struct pdk__queue_kind kind = {
        .entry = {PDK__CURATOR, PDK__LABEL_LOCK, {nobody_blocks, 0}, false},
        .recipe = "rendezvous",
        .mode = "shared",
        .shared = true,
        .reacquire = PDK__REACQUIRE_QUEUES,
    };
    struct pdk__handovers none;
    struct visit *visit = g_new0(struct visit, 1);
    pdk__handovers_init(&none, 0, 0);
    struct pdk__queue *queue = pdk__queue_new(session, path, &kind, none);
    visit->participants = participants;
    queue->gate = &at_the_gate;
    queue->user = visit;
    queue->user_free = g_free;
    return queue;
}

pdk_status rendezvous_enter(pdk_session *session, const char *path, int32_t participants, int64_t timeout_ms,
                            pdk_hold **out) {
    static const char call[] = "rendezvous_enter";
    pdk_status status = pdk__recipe_check(session, path, out, call);
    if (status == PDK_OK && (participants < 1 || participants > RENDEZVOUS_PARTICIPANTS_MAX))
        status = pdk__fail(PDK_INVALID, "%s: participants is %d; from 1 to %d", call, participants,
                           RENDEZVOUS_PARTICIPANTS_MAX);
    if (status != PDK_OK)
        return status;
    struct pdk__queue *queue = queue_new(session, path, participants);
    status = pdk__claim_wait(queue, 1, timeout_ms, call, out);
    pdk__queue_unref(queue); /* the hold has a reference of its own */
    return status;
}
