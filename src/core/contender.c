#include "core/contender.h"

#include <assert.h>
#include <string.h>

/* ---- the next command, from the known facts alone */

static enum pdk__command next(const struct pdk__contender *c) {
    if (c->pause)
        return PDK__DO_PAUSE;
    switch (c->phase) {
    case PDK__UNSURE:
        return PDK__DO_PROVE;
    case PDK__CANDIDATE:
        return PDK__DO_STAT;
    case PDK__OUT:
        if (!c->wanted)
            return PDK__DO_NOTHING;
        return c->dirless ? PDK__DO_MKDIR : c->looks_first ? PDK__DO_LOOK : PDK__DO_ENTER;
    case PDK__IN:
        if (c->leaving)
            return PDK__DO_DELETE;
        if (c->list_due || !c->listed)
            return PDK__DO_LIST;
        return c->watched[0] != '\0' && !c->watching ? PDK__DO_WATCH : PDK__DO_NOTHING;
    default:
        return PDK__DO_NOTHING;
    }
}

/* ---- the invariants after every step */

/* The commands that may be in flight, by phase: the phase's own, and commands that were sent before it began. */
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
    assert(is_over || ((!c->sole || is_behind) && (!c->guarded || c->phase == PDK__IN)));
    assert(!c->looks_first || c->phase == PDK__OUT || c->phase == PDK__GONE);
    assert(!c->found_somebody || (c->phase == PDK__GONE && c->leaving));
    assert(!c->dirless || c->phase == PDK__OUT || c->phase == PDK__GONE);
    assert(c->phase != PDK__HELD || (c->listed && !is_behind && !c->leaving));
    assert(c->failure == PDK_OK || c->leaving);
    (void)is_named, (void)is_behind, (void)has_node, (void)is_over;
}

/* With a connection, and nothing in flight, it waits for an event that is sure to come. */
static void check_idle(const struct pdk__contender *c) {
    bool has_room = c->watched[0] == '\0';
    assert(c->phase != PDK__OUT || (!c->wanted && !c->leaving));
    assert(c->phase != PDK__UNSURE && c->phase != PDK__CANDIDATE);
    assert(c->phase != PDK__IN || (c->listed && !c->list_due && !c->leaving && (has_room || c->watching)));
    (void)has_room;
}

static void contender_check(const struct pdk__contender *c) {
    assert(in_flight[c->phase] & 1u << c->doing);
    assert(c->wanted || (c->doing != PDK__DO_ENTER && c->doing != PDK__DO_MKDIR));
    assert(!c->leaving || c->doing != PDK__DO_NOTHING || c->phase != PDK__OUT);
    assert(!c->pause || c->doing != PDK__DO_NOTHING || c->phase == PDK__GONE);
    (void)in_flight;
    check_knowledge(c);
    if (c->link && c->doing == PDK__DO_NOTHING)
        check_idle(c);
}

/* ---- the steps */

void pdk__contender_init(struct pdk__contender *c, const char *mark) {
    memset(c, 0, sizeof *c);
    assert(strlen(mark) < sizeof c->mark);
    memcpy(c->mark, mark, strlen(mark));
}

bool pdk__contender_is_next(const struct pdk__contender *c) {
    return c->phase == PDK__IN && c->listed && c->watched[0] == '\0' && !c->leaving;
}

/* It can never be granted: leave, and let the driver say why. */
static void fail(struct pdk__contender *c, pdk_status why) {
    if (c->failure == PDK_OK)
        c->failure = why;
    c->leaving = true;
}

/* A refusal that no repetition changes. */
static void contender_refuse(struct pdk__contender *c, enum pdk__result result) {
    fail(c, result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : result == PDK__LIMITED ? PDK_LIMIT : PDK_UNSUPPORTED);
}

static bool is_refusal(enum pdk__result result) {
    return result == PDK__NOT_ALLOWED || result == PDK__REFUSED || result == PDK__LIMITED;
}

/* Our node does not exist. The facts about its surroundings are void too. */
static void be_out(struct pdk__contender *c) {
    c->phase = PDK__OUT;
    c->listed = c->list_due = c->watching = c->sole = c->guarded = false;
    c->ahead = 0;
    c->token = 0;
    c->own[0] = c->watched[0] = '\0';
}

static bool is_stuck(const char *name) {
    struct pdk__name parsed;
    return pdk__name_parse(name, &parsed) && pdk__sequence_is_stuck(parsed.sequence);
}

static void be_in(struct pdk__contender *c, const struct pdk__event *e) {
    c->phase = PDK__IN;
    c->token = e->token;
    bool went_back = e->token < e->least_token;
    if (went_back || is_stuck(c->own))
        fail(c, went_back ? PDK_REWOUND : PDK_EXHAUSTED);
}

static void created(struct pdk__contender *c, const struct pdk__event *e) {
    switch (e->result) {
    case PDK__OK:
        assert(strlen(e->name) < sizeof c->own);
        memcpy(c->own, e->name, strlen(e->name) + 1);
        be_in(c, e);
        break;
    case PDK__NO_NODE:
        c->dirless = true;
        break;
    case PDK__NODE_EXISTS:
        if (!c->named) /* the parent's counter is stuck at its end, with our own name there */
            fail(c, PDK_EXHAUSTED);
        else /* whose is to be found out: we repeat a create only once a barrier has shown the last one not executed */
            c->phase = PDK__UNSURE;
        c->pause = c->named; /* a stranger may keep it for long */
        break;
    case PDK__NOT_NOW:
        c->pause = true;
        break;
    case PDK__NOT_ALLOWED:
    case PDK__REFUSED:
    case PDK__LIMITED:
        contender_refuse(c, e->result);
        break;
    default: /* UNKNOWN */
        c->phase = PDK__UNSURE;
        break;
    }
}

static void be_held(struct pdk__contender *c) {
    c->phase = PDK__HELD;
    c->ahead = 0;
    c->watched[0] = '\0';
    c->sole = c->guarded = false;
}

/* The list shows our node: it is granted, waits for the lease, or is behind another contender. */
static void decide(struct pdk__contender *c, const struct pdk__event *e) {
    const struct pdk__view *view = e->view;
    if (e->unprotected)
        fail(c, PDK_UNPROTECTED);
    if (view->delays && !c->delays)
        fail(c, PDK_MISMATCH);
    c->listed = true;
    c->ahead = view->ahead;
    c->watching = c->guarded = false;
    c->sole = view->sole && !c->delays; /* a lock-delay is read from the list */
    memcpy(c->watched, view->blocker, sizeof c->watched);
    /* exchanged_gone: another contender may be first by now, since the earlier node's position is free. never_waits:
     * the delete goes out before the next try. */
    if (view->exchanged_gone || (view->blocker[0] != '\0' && e->never_waits))
        c->leaving = true;
    else if (view->blocker[0] == '\0' && e->fresh && !c->leaving)
        be_held(c);
}

/* This list shows whether a lost create was executed. Without the barrier's answer it proves nothing. */
static void recovered(struct pdk__contender *c, const struct pdk__view *view) {
    if (!c->proven)
        return;
    if (view->marked[0] == '\0') {
        be_out(c);
        return;
    }
    memcpy(c->own, view->marked, sizeof c->own);
    c->phase = PDK__CANDIDATE;
}

static void listed(struct pdk__contender *c, const struct pdk__event *e) {
    if (e->result == PDK__OK && e->view->beyond_limits) {
        fail(c, PDK_LIMIT);
        if (c->phase == PDK__UNSURE)
            c->phase = PDK__STUCK; /* our node may be anywhere in it */
    } else if (c->phase == PDK__UNSURE) {
        if (e->result == PDK__OK)
            recovered(c, e->view);
        else if (e->result == PDK__NO_NODE && c->proven)
            be_out(c);
        else if (e->result == PDK__NOT_NOW)
            c->pause = true;
        else if (e->result != PDK__UNKNOWN && e->result != PDK__NO_NODE)
            c->phase = PDK__STUCK; /* we may not look: only the end of the session tells */
    } else if (c->phase == PDK__IN) {
        if (e->result == PDK__OK && e->view->listed)
            decide(c, e);
        else if (e->result == PDK__OK || e->result == PDK__NO_NODE)
            be_out(c);
        else if (e->result == PDK__UNKNOWN)
            c->list_due = true;
        else if (e->result == PDK__NOT_NOW)
            c->list_due = c->pause = true;
        else
            contender_refuse(c, e->result);
    }
}

/* The look before our first create was answered. */
static void looked(struct pdk__contender *c, const struct pdk__event *e) {
    if (e->result == PDK__OK && e->view->beyond_limits) {
        fail(c, PDK_LIMIT);
    } else if (e->result == PDK__OK && e->unprotected) {
        fail(c, PDK_UNPROTECTED);
    } else if (e->result == PDK__OK && e->view->delays && !c->delays) {
        fail(c, PDK_MISMATCH);
    } else if (e->result == PDK__OK && e->view->blocker[0] != '\0' && e->never_waits) {
        c->found_somebody = c->leaving = true;
    } else if (e->result == PDK__OK || e->result == PDK__NO_NODE) {
        c->looks_first = false;
        c->dirless = e->result == PDK__NO_NODE;
    } else if (is_refusal(e->result)) {
        contender_refuse(c, e->result);
    } else if (e->result != PDK__UNKNOWN) {
        c->pause = true;
    }
}

static void made_dir(struct pdk__contender *c, enum pdk__result result) {
    if (result == PDK__OK || result == PDK__NODE_EXISTS)
        c->dirless = false;
    else if (is_refusal(result))
        contender_refuse(c, result);
    else if (result != PDK__UNKNOWN)
        c->pause = true; /* a parent vanished meanwhile: try again, but not at once */
}

/* A node that nobody owns blocks nobody, so decide again, without it. */
static void watched(struct pdk__contender *c, const struct pdk__event *e) {
    enum pdk__result result = e->result;
    if (c->phase == PDK__IN) /* else it was about an earlier node */
        c->guarded = e->guarded;
    if (result == PDK__OK && !e->unowned)
        c->watching = true;
    else if (is_refusal(result))
        contender_refuse(c, result);
    else
        c->list_due = true;
    if (result == PDK__NOT_NOW)
        c->pause = true;
}

static void statted(struct pdk__contender *c, const struct pdk__event *e) {
    if (e->result == PDK__OK && e->ours) {
        be_in(c, e);
    } else if (e->result == PDK__OK || e->result == PDK__NO_NODE) {
        be_out(c); /* of an older session, dying with it; or already dead */
    } else if (e->result == PDK__NOT_NOW) {
        c->pause = true;
    } else if (e->result != PDK__UNKNOWN) {
        c->phase = PDK__STUCK;
    }
}

static void deleted(struct pdk__contender *c, enum pdk__result result) {
    if (result == PDK__OK || result == PDK__NO_NODE)
        c->phase = PDK__GONE;
    else if (result == PDK__NOT_NOW)
        c->pause = true;
    else if (result != PDK__UNKNOWN)
        c->phase = PDK__STUCK;
}

/* The answer that ends a command makes room for the next one. A LISTED follows CREATED and PROVED. */
static void contender_answered(struct pdk__contender *c, const struct pdk__event *e) {
    bool looking = c->doing == PDK__DO_LOOK;
    if (e->type != PDK__CREATED && e->type != PDK__PROVED)
        c->doing = PDK__DO_NOTHING;
    switch (e->type) {
    case PDK__CREATED:
        created(c, e);
        break;
    case PDK__PROVED: /* the multi was answered: a quorum commits NO_NODE and NOT_ALLOWED as well */
        c->proven = e->result == PDK__OK || e->result == PDK__NO_NODE || e->result == PDK__NOT_ALLOWED;
        c->pause = e->result == PDK__NOT_NOW;
        break;
    case PDK__LISTED:
        looking ? looked(c, e) : listed(c, e);
        break;
    case PDK__MADE_DIR:
        made_dir(c, e->result);
        break;
    case PDK__WATCHED:
        watched(c, e);
        break;
    case PDK__STATTED:
        statted(c, e);
        break;
    case PDK__DELETED:
        deleted(c, e->result);
        break;
    default: /* PAUSED */
        c->pause = false;
        return;
    }
    if (e->result == PDK__UNKNOWN && c->link)
        c->pause = true; /* lost without a disconnect: do not repeat it as fast as the network allows */
}

/* Is it our turn, without another list? The last one had the predecessor alone ahead, and who came later is behind us. Our
 * own node still stood when the predecessor went: a connection's events come in the order of the changes, and the watch
 * on our own would have told first. While a request is under way, as it is after a reconnect, its answer decides. */
static bool proves_turn(const struct pdk__contender *c, const struct pdk__event *e) {
    bool at_rest = c->phase == PDK__IN && c->link && c->doing == PDK__DO_NOTHING;
    return at_rest && c->sole && c->guarded && e->gone && e->fresh;
}

static void poked(struct pdk__contender *c, const struct pdk__event *e) {
    if (proves_turn(c, e))
        be_held(c);
    else
        c->list_due = true;
    c->watching = false;
}

static void happened(struct pdk__contender *c, const struct pdk__event *e) {
    switch (e->type) {
    case PDK__ENTER:
        c->wanted = true;
        break;
    case PDK__LEAVE:
        c->leaving = true;
        if (c->phase == PDK__HELD)
            c->phase = PDK__IN;
        break;
    case PDK__LINK_UP: /* a watch may have fired in between, or never been armed */
        c->link = true;
        c->list_due = true;
        break;
    case PDK__LINK_DOWN:
        c->link = false;
        break;
    case PDK__EXPIRED:
        c->phase = PDK__GONE;
        c->doing = PDK__DO_NOTHING;
        break;
    case PDK__POKE:
        poked(c, e);
        break;
    case PDK__UNGUARDED:
        c->guarded = false;
        break;
    case PDK__FRESH:
        if (pdk__contender_is_next(c))
            c->list_due = true;
        break;
    default: /* NODE_LOST */
        if (c->phase == PDK__HELD || (c->phase == PDK__IN && c->leaving))
            c->phase = PDK__GONE;
        else if (c->phase == PDK__IN)
            be_out(c);
        break; /* in any other phase it is about an earlier node */
    }
}

static enum pdk__command step(struct pdk__contender *c, const struct pdk__event *e) {
    if (c->phase == PDK__GONE)
        return PDK__DO_NOTHING;
    if (e->type >= PDK__CREATED)
        contender_answered(c, e);
    else
        happened(c, e);

    if (c->phase == PDK__OUT && c->leaving && c->doing == PDK__DO_NOTHING)
        c->phase = PDK__GONE; /* nothing to undo: no link needed */
    if (c->phase == PDK__GONE || c->doing != PDK__DO_NOTHING || (!c->link && !c->pause))
        return PDK__DO_NOTHING;
    c->doing = next(c);
    if (c->doing == PDK__DO_LIST || c->doing == PDK__DO_ENTER || c->doing == PDK__DO_PROVE)
        c->list_due = c->proven = false; /* a later event needs another look */
    return c->doing;
}

enum pdk__command pdk__contender_step(struct pdk__contender *c, const struct pdk__event *e) {
    enum pdk__command command = step(c, e);
    contender_check(c);
    return command;
}

/* ---- for log lines */

static const char *const phases[] = {
    [PDK__OUT] = "out",   [PDK__UNSURE] = "unsure", [PDK__CANDIDATE] = "candidate", [PDK__IN] = "in",
    [PDK__HELD] = "held", [PDK__STUCK] = "stuck",   [PDK__GONE] = "gone",
};

static const char *const events[] = {
    [PDK__ENTER] = "enter",         [PDK__LEAVE] = "leave",     [PDK__LINK_UP] = "link up",
    [PDK__LINK_DOWN] = "link down", [PDK__EXPIRED] = "expired", [PDK__POKE] = "poke",
    [PDK__UNGUARDED] = "unguarded", [PDK__FRESH] = "fresh",     [PDK__NODE_LOST] = "node lost",
    [PDK__CREATED] = "created",     [PDK__LISTED] = "listed",   [PDK__MADE_DIR] = "made dir",
    [PDK__WATCHED] = "watched",     [PDK__PROVED] = "proved",   [PDK__STATTED] = "statted",
    [PDK__DELETED] = "deleted",     [PDK__PAUSED] = "paused",
};

const char *pdk__phase_name(enum pdk__phase phase) { return phases[phase]; }

const char *pdk__event_name(enum pdk__event_type type) { return events[type]; }
