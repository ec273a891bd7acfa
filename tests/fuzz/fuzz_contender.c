/* A contender and a directory that answers it: for any events, in any order, it is granted only at the head of the
 * queue, deletes only its own node, and creates no second one. Once it leaves and is answered, it ends with none.
 *
 *     byte ──► the next event: news, somebody comes or goes, an answer, honest or with a fault
 *     the end of the input ──► LEAVE, the connection, honest answers ──► GONE
 *
 * Input: a byte each. The rules are those of core/contender.h: one answer per command, two for ENTER and PROVE. */
#include "contender_environment.h"
#include "fuzz.h"

#include <glib.h>

static bool is_two(enum pdk__command command) { return command == PDK__DO_ENTER || command == PDK__DO_PROVE; }

/* Give it an event, and check its next command. */
static void tell(struct environment *e, const struct pdk__event *event) {
    enum pdk__phase before = e->c.phase;
    enum pdk__command command = pdk__contender_step(&e->c, event);
    FUZZ_REQUIRE(e->doing == PDK__DO_NOTHING || command == PDK__DO_NOTHING, "%d, and %d is in flight", command,
                 e->doing);
    FUZZ_REQUIRE(command == PDK__DO_NOTHING || command == PDK__DO_PAUSE || e->link, "%d without a link", command);
    FUZZ_REQUIRE(command == PDK__DO_NOTHING || command == e->c.doing, "%d, but it says %d", command, e->c.doing);
    FUZZ_REQUIRE(before != PDK__GONE || (e->c.phase == PDK__GONE && command == PDK__DO_NOTHING), "back from the dead");
    if (command == PDK__DO_ENTER)
        FUZZ_REQUIRE(!environment_own(e) && !e->late_create && !e->leaving, "a second node");
    if (command == PDK__DO_ENTER || command == PDK__DO_MKDIR)
        FUZZ_REQUIRE(e->wanted && !e->leaving, "%d, unasked", command);
    if (e->c.phase == PDK__HELD && before != PDK__HELD)
        FUZZ_REQUIRE(e->may_grant && !e->leaving, "granted too early");
    if (e->c.phase == PDK__HELD)
        FUZZ_REQUIRE(e->c.token == e->own_token, "token %d", (int)e->c.token);
    if (e->c.phase == PDK__STUCK)
        FUZZ_REQUIRE(e->refused, "stuck, and nothing was refused");
    if (e->c.phase == PDK__GONE && before != PDK__GONE)
        FUZZ_REQUIRE(e->expired || (!environment_own(e) && !e->late_create), "gone, and a node is left");
    FUZZ_REQUIRE(!pdk__contender_is_next(&e->c) || e->c.phase == PDK__IN, "next, in phase %d", e->c.phase);
    e->may_grant = false;
    if (command != PDK__DO_NOTHING)
        e->doing = command;
}

static void news(struct environment *e, enum pdk__event_type type) { tell(e, &(struct pdk__event){.type = type}); }

/* Answer the command in flight, or the first half of it. */
static void answer(struct environment *e, enum environment_fault fault, uint8_t chance) {
    struct pdk__view view;
    struct pdk__event event = {.view = &view};
    bool first = is_two(e->doing) && !e->half;
    enum pdk__command doing = e->doing;
    if (doing == PDK__DO_NOTHING)
        return;
    if (doing != PDK__DO_PAUSE && !e->link)
        fault = ENVIRONMENT_LOST; /* its answer cannot come any more */
    environment_answer(e, fault, chance, &event);
    e->half = first;
    if (!first)
        e->doing = PDK__DO_NOTHING;
    tell(e, &event);
}

static void expire(struct environment *e) {
    environment_expire(e);
    e->doing = PDK__DO_NOTHING;
    e->half = false;
    news(e, PDK__EXPIRED);
    FUZZ_REQUIRE(e->c.phase == PDK__GONE, "alive in phase %d", e->c.phase);
}

static void happen(struct environment *e, uint8_t what, uint8_t chance) {
    switch (what) {
    case 0:
        e->wanted = true;
        news(e, PDK__ENTER);
        break;
    case 1:
        e->leaving = true;
        news(e, PDK__LEAVE);
        break;
    case 2:
        e->link = true;
        news(e, PDK__LINK_UP);
        break;
    case 3:
        e->link = false;
        news(e, PDK__LINK_DOWN);
        break;
    case 4:
        news(e, chance % 2 ? PDK__POKE : PDK__FRESH);
        break;
    case 5: /* true of the node it has, or of an earlier one */
        if (e->c.own[0] == '\0' || !environment_own(e))
            news(e, PDK__NODE_LOST);
        break;
    case 6:
        environment_join(e);
        break;
    case 7:
        environment_remove(e, chance);
        break;
    case 8:
        if (chance == 0)
            expire(e);
        else
            environment_late(e);
        break;
    case 9:
    case 10:
    case 11:
        answer(e, (enum environment_fault)(what - 9 + ENVIRONMENT_NOT_NOW), chance);
        break;
    default:
        answer(e, ENVIRONMENT_HONEST, chance);
        break;
    }
}

/* Nothing stands in its way any more. */
static void let_it_end(struct environment *e) {
    e->leaving = true;
    news(e, PDK__LEAVE);
    if (!e->link) {
        while (e->doing != PDK__DO_NOTHING)
            answer(e, ENVIRONMENT_HONEST, 0);
        e->link = true;
        news(e, PDK__LINK_UP);
    }
    for (int i = 0; i < 20 && e->c.phase != PDK__GONE && e->doing != PDK__DO_NOTHING; i++)
        answer(e, ENVIRONMENT_HONEST, 0);
    if (e->c.phase == PDK__STUCK)
        expire(e);
    FUZZ_REQUIRE(e->c.phase == PDK__GONE, "left, answered, and still in phase %d, doing %d", e->c.phase, e->c.doing);
    FUZZ_REQUIRE(!environment_own(e) && !e->late_create, "gone, and a node is left");
    news(e, PDK__LINK_UP);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    struct environment e;
    environment_begin(&e, fuzz_byte(&in));
    while (in.left > 0 && e.c.phase != PDK__GONE) {
        uint8_t byte = fuzz_byte(&in);
        happen(&e, byte % 16, byte / 16);
    }
    let_it_end(&e);
    return 0;
}
