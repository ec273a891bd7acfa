/* One contender, and every event that the driver can bring it in its state. A state is a key of a few bits: of a
 * name only its meaning counts, and numbers do not count. The rules:
 *
 *  - a command in flight is answered, with any result; ENTER and PROVE twice;
 *  - POKE comes only while a predecessor's name is known, since the driver looks for that one's watch;
 *  - ENTER comes once, at the beginning; a contender that adopts a node begins as CANDIDATE instead;
 *  - NODE_LOST comes while the node is there or after it, but not after the next create: answers keep the order of requests;
 *  - a contender that is GONE may still be told anything that was under way.
 */
#include "transitions.h"

#include <stdlib.h>
#include <string.h>

#define MARK "_c_mine-lock-"
static const char *const owns[] = {"", MARK "0000000005", MARK "2147483647"}; /* the last number of all is stuck */
static const char *const blockers[] = {"", "_c_other-lock-0000000001"};

static const enum pdk__result results[] = {PDK__OK,          PDK__NO_NODE, PDK__NODE_EXISTS, PDK__UNKNOWN,
                                           PDK__NOT_ALLOWED, PDK__NOT_NOW, PDK__REFUSED,     PDK__LIMITED};
enum { RESULTS = sizeof results / sizeof results[0], KEYS = 1 << 24 };

struct walk {
    uint8_t visited[KEYS / 8];
    uint32_t queue[KEYS]; /* of those visited, in the order in which they were found */
    uint32_t count;
    uint64_t (*seen)[EVENTS][PHASES];
};

/* The contender, and whether the first of two answers was given. */
struct alone {
    struct pdk__contender c;
    bool half;
};

static uint32_t pack(const struct alone *a) {
    const struct pdk__contender *c = &a->c;
    const bool bits[] = {c->failure != PDK_OK,
                         c->wanted,
                         c->leaving,
                         c->link,
                         c->named,
                         c->dirless,
                         c->proven,
                         c->list_due,
                         c->listed,
                         c->watching,
                         c->pause,
                         c->watched[0] != '\0',
                         c->sole,
                         c->guarded,
                         a->half};
    uint32_t key = (uint32_t)c->phase | (uint32_t)c->doing << 3;
    key |= (c->own[0] == '\0' ? 0u : strcmp(c->own, owns[1]) == 0 ? 1u : 2u) << 7;
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        key |= (uint32_t)bits[i] << (9 + i);
    return key;
}

static struct alone unpack(uint32_t key) {
    struct alone a = {.half = key >> 23 & 1};
    struct pdk__contender *c = &a.c;
    bool *const bits[] = {&c->wanted, &c->leaving,  &c->link,   &c->named,    &c->dirless,
                          &c->proven, &c->list_due, &c->listed, &c->watching, &c->pause};
    pdk__contender_init(c, MARK);
    c->phase = (enum pdk__phase)(key & 7);
    c->doing = (enum pdk__command)(key >> 3 & 15);
    strcpy(c->own, owns[key >> 7 & 3]);
    c->failure = key >> 9 & 1 ? PDK_LIMIT : PDK_OK;
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        *bits[i] = key >> (10 + i) & 1;
    strcpy(c->watched, blockers[key >> 20 & 1]);
    c->sole = key >> 21 & 1;
    c->guarded = key >> 22 & 1;
    return a;
}

static void add(struct walk *w, const struct alone *a) {
    uint32_t key = pack(a);
    if (w->visited[key / 8] & 1u << key % 8)
        return;
    w->visited[key / 8] |= (uint8_t)(1u << key % 8);
    w->queue[w->count++] = key;
}

static void tell(struct walk *w, const struct alone *before, const struct pdk__event *event, bool half) {
    struct alone after = *before;
    after.half = half;
    pdk__contender_step(&after.c, event);
    w->seen[before->c.phase][event->type][after.c.phase]++;
    if (after.c.doing == PDK__DO_NOTHING)
        after.half = false;
    add(w, &after);
}

/* ---- answers */

static bool is_first_of_two(const struct alone *a) {
    return !a->half && (a->c.doing == PDK__DO_ENTER || a->c.doing == PDK__DO_PROVE);
}

/* Every list that makes a difference. */
static void tell_lists(struct walk *w, const struct alone *a) {
    for (uint32_t bits = 0; bits < 1024; bits++) {
        struct pdk__view view = {
            .listed = bits & 1, .exchanged_gone = bits & 2 && a->c.named, .beyond_limits = bits & 4};
        struct pdk__event event = {.type = PDK__LISTED, .result = PDK__OK, .view = &view};
        event.fresh = bits & 8;
        event.unprotected = bits & 256;
        event.never_waits = bits & 16 && bits & 32;
        strcpy(view.blocker, blockers[bits >> 5 & 1]);
        strcpy(view.marked, owns[(bits >> 6 & 3) % 3]);
        view.ahead = bits >> 5 & 1;
        view.sole = view.ahead == 1 && bits & 512;
        tell(w, a, &event, false);
    }
}

static void tell_result(struct walk *w, const struct alone *a, enum pdk__event_type type, enum pdk__result result) {
    struct pdk__event event = {.type = type, .result = result, .token = 1};
    bool half = is_first_of_two(a);
    if (type == PDK__LISTED && result == PDK__OK) {
        tell_lists(w, a);
        return;
    }
    for (int i = 0; i < 2; i++) {
        event.name = owns[1 + i];
        event.ours = event.guarded = i == 0;
        tell(w, a, &event, half);
    }
}

static void answer(struct walk *w, const struct alone *a, enum pdk__event_type type) {
    for (size_t i = 0; i < RESULTS; i++)
        tell_result(w, a, type, results[i]);
}

/* ---- events */

static void tell_answers(struct walk *w, const struct alone *a) {
    static const enum pdk__event_type answers[] = {
        [PDK__DO_ENTER] = PDK__CREATED,  [PDK__DO_MKDIR] = PDK__MADE_DIR, [PDK__DO_LIST] = PDK__LISTED,
        [PDK__DO_WATCH] = PDK__WATCHED,  [PDK__DO_PROVE] = PDK__PROVED,   [PDK__DO_STAT] = PDK__STATTED,
        [PDK__DO_DELETE] = PDK__DELETED, [PDK__DO_PAUSE] = PDK__PAUSED,   [PDK__DO_LOOK] = PDK__LISTED,
    };
    if (a->c.phase == PDK__GONE)
        for (int type = PDK__CREATED; type <= PDK__PAUSED; type++)
            answer(w, a, (enum pdk__event_type)type);
    else if (a->c.doing == PDK__DO_PAUSE)
        tell(w, a, &(struct pdk__event){.type = PDK__PAUSED}, false);
    else if (a->c.doing != PDK__DO_NOTHING)
        answer(w, a, a->half ? PDK__LISTED : answers[a->c.doing]);
}

static bool may_come(const struct pdk__contender *c, enum pdk__event_type type) {
    if (c->phase == PDK__GONE)
        return true;
    switch (type) {
    case PDK__ENTER:
        return c->phase == PDK__OUT && !c->wanted;
    case PDK__LINK_DOWN:
        return c->link;
    case PDK__POKE:
        return c->watched[0] != '\0';
    case PDK__UNGUARDED:
        return c->phase == PDK__IN;
    case PDK__NODE_LOST:
        return c->phase != PDK__UNSURE && c->phase != PDK__CANDIDATE;
    default:
        return true;
    }
}

static void tell_all(struct walk *w, uint32_t key) {
    const struct alone a = unpack(key);
    tell_answers(w, &a);
    for (int type = PDK__ENTER; type < PDK__CREATED; type++)
        for (int proof = 0; proof < 2 && may_come(&a.c, (enum pdk__event_type)type); proof++)
            tell(w, &a, &(struct pdk__event){.type = (enum pdk__event_type)type, .gone = proof, .fresh = proof},
                 a.half);
}

uint64_t transitions_walk(transitions_seen seen) {
    struct walk *w = calloc(1, sizeof *w);
    struct alone first = {.half = false}, named, adopted;
    if (!w)
        abort();
    w->seen = seen;
    pdk__contender_init(&first.c, MARK);
    named = adopted = first;
    named.c.named = true;
    adopted.c.phase = PDK__CANDIDATE;
    strcpy(adopted.c.own, owns[1]);
    add(w, &first);
    add(w, &named);
    add(w, &adopted);
    for (uint32_t i = 0; i < w->count; i++)
        tell_all(w, w->queue[i]);
    uint64_t states = w->count;
    free(w);
    return states;
}
