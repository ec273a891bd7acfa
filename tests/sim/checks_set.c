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

static int32_t valid_parts(struct checker *c, const struct checker_set *set, int64_t at) {
    int32_t valid = 0;
    for (int32_t i = 0; i < set->count; i++)
        valid += part_of(c, set, i) && checker_is_valid(part_of(c, set, i), at);
    return valid;
}

static int32_t needed(const struct checker_set *set) { return set->need > 0 ? set->need : set->count; }

/* Once it is over it stays so, whatever is taken again. */
static bool is_valid(struct checker *c, const struct checker_set *set, int64_t at) {
    return !set->over && valid_parts(c, set, at) >= needed(set);
}

/* As soon as fewer than are needed go on. */
static int64_t over_at(struct checker *c, const struct checker_set *set) {
    int64_t last = INT64_MAX;
    for (int32_t i = 0; i < set->count; i++) {
        int32_t longer = 0;
        const struct checker_hold *part = part_of(c, set, i);
        for (int32_t k = 0; part && k < set->count; k++) {
            const struct checker_hold *other = part_of(c, set, k);
            longer += other && other != part && checker_over_at(other) > checker_over_at(part);
        }
        if (part && longer < needed(set) && checker_over_at(part) < last)
            last = checker_over_at(part);
    }
    return last;
}

/* ---- majorities of the same rights */

static bool has_removed_part(struct checker *c, const struct checker_set *set) {
    bool removed = false;
    for (int32_t i = 0; i < set->count; i++)
        removed = removed || (part_of(c, set, i) && checker_has_removed_node(c, part_of(c, set, i)));
    return removed;
}

/* It is valid now. Another one that was seen to be valid since it was delivered overlaps with it. */
static void check_alone(struct checker *c, struct checker_set *set, const struct history_event *e) {
    if (set->need == 0)
        return;
    c->evaluated[CHECK_MAJORITY]++;
    c->met[MET_WENT_ON] += valid_parts(c, set, e->at) < set->count;
    set->seen = e->at;
    for (int32_t i = 0; i < c->claims_count && !has_removed_part(c, set); i++) {
        const struct checker_set *other = &c->sets[i];
        if (other != set && c->claims[i].known && other->need > 0 && other->delivered && other->seen > set->begun &&
            !has_removed_part(c, other))
            checker_break(c, CHECK_MAJORITY, e, "that of claim %d of p%d, and that of claim %d of p%d", e->id,
                          e->process, i, c->claims[i].process);
    }
}

/* ---- it is delivered */

static const char *wrong_part(struct checker *c, const struct checker_set *set, int32_t place, int64_t at) {
    const struct checker_hold *part = part_of(c, set, place);
    return !part                                           ? "is missing"
           : part->path != set->path[place]                ? "is one of another path"
           : part->mode != set->mode[place]                ? "is of another kind"
           : part->count != set->permits[place]            ? "has another number of permits"
           : part->nodes_count != part->count              ? "has too few nodes"
           : part->received || part->released              ? "is somebody's already"
           : !checker_is_valid(part, at) && set->need == 0 ? "is over"
                                                           : NULL;
}

void checker_set_delivered(struct checker *c, const struct checker_claim *claim, const struct history_event *e) {
    struct checker_set *set = &c->sets[e->id];
    c->evaluated[CHECK_SET_PARTS]++;
    c->evaluated[CHECK_DELIVERY]++;
    if (set->need > 0 ? valid_parts(c, set, e->at) < set->need : set->parts != set->count)
        checker_break(c, CHECK_SET_PARTS, e, "claim %d of p%d: %d of %d", e->id, claim->process, set->parts,
                      set->count);
    for (int32_t i = 0; i < set->count && !c->broken; i++) {
        const char *wrong = set->need > 0 && set->part[i] < 0 ? NULL : wrong_part(c, set, i, e->at);
        if (wrong)
            checker_break(c, CHECK_SET_PARTS, e, "claim %d of p%d: part %d %s", e->id, claim->process, i, wrong);
        else if (part_of(c, set, i))
            part_of(c, set, i)->received = true;
    }
    if (!c->broken && e->clock >= claim->deadline)
        checker_break(c, CHECK_DELIVERY, e, "claim %d of p%d gets a set, too late", e->id, claim->process);
    set->delivered = true;
    set->wants_lost = e->extra != 0;
    set->begun = e->at;
    c->met[MET_SETS] += set->count > 1;
    c->met[MET_MAJORITIES] += set->need > 0;
    check_alone(c, set, e);
    for (int32_t i = 1; i < set->count && !c->broken && set->need == 0; i++)
        c->met[MET_SETS_OVER_SESSIONS] += part_of(c, set, i)->session != part_of(c, set, 0)->session;
}

/* ---- its end */

/* The parts of a majority that is over are released at once: they would be waited for in vain. */
static bool keeps_parts(struct checker *c, const struct checker_set *set, const struct history_event *e) {
    return set->need > 0 && set->over && e->b > 0 && e->at > checker_latest(c, e->process, set->over_at);
}

static void set_over(struct checker_set *set, const struct history_event *e) {
    if (!set->over)
        set->over_at = e->at;
    set->over = true;
}

static void looked(struct checker *c, struct checker_set *set, const struct history_event *e) {
    bool valid = is_valid(c, set, e->at), says = e->a != 0;
    if (says)
        check_alone(c, set, e);
    c->evaluated[CHECK_SET_VALID]++;
    if (says != valid || (!set->over && e->b != valid_parts(c, set, e->at)))
        checker_break(c, CHECK_SET_VALID, e,
                      "p%d's set of claim %d says that it is %s, with %lld of %d parts, and it is %s", e->process,
                      e->id, says ? "valid" : "over", (long long)e->b, set->count, valid ? "valid" : "over");
    if (keeps_parts(c, set, e))
        checker_break(c, CHECK_SET_VALID, e, "p%d's set of claim %d is over for %.3f ms, and keeps %lld parts",
                      e->process, e->id, (double)(e->at - set->over_at) / 1e6, (long long)e->b);
    if (!says)
        set_over(set, e);
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
    c->met[set->need > 0 ? MET_MAJORITIES_LOST : MET_SETS_LOST]++;
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
    set_over(set, e);
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
        c->met[MET_TAKEN_AGAIN] += set->delivered && set->part[e->b] >= 0;
        set->part[e->b] = (int32_t)e->a;
        if (set->delivered && part_of(c, set, (int32_t)e->b))
            part_of(c, set, (int32_t)e->b)->received = true;
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
