/* The promises about asks to let go, and about breaks.
 *
 *     ASKS ── WISH: it stands in the first node, ahead of its identity ── TOLD, once for each
 *     ASKS with a token ── DELETED: the node that has it, or none
 *
 * That nothing is forced, checks_holds.c sees: a hold ends for no other reason than before. */
#include "checker.h"

#include <paddock/hold.h>
#include <paddock/status.h>

static struct checker_ask *ask_of(struct checker *c, int64_t id) {
    return id >= 0 && id < c->asks_count && c->asks[id].known ? &c->asks[id] : NULL;
}

bool checker_is_broken(struct checker *c, const struct checker_node *node) {
    for (int32_t i = 0; i < c->asks_count; i++)
        if (c->asks[i].known && !c->asks[i].is_over && !c->asks[i].other && c->asks[i].token == node->czxid &&
            c->asks[i].path == node->path) {
            c->met[MET_BROKEN]++;
            return true;
        }
    return false;
}

/* ---- a wish */

static void asks(struct checker *c, const struct history_event *e) {
    while (c->asks_count <= e->id)
        c->asks[c->asks_count++].known = false;
    c->asks[e->id] = (struct checker_ask){
        .token = e->a,
        .due = e->b,
        .deadline = e->extra,
        .asked_at = e->at,
        .session = e->number,
        .process = e->process,
        .path = e->path,
        .known = true,
        .other = e->passed != 0,
    };
}

static void note_written(struct checker_ask *ask, int64_t czxid) {
    int32_t i = 0;
    while (i < ask->count && ask->nodes[i].czxid != czxid)
        i++;
    if (i == (int32_t)(sizeof ask->nodes / sizeof ask->nodes[0]))
        return;
    if (i == ask->count)
        ask->nodes[ask->count++].czxid = czxid;
    ask->nodes[i].written++;
}

/* A counter at its end gives one number to several: whoever asks cannot tell which of them is older. */
static bool is_first(const struct checker *c, const struct checker_node *node) {
    const struct checker_node *first = checker_first(c, node->path);
    return first && first->sequence == node->sequence;
}

static void wish(struct checker *c, const struct history_event *e) {
    struct checker_ask *ask = ask_of(c, e->id);
    struct checker_node *node = checker_node_of(c, e->a);
    c->evaluated[CHECK_ASK_FIRST]++;
    c->met[MET_WISHES]++;
    if (!ask || ask->token != 0 || !node || node->gone || ask->path != node->path || !is_first(c, node))
        checker_break(c, CHECK_ASK_FIRST, e, "ask %d is written to node %llx", e->id, (unsigned long long)e->a);
    else if (node->identity_hash != e->b && e->count == 0)
        checker_break(c, CHECK_ASK_FIRST, e, "ask %d: the identity of number %d is gone", e->id, node->sequence);
    if (c->broken)
        return;
    note_written(ask, node->czxid);
    node->wished_at = e->at;
    node->wish = e->id;
    node->told = false;
}

/* ---- the holder */

static void told(struct checker *c, const struct history_event *e) {
    struct checker_hold *hold = e->id < c->holds_count && c->holds[e->id].known ? &c->holds[e->id] : NULL;
    struct checker_ask *ask = ask_of(c, e->a);
    struct checker_node *node = hold ? checker_node_of(c, hold->token) : NULL;
    int32_t i = 0;
    c->evaluated[CHECK_ASK_TOLD]++;
    c->met[MET_ASKED]++;
    while (ask && node && i < ask->count && ask->nodes[i].czxid != node->czxid)
        i++;
    const char *wrong = !ask || !node || i == ask->count                  ? "which was another's, or nobody's"
                        : ask->nodes[i].told == ask->nodes[i].written     ? "which was told before"
                        : (hold->released && !hold->let_go) || hold->lost ? "and it is over"
                        : c->sessions[hold->session].closed               ? "and its session is closed"
                                                                          : NULL;
    if (wrong) {
        checker_break(c, CHECK_ASK_TOLD, e, "p%d is told of ask %lld, %s", e->process, (long long)e->a, wrong);
        return;
    }
    ask->nodes[i].told++;
    node->heard = true;
    node->told = node->told || node->wish == (int32_t)e->a;
}

void checker_ask_granted(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, hold->token);
    c->evaluated[CHECK_ASK_HANDED] += hold->handover > 0;
    if (hold->handover > 0 && node && node->heard)
        checker_break(c, CHECK_ASK_HANDED, e, "p%d gets %llx/%u", hold->process, (unsigned long long)hold->token,
                      hold->handover);
}

/* Where nothing goes wrong it has been told of the newest wish, unless there was hardly the time. */
void checker_ask_released(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, hold->token);
    if (!c->calm || !c->listens || !node || node->wished_at == 0 || node->told || node->gone)
        return;
    int64_t since = node->wished_at > hold->received_at ? node->wished_at : hold->received_at;
    if (since < e->at - c->round_trips && checker_latest(c, hold->process, since + c->round_trips) < e->at)
        checker_break(c, CHECK_ASK_TOLD, e, "p%d is not told of ask %d in %.3f ms", hold->process, node->wish,
                      (double)(e->at - since) / 1e6);
}

/* ---- its answer */

static const char *wrong_break(struct checker *c, const struct checker_ask *ask, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, ask->token);
    c->met[MET_OTHER_TOKEN] += e->a == PDK_GONE && ask->other;
    if (c->misled_count > 0)
        return NULL;
    if (ask->other)
        return e->a == PDK_OK ? "and the node has another token" : NULL;
    if (e->a == PDK_OK)
        return !node || node->path != ask->path ? "and no node has that token"
               : !node->gone                    ? "and it stands"
               : node->gone_at < ask->asked_at  ? "and it was gone before"
                                                : NULL;
    return c->calm && node && node->path == ask->path && !node->gone ? "and it stands" : NULL;
}

static const char *wrong_answer(struct checker *c, const struct checker_ask *ask, const struct history_event *e) {
    const struct checker_session *session = &c->sessions[ask->session];
    switch (e->a) {
    case PDK_OK:
    case PDK_GONE:
        return ask->token != 0                     ? wrong_break(c, ask, e)
               : e->a == PDK_OK && ask->count == 0 ? "and it stands nowhere"
                                                   : NULL;
    case PDK_UNAVAILABLE:
        return e->clock >= ask->deadline ? NULL : "and there is time left";
    case PDK_CLOSED:
        return session->closing ? NULL : "and the session is open";
    default:
        return e->a > 0 && e->a < CHECKER_STATUSES && session->tainted[e->a] ? NULL : "for nothing";
    }
}

static void answered(struct checker *c, const struct history_event *e) {
    struct checker_ask *ask = ask_of(c, e->id);
    const char *wrong = !ask || ask->answered ? "for the second time" : wrong_answer(c, ask, e);
    c->evaluated[CHECK_ASK_ANSWER]++;
    if (!wrong && c->sessions[ask->session].closed)
        checker_break(c, CHECK_SILENCE, e, "ask %d", e->id);
    if (!wrong && e->at > checker_latest(c, ask->process, ask->due))
        wrong = "late";
    if (wrong)
        checker_break(c, CHECK_ASK_ANSWER, e, "ask %d: %s, %s", e->id, pdk_status_name((pdk_status)e->a), wrong);
    else
        ask->answered = true;
    if (ask)
        ask->is_over = e->a != PDK_UNAVAILABLE && e->a != PDK_CLOSED;
}

void checker_ask_event(struct checker *c, const struct history_event *e) {
    if (e->kind == HISTORY_ASKS)
        asks(c, e);
    else if (e->kind == HISTORY_WISH)
        wish(c, e);
    else if (e->kind == HISTORY_TOLD)
        told(c, e);
    else
        answered(c, e);
}

void checker_asks_end(struct checker *c, const struct history_event *e) {
    for (int32_t i = 0; i < c->asks_count; i++)
        if (c->asks[i].known && !c->asks[i].answered && !c->sessions[c->asks[i].session].closing)
            checker_break(c, CHECK_ASK_ANSWER, e, "ask %d of p%d has no answer", i, c->asks[i].process);
}
