/* Spoils histories of asks to let go, and of breaks. */
#include "mutations.h"

#include <paddock/status.h>

static bool is_wish(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_WISH; }

static bool is_first_wish(const struct history *h, int32_t at) { return is_wish(h, at) && h->events[at].count == 0; }

bool spoil_wish_identity(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_first_wish);
    if (at >= 0)
        h->events[at].b++;
    return at >= 0;
}

/* A node that stands, and is behind another one of its queue. */
static int32_t behind(const struct history *h, int32_t at) {
    for (int32_t i = at - 1; i >= 0; i--) {
        bool gone = false;
        if (h->events[i].kind != HISTORY_CREATED || h->events[i].path != h->events[at].path ||
            h->events[i].a <= h->events[at].a)
            continue;
        for (int32_t k = i; k < at; k++)
            gone = gone || (h->events[k].kind == HISTORY_DELETED && h->events[k].a == h->events[i].a);
        if (!gone)
            return i;
    }
    return -1;
}

static bool is_wish_ahead_of_others(const struct history *h, int32_t at) {
    return is_wish(h, at) && behind(h, at) >= 0;
}

bool spoil_wish_to_another(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_wish_ahead_of_others);
    if (at >= 0)
        h->events[at].a = h->events[behind(h, at)].a;
    return at >= 0;
}

static bool is_told(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_TOLD; }

bool spoil_told_again(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_told);
    return at >= 0 && mutation_insert(h, at + 1, h->events[at]);
}

/* It is granted again, with the same node. */
bool spoil_asked_handed_over(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_told);
    const struct history_event *grant = at >= 0 ? mutation_grant(h, h->events[at].id) : NULL;
    int32_t released = at >= 0 ? mutation_next(h, at, HISTORY_RELEASED, h->events[at].id) : -1;
    if (!grant || released < 0)
        return false;
    struct history_event again = *grant;
    again.at = h->events[released].at;
    again.clock = h->events[released].clock;
    again.extra++;
    for (int32_t i = 0; i < h->count; i++)
        if (h->events[i].kind == HISTORY_GRANT && h->events[i].id >= again.id)
            again.id = h->events[i].id + 1;
    return mutation_insert(h, released + 1, again);
}

static bool is_answer(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_ASK_ANSWERED; }

bool spoil_ask_answer(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_answer);
    if (at >= 0)
        h->events[at].a = PDK_BUSY;
    return at >= 0;
}

/* An ask to let go that says that it stands, and does not. */
static bool is_confirmed(const struct history *h, int32_t at) {
    int32_t asks =
        is_answer(h, at) && h->events[at].a == PDK_OK ? mutation_next(h, -1, HISTORY_ASKS, h->events[at].id) : -1;
    return asks >= 0 && h->events[asks].a == 0;
}

bool spoil_dropped_wish(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_confirmed);
    int32_t ask = at >= 0 ? h->events[at].id : -1;
    for (int32_t i = h->count - 1; at >= 0 && i >= 0; i--)
        if ((h->events[i].kind == HISTORY_WISH && h->events[i].id == ask) || (is_told(h, i) && h->events[i].a == ask))
            mutation_remove(h, i);
    return at >= 0;
}
