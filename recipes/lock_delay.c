/* The gate of a lock with a lock-delay, and of an election: a claim is granted once the pledge of its node is made.
 *
 *     the one ahead goes ──► list ─────────────────────► first ─► grant     one round trip: both were sent together
 *                       └──► get the record, pledge ─────────────┘
 *                                                                  a broken pledge in that list: wait, then pledge
 *
 * The rule is in core/delay.h. The pledge belongs to the entry, which deletes it ahead of its node; a hand-over to the
 * next thread keeps both. A grant that is lost leaves it behind (grant/grant.c).
 */
#include "lock_delay.h"

#include "base/text.h"
#include "core/delay.h"
#include "grant/claim.h"
#include "grant/number.h"
#include "session/live_query.h"
#include "session/ops.h"
#include "session/renew.h"

/* One acquisition clears away so many broken pledges. Each unclean end leaves one. */
enum { CLEARED_AT_ONCE = 64 };
/* Without a fresh lease it looks again after this time, by which a barrier has been answered as a rule. */
#define FRESH_NS (20 * PDK__MS)

/* queue->user of a queue with a delay. */
struct keeper {
    struct pdk__delay delay;
    int32_t ms;
    char *record;       /* the path of the node that has the number of ms */
    GHashTable *broken; /* the names of the broken pledges in the newest list */
    bool clears;        /* they are to be deleted */
    struct question *question;
};

/* The record and the pledge of one node. */
struct question {
    struct pdk__live_query query;
    struct pdk__queue *queue;  /* until the query is stopped */
    struct keeper *keeper;     /* until then */
    struct pdk__entry *entry;  /* a reference */
    char *pledge;              /* the path */
    struct pdk__number number; /* in the record */
};

static struct keeper *keeper_of(const struct pdk__queue *queue) { return queue->user; }

static void stop(struct keeper *keeper) {
    struct question *question = g_steal_pointer(&keeper->question);
    if (question)
        pdk__live_query_stop(&question->query);
}

/* ---- the end of an admission */

static void delay_refuse(const struct question *question, pdk_status status, const char *why) {
    struct pdk__queue *queue = question->queue;
    if (queue->admitting)
        pdk__queue_refuse(queue, status, why);
}

static void on_cleared(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    (void)user;
    (void)reply; /* the next holder waits, and clears it away */
}

/* The delay is over, so nobody else needs to wait for the pledges that were broken before: clear them away. */
static void clear_away(struct pdk__queue *queue) {
    struct keeper *keeper = keeper_of(queue);
    GHashTableIter names;
    gpointer name;
    if (!keeper->clears)
        return;
    keeper->clears = false;
    g_hash_table_iter_init(&names, keeper->broken);
    for (int i = 0; i < CLEARED_AT_ONCE && g_hash_table_iter_next(&names, &name, NULL); i++) {
        char *path = g_strconcat(queue->dir, "/", (const char *)name, NULL);
        pdk__send(queue->s, (struct pdk__request){.kind = PDK__OP_DELETE, .path = path}, on_cleared, NULL);
        g_free(path);
    }
}

/* Grant, unless the lease is over: then the grant would not be received, but be lost, and its pledge would break. */
static void grant(struct pdk__queue *queue, struct question *question, int64_t now) {
    if (pdk__lease_fresh(&queue->s->lease, now)) {
        clear_away(queue);
        pdk__queue_admit(queue, NULL);
    } else {
        pdk__renew_now(queue->s);
        pdk__live_query_look_within(&question->query, FRESH_NS);
    }
}

/* Grant, wait, or ask. A try does not wait. */
static void delay_go_on(struct pdk__queue *queue) {
    struct keeper *keeper = keeper_of(queue);
    struct question *question = keeper->question;
    int64_t now = pdk__now(queue->s);
    if (!queue->admitting)
        return;
    switch (pdk__delay_next(&keeper->delay, queue->entry->pledged, now)) {
    case PDK__DELAY_WAIT:
        if (queue->admitting->is_try)
            pdk__queue_refuse(queue, PDK_BUSY, "the lock-delay runs: a holder has ended without a release");
        else
            pdk__live_query_look_within(&question->query, keeper->delay.until - now);
        break;
    case PDK__DELAY_PLEDGE:
        pdk__live_query_look(&question->query);
        break;
    case PDK__DELAY_GRANT:
        grant(queue, question, now);
        break;
    }
}

/* ---- the question */

static void delay_answered(struct question *question, bool fine) {
    pdk__live_query_done(&question->query, fine);
    pdk__live_query_unref(&question->query);
}

static bool delay_send(struct question *question, struct pdk__request request, pdk__done_fn done) {
    if (!pdk__send(question->query.s, request, done, question))
        return false;
    pdk__live_query_ref(&question->query);
    return true;
}

static void on_record(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct question *question = user;
    (void)s;
    pdk__number_take(&question->number, reply);
    pdk__live_query_unref(&question->query);
}

/* Nodes behind ours may have been listed while there was no record, and a contender whose turn comes need not list again
 * (ADR 44). Once there is one, whoever made it, our next node stands behind them. */
static void on_recorded(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct question *question = user;
    struct pdk__queue *queue = question->query.stopped ? NULL : question->queue;
    bool made = reply && (reply->result == PDK__OK || reply->result == PDK__NODE_EXISTS);
    (void)s;
    if (queue && made) {
        stop(question->keeper);
        pdk__queue_rejoin(queue);
    } else {
        pdk__live_query_again(&question->query);
    }
    delay_answered(question, made);
}

static void refuse_for_number(const struct question *question) {
    char *why = pdk__number_why(&question->number);
    delay_refuse(question, question->number.status, why);
    g_free(why);
}

/* Refused for good. */
static void refuse_pledge(const struct question *question, enum pdk__result result) {
    bool forbidden = result == PDK__NOT_ALLOWED;
    char *why = g_strdup_printf("%s: the pledge of a lock-delay cannot be made: %s", question->pledge,
                                forbidden ? "let this client create nodes there" : "the server refuses it");
    delay_refuse(question, forbidden ? PDK_NO_PERMISSION : PDK_UNSUPPORTED, why);
    g_free(why);
}

/* A quorum has the pledge. From here on the time for hand-overs runs. */
static void pledged(struct question *question) {
    struct pdk__queue *queue = question->queue;
    question->entry->pledged = true;
    pdk__handovers_granted(&queue->handovers, pdk__now(queue->s));
}

/* The answer to the pledge ends the question, unless the record must be made first. */
static void on_pledged(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct question *question = user;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    const struct pdk__number *number = &question->number;
    struct pdk__queue *queue = question->queue;
    bool made = result == PDK__OK || result == PDK__NODE_EXISTS, stopped = question->query.stopped, fine = false;
    (void)s;
    if (stopped || !reply) {
        ; /* nobody asks any more, or it is asked again on the next connection */
    } else if (result == PDK__NOT_ALLOWED || result == PDK__REFUSED) {
        refuse_pledge(question, result);
    } else if (number->status != PDK_OK) {
        refuse_for_number(question);
    } else if (number->says == PDK__NUMBER_AGREES && made) {
        fine = true;
        pledged(question);
    } else if (number->says == PDK__NUMBER_ABSENT && made) {
        struct pdk__request make = {.kind = PDK__OP_MKDIR, .path = number->path, .data = number->ours};
        if (delay_send(question, make, on_recorded)) { /* on_recorded ends the question */
            pdk__live_query_unref(&question->query);
            return;
        }
    }
    delay_answered(question, fine || stopped);
    if (fine)
        delay_go_on(queue);
}

/* An entry that leaves deletes its pledge: it is not made after that. */
static bool is_wanted(void *user) { return !((const struct question *)user)->entry->c.leaving; }

static void on_sent(pdk_session *s, void *user) {
    (void)s;
    (void)user;
}

static bool send_pledge(struct question *question) {
    static const struct pdk__turn turn = {is_wanted, on_sent};
    struct pdk__request make = {.kind = PDK__OP_MKDIR, .path = question->pledge, .data = ""};
    if (!pdk__send_in_turn(question->query.s, make, &turn, on_pledged, question))
        return false;
    pdk__live_query_ref(&question->query);
    return true;
}

static bool delay_ask(struct pdk__live_query *query) {
    struct question *question = (struct question *)query;
    struct pdk__entry *entry = question->entry;
    struct keeper *keeper = question->keeper;
    int64_t now = pdk__now(query->s);
    if (pdk__delay_next(&keeper->delay, entry->pledged, now) != PDK__DELAY_PLEDGE) {
        pdk__live_query_done(query, true);
        delay_go_on(question->queue); /* the query may be gone */
        return true;
    }
    if (!entry->pledge)
        entry->pledge = g_strdup(question->pledge);
    return delay_send(question, (struct pdk__request){.kind = PDK__OP_GET, .path = keeper->record}, on_record) &&
           send_pledge(question);
}

static void question_free(struct pdk__live_query *query) {
    struct question *question = (struct question *)query;
    pdk__entry_unref(question->entry);
    g_free(question->pledge);
    g_free(question);
}

/* The question about the queue's entry. NULL: its node has no UUID. */
static void delay_begin(struct pdk__queue *queue) {
    static const struct pdk__live_query_calls calls = {.ask = delay_ask, .free = question_free};
    struct keeper *keeper = keeper_of(queue);
    char name[PDK__NAME_SIZE];
    if (keeper->question)
        return;
    pdk__pledge_name(queue->entry->c.own, name);
    struct question *question = keeper->question = g_new0(struct question, 1);
    pdk__live_query_init(&question->query, queue->s, &calls);
    question->queue = queue;
    question->keeper = keeper;
    pdk__number_init(&question->number, keeper->record, keeper->ms, "ms of lock-delay");
    question->entry = pdk__entry_ref(queue->entry);
    question->pledge = g_strconcat(queue->dir, "/", name, NULL);
}

/* ---- the gate of the queue */

/* Forget an older pledge: another node of the same entry needs a pledge of its own, since the one before may count as
 * broken by now. A question that waits for the end of a delay has not made its pledge yet. */
static void forget_older(struct pdk__queue *queue) {
    struct pdk__entry *entry = queue->entry;
    const struct question *question = keeper_of(queue)->question;
    char name[PDK__NAME_SIZE];
    pdk__pledge_name(entry->c.own, name);
    if (question && !g_str_has_suffix(question->pledge, name))
        stop(keeper_of(queue));
    if (!entry->pledge || g_str_has_suffix(entry->pledge, name))
        return;
    stop(keeper_of(queue));
    pdk__entry_break_pledge(entry);
    entry->pledged = false;
}

static void enter(struct pdk__queue *queue, struct pdk_claim *claim) {
    pdk__assert_locked(queue->s);
    (void)claim;
    forget_older(queue);
    delay_begin(queue); /* also with a pledge: another one may have broken since, and then there is a delay */
    delay_go_on(queue);
}

/* The entry may be handed on, so its pledge stays. */
static void delay_leave(struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    stop(keeper_of(queue));
}

static void next(struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    forget_older(queue);
    delay_begin(queue);
    pdk__live_query_look(&keeper_of(queue)->question->query);
}

/* The pledges whose nodes are not in the list. A node that the leader says to be gone is no contender's there. */
static GHashTable *broken_in(const struct pdk__child *children, size_t count) {
    GHashTable *broken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    char name[PDK__NAME_SIZE];
    for (size_t i = 0; i < count; i++)
        if (pdk__is_pledge(children[i].text))
            g_hash_table_add(broken, g_strdup(children[i].text));
    for (size_t i = 0; i < count && g_hash_table_size(broken) > 0; i++)
        if (children[i].name.kind != PDK__FOREIGN && pdk__pledge_name(children[i].text, name))
            g_hash_table_remove(broken, name);
    return broken;
}

static void listed(struct pdk__queue *queue, const struct pdk__child *children, size_t count) {
    struct keeper *keeper = keeper_of(queue);
    GHashTable *broken = broken_in(children, count);
    GHashTableIter names;
    gpointer name;
    bool unknown = false;
    g_hash_table_iter_init(&names, broken);
    while (g_hash_table_iter_next(&names, &name, NULL))
        unknown |= !g_hash_table_contains(keeper->broken, name);
    keeper->clears = g_hash_table_size(broken) > 0;
    pdk__delay_listed(&keeper->delay, g_hash_table_size(broken) > 0, unknown, pdk__now(queue->s));
    g_hash_table_destroy(keeper->broken);
    keeper->broken = broken;
}

static void keeper_free(void *user) {
    struct keeper *keeper = user;
    g_hash_table_destroy(keeper->broken);
    g_free(keeper->record);
    g_free(keeper);
}

pdk_status pdk__lock_delay_check(int32_t lock_delay_ms) {
    if (lock_delay_ms >= 0)
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "options: lock_delay_ms is %d; 0 or more", lock_delay_ms);
}

void pdk__lock_delay_keep(struct pdk__queue *queue, int32_t lock_delay_ms) {
    static const struct pdk__gate gate = {enter, delay_leave, listed, next, delay_leave};
    if (lock_delay_ms == 0)
        return;
    struct keeper *keeper = g_new0(struct keeper, 1);
    pdk__delay_init(&keeper->delay, lock_delay_ms * PDK__MS);
    keeper->ms = lock_delay_ms;
    keeper->record = g_strconcat(queue->dir, "/" PDK__DELAY_RECORD, NULL);
    keeper->broken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    queue->kind.entry.delays = true;
    queue->gate = &gate;
    queue->user = keeper;
    queue->user_free = keeper_free;
}
