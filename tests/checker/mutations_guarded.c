/* Spoils histories of guarded znodes. */
#include "mutations.h"

#include <paddock/status.h>

static bool is_answer(const struct history_event *e, pdk_status status) {
    return e->kind == HISTORY_GUARDED && e->a == (int64_t)status;
}

static bool is_older(const struct history_event *content, const struct history_event *grant) {
    return content->a < grant->a || (content->a == grant->a && content->sequence < grant->extra);
}

/* The last content before it that an older holder wrote; -1: none. */
static int32_t written_before(const struct history *h, int32_t at) {
    const struct history_event *open = &h->events[at], *grant = mutation_grant(h, open->id);
    for (int32_t i = at - 1; grant && i >= 0; i--) {
        const struct history_event *e = &h->events[i];
        if (e->kind == HISTORY_CONTENT && e->path == open->path && e->a > 0 && is_older(e, grant))
            return i;
    }
    return -1;
}

static bool is_open_after_another(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    return is_answer(e, PDK_OK) && e->count == CALL_OPEN && written_before(h, at) >= 0;
}

bool spoil_guarded_late(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_open_after_another);
    if (at < 0)
        return false;
    struct history_event late = h->events[written_before(h, at)];
    late.at = h->events[at].at;
    late.b += 1000;
    late.id = 1000000;
    return mutation_insert(h, at + 1, late);
}

/* The first content of a holder. */
static bool is_first_write(const struct history *h, int32_t at) {
    const struct history_event *content = &h->events[at];
    if (content->kind != HISTORY_CONTENT || content->a <= 0)
        return false;
    for (int32_t i = 0; i < at; i++)
        if (h->events[i].kind == HISTORY_CONTENT && h->events[i].path == content->path &&
            h->events[i].a == content->a && h->events[i].sequence == content->sequence)
            return false;
    return true;
}

bool spoil_guarded_foreign(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_first_write);
    if (at >= 0)
        h->events[at].a = INT64_MAX; /* a token that nobody has */
    return at >= 0;
}

static bool is_confirmed(const struct history *h, int32_t at) {
    return is_answer(&h->events[at], PDK_OK) && h->events[at].count >= CALL_SET && h->events[at].b > 0;
}

bool spoil_guarded_lost(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_confirmed);
    int64_t payload = at >= 0 ? h->events[at].b : 0;
    for (int32_t i = h->count - 1; at >= 0 && i >= 0; i--)
        if (h->events[i].kind == HISTORY_CONTENT && h->events[i].id == payload)
            mutation_remove(h, i);
    return at >= 0;
}

bool spoil_guarded_twice(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_first_write);
    if (at < 0 || h->events[at].id == 0)
        return false;
    struct history_event between = h->events[at], again = between;
    between.b++;
    between.id = 1000000;
    again.b += 2;
    return mutation_insert(h, at + 1, between) && mutation_insert(h, at + 2, again);
}

static bool is_good_read(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at], *grant = is_answer(e, PDK_OK) ? mutation_grant(h, e->id) : NULL;
    return grant && e->count == CALL_GET && !mutation_has_removed_node(h, grant->a);
}

bool spoil_guarded_read(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_good_read);
    if (at >= 0)
        h->events[at].b = 1000000;
    return at >= 0;
}

/* Where a server gave false answers, little is promised. */
static bool is_good_answer(const struct history *h, int32_t at) {
    if (!is_answer(&h->events[at], PDK_OK))
        return false;
    for (int32_t i = 0; i < h->count; i++)
        if (h->events[i].kind == HISTORY_MISLED)
            return false;
    return true;
}

bool spoil_guarded_status(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_good_answer);
    if (at >= 0)
        h->events[at].a = PDK_REPLACED;
    return at >= 0;
}
