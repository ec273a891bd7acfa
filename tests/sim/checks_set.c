/* The promises about sets of rights: delivered whole, valid exactly while each part is, and lost once.
 *
 *     CLAIM ── RIGHT… ── PART… ── ANSWER ──► valid ── a part is over ──► SET_LOST, once
 *                                              └── SET_RELEASED ──► over, and never SET_LOST
 *
 * The parts are holds as others are: checks_holds.c looks at each, from the moment at which the driver has it. */
#include "checker.h"

#include <paddock/status.h>

static struct checker_hold *part_of(struct checker *c, const struct checker_set *set, int32_t place) {
    int32_t hold = set->part[place];
    return hold >= 0 && hold < c->holds_count && c->holds[hold].known ? &c->holds[hold] : NULL;
}

static bool is_valid(struct checker *c, const struct checker_set *set, int64_t at) {
    bool valid = true;
    for (int32_t i = 0; i < set->count; i++)
        valid = valid && part_of(c, set, i) && checker_is_valid(part_of(c, set, i), at);
    return valid;
}

static int64_t over_at(struct checker *c, const struct checker_set *set) {
    int64_t first = INT64_MAX;
    for (int32_t i = 0; i < set->count; i++) {
        const struct checker_hold *part = part_of(c, set, i);
        if (part && checker_over_at(part) < first)
            first = checker_over_at(part);
    }
    return first;
}

/* ---- it is delivered */

static const char *wrong_part(struct checker *c, const struct checker_set *set, int32_t place, int64_t at) {
    const struct checker_hold *part = part_of(c, set, place);
    return !part                                ? "is missing"
           : part->path != set->path[place]     ? "is one of another path"
           : part->mode != set->mode[place]     ? "is of another kind"
           : part->count != set->permits[place] ? "has another number of permits"
           : part->nodes_count != part->count   ? "has too few nodes"
           : part->received || part->released   ? "is somebody's already"
           : !checker_is_valid(part, at)        ? "is over"
                                                : NULL;
}

void checker_set_delivered(struct checker *c, const struct checker_claim *claim, const struct history_event *e) {
    struct checker_set *set = &c->sets[e->id];
    c->evaluated[CHECK_SET_PARTS]++;
    c->evaluated[CHECK_DELIVERY]++;
    if (set->parts != set->count)
        checker_break(c, CHECK_SET_PARTS, e, "claim %d of p%d: %d of %d", e->id, claim->process, set->parts,
                      set->count);
    for (int32_t i = 0; i < set->count && !c->broken; i++) {
        const char *wrong = wrong_part(c, set, i, e->at);
        if (wrong)
            checker_break(c, CHECK_SET_PARTS, e, "claim %d of p%d: part %d %s", e->id, claim->process, i, wrong);
        else
            part_of(c, set, i)->received = true;
    }
    if (!c->broken && e->clock >= claim->deadline)
        checker_break(c, CHECK_DELIVERY, e, "claim %d of p%d gets a set, too late", e->id, claim->process);
    set->delivered = true;
    set->wants_lost = e->extra != 0;
    c->met[MET_SETS] += set->count > 1;
    for (int32_t i = 1; i < set->count && !c->broken; i++)
        c->met[MET_SETS_OVER_SESSIONS] += part_of(c, set, i)->session != part_of(c, set, 0)->session;
}

/* ---- its end */

static void looked(struct checker *c, struct checker_set *set, const struct history_event *e) {
    bool valid = is_valid(c, set, e->at);
    c->evaluated[CHECK_SET_VALID]++;
    if ((e->a != 0) != valid || (e->b == set->count) != valid)
        checker_break(c, CHECK_SET_VALID, e,
                      "p%d's set of claim %d says that it is %s, with %lld of %d parts, and it is %s", e->process,
                      e->id, e->a ? "valid" : "over", (long long)e->b, set->count, valid ? "valid" : "over");
}

static void check_late(struct checker *c, const struct checker_set *set, int32_t id, const struct history_event *e) {
    const struct checker_claim *claim = &c->claims[id];
    int64_t over = over_at(c, set);
    c->evaluated[CHECK_SET_LOST]++;
    if (over < e->at && e->at > checker_latest(c, claim->process, over))
        checker_break(c, CHECK_SET_LOST, e, "p%d's set of claim %d was over %.3f ms ago", claim->process, id,
                      (double)(e->at - over) / 1e6);
}

static void lost(struct checker *c, struct checker_set *set, const struct history_event *e) {
    c->evaluated[CHECK_SET_LOST]++;
    c->met[MET_SETS_LOST]++;
    if (c->sessions[c->claims[e->id].session].closed)
        checker_break(c, CHECK_SILENCE, e, "the loss of p%d's set of claim %d", e->process, e->id);
    if (set->lost || (set->released && !set->dropped) || is_valid(c, set, e->at) || e->b || e->a == 0)
        checker_break(c, CHECK_SET_LOST, e, "p%d's set of claim %d, %s", e->process, e->id,
                      set->lost       ? "for the second time"
                      : set->released ? "which was released"
                      : e->a == 0     ? "for no reason"
                                      : "which is valid");
    check_late(c, set, e->id, e);
    set->lost = true;
}

static void released(struct checker *c, struct checker_set *set, const struct history_event *e) {
    bool valid = is_valid(c, set, e->at);
    c->evaluated[CHECK_SET_RELEASE]++;
    if (e->a != (valid ? PDK_OK : PDK_LOST) || set->released)
        checker_break(c, CHECK_SET_RELEASE, e, "p%d's set of claim %d: %s, and it is %s", e->process, e->id,
                      pdk_status_name((pdk_status)e->a), valid ? "valid" : "over");
    if (!valid && set->wants_lost && !set->lost && !c->sessions[c->claims[e->id].session].closed)
        check_late(c, set, e->id, e);
    set->released = true;
    set->dropped = !valid && e->b;
    for (int32_t i = 0; i < set->count; i++) {
        struct checker_hold *part = part_of(c, set, i);
        if (part)
            checker_hold_returned(c, part, e);
    }
}

void checker_set_event(struct checker *c, const struct history_event *e) {
    struct checker_set *set = &c->sets[e->id];
    if (e->kind == HISTORY_RIGHT && set->count < PLAN_RIGHTS) {
        set->path[set->count] = e->path;
        set->mode[set->count] = e->mode;
        set->permits[set->count++] = e->count;
    } else if (e->kind == HISTORY_PART && e->b >= 0 && e->b < set->count) {
        set->parts++;
        set->part[e->b] = (int32_t)e->a;
    } else if (e->kind == HISTORY_LOOKED) {
        looked(c, set, e);
    } else if (e->kind == HISTORY_SET_LOST) {
        lost(c, set, e);
    } else if (e->kind == HISTORY_SET_RELEASED) {
        released(c, set, e);
    }
}

void checker_sets_end(struct checker *c, const struct history_event *e) {
    for (int32_t i = 0; i < c->claims_count; i++) {
        const struct checker_set *set = &c->sets[i];
        bool open = c->claims[i].known && !c->sessions[c->claims[i].session].closed;
        if (open && set->delivered && set->wants_lost && !set->lost && !set->released && !is_valid(c, set, e->at))
            check_late(c, set, i, e);
    }
}
