/* The promises about guarded znodes: who changes the content, that what was confirmed has landed, and what is answered.
 *
 *     CONTENT, by the order of the transactions:   c1 ── c2 ── c3 ── …   a rewrite leaves the same content
 *     GUARDED, the answer of a call                     begun ──── answered */
#include "checker.h"

#include <paddock/status.h>

static bool is_older(int64_t token, uint32_t handover, int64_t than, uint32_t than_handover) {
    return token < than || (token == than && handover < than_handover);
}

/* ---- the content */

static struct checker_hold *opener(struct checker *c, const struct history_event *e) {
    for (int32_t i = c->holds_count - 1; i >= 0; i--) {
        struct checker_hold *hold = &c->holds[i];
        if (hold->known && hold->path == e->path && hold->token == e->a && hold->handover == (uint32_t)e->sequence)
            return hold->guards ? hold : NULL;
    }
    return NULL;
}

static void check_writer(struct checker *c, const struct history_event *e) {
    const struct checker_path *path = &c->paths[e->path];
    const struct checker_node *node = checker_node_of(c, e->a);
    c->evaluated[CHECK_GUARDED_LATE]++;
    c->evaluated[CHECK_GUARDED_FOREIGN]++;
    if (is_older(e->a, (uint32_t)e->sequence, path->opened, path->opened_handover))
        checker_break(c, CHECK_GUARDED_LATE, e, "write %lld of %llx.%d, and %llx.%u had opened", (long long)e->b,
                      (unsigned long long)e->a, e->sequence, (unsigned long long)path->opened, path->opened_handover);
    if (!opener(c, e) || (node && node->session != e->extra))
        checker_break(c, CHECK_GUARDED_FOREIGN, e, "write %lld of %llx.%d%s", (long long)e->b, (unsigned long long)e->a,
                      e->sequence, node && node->session != e->extra ? ", by another session" : "");
}

static void check_order(struct checker *c, const struct checker_content *before, const struct history_event *e) {
    const struct checker_content *contents = c->contents[e->path];
    bool twice = false;
    for (const struct checker_content *one = contents; e->id != 0 && one <= before; one++)
        twice = twice || one->payload == e->id;
    bool over_later = before->token == e->a && before->handover == (uint32_t)e->sequence && before->number >= e->b;
    c->evaluated[CHECK_GUARDED_LOST]++;
    if (twice || over_later)
        checker_break(c, CHECK_GUARDED_LOST, e, "write %lld of %llx.%d lands %s", (long long)e->b,
                      (unsigned long long)e->a, e->sequence, twice ? "twice" : "over a later one");
}

static void content(struct checker *c, const struct history_event *e) {
    struct checker_path *path = &c->paths[e->path];
    struct checker_content *contents = c->contents[e->path];
    const struct checker_content *before = path->contents_count > 0 ? &contents[path->contents_count - 1] : NULL;
    if (before && before->token == e->a && before->handover == (uint32_t)e->sequence && before->number == e->b &&
        before->payload == e->id) {
        c->met[MET_GUARDED_REWRITTEN]++;
        return;
    }
    bool first = !before && e->a == 0 && e->id == 0;
    if (before)
        check_order(c, before, e);
    if (!first)
        check_writer(c, e);
    if (path->contents_count < HISTORY_CONTENTS)
        contents[path->contents_count++] = (struct checker_content){
            .token = e->a, .number = e->b, .at = e->at, .handover = (uint32_t)e->sequence, .payload = e->id};
}

/* ---- the answers */

/* Did anything of that kind stand at any moment of the call? */
static bool stood(const struct checker *c, const struct history_event *e,
                  bool (*is_it)(const struct checker_content *content, const struct history_event *e)) {
    const struct checker_content *contents = c->contents[e->path];
    for (int32_t i = c->paths[e->path].contents_count - 1; i >= 0; i--) {
        if (is_it(&contents[i], e))
            return true;
        if (contents[i].at < e->extra)
            return false; /* what stood before was over when the call began */
    }
    return false;
}

static bool is_read(const struct checker_content *content, const struct history_event *e) {
    return e->a == PDK_ABSENT ? content->payload == 0 : content->payload != 0 && content->payload == e->b;
}

static bool is_tombstone(const struct checker_content *content, const struct history_event *e) {
    (void)e;
    return content->payload == 0;
}

static bool is_payload(const struct checker_content *content, const struct history_event *e) {
    (void)e;
    return content->payload != 0;
}

/* Its own write, in this call. */
static bool has_landed(const struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    const struct checker_content *contents = c->contents[e->path];
    for (int32_t i = c->paths[e->path].contents_count - 1; i >= 0 && contents[i].at >= e->extra; i--)
        if (contents[i].payload == e->b && contents[i].token == hold->token && contents[i].handover == hold->handover)
            return true;
    return false;
}

static void opened(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    struct checker_path *path = &c->paths[e->path];
    hold->guards = true;
    c->met[MET_GUARDED_OPENED]++;
    if (is_older(path->opened, path->opened_handover, hold->token, hold->handover)) {
        path->opened = hold->token;
        path->opened_handover = hold->handover;
    }
}

/* Whoever's node was deleted by hand may read at a server that lags, until it hears of that. */
static void read_it(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    c->evaluated[CHECK_GUARDED_READ]++;
    c->met[MET_GUARDED_READ]++;
    if (!checker_has_removed_node(c, hold) && !stood(c, e, is_read))
        checker_break(c, CHECK_GUARDED_READ, e, "p%d's %llx reads %lld", e->process, (unsigned long long)hold->token,
                      (long long)e->b);
}

static void written(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    bool landed = has_landed(c, hold, e);
    c->met[MET_GUARDED_WRITTEN] += e->a == PDK_OK;
    c->met[MET_GUARDED_REFUSED] += e->a == PDK_LOST || e->a == PDK_NOT_HELD;
    c->met[MET_GUARDED_OPEN_FATE] += e->a == PDK_UNAVAILABLE;
    c->met[MET_GUARDED_LANDED] += e->a == PDK_UNAVAILABLE && landed;
    c->evaluated[CHECK_GUARDED_LOST]++;
    if (e->a == PDK_OK && !landed)
        checker_break(c, CHECK_GUARDED_LOST, e, "p%d's %llx was told that %lld is written", e->process,
                      (unsigned long long)hold->token, (long long)e->b);
}

/* What it says about the hold, or the node; NULL: it is so. */
static const char *wrong_status(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    const struct checker_session *session = &c->sessions[e->number];
    const struct checker_node *node = checker_node_of(c, hold->token);
    bool stale = checker_has_removed_node(c, hold); /* and it has yet to hear of that */
    bool over = !checker_is_valid(hold, e->at) || session->closed || session->closing;
    switch (e->a) {
    case PDK_OK:
        return hold->downgraded && hold->downgraded_at < e->extra ? "and it is a reader's" : NULL;
    case PDK_LOST:
        return over || hold->downgraded || !node || node->gone ? NULL : "and the hold stands";
    case PDK_NOT_HELD:
        return hold->released || over ? NULL : "and it was not released";
    case PDK_ABSENT:
        return e->count == CALL_GET || stale || stood(c, e, is_tombstone) ? NULL : "and there is a payload";
    case PDK_EXISTS:
        return stale || stood(c, e, is_payload) ? NULL : "and there is none";
    case PDK_REPLACED:
        return "and nobody else writes there";
    case PDK_UNAVAILABLE: /* clocks run at most twice as fast as the time */
        return e->at - e->extra >= e->passed * INT64_C(500000) ? NULL : "before its timeout";
    default:
        return (e->a > 0 && e->a < CHECKER_STATUSES && session->tainted[e->a]) || session->ended || over
                   ? NULL
                   : "for nothing";
    }
}

static void answered(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, hold->token);
    const char *wrong = node && checker_was_misled(c, node->session) ? NULL : wrong_status(c, hold, e);
    c->evaluated[CHECK_GUARDED_STATUS]++;
    if (wrong)
        checker_break(c, CHECK_GUARDED_STATUS, e, "p%d's %llx: %s, %s", e->process, (unsigned long long)hold->token,
                      pdk_status_name((pdk_status)e->a), wrong);
    if (e->count == CALL_OPEN && e->a == PDK_OK)
        opened(c, hold, e);
    else if (e->count == CALL_GET && (e->a == PDK_OK || e->a == PDK_ABSENT))
        read_it(c, hold, e);
    else if (e->count >= CALL_SET)
        written(c, hold, e);
}

void checker_guarded_event(struct checker *c, const struct history_event *e) {
    if (e->kind == HISTORY_CONTENT)
        content(c, e);
    else if (e->id < c->holds_count && c->holds[e->id].known)
        answered(c, &c->holds[e->id], e);
}
