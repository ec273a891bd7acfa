#include "core/contender.h"

#include "core/contender_check.h"
#include "core/contender_next.h"

#include <assert.h>
#include <string.h>

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
static void refuse(struct pdk__contender *c, enum pdk__result result) {
    fail(c, result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : result == PDK__LIMITED ? PDK_LIMIT : PDK_UNSUPPORTED);
}

static bool is_refusal(enum pdk__result result) {
    return result == PDK__NOT_ALLOWED || result == PDK__REFUSED || result == PDK__LIMITED;
}

/* Our node does not exist. The facts about its surroundings are void too. */
static void be_out(struct pdk__contender *c) {
    c->phase = PDK__OUT;
    c->listed = c->look = c->watching = false;
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
        else /* by whom? We repeat a create only after a barrier has shown that the last one was not executed */
            c->phase = PDK__UNSURE;
        c->pause = c->named; /* a stranger may keep it for long */
        break;
    case PDK__NOT_NOW:
        c->pause = true;
        break;
    case PDK__NOT_ALLOWED:
    case PDK__REFUSED:
    case PDK__LIMITED:
        refuse(c, e->result);
        break;
    default: /* UNKNOWN */
        c->phase = PDK__UNSURE;
        break;
    }
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
    c->watching = false;
    memcpy(c->watched, view->blocker, sizeof c->watched);
    /* exchanged_gone: another contender may be first by now, since the earlier node's position is free. never_waits: the
     * delete goes out before the next try. */
    if (view->exchanged_gone || (view->blocker[0] != '\0' && e->never_waits))
        c->leaving = true;
    else if (view->blocker[0] == '\0' && e->fresh && !c->leaving)
        c->phase = PDK__HELD;
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
            c->look = true;
        else if (e->result == PDK__NOT_NOW)
            c->look = c->pause = true;
        else
            refuse(c, e->result);
    }
}

/* What was there before our first create. */
static void looked(struct pdk__contender *c, const struct pdk__event *e) {
    if (e->result == PDK__OK && e->view->beyond_limits) {
        fail(c, PDK_LIMIT);
    } else if (e->result == PDK__OK && e->unprotected) {
        fail(c, PDK_UNPROTECTED);
    } else if (e->result == PDK__OK && e->view->delays && !c->delays) {
        fail(c, PDK_MISMATCH);
    } else if (e->result == PDK__OK && e->view->blocker[0] != '\0' && e->never_waits) {
        c->behind = c->leaving = true;
    } else if (e->result == PDK__OK || e->result == PDK__NO_NODE) {
        c->looks = false;
        c->dirless = e->result == PDK__NO_NODE;
    } else if (is_refusal(e->result)) {
        refuse(c, e->result);
    } else if (e->result != PDK__UNKNOWN) {
        c->pause = true;
    }
}

static void made_dir(struct pdk__contender *c, enum pdk__result result) {
    if (result == PDK__OK || result == PDK__NODE_EXISTS)
        c->dirless = false;
    else if (is_refusal(result))
        refuse(c, result);
    else if (result != PDK__UNKNOWN)
        c->pause = true; /* a parent vanished meanwhile: try again, but not at once */
}

/* A node that nobody owns blocks nobody: decide anew, without it. */
static void watched(struct pdk__contender *c, enum pdk__result result, bool unowned) {
    if (result == PDK__OK && !unowned)
        c->watching = true;
    else if (is_refusal(result))
        refuse(c, result);
    else
        c->look = true;
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
static void answered(struct pdk__contender *c, const struct pdk__event *e) {
    bool looking = c->doing == PDK__DO_LOOK;
    if (e->type != PDK__CREATED && e->type != PDK__PROVED)
        c->doing = PDK__DO_NOTHING;
    switch (e->type) {
    case PDK__CREATED:
        created(c, e);
        break;
    case PDK__PROVED: /* of the multi: a quorum commits NO_NODE and NOT_ALLOWED as well */
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
        watched(c, e->result, e->unowned);
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

static void happened(struct pdk__contender *c, enum pdk__event_type type) {
    switch (type) {
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
        c->look = true;
        break;
    case PDK__LINK_DOWN:
        c->link = false;
        break;
    case PDK__EXPIRED:
        c->phase = PDK__GONE;
        c->doing = PDK__DO_NOTHING;
        break;
    case PDK__POKE:
        c->watching = false;
        c->look = true;
        break;
    case PDK__FRESH:
        if (pdk__contender_is_next(c))
            c->look = true;
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
        answered(c, e);
    else
        happened(c, e->type);

    if (c->phase == PDK__OUT && c->leaving && c->doing == PDK__DO_NOTHING)
        c->phase = PDK__GONE; /* nothing to undo: no link needed */
    if (c->phase == PDK__GONE || c->doing != PDK__DO_NOTHING || (!c->link && !c->pause))
        return PDK__DO_NOTHING;
    c->doing = pdk__contender_next(c);
    if (c->doing == PDK__DO_LIST || c->doing == PDK__DO_ENTER || c->doing == PDK__DO_PROVE)
        c->look = c->proven = false; /* a later event needs another look */
    return c->doing;
}

enum pdk__command pdk__contender_step(struct pdk__contender *c, const struct pdk__event *e) {
    enum pdk__command command = step(c, e);
    pdk__contender_check(c);
    return command;
}
