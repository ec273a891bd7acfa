/* Spoils histories of holds. */
#include "mutations.h"

#include <paddock/hold.h>

#define HOUR (3600 * INT64_C(1000000000))
#define STATUS_OK 0
#define STATUS_LOST 4

static bool is_grant(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_GRANT; }

/* Did an admin delete its node? Then little is promised. */
bool mutation_is_broken(const struct history *h, int64_t token) {
    for (int32_t i = 0; i < h->count; i++)
        if (h->events[i].kind == HISTORY_ASKS && h->events[i].a == token)
            return true;
    return false;
}

bool mutation_has_removed_node(const struct history *h, int64_t token) {
    if (mutation_is_broken(h, token))
        return true;
    for (int32_t i = 0; i < h->count; i++)
        if (h->events[i].kind == HISTORY_DELETED && h->events[i].a == token)
            return h->events[i].b == 0;
    return true;
}

/* The next grant of the same path with another token, to somebody else who wants to be alone. */
static int32_t next_grant(const struct history *h, int32_t at) {
    for (int32_t i = at + 1; i < h->count; i++)
        if (is_grant(h, i) && h->events[i].mode == MODE_EXCLUSIVE && h->events[i].path == h->events[at].path &&
            h->events[i].a != h->events[at].a)
            return i;
    return -1;
}

static bool is_grant_before_another(const struct history *h, int32_t at) {
    if (!is_grant(h, at) || h->events[at].mode != MODE_EXCLUSIVE || mutation_has_removed_node(h, h->events[at].a))
        return false;
    int32_t next = next_grant(h, at);
    return next >= 0 && !mutation_has_removed_node(h, h->events[next].a);
}

bool spoil_swapped_grants(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_grant_before_another);
    if (at < 0)
        return false;
    struct history_event *one = &h->events[at], *other = &h->events[next_grant(h, at)];
    int64_t token = one->a, handover = one->extra;
    one->a = other->a;
    one->extra = other->extra;
    other->a = token;
    other->extra = handover;
    return true;
}

bool spoil_duplicate_token(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_grant_before_another);
    if (at < 0)
        return false;
    struct history_event *other = &h->events[next_grant(h, at)];
    other->a = h->events[at].a;
    other->extra = h->events[at].extra;
    return true;
}

static void remove_all(struct history *h, enum history_kind kind, int32_t id) {
    for (int32_t at; (at = mutation_next(h, -1, kind, id)) >= 0;)
        mutation_remove(h, at);
}

/* Somebody else is granted before the word of this one would have passed by itself. */
static bool is_released_early(const struct history *h, int32_t at) {
    if (!is_grant_before_another(h, at) || mutation_next(h, at, HISTORY_RELEASED, h->events[at].id) < 0)
        return false;
    int64_t until = h->events[at].b;
    int32_t next = next_grant(h, at);
    for (int32_t i = at; i < next; i++) {
        if (h->events[i].kind == HISTORY_EXTEND && h->events[i].id == h->events[at].id)
            until = h->events[i].a;
        if (h->events[i].kind == HISTORY_KILLED && h->events[i].id == h->events[at].process)
            return false;
    }
    return until > h->events[next].at;
}

bool spoil_dropped_release(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_released_early);
    if (at < 0)
        return false;
    int32_t hold = h->events[at].id;
    remove_all(h, HISTORY_RELEASED, hold);
    remove_all(h, HISTORY_ENDED, hold);
    return true;
}

/* Its owner gives it back with the set. */
static bool is_of_a_set(const struct history *h, int32_t hold) {
    for (int32_t i = 0; i < h->count; i++)
        if (h->events[i].kind == HISTORY_PART && h->events[i].a == hold)
            return true;
    return false;
}

static bool is_grant_of_living(const struct history *h, int32_t at) {
    if (!is_grant(h, at) || mutation_has_removed_node(h, h->events[at].a) || is_of_a_set(h, h->events[at].id))
        return false;
    for (int32_t i = at; i < h->count; i++)
        if (h->events[i].kind == HISTORY_KILLED && h->events[i].id == h->events[at].process)
            return false;
    return true;
}

bool spoil_longer_validity(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_grant_of_living);
    if (at < 0)
        return false;
    int32_t hold = h->events[at].id;
    h->events[at].b += HOUR;
    remove_all(h, HISTORY_EXTEND, hold);
    remove_all(h, HISTORY_RELEASED, hold);
    remove_all(h, HISTORY_ENDED, hold);
    remove_all(h, HISTORY_LOST, hold);
    return true;
}

static bool is_ended(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_ENDED; }

bool spoil_revived(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_ended);
    if (at < 0)
        return false;
    struct history_event again = h->events[at];
    again.kind = HISTORY_EXTEND;
    again.a = again.at + HOUR;
    return mutation_insert(h, at + 1, again);
}

/* ---- LOST */

static bool is_lost(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_LOST; }

/* Its owner keeps it so long that a missing report shows, and a report may come. */
static bool is_lost_and_kept(const struct history *h, int32_t at) {
    if (!is_lost(h, at))
        return false;
    int32_t released = mutation_next(h, at, HISTORY_RELEASED, h->events[at].id);
    if (released < 0 || h->events[released].b)
        return false;
    int64_t latest = h->events[at].at;
    for (int32_t i = 0; i < released; i++) {
        const struct history_event *e = &h->events[i];
        if (e->kind == HISTORY_PROCESS && e->id == h->events[at].process)
            latest = h->events[at].at + e->a;
        if (e->kind == HISTORY_RESUMED && e->id == h->events[at].process && i > at)
            return false;
        if (e->kind == HISTORY_CLOSED && e->id == h->events[at].number)
            return false;
    }
    return h->events[released].at > latest;
}

bool spoil_dropped_lost(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_lost_and_kept);
    if (at >= 0)
        mutation_remove(h, at);
    return at >= 0;
}

bool spoil_double_lost(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_lost);
    return at >= 0 && mutation_insert(h, at + 1, h->events[at]);
}

static bool is_released_valid(const struct history *h, int32_t at) {
    return h->events[at].kind == HISTORY_RELEASED && h->events[at].a == STATUS_OK;
}

bool spoil_lost_after_release(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_released_valid);
    if (at < 0)
        return false;
    struct history_event lost = h->events[at];
    lost.kind = HISTORY_LOST;
    lost.a = 2;
    lost.b = 0;
    return mutation_insert(h, at + 1, lost);
}

bool spoil_lost_while_valid(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_released_valid);
    if (at < 0)
        return false;
    struct history_event lost = h->events[at];
    lost.kind = HISTORY_LOST;
    lost.a = 2;
    lost.b = 0;
    return mutation_insert(h, at, lost);
}

bool spoil_late_lost(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_lost);
    if (at >= 0)
        h->events[at].at += HOUR;
    return at >= 0;
}

static bool is_release(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_RELEASED; }

bool spoil_release_status(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_release);
    if (at >= 0)
        h->events[at].a = h->events[at].a == STATUS_OK ? STATUS_LOST : STATUS_OK;
    return at >= 0;
}

static bool is_lost_otherwise(const struct history *h, int32_t at) {
    for (int32_t i = 0; i < at; i++)
        if (h->events[i].kind == HISTORY_MISLED)
            return false;
    const struct history_event *grant = is_lost(h, at) ? mutation_grant(h, h->events[at].id) : NULL;
    return grant && grant->count == 1 && !mutation_has_removed_node(h, grant->a) &&
           h->events[at].a != PDK_REASON_NODE_GONE && mutation_next(h, -1, HISTORY_STANDS, h->events[at].id) < 0;
}

/* As if somebody had deleted its node. */
bool spoil_loss_reason(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_lost_otherwise);
    if (at >= 0)
        h->events[at].a = PDK_REASON_NODE_GONE;
    return at >= 0;
}

/* ---- writes */

static bool is_refused(const struct history *h, int32_t at) {
    return h->events[at].kind == HISTORY_WRITE && !h->events[at].b;
}

static bool is_accepted(const struct history *h, int32_t at) {
    return h->events[at].kind == HISTORY_WRITE && h->events[at].b;
}

bool spoil_stale_accepted(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_refused);
    if (at >= 0)
        h->events[at].b = 1;
    return at >= 0;
}

bool spoil_fresh_refused(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_accepted);
    if (at >= 0)
        h->events[at].b = 0;
    return at >= 0;
}

static bool is_answered_valid(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    return e->kind == HISTORY_ANSWER && e->a == STATUS_OK && mutation_grant(h, (int32_t)e->b) &&
           !mutation_has_removed_node(h, mutation_grant(h, (int32_t)e->b)->a);
}

/* Somebody wrote with a token from the future; then the holder comes. */
bool spoil_holder_refused(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_answered_valid);
    if (at < 0)
        return false;
    const struct history_event *grant = mutation_grant(h, (int32_t)h->events[at].b);
    struct history_event write = *grant;
    write.kind = HISTORY_WRITE;
    write.at = h->events[at].at;
    write.b = 0;
    struct history_event future = write;
    future.a = INT64_MAX;
    future.b = 1;
    future.mode = MODE_EXCLUSIVE;
    return mutation_insert(h, at + 1, write) && mutation_insert(h, at + 1, future);
}

/* ---- hand-overs */

static bool is_handed_over(const struct history *h, int32_t at) { return is_grant(h, at) && h->events[at].extra > 0; }

bool spoil_hand_overs(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_handed_over);
    if (at >= 0)
        h->events[at].extra += INT32_MAX;
    return at >= 0;
}

static bool is_handed_over_and_safe(const struct history *h, int32_t at) {
    return is_handed_over(h, at) && !mutation_has_removed_node(h, h->events[at].a);
}

/* Two owners that a resource cannot tell from each other. */
bool spoil_same_hand_over(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_handed_over_and_safe);
    if (at >= 0)
        h->events[at].extra--;
    return at >= 0;
}

bool spoil_local_order(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_grant);
    if (at >= 0)
        h->events[at].passed = 1;
    return at >= 0;
}

/* ---- the lease */

static bool is_lease(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    return e->kind == HISTORY_LEASED && e->a > e->at && e->b < INT64_MAX;
}

bool spoil_promise(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_lease);
    if (at >= 0)
        h->events[at].a = h->events[at].b + 1;
    return at >= 0;
}

/* By the driver itself, not by its owner's release. */
static bool is_ended_unreleased(const struct history *h, int32_t at) {
    if (!is_ended(h, at) || !mutation_grant(h, h->events[at].id))
        return false;
    for (int32_t i = 0; i < at; i++) {
        const struct history_event *e = &h->events[i];
        if ((e->kind == HISTORY_RELEASED || e->kind == HISTORY_ENDED) && e->id == h->events[at].id)
            return false;
        if (e->kind == HISTORY_KILLED && e->id == h->events[at].process)
            return false;
    }
    return !mutation_has_removed_node(h, mutation_grant(h, h->events[at].id)->a) && !is_of_a_set(h, h->events[at].id);
}

/* An admin deletes its node as soon as it is granted. It ends an hour later. */
bool spoil_gone(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_ended_unreleased);
    if (at < 0)
        return false;
    int32_t granted = mutation_next(h, -1, HISTORY_GRANT, h->events[at].id);
    const struct history_event *grant = &h->events[granted];
    struct history_event deleted = {.at = grant->at, .kind = HISTORY_DELETED, .a = grant->a, .path = grant->path};
    h->events[at].at += HOUR;
    return mutation_insert(h, granted + 1, deleted);
}

/* The node of a hold that was released goes, and another one stands behind it. */
static bool is_followed(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    bool held = false, behind = false;
    if (e->kind != HISTORY_DELETED || e->b == 0 || e->path >= PLAN_PATHS || !plan_is_calm(mutations_plan) ||
        plan_recipe(mutations_plan, e->path) != PLAN_RECIPE_LOCK || plan_delay(mutations_plan, e->path, 0) > 0)
        return false;
    for (int32_t i = 0; i < at; i++) {
        const struct history_event *other = &h->events[i];
        held = held || (other->kind == HISTORY_GRANT && other->a == e->a);
        if (other->path != e->path || other->a <= e->a)
            continue;
        if (other->kind == HISTORY_CREATED)
            behind = true;
        else if (other->kind == HISTORY_DELETED && behind)
            return false; /* perhaps that one */
    }
    return held && behind && !mutation_is_broken(h, e->a);
}

/* An hour later. */
bool spoil_lingering(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_followed);
    if (at >= 0)
        h->events[at].at += 3600 * INT64_C(1000000000);
    return at >= 0;
}
