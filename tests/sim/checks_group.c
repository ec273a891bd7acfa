/* The promises about groups: a member has one node, with the data that it has set; and what watchers are told.
 *
 *     committed:  a joins   b joins   a's data   b leaves          each watcher goes along, and never back
 *     states:   {} ── {a} ── {a b} ── {a' b} ── {a'}
 *     told:                 {a b}exact           {a'}exact          each exact view is a later one of these states
 *
 * A state is known by the zxid of its newest change. checks_candidates.c looks at the registrations, as terms. */
#include "checker.h"

#include <paddock/status.h>

/* ---- the data of a node */

static const struct checker_data *data_at(const struct checker *c, const struct checker_node *node, int64_t zxid) {
    for (int32_t i = c->data_count - 1; i >= 0; i--)
        if (&c->nodes[c->data[i].node] == node && c->data[i].zxid <= zxid)
            return &c->data[i];
    return NULL;
}

/* When those data stood no more. */
static int64_t end_of(const struct checker *c, const struct checker_node *node, int64_t zxid) {
    int64_t end = node->gone ? node->gone_zxid : INT64_MAX;
    for (int32_t i = c->data_count - 1; i >= 0 && c->data[i].zxid > zxid; i--)
        if (&c->nodes[c->data[i].node] == node && c->data[i].zxid < end)
            end = c->data[i].zxid;
    return end;
}

static void data_add(struct checker *c, const struct checker_node *node, int64_t zxid, int64_t data) {
    c->group_zxid = zxid;
    if (c->data_count < HISTORY_DATA)
        c->data[c->data_count++] = (struct checker_data){zxid, data, (int32_t)(node - c->nodes)};
}

/* A client gives a session up whose node it may not delete. The servers may hear of the next session first. */
static bool was_given_up(const struct checker *c, const struct checker_node *node) {
    const struct checker_session *session = &c->sessions[c->candidacies[node->identity].session];
    return session->tainted[PDK_NO_PERMISSION] && session->retired_at >= node->created_at;
}

/* A leader that was deposed may say that a session has ended, which goes on. A client gives a session up after answers that make no sense. */
static bool may_be_second(const struct checker *c, const struct checker_node *node, const struct checker_node *other) {
    return checker_was_misled(c, other->session) ||
           (node->session != other->session && (!c->servers_well || was_given_up(c, other)));
}

void checker_member_created(struct checker *c, const struct checker_node *node, const struct history_event *e) {
    if (c->paths[node->path].recipe != PLAN_RECIPE_GROUP)
        return;
    data_add(c, node, node->czxid, e->clock);
    c->evaluated[CHECK_MEMBER_NODES]++;
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *other = &c->nodes[c->live[i]];
        if (other != node && other->path == node->path && other->identity == node->identity &&
            !may_be_second(c, node, other))
            checker_break(c, CHECK_MEMBER_NODES, e, "member %d: numbers %d and %d", node->identity, other->sequence,
                          node->sequence);
    }
}

void checker_member_deleted(struct checker *c, struct checker_node *node, const struct history_event *e) {
    node->gone_zxid = e->clock;
    if (c->paths[node->path].recipe == PLAN_RECIPE_GROUP)
        c->group_zxid = e->clock;
}

void checker_member_changed(struct checker *c, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, e->a);
    if (node)
        data_add(c, node, e->extra, e->b);
}

/* ---- setting data */

static const struct checker_node *node_of_member(const struct checker *c, int32_t member, int32_t *count) {
    const struct checker_node *found = NULL;
    *count = 0;
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *node = &c->nodes[c->live[i]];
        if (c->paths[node->path].recipe == PLAN_RECIPE_GROUP && node->identity == member) {
            found = node;
            ++*count;
        }
    }
    return found;
}

bool checker_has_one_node(const struct checker *c, int32_t member) {
    int32_t count;
    node_of_member(c, member, &count);
    return count == 1;
}

static bool was_written(const struct checker *c, int64_t data) {
    for (int32_t i = c->data_count - 1; i >= 0; i--)
        if (c->data[i].data == data)
            return true;
    return false;
}

/* Somebody else wrote there. */
static bool was_replaced(const struct checker *c, int32_t member) {
    for (int32_t i = 0; i < c->data_count; i++)
        if (c->nodes[c->data[i].node].identity == member && c->data[i].data >> 32 != member)
            return true;
    return false;
}

static const char *wrong_answer(const struct checker *c, const struct checker_candidacy *member,
                                const struct history_event *e) {
    const struct checker_session *session = &c->sessions[member->session];
    switch (e->b) {
    case PDK_OK:
        return was_written(c, e->a) ? NULL : "and no server has it";
    case PDK_UNAVAILABLE:
        return e->clock >= member->deadline ? NULL : "and there is time left";
    case PDK_REPLACED:
        return was_replaced(c, e->id) || session->tainted[PDK_UNSUPPORTED] ? NULL : "and nobody else wrote";
    case PDK_NOT_HELD:
        return member->left ? NULL : "and it has not left";
    case PDK_CLOSED:
        return session->closing ? NULL : "and the session is open";
    default:
        return e->b >= 0 && e->b < CHECKER_STATUSES && session->tainted[e->b] ? NULL : "for no reason";
    }
}

static void amended(struct checker *c, struct checker_candidacy *member, const struct history_event *e) {
    const char *wrong = wrong_answer(c, member, e);
    c->evaluated[CHECK_MEMBER_DATA]++;
    c->met[MET_AMENDED] += e->b == PDK_OK;
    c->met[MET_UNSURE] += e->b == PDK_UNAVAILABLE;
    if (wrong || !member->amends || e->a != member->data)
        checker_break(c, CHECK_MEMBER_DATA, e, "member %d of p%d: %s, %s", e->id, member->process,
                      pdk_status_name((pdk_status)e->b), wrong ? wrong : "which it did not ask");
    c->evaluated[CHECK_DEADLINE]++;
    if (e->at > checker_latest(c, member->process, member->due))
        checker_break(c, CHECK_DEADLINE, e, "member %d of p%d, by %.3f ms", e->id, member->process,
                      (double)(e->at - member->due) / 1e6);
    member->amends = false;
    member->stands = e->b == PDK_OK;
}

void checker_member_event(struct checker *c, const struct history_event *e) {
    struct checker_candidacy *member = &c->candidacies[e->id];
    if (e->kind == HISTORY_AMENDED) {
        amended(c, member, e);
    } else if (e->kind == HISTORY_PARTED) {
        c->evaluated[CHECK_MEMBER_FREED]++;
        if (member->freed)
            checker_break(c, CHECK_MEMBER_FREED, e, "member %d of p%d, twice", e->id, member->process);
        member->freed = true;
    } else {
        member->data = e->a;
        member->due = e->b;
        member->deadline = e->extra;
        member->amends = true;
        member->stands = false;
    }
}

/* Of the same member; an admin may have written since. */
static bool is_older(int64_t data, int32_t member, int64_t wanted) { return data >> 32 == member && data != wanted; }

/* Everybody is registered, once, with the data that were set last. */
void checker_members_settled(struct checker *c, const struct history_event *e) {
    for (int32_t i = 0; i < c->candidacies_count; i++) {
        const struct checker_candidacy *member = &c->candidacies[i];
        const struct checker_session *session = &c->sessions[member->session];
        if (!member->known || member->left || session->closing || c->paths[member->path].recipe != PLAN_RECIPE_GROUP)
            continue;
        int32_t count;
        const struct checker_node *node = node_of_member(c, i, &count);
        c->evaluated[CHECK_MEMBER_NODES]++;
        c->evaluated[CHECK_MEMBER_DATA]++;
        if (count != 1)
            checker_break(c, CHECK_MEMBER_NODES, e, "member %d of p%d has %d", i, member->process, count);
        else if (member->stands && is_older(data_at(c, node, INT64_MAX)->data, i, member->data))
            checker_break(c, CHECK_MEMBER_DATA, e, "write %d of member %d of p%d is gone", (int32_t)member->data, i,
                          member->process);
    }
}

void checker_members_end(struct checker *c, const struct history_event *e) {
    for (int32_t i = 0; i < c->candidacies_count; i++) {
        const struct checker_candidacy *member = &c->candidacies[i];
        if (member->known && member->left && !member->freed && !c->sessions[member->session].closing &&
            c->paths[member->path].recipe == PLAN_RECIPE_GROUP)
            checker_break(c, CHECK_MEMBER_FREED, e, "member %d of p%d, never", i, member->process);
    }
}

/* ---- what watchers are told */

/* Of that node, to that watcher, or NULL. */
static struct checker_report *report_of(struct checker *c, int32_t observer, int64_t token) {
    for (int32_t i = c->reports_count - 1; i >= 0; i--)
        if (c->reports[i].observer == observer && c->reports[i].token == token)
            return &c->reports[i];
    return NULL;
}

static void differs(struct checker *c, const struct history_event *e) {
    struct checker_report *report = report_of(c, e->id, e->extra);
    const char *wrong = e->extra < 0                        ? "is of two nodes, or of none"
                        : !report && e->a                   ? "changed, and was not told before"
                        : report && report->left            ? "comes back"
                        : report && report->changed != e->a ? "changed from what it was not"
                        : e->b && e->b <= e->a              ? "is told older data"
                                                            : NULL;
    c->evaluated[CHECK_VIEW_ORDER]++;
    c->met[MET_CHANGED] += e->a && e->b;
    if (wrong)
        checker_break(c, CHECK_VIEW_ORDER, e, "p%d's watcher %d: %llx %s", e->process, e->id,
                      (unsigned long long)e->extra, wrong);
    if (!report && c->reports_count < HISTORY_REPORTS) {
        report = &c->reports[c->reports_count++];
        *report = (struct checker_report){.token = e->extra, .observer = e->id};
    }
    if (!report)
        return;
    report->changed = e->b;
    report->left = e->b == 0;
}

/* As the servers had it, and as the differences say. */
static void shown(struct checker *c, struct checker_observer *o, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, e->a);
    const struct checker_data *data = node ? data_at(c, node, e->b) : NULL;
    const struct checker_report *report = report_of(c, e->id, e->a);
    c->evaluated[CHECK_VIEW_MEMBER]++;
    if (!data || node->path != o->path || node->sequence != e->sequence || node->session != e->clock ||
        data->zxid != e->b || data->data != e->extra || e->mode != PDK_OK)
        checker_break(c, CHECK_VIEW_MEMBER, e, "p%d's watcher %d: %llx, changed by %llx", e->process, e->id,
                      (unsigned long long)e->a, (unsigned long long)e->b);
    else if (!report || report->left || report->changed != e->b || e->a <= o->shown_last)
        checker_break(c, CHECK_VIEW_ORDER, e, "p%d's watcher %d: %llx is in the view, and not by its differences",
                      e->process, e->id, (unsigned long long)e->a);
    o->shown_last = e->a;
    o->shown++;
}

/* Does the view stand from a state on, until another one? All others are absent. */
static bool stood(struct checker *c, const struct checker_observer *o, int32_t id, int64_t *from) {
    int64_t until = INT64_MAX;
    for (int32_t i = 0; i < c->reports_count; i++) {
        const struct checker_report *report = &c->reports[i];
        if (report->observer != id || report->left)
            continue;
        int64_t end = end_of(c, checker_node_of(c, report->token), report->changed);
        *from = report->changed > *from ? report->changed : *from;
        until = end < until ? end : until;
    }
    for (int32_t i = 0; i < c->nodes_count; i++) { /* in the order in which they came */
        const struct checker_node *node = &c->nodes[i];
        const struct checker_report *report = node->path == o->path ? report_of(c, id, node->czxid) : NULL;
        bool absent = node->path == o->path && (!report || report->left);
        if (absent && node->czxid <= *from && (!node->gone || node->gone_zxid > *from)) {
            *from = node->gone ? node->gone_zxid : INT64_MAX;
            i = -1;
        }
        if (*from >= until)
            return false;
    }
    return true;
}

static void viewed(struct checker *c, struct checker_observer *o, const struct history_event *e) {
    int32_t present = 0;
    for (int32_t i = 0; i < c->reports_count; i++)
        present += c->reports[i].observer == e->id && !c->reports[i].left;
    c->evaluated[CHECK_VIEW_ORDER]++;
    c->met[e->b ? MET_VIEWS : MET_INEXACT]++;
    if (e->a != ++o->views || e->count != o->shown || present != o->shown)
        checker_break(c, CHECK_VIEW_ORDER, e,
                      "p%d's watcher %d: view %lld has %d members, and the differences lead to %d", e->process, e->id,
                      (long long)e->a, o->shown, present);
    o->shown = 0;
    o->shown_last = 0;
    o->told = e->b != 0;
    bool is_exact = e->b && !c->broken && !c->sessions[o->session].tainted[PDK_NO_PERMISSION];
    c->evaluated[CHECK_VIEW_EXACT] += is_exact; /* servers keep back events of a directory that may not be read */
    if (is_exact && !stood(c, o, e->id, &o->live_token))
        checker_break(c, CHECK_VIEW_EXACT, e, "p%d's watcher %d: view %lld never stood since the one before",
                      e->process, e->id, (long long)e->a);
}

void checker_view_event(struct checker *c, struct checker_observer *o, const struct history_event *e) {
    c->evaluated[CHECK_AFTER_LEFT]++;
    if (c->sessions[o->session].closed)
        checker_break(c, CHECK_SILENCE, e, "watcher %d of p%d is told", e->id, o->process);
    if (o->stopped || o->freed)
        checker_break(c, CHECK_AFTER_LEFT, e, "watcher %d of p%d is told", e->id, o->process);
    o->blind = o->blind || (e->kind == HISTORY_DIFFERENCE && e->extra == UNREADABLE &&
                            c->sessions[o->session].tainted[PDK_NO_PERMISSION]);
    if (o->blind || c->processes[o->process].misled)
        return;
    if (e->kind == HISTORY_DIFFERENCE)
        differs(c, e);
    else if (e->kind == HISTORY_MEMBER)
        shown(c, o, e);
    else
        viewed(c, o, e);
}

bool checker_sees(struct checker *c, const struct checker_observer *o) {
    int64_t now = c->group_zxid;
    return o->blind || (o->told && stood(c, o, (int32_t)(o - c->observers), &now));
}
