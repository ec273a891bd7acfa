/* A contender and a directory that answers it: whatever happens, in whatever order, it is granted only at the head of the
 * line, deletes only its own node, creates no second one, and once it leaves and is answered, it ends with none.
 *
 *     byte ──► what happens next: news, somebody comes or goes, an answer, honest or with a fault
 *     the end of the input ──► LEAVE, the connection, honest answers ──► GONE
 *
 * Input: a byte each. The rules of the game are those of core/contender.h: one answer per command, two for ENTER and PROVE. */
#include "contender_world.h"
#include "fuzz.h"

#include <glib.h>

static bool is_two(enum pdk__command command) { return command == PDK__DO_ENTER || command == PDK__DO_PROVE; }

/* Tell it, and look at what it does next. */
static void tell(struct world *w, const struct pdk__event *event) {
    enum pdk__phase before = w->c.phase;
    enum pdk__command command = pdk__contender_step(&w->c, event);
    FUZZ_REQUIRE(w->doing == PDK__DO_NOTHING || command == PDK__DO_NOTHING, "%d, and %d is in flight", command,
                 w->doing);
    FUZZ_REQUIRE(command == PDK__DO_NOTHING || command == PDK__DO_PAUSE || w->link, "%d without a link", command);
    FUZZ_REQUIRE(command == PDK__DO_NOTHING || command == w->c.doing, "%d, but it says %d", command, w->c.doing);
    FUZZ_REQUIRE(before != PDK__GONE || (w->c.phase == PDK__GONE && command == PDK__DO_NOTHING), "back from the dead");
    if (command == PDK__DO_ENTER)
        FUZZ_REQUIRE(!world_own(w) && !w->late_create && !w->leaving, "a second node");
    if (command == PDK__DO_ENTER || command == PDK__DO_MKDIR)
        FUZZ_REQUIRE(w->wanted && !w->leaving, "%d, unasked", command);
    if (w->c.phase == PDK__HELD && before != PDK__HELD)
        FUZZ_REQUIRE(w->may_grant && !w->leaving, "granted out of turn");
    if (w->c.phase == PDK__HELD)
        FUZZ_REQUIRE(w->c.token == w->own_token, "token %d", (int)w->c.token);
    if (w->c.phase == PDK__STUCK)
        FUZZ_REQUIRE(w->refused, "stuck, and nothing was refused");
    if (w->c.phase == PDK__GONE && before != PDK__GONE)
        FUZZ_REQUIRE(w->expired || (!world_own(w) && !w->late_create), "gone, and a node is left");
    FUZZ_REQUIRE(!pdk__contender_is_next(&w->c) || w->c.phase == PDK__IN, "next, in phase %d", w->c.phase);
    w->may_grant = false;
    if (command != PDK__DO_NOTHING)
        w->doing = command;
}

static void news(struct world *w, enum pdk__event_type type) { tell(w, &(struct pdk__event){.type = type}); }

/* Answer what is in flight, or the first half of it. */
static void answer(struct world *w, enum world_fault fault, uint8_t chance) {
    struct pdk__view view;
    struct pdk__event event = {.view = &view};
    bool first = is_two(w->doing) && !w->half;
    enum pdk__command doing = w->doing;
    if (doing == PDK__DO_NOTHING)
        return;
    if (doing != PDK__DO_PAUSE && !w->link)
        fault = WORLD_LOST; /* its answer cannot come any more */
    world_answer(w, fault, chance, &event);
    w->half = first;
    if (!first)
        w->doing = PDK__DO_NOTHING;
    tell(w, &event);
}

static void expire(struct world *w) {
    world_expire(w);
    w->doing = PDK__DO_NOTHING;
    w->half = false;
    news(w, PDK__EXPIRED);
    FUZZ_REQUIRE(w->c.phase == PDK__GONE, "alive in phase %d", w->c.phase);
}

static void happen(struct world *w, uint8_t what, uint8_t chance) {
    switch (what) {
    case 0:
        w->wanted = true;
        news(w, PDK__ENTER);
        break;
    case 1:
        w->leaving = true;
        news(w, PDK__LEAVE);
        break;
    case 2:
        w->link = true;
        news(w, PDK__LINK_UP);
        break;
    case 3:
        w->link = false;
        news(w, PDK__LINK_DOWN);
        break;
    case 4:
        news(w, chance % 2 ? PDK__POKE : PDK__FRESH);
        break;
    case 5: /* true of the node it has, or of an earlier one */
        if (w->c.own[0] == '\0' || !world_own(w))
            news(w, PDK__NODE_LOST);
        break;
    case 6:
        world_join(w);
        break;
    case 7:
        world_remove(w, chance);
        break;
    case 8:
        if (chance == 0)
            expire(w);
        else
            world_late(w);
        break;
    case 9:
    case 10:
    case 11:
        answer(w, (enum world_fault)(what - 9 + WORLD_NOT_NOW), chance);
        break;
    default:
        answer(w, WORLD_HONEST, chance);
        break;
    }
}

/* Nothing stands in its way any more. */
static void let_it_end(struct world *w) {
    w->leaving = true;
    news(w, PDK__LEAVE);
    if (!w->link) {
        while (w->doing != PDK__DO_NOTHING)
            answer(w, WORLD_HONEST, 0);
        w->link = true;
        news(w, PDK__LINK_UP);
    }
    for (int i = 0; i < 20 && w->c.phase != PDK__GONE && w->doing != PDK__DO_NOTHING; i++)
        answer(w, WORLD_HONEST, 0);
    if (w->c.phase == PDK__STUCK)
        expire(w);
    FUZZ_REQUIRE(w->c.phase == PDK__GONE, "left, answered, and still in phase %d, doing %d", w->c.phase, w->c.doing);
    FUZZ_REQUIRE(!world_own(w) && !w->late_create, "gone, and a node is left");
    news(w, PDK__LINK_UP);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    struct world w;
    world_begin(&w, fuzz_byte(&in));
    while (in.left > 0 && w.c.phase != PDK__GONE) {
        uint8_t byte = fuzz_byte(&in);
        happen(&w, byte % 16, byte / 16);
    }
    let_it_end(&w);
    return 0;
}
