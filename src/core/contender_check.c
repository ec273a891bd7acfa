#include "core/contender_check.h"

#include <assert.h>

/* The commands that may be in flight, by phase: the phase's own, and those that were sent before it began. */
#define BIT(command) (1u << PDK__DO_##command)
static const unsigned in_flight[] = {
    [PDK__OUT] = BIT(NOTHING) | BIT(ENTER) | BIT(MKDIR) | BIT(LIST) | BIT(WATCH) | BIT(PAUSE) | BIT(LOOK),
    [PDK__UNSURE] = BIT(NOTHING) | BIT(ENTER) | BIT(PROVE) | BIT(PAUSE),
    [PDK__CANDIDATE] = BIT(NOTHING) | BIT(STAT) | BIT(PAUSE),
    [PDK__IN] = BIT(NOTHING) | BIT(ENTER) | BIT(LIST) | BIT(WATCH) | BIT(DELETE) | BIT(PAUSE),
    [PDK__HELD] = BIT(NOTHING),
    [PDK__STUCK] = BIT(NOTHING) | BIT(PAUSE),
    [PDK__GONE] =
        BIT(NOTHING) | BIT(ENTER) | BIT(LIST) | BIT(WATCH) | BIT(DELETE) | BIT(PAUSE), /* NODE_LOST was first */
};

/* The facts that are known, by phase. */
static void check_knowledge(const struct pdk__contender *c) {
    bool is_named = c->own[0] != '\0', is_behind = c->watched[0] != '\0';
    bool has_node = c->phase == PDK__IN || c->phase == PDK__HELD;
    bool is_over = c->phase == PDK__STUCK || c->phase == PDK__GONE; /* keeps what it knew */
    assert(is_over || is_named == (has_node || c->phase == PDK__CANDIDATE));
    assert(is_over || has_node || (!c->listed && c->token == 0));
    assert(c->listed || (!is_behind && c->ahead == 0));
    assert(!c->watching || !c->listed || is_behind);
    assert(!c->looks || c->phase == PDK__OUT || c->phase == PDK__GONE);
    assert(!c->behind || (c->phase == PDK__GONE && c->leaving));
    assert(!c->dirless || c->phase == PDK__OUT || c->phase == PDK__GONE);
    assert(c->phase != PDK__HELD || (c->listed && !is_behind && !c->leaving));
    assert(c->failure == PDK_OK || c->leaving);
    (void)is_named, (void)is_behind, (void)has_node, (void)is_over;
}

/* With a connection, and nothing in flight, it waits for an event that comes. */
static void check_idle(const struct pdk__contender *c) {
    bool has_room = c->watched[0] == '\0';
    assert(c->phase != PDK__OUT || (!c->wanted && !c->leaving));
    assert(c->phase != PDK__UNSURE && c->phase != PDK__CANDIDATE);
    assert(c->phase != PDK__IN || (c->listed && !c->look && !c->leaving && (has_room || c->watching)));
    (void)has_room;
}

void pdk__contender_check(const struct pdk__contender *c) {
    assert(in_flight[c->phase] & 1u << c->doing);
    assert(c->wanted || (c->doing != PDK__DO_ENTER && c->doing != PDK__DO_MKDIR));
    assert(!c->leaving || c->doing != PDK__DO_NOTHING || c->phase != PDK__OUT);
    assert(!c->pause || c->doing != PDK__DO_NOTHING || c->phase == PDK__GONE);
    (void)in_flight;
    check_knowledge(c);
    if (c->link && c->doing == PDK__DO_NOTHING)
        check_idle(c);
}
